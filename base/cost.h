/* Constants of models, COST_<name>: cost.def has them, with their reasons. */
#ifndef BASE_COST_H
#define BASE_COST_H

enum {
#define COST(name, value, reason) COST_##name = value,
#include "base/cost.def"
#undef COST
};
#endif
