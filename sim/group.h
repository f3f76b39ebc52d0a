/* What the files about roles, rings, copies by hardware and wgmma share. */
#ifndef SIM_GROUP_H
#define SIM_GROUP_H
#include "layout/smem.h"
#include "sim/sim_int.h"

enum { BUF_AT, BUF_ROW, BUF_COL, BUF_REGS };
typedef struct Buf { Smem whole; int64_t at, row, col; } Buf;          /* bytes; elements */

Buf sim_buf(Warp *w, const Val *v);
int64_t buf_at(const Buf *b, int64_t row, int64_t col);
int64_t sim_scalar(Warp *w, const Val *v);
int sim_bar(Warp *w, const Op *op, int i);    /* the mbarrier of operands i (mbarriers) and i + 1 (cursor) */
uint32_t mbar_clock(Warp *w, int rank, int bar);        /* of what arrives in the phase that it is in */
/* Where the registers of a tile with parts lie. */
typedef struct Coords { int regs, each, down, right, parts; Map row, col; } Coords;
Coords coords_of(Run *r, const Val *v);
int64_t row_at(const Coords *c, int reg, int lane, int warp);
int64_t col_at(const Coords *c, int reg, int lane, int warp);
void *plan_slab(Run *r, const Val *data);       /* store_shared and load_shared of a buffer of a ring */
Go run_slab(Warp *w, const Step *s);
/* where a thread copies to in the background; NULL: a fault */
unsigned char *shared_copy(Warp *w, int64_t at, int bytes);
void mbar_bytes(Warp *w, int rank, int bar, int64_t bytes);
#endif
