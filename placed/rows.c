/* Kernels of rows: which registers hold a row, and what peeled rows and rows side by side take
 * (passes cut, peel, dense). */
#include "ir/rules.h"
#include "placed/access.h"
#include "placed/placed.h"

const Sym *launched_sym(const Val *v)
{
	v = rule_kept(v);
	return v->def && v->def->code == OP_LAUNCH ? ir_attr(v->def, AT_SYM)->u.sym : NULL;
}

bool holds_row(const Fn *fn, Lay l) { return fn->row_log2 && lay_outbits(l) == fn->row_log2; }

int64_t cut_kept(const Fn *cut)
{
	if (!cut->row_regs) return ((int64_t)1 << cut->row_log2) + 1;
	return (int64_t)cut->row_regs << (cut->row_log2 - cut->row_regs_log2);
}

int cut_step(const Fn *fn) { return fn->by_warp ? 1 << LANES_LOG2 : 1 << (fn->row_log2 - fn->row_regs_log2); }

/* ---- rows by as many warps as they need ---- */
int64_t row_part(const Fn *fn) { return ((int64_t)1 << fn->row_log2) / fn->warps; }

bool rows_are_sorted(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_SORT) return true;
	return false;
}

bool rows_scan_back(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op_is_scan(op) && ir_int(op, AT_DIRECTION, 0)) return true;
	return false;
}

const Sym *row_warps(const Fn *fn)
{
	const Sym *longest = fn->below.p[0];
	for (int i = 1; i < fn->below.n; i++) longest = sym_max(longest, fn->below.p[i]);
	int64_t shift = !rows_shift(fn) ? 0 : fn->aligned ? rows_shift_unit(fn, 1) : LINE;
	const Sym *used = sym_add(longest, sym_const(1 + shift));
	if (!rows_are_sorted(fn)) return sym_min(sym_cdiv(used, sym_const(row_part(fn))), sym_const(fn->warps));
	const Sym *warps = sym_const(fn->warps);
	for (int n = fn->warps / 2; n; n /= 2)
		warps = sym_select(sym_cmp(SYM_LE, used, sym_const(n * row_part(fn))), sym_const(n), warps);
	return warps;
}

/* ---- and by as many lanes ---- */
bool rows_share(const Fn *fn) { return fn->short_rows || fn->warp_rows; }

/* Has each tile block a row of its own there, not one that all have, such as weights? */
static bool has_own_rows(const Op *op)
{
	Num n;
	bool own = false;
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++) own |= !ir_const_value(ir_in(op, 1 + a), &n);
	return own;
}

/* Of the largest element of what each row has of its own. */
static int row_elem_bytes(const Fn *fn)
{
	int most = 1;
	for (const Op *op = fn->body->first; op; op = op->next) {
		const Val *v = ir_accessed(op);
		if (!v || !type_is_tile(v->type) || !holds_row(fn, *v->lay)) continue;
		if (has_own_rows(op) && elem_bytes(v->type->elem) > most) most = elem_bytes(v->type->elem);
	}
	return most;
}

/* Do neighbouring lanes hold neighbouring elements, or vectors of them, and the other registers what lies as many lanes
 * further on? log2 of a vector; -1: they do not. */
static int piece_log2(Lay l, int lanes)
{
	int first = lay_first(l, HW_LANE), reg = lay_first(l, HW_REG), piece = 0;
	if (l.in[HW_LANE] != lanes) return -1;
	while (piece < l.in[HW_REG] && l.col[reg + piece] == (uint32_t)1 << piece) piece++;
	for (int i = 0; i < lanes; i++)
		if (l.col[first + i] != (uint32_t)1 << (piece + i)) return -1;
	for (int i = piece; i < l.in[HW_REG]; i++)
		if (l.col[reg + i] != (uint32_t)1 << (lanes + i)) return -1;
	return piece;
}

int row_vector_log2(const Fn *fn)
{
	int most = 0;
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) {
			const Val *v = op->out[i];
			if (!type_is_tile(v->type) || type_log2_size(v->type) != fn->row_log2) continue;
			int piece = piece_log2(*v->lay, fn_threads(fn).lanes);
			if (piece < 0) return -1;
			if (piece > most) most = piece;
		}
	return most;
}

