/* Versions for rows that begin anywhere: of tiles that threads hold (shift.c), and of slices (shift_slices.c). */
#ifndef LOWER_SHIFT_H
#define LOWER_SHIFT_H
#include "lower/placed.h"

Shifted shifted_slices(Fn *first);
#endif
