/* The one place that holds the version. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H
#define CTILEC_VERSION "0.1.0"
#endif