/* Of four vectors, three; of single elements three quarters, too. */
int row_part_registers(const Fn *fn, int registers)
{
	int piece = row_vector_log2(fn);
	bool four = piece > 0 && registers == 4 << piece && registers <= 1 << COST_SHORT_REGS;
	bool may = (four || (!piece && registers == COST_PART_REGS)) && !rows_scan_back(fn) && !rows_are_sorted(fn);
	return may ? registers * 3 / 4 : 0;
}

static bool parts_are_vectors(const Fn *fn, int part) { return part && row_vector_log2(fn) > 0; }

/* All lanes of a tile that has fewer than a warp, too, with a part of their registers: a kernel that contains code for
 * each number of them takes the registers of the largest, and fewer warps run at once. */
int short_lanes(const Fn *fn)
{
	bool all = fn->lanes && parts_are_vectors(fn, row_part_registers(fn, 1 << fn->row_regs_log2));
	return fn_threads(fn).lanes - !all;
}

/* A row of four vectors a lane has as many lanes as suffice with two or three vectors each: fewer lanes with more of
 * them take fewer instructions for an element, for what is found of a row, and addresses and bounds, are computed in
 * each lane; and a quarter of the places are pads at most. Four of half as many lanes are no faster, and wait longer.
 *
 * Of other rows a lane has as many registers as of longer ones, and the elements of one sector at most: with more of
 * them the rows of a multiprocessor are more than its L1 cache holds until the last element of a line is accessed. What
 * sorts rows computes more than it accesses, for each place of its network. Where accesses are of single elements, more
 * lanes with half of the registers are faster than fewer with nearly all: they touch a row's sectors in fewer
 * accesses. */
int64_t row_of_lanes(const Fn *fn, int log2)
{
	int all = 1 << fn->row_regs_log2, part = row_part_registers(fn, all);
	bool vectors = parts_are_vectors(fn, part), most = !part || (!vectors && log2 + 1 == fn_threads(fn).lanes);
	int64_t held = ((int64_t)(most ? all : part) << log2) - fn->row_pads,
		near = ((int64_t)SECTOR << log2) / row_elem_bytes(fn);
	return held < near || vectors || rows_are_sorted(fn) ? held : near;
}

/* Adds the part of rows that `regs` registers hold, if these are shorter than the longest that the lanes get. */
static bool add_part(RowParts *r, const Fn *fn, int log2, int regs, int64_t all)
{
	int shift = log2 == fn_threads(fn).lanes && rows_shift(fn) ? cut_step(fn) - 1 : 0;
	int64_t held = ((int64_t)regs << log2) - fn->row_pads - shift;
	r->p[r->n++] = (RowPart){ held < all ? held : all, regs };
	return held < all;
}

RowParts row_parts(const Fn *fn, int log2)
{
	RowParts r = { .n = 0 };
	int regs = 1 << fn->row_regs_log2, part = row_part_registers(fn, regs), used = regs;
	bool whole = log2 > short_lanes(fn), vectors = parts_are_vectors(fn, part);
	int least = vectors ? (log2 == COST_SHORT_LANES ? regs / 4 : regs / 2) : whole ? part : regs / 2;
	int64_t all = whole ? INT64_MAX : row_of_lanes(fn, log2);
	if (fn->warp_rows) {
		if (fn->row_few) add_part(&r, fn, log2, fn->row_few, all);
		if (fn->row_few && fn->row_few < part) add_part(&r, fn, log2, part, all);
	} else if (!whole || fn->warps == 1) {
		for (int n = least; part && n <= part; n += regs / 4)
			if (!add_part(&r, fn, log2, n, all)) return r;
		if (!whole) used = fn->row_few;
	}
	r.p[r.n++] = (RowPart){ all, used };
	return r;
}

/* What asks where an element's number lies among those of a thread. */
static bool asks_for_place(const Op *op)
{
	return (op->code == OP_EQ || op->code == OP_NE) && peel_is_row(op->parent->fn, op->out[0])
		&& elem_is_int(ir_in(op, 0)->type->elem);
}

int row_few_unit(const Fn *fn)
{
	int unit = 1 << row_vector_log2(fn);
	if (unit < COST_FEW_UNIT) unit = COST_FEW_UNIT;
	if (1 << fn->row_regs_log2 >= COST_CHUNK_ALL && unit < 1 << COST_CHUNK) unit = 1 << COST_CHUNK;
	return unit;
}

