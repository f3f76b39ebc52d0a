/* The lesser and the greater of two numbers. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H
static inline int imin(int a, int b) { return a < b ? a : b; }
static inline int imax(int a, int b) { return a > b ? a : b; }
#endif
