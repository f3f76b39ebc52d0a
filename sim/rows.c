/* Rows whose registers hold other elements than their layout says: shifted by their phase, or in a body of vectors and
 * ends, of which each thread has an element in a register after the others (placed/rows.c).
 * Their places go by what follows. */
#include "sim/sim_int.h"

bool row_moves(const Run *r, Lay l)
{
	return (r->fn->peel_line || rows_shift(r->fn)) && holds_row(r->fn, l);
}

static int64_t length_of(const Warp *w, int i)
{
	int64_t n = 0;
	return sim_sym(w->u->r->call, w->u->r->fn->below.p[i], &n) ? n : 0;
}

/* Elements between two registers of all threads are shifted within them, and where a pad of each
 * tensor stays after the row (cut.c). */
static int64_t shift_of(const Warp *w, int64_t at, int size)
{
	const Fn *fn = w->u->r->fn;
	int64_t unit = rows_shift_unit(fn, size);
	for (int i = 0; i < fn->below.n && fn->row_log2; i++)
		if (length_of(w, i) >= cut_kept(fn) - unit + 1) return 0;
	return (at & (unit * size - 1)) / size;
}

int64_t row_phase(const Warp *w, uint64_t at, int size)
{
	const Fn *fn = w->u->r->fn;
	if (fn->peel_line) {
		uint64_t each = (uint64_t)(fn->peel_line / size);
		return (int64_t)((0 - at / (uint64_t)size - (uint64_t)fn->peel_apart) & (each - 1)) + fn->peel_apart;
	}
	if (rows_shift(fn)) return shift_of(w, (int64_t)at, size);
	return at & 15 ? (int64_t)(at & (LINE - 1)) / size : 0;
}

bool row_is_end(const Run *r, Lay l, int reg)
{
	return r->fn->peel_line && reg == r->fn->row_regs && holds_row(r->fn, l);
}

int64_t row_element(const Warp *w, int64_t begin, int64_t place, bool end, int lane)
{
	const Fn *fn = w->u->r->fn;
	if (!fn->peel_line) return place >= begin ? place - begin : -1;
	int64_t length = length_of(w, 0), body = (length - begin - fn->peel_apart) & ~(int64_t)(peel_vector(fn) - 1);
	if (!end) return place < body ? begin + place : -1;
	int64_t thread = lane + w->num * LANES, front = peel_front(fn);
	if (thread < front) return thread < begin ? thread : -1;
	int64_t e = begin + body + thread - front;
	return e < length ? e : -1;
}