/* Are there rows that no earlier variant takes, and that fewer warps would not hold, of which this many registers of
 * each lane hold a part? */
static bool some_share(const Fn *fn, int part)
{
	for (int64_t w = 2; w <= fn->warps; w++) {
		int64_t held = w * (part << LANES_LOG2);
		if (held > fn->rows_taken && held > (w - 1) * row_part(fn)) return true;
	}
	return false;
}

/* Two bodies take more registers, and equal shares save nothing where threads wait for memory: vectors of which no
 * functions or quotients are computed and stored, and rows of several tensors (bench/notes/rows.md). */
int row_share_registers(const Fn *fn)
{
	int all = 1 << fn->row_regs_log2, part = all * 3 / 4;
	bool stores = fn->by_element, computes = fn->by_element;
	int loads = 0;
	if (!fn->row_few || !fn->fewer || fn->cluster || all > 1 << COST_SHORT_REGS || !some_share(fn, part)) return 0;
	if (rows_are_sorted(fn)) return 0;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->nregion || op_is_scan(op) || asks_for_place(op)) return 0;
		stores |= op->code == OP_STORE && peel_is_row(fn, ir_accessed(op));
		computes |= (op_has(op, OPF_MATH) || op->code == OP_DIV) && peel_is_row(fn, op->out[0]);
		loads += op->code == OP_LOAD && peel_is_row(fn, op->out[0]) && has_own_rows(op);
	}
	if (loads != 1 || !stores || !computes || row_vector_log2(fn) < 0 || (fn->by_element && rows_rotate(fn))) return 0;
	return part % row_few_unit(fn) ? 0 : part;
}

int64_t cut_sure(const Fn *cut) { return (int64_t)cut->row_sure << (cut->row_log2 - cut->row_regs_log2); }

bool cut_is_length(const Fn *cut, const Val *v)
{
	const Sym *s = launched_sym(v);
	for (int i = 0; s && i < cut->below.n; i++)
		if (cut->below.p[i] == s) return true;
	return false;
}

/* ---- peeled rows ---- */
bool peel_is_row(const Fn *fn, const Val *v) { return type_is_tile(v->type) && v->lay && holds_row(fn, *v->lay); }

const Op *peel_phase_of(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_PHASE) return op;
	return NULL;
}

const IrParam *peel_param(const Fn *fn, const Op *op)
{
	const Val *v = ir_in(op, 0);
	return v->block == fn->body && !v->def ? &fn->params.p[v->index] : NULL;
}

int peel_elem_size(const Fn *fn) { return elem_bytes(peel_param(fn, peel_phase_of(fn))->elem); }

static bool same_number(const Op *x, const Op *y, AttrKey key, int i, int64_t dflt)
{
	const IrAttr *p = ir_attr(x, key), *q = ir_attr(y, key);
	return (p ? p->u.ints.p[i] : dflt) == (q ? q->u.ints.p[i] : dflt);
}

/* Do both begin equally many elements after their tensors' first, in rows equally far apart, but along an axis (-1: all
 * count)? */
static bool same_row(const Fn *fn, const Op *x, const Op *y, int but)
{
	const IrParam *p = peel_param(fn, x), *q = peel_param(fn, y);
	if (!p || !q || p->rank != q->rank) return false;
	for (int a = 0; a < p->rank; a++) {
		Val *i = ir_in(x, 1 + a), *k = ir_in(y, 1 + a);
		if (p->stride[a] != q->stride[a]) return false;
		if (a == but) continue;
		if (!same_scalar(i, k)) return false;
		if (!same_number(x, y, AT_STEPS, a, 1) || !same_number(x, y, AT_OFFSETS, a, 0)) return false;
	}
	return true;
}

bool rows_rotate(const Fn *fn)
{
	const Op *phase = peel_phase_of(fn);
	return phase && ir_int(phase, AT_ROWS, ROWS_ROTATED) == ROWS_ROTATED;
}

bool rows_shift(const Fn *fn)
{
	const Op *phase = peel_phase_of(fn);
	return phase && ir_int(phase, AT_ROWS, ROWS_ROTATED) == ROWS_SHIFTED;
}

bool row_access_shifts(const Fn *fn, const Op *op)
{
	const Val *v = ir_accessed(op);
	return v && type_is_tile(v->type) && (holds_row(fn, *v->lay) || ir_int(op, AT_SHIFTED, 0));
}

static void find_vector(void *ctx, Op *op)
{
	int *vec = ctx;
	if (!row_access_shifts(op->parent->fn, op)) return;
	int own = access_plan(op, ir_accessed(op), false).vec;
	if (own > *vec) *vec = own;
}

/* Single elements begin at a line, as far as one register of all threads reaches; vectors where the longest of them
 * does. */
int64_t rows_shift_unit(const Fn *fn, int size)
{
	int vec = 0;
	if (fn->aligned) {
		ir_walk(fn->body, find_vector, &vec);
		return (int64_t)1 << vec;
	}
	return cut_step(fn) < LINE / size ? cut_step(fn) : LINE / size;
}

bool stands_after_wait(const Op *first)
{
	for (const Op *op = first; op; op = op->prev)
		if (op->code == OP_REDUCE_LANES) return true;
	return false;
}

bool rows_load_first(const Fn *fn)
{
	int before = 0, after = 0;
	bool reduced = false;
	if (!fn->row_log2 || rows_share(fn)) return false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		reduced |= op->code == OP_REDUCE_LANES;
		if (op->nregion) return false;
		if (op->code != OP_LOAD || !peel_is_row(fn, op->out[0])) continue;
		if (op->out[0]->lay->in[HW_REG] > COST_LOADED_FIRST) return false;
		*(reduced ? &after : &before) += 1;
	}
	return reduced && before > after;
}

bool rows_begin(const Fn *fn, const Op *op) { return same_row(fn, peel_phase_of(fn), op, -1); }

bool row_slices_begin(const Fn *fn, const Op *op, int axis) { return same_row(fn, peel_phase_of(fn), op, axis); }

bool peel_begins(const Fn *fn, const Op *op)
{
	return rows_begin(fn, op) && elem_bytes(peel_param(fn, op)->elem) == peel_elem_size(fn);
}

int peel_vector(const Fn *fn) { return peel_after(fn) - fn->peel_apart; }

int peel_front(const Fn *fn) { return fn->peel_line / peel_elem_size(fn) + fn->peel_apart; }

int peel_after(const Fn *fn) { return VECTOR_BYTES / peel_elem_size(fn) + fn->peel_apart; }

bool peel_is_apart(const Fn *fn, const Op *op)
{
	return op->code == OP_LOAD && peel_is_row(fn, op->out[0]) && !peel_begins(fn, op);
}

int peel_stage(const Fn *fn, const Op *load)
{
	int n = 0;
	if (!fn->stage_at || !peel_is_apart(fn, load)) return -1;
	for (const Op *op = load->prev; op; op = op->prev) n += peel_is_apart(fn, op);
	return n;
}

/* Of each step of all threads the vectors of the thread block, and one more. */
int64_t peel_stage_bytes(const Fn *fn)
{
	int64_t threads = tile_threads(fn),
		pieces = fn->row_regs / (VECTOR_BYTES / peel_elem_size(fn));
	return pieces * (threads + 1) * VECTOR_BYTES;
}

int peel_loads_apart(const Fn *fn)
{
	int n = 0;
	for (const Op *op = fn->body->first; op; op = op->next) n += peel_is_apart(fn, op);
	return n;
}

/* ---- rows side by side ---- */
bool rows_are_dense(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (ir_attr(op, AT_DENSE)) return true;
	return false;
}

int dense_rows(const Fn *fn) { return 1 << (LANES_LOG2 - fn_threads(fn).lanes); }

int64_t dense_bytes(const Fn *fn, const Op *op)
{
	const Type *t = ir_accessed(op)->type;
	int64_t n = fn->row_regs ? cut_kept(fn) : (int64_t)1 << type_log2_size(t);
	if (ir_int(op, AT_DENSE, 0) == DENSE_ROW) n *= dense_rows(fn);
	return n * elem_bytes(t->elem) + VECTOR_BYTES - 1;     /* it begins at any byte of a vector */
}
