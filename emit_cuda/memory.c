/* Access to tiles of global memory.
 *
 * A tile of a tensor is accessed in vectors of up to 16 bytes where its address and strides allow. Where it also lies
 * wholly inside, no vector has a condition; both are asked at run time (uniformly for the block) unless they are known.
 * Else each vector that is inside is accessed as one, and the rest, if there may be any, element by element. Offsets
 * are 64-bit. Memory that nobody writes while the kernel runs is read through the read-only path. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"

static uint32_t vector_mask(const Access *x) { return vector_bits(x->plan.bit, x->plan.vec); }

/* The registers of the vector that begins at x->reg. */
static void vector_registers(const Access *x, Str *reg)
{
	for (int k = 0; k < 1 << x->plan.vec; k++) {
		uint32_t add = 0;
		for (int i = 0; i < x->plan.vec; i++)
			if (k >> i & 1) add |= (uint32_t)1 << x->plan.bit[i];
		reg[k] = cu_at(x->g, x->data, cu_xor(x->reg, cu_int(add)).text);
	}
}

/* A thread must not wait for a vector before it issues the next load. Where control flow branches between the ways of
 * loading - a tile inside, at a border, not aligned - nvcc unpacks elements of 8 or 16 bits within each branch, and so
 * waits there: vectors stay in words until the branches join. */
static void words_of_vectors(Access *x)
{
	int regs = regs_of(x->data);
	const char *type = words_type(elem_bytes(x->v->elem) << x->plan.vec);
	x->words = x->held || (!x->store && elem_bytes(x->v->elem) < 4 && regs <= COST_UNROLL_REGS);
	if (x->words && !x->held) out_printf(x->g->o, "%s ct_v[%d];\n", type, regs >> x->plan.vec);
}

static Str word_of_vector(const Access *x)
{
	return str_fmt("%s[%s]", x->held ? x->held : "ct_v", cu_iteration(x->g, x->plan.l, vector_mask(x)).text);
}

/* Between words and registers: of the vector that begins at x->reg, the ct_i-th. */
static void put_words(Access *x, const Str *reg)
{
	Str w = words_pack_vector(x->g, x->data, x->plan.bit, x->plan.vec, reg);
	out_printf(x->g->o, "%s = %s;\n", word_of_vector(x), w);
}

static void get_words(Access *x)
{
	Str reg[16];
	x->reg = cu_registers(x->g, x->plan.l, vector_mask(x));
	vector_registers(x, reg);
	words_unpack_vector(x->g, x->data, x->plan.bit, x->plan.vec, word_of_vector(x), reg);
	cu_end(x->g);
}

static int piece_bytes(const Access *x) { return elem_bytes(x->v->elem) << x->plan.vec; }

/* What the author says of the L2 cache goes with vectors of 8 and 16 bytes. */
static bool is_hinted(const Access *x) { return x->asked.cache && piece_bytes(x) >= 8; }

static void print_policy(const Access *x)
{
	if (is_hinted(x))
		out_printf(x->g->o, "const unsigned long long ct_policy = ct_policy_%s();\n",
			attr_word_text(AT_CACHE, x->asked.cache));
}

/* ---- loops over registers ---- */
/* Which iteration it is, ct_i, is asked for by words. Else loops go from vector to vector by x->reg alone. */
static bool is_stepped(const Access *x, uint32_t skip)
{
	const Cu *g = x->g;
	int regs = regs_of_layout(g->fn, x->plan.l);
	return !x->words && !x->held && !g->part && !(skip & (skip + 1))
		&& regs == 1 << x->plan.l.in[HW_REG];
}

/* Opens a loop over all registers but those of `skip`: x->reg. bare: its body is one statement. */
static void open_loop(Access *x, uint32_t skip, bool bare)
{
	Cu *g = x->g;
	int regs = regs_of_layout(g->fn, x->plan.l), each = (int)skip + 1;
	if (!is_stepped(x, skip)) {
		x->reg = cu_registers(g, x->plan.l, skip);
		return;
	}
	x->reg = each == regs ? cu_int(0) : cu_var("ct_b");
	if (each == regs) {
		if (!bare) cu_open(g);
		return;
	}
	bool unrolled = g->roles || cu_unrolled(regs / each), some = cu_leaves_out(g, x->plan.l);
	if (each == 1 && some) cu_reached(g, "ct_b", 0, 0);
	else if (each == 1) cu_head(g, "ct_b", 0, regs, unrolled);
	else if (some) out_printf(g->o, "CT_UNROLL_BY(ct_b, ct_used, %d) ", each);
	else if (unrolled) out_printf(g->o, "CT_UNROLL_BY(ct_b, %d, %d) ", regs, each);
	else out_printf(g->o, "%sfor (int ct_b = 0; ct_b < %d; ct_b += %d) ", cu_rolled(g), regs, each);
	if (!bare) cu_open(g);
}

static void close_loop(const Access *x, uint32_t skip, bool bare)
{
	if (!bare || !is_stepped(x, skip)) cu_end(x->g);
}

/* Is one statement all that a round of print_pieces or print_elements prints? A line mark before it would be another.
 * */
static bool is_one_statement(const Access *x, int vec)
{
	Elem e = x->v->elem;
	if (x->rotates || x->g->late || x->g->opt->line != LINE_OFF || (x->store && access_shifts(x))) return false;
	if (!vec) return x->words || elem_bytes(e) < 8;
	if (x->store) return words_pack_is_pure(x->g, x->data, x->plan.bit, vec);
	return x->words || words_vector_is_run(x->g, x->data, x->plan.bit, vec);
}

/* What is loaded goes to its registers. */
static void print_loaded(Access *x, int vec, Str loaded, const Str *reg)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	if (x->words) {
		out_printf(g->o, "%s = %s;\n", word_of_vector(x), loaded);
		return;
	}
	if (vec ? !words_vector_is_run(g, x->data, x->plan.bit, vec) : elem_bytes(e) == 8) {
		out_printf(g->o, "const %s ct_w = %s;\n", words_type(elem_bytes(e) << vec), loaded);
		loaded = str_intern("ct_w");
	}
	if (vec) words_unpack_vector(g, x->data, x->plan.bit, vec, loaded, reg);
	else words_unpack(g, e, 1, loaded, reg);
}

/* Whether the vector that begins at x->reg is aligned and inside; NULL: it is. */
static Str vector_inside(const Access *x)
{
	Out *o = out_new();
	if (x->ways == WAYS_ANY) out_puts(o, " && ct_aligned");
	for (int a = 0; a < x->plan.rank; a++) {
		if (x->plan.proved[a]) continue;
		Str c = access_coord(x, a, x->reg).text;
		if (a == x->plan.fast) out_printf(o, " && %s + %d <= ct_hi%d", c, 1 << x->plan.vec, a);
		else out_printf(o, " && %s < ct_hi%d", c, a);
		if (a == x->plan.fast && access_shifts(x) && x->plan.shifted_axis < 0)
			out_printf(o, " && %s", access_after_begin(x, a, x->reg));
		if (x->plan.low[a]) out_printf(o, " && %s >= ct_lo%d", c, a);
	}
	Str s = o->n ? str_intern(o->p + 4) : NULL;
	out_free(o);
	return s;
}

static void print_elements_of(Access *x, Str in);

/* partial: those that are inside. */
static void print_pieces(Access *x, bool partial)
{
	Cu *g = x->g;
	Str reg[16];
	int bits = 8 * piece_bytes(x);
	const char *hint = is_hinted(x) ? "_hint" : "", *policy = is_hinted(x) ? ", ct_policy" : "";
	uint32_t spare = x->store ? lay_hwcoord(x->plan.l, lay_free(x->plan.l), HW_REG) : 0, skip = vector_mask(x) | spare;
	if (partial && !x->store)
		out_printf(g->o, "const %s ct_pad = %s;\n", words_type(bits / 8), access_pad(x));
	bool bare = is_one_statement(x, x->plan.vec);
	open_loop(x, skip, bare);
	x->begins = true;
	if (x->store) elem_print_late(g, x->reg);
	vector_registers(x, reg);
	if (partial) access_print_rotated(x, x->reg);
	Str at = access_address(x, x->reg), in = partial ? vector_inside(x) : NULL;
	if (partial && !in) in = str_intern("1");
	if (x->store) {
		Str w = words_pack_vector(g, x->data, x->plan.bit, x->plan.vec, reg);
		cu_line(g, x->op);
		if (partial && x->copies) in = str_fmt("%s && %s", in, x->copies);
		else if (x->copies) out_printf(g->o, "if (%s) ", x->copies);
		out_printf(g->o, "ct_st%s_b%d%s(%s, %s%s%s%s);\n", hint, bits, in ? "_if" : "", at, in ? in : "",
			in ? ", " : "", w, policy);
		if (partial && access_shifts(x)) {      /* here, for what is stored may be made in this loop */
			print_elements_of(x, vector_inside(x));
			cu_end(g);
		}
	} else {
		cu_line(g, x->op);
		print_loaded(x, x->plan.vec, str_fmt("ct_ld%s%s_b%d%s(%s%s%s%s%s)", x->v->constant ? "nc" : "",
			is_hinted(x) ? "_hint" : "", bits, in ? "_if" : "", at,
			in ? ", " : "", in ? in : "", in ? ", ct_pad" : "", policy), reg);
	}
	x->begins = false;
	close_loop(x, skip, bare);
}

static void print_elements(Access *x)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	int bits = 8 * elem_bytes(e);
	uint32_t spare = x->store ? lay_hwcoord(x->plan.l, lay_free(x->plan.l), HW_REG) : 0;
	bool words = x->words, bare;
	x->words = false;
	bare = is_one_statement(x, 0);
	open_loop(x, spare, bare);
	access_print_rotated(x, x->reg);
	if (x->store) elem_print_late(g, x->reg);
	Str at = access_address(x, x->reg), ok = access_inside(x, x->reg), reg = cu_at(g, x->data, x->reg.text);
	if (x->store) {
		Str w = words_pack(g, e, 1, &reg);
		if (x->copies) ok = ok ? str_fmt("%s && %s", x->copies, ok) : x->copies;
		cu_line(g, x->op);
		if (ok) out_printf(g->o, "ct_st_b%d_if(%s, %s, %s);\n", bits, at, ok, w);
		else out_printf(g->o, "ct_st_b%d(%s, %s);\n", bits, at, w);
	} else {
		const char *nc = x->v->constant && !x->asked.ordered ? "nc" : "";
		Str loaded = ok ? str_fmt("ct_ld%s_b%d_if(%s, %s, %s)", nc, bits, at, ok, x->pad)
			: str_fmt("ct_ld%s_b%d(%s)", nc, bits, at);
		cu_line(g, x->op);
		if (x->held) out_printf(g->o, "%s[0] = %s;\n", x->held, loaded);
		else print_loaded(x, 0, loaded, &reg);
	}
	close_loop(x, spare, bare);
	x->words = words;
}

/* What else holds for a vector of which some elements may be inside. */
static Str touched_text(const Access *x)
{
	int a = x->plan.fast;
	Str c = access_coord(x, a, x->reg).text;
	if (x->rotates)
		return str_fmt(" && (%s < ct_hi%d || ct_q > %lld)", c, a,
			(long long)x->g->rotated - (1 << x->plan.vec));
	return x->plan.proved[a] ? "" : str_fmt(" && %s < ct_hi%d", c, a);
}

/* The elements of the vector that begins at x->reg and cannot be accessed as one; those that are held become a word. */
static void print_elements_of(Access *x, Str in)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	int bits = 8 * elem_bytes(e);
	out_printf(g->o, "if (!(%s)%s) {\n", in ? in : "1", touched_text(x));
	x->begins = false;
	out_in(g->o);
	bool rolled = regs_of(x->data) > COST_UNROLL_REGS && !g->roles && !x->held;
	if (x->held) out_printf(g->o, "%s ct_u[%d];\n", cu_type(e), 1 << x->plan.vec);
	if (rolled) out_printf(g->o, "#pragma unroll 1\nfor (int ct_j = 0; ct_j < %d; ct_j++) {\n", 1 << x->plan.vec);
	CuInt j = rolled ? cu_var("ct_j") : cu_loop(g, "ct_j", (int64_t)1 << x->plan.vec);
	if (rolled) out_in(g->o);
	out_printf(g->o, "const int ct_e = %s;\n", cu_xor(x->reg, cu_deposit(j, vector_mask(x))).text);
	CuInt element = cu_var("ct_e");
	access_print_rotated(x, element);
	Str at = access_address(x, element), ok = access_inside(x, element),
		reg = x->held ? str_fmt("ct_u[%s]", j.text) : cu_at(g, x->data, element.text);
	cu_line(g, x->op);
	if (x->store) {
		if (x->copies) ok = ok ? str_fmt("%s && %s", x->copies, ok) : x->copies;
		out_printf(g->o, "ct_st_b%d_if(%s, %s, %s);\n", bits, at, ok ? ok : "1", words_pack(g, e, 1, &reg));
	} else {
		bool words = x->words;
		x->words = false;       /* they are put together below */
		print_loaded(x, 0, str_fmt("ct_ld%s_b%d_if(%s, %s, %s)", x->v->constant ? "nc" : "", bits, at, ok ? ok : "1",
			x->pad), &reg);
		x->words = words;
	}
	cu_end(g);
	if (!x->held) return;
	Str all[16];
	for (int k = 0; k < 1 << x->plan.vec; k++) all[k] = str_fmt("ct_u[%d]", k);
	put_words(x, all);
}

/* The elements of the vectors that cannot be accessed as one. */
static void print_other_elements(Access *x, uint32_t skip)
{
	Cu *g = x->g;
	Str whole[16];
	open_loop(x, skip, false);
	vector_registers(x, whole);
	x->begins = true;
	access_print_rotated(x, x->reg);
	print_elements_of(x, vector_inside(x));
	if (x->words && !x->held) put_words(x, whole);
	cu_end(g);
	close_loop(x, skip, false);
}

/* Whether the border of the tensor may cut a vector; NULL: it cannot. */
static Str ragged_text(const Access *x)
{
	int a = x->plan.fast, mask = (1 << x->plan.vec) - 1;
	if (x->rotates)
		return str_fmt("((ct_hi%d | ct_phase%s) & %d) != 0", a, x->plan.low[a] ? str_fmt(" | ct_lo%d", a) : "", mask);
	if (x->plan.proved[a]) return NULL;
	return x->plan.low[a] ? str_fmt("((ct_hi%d | ct_lo%d) & %d) != 0", a, a, mask)
		: str_fmt("(ct_hi%d & %d) != 0", a, mask);
}

/* Of a row that is shifted: the vectors at its ends. One may be cut before a thread's first elements; the condition of
 * the end is uniform. */
static void print_cut(Access *x, uint32_t skip)
{
	Cu *g = x->g;
	int a = x->plan.fast;
	if (x->plan.shifted_axis >= 0) out_printf(g->o, "if (%s) {\n", ragged_text(x));
	else out_printf(g->o, "if (ct_c%d < 0 || (ct_hi%d & %d) != 0) {\n", a, a, (1 << x->plan.vec) - 1);
	out_in(g->o);
	print_other_elements(x, skip);
	cu_end(g);
}

static void print_partial(Access *x)
{
	Cu *g = x->g;
	uint32_t spare = x->store ? lay_hwcoord(x->plan.l, lay_free(x->plan.l), HW_REG) : 0, skip = vector_mask(x) | spare;
	x->rotates = x->plan.rotated_axis >= 0;
	access_bounds(x);
	if (x->ways != WAYS_ANY) {
		print_pieces(x, true);
		if (!x->store && access_shifts(x)) print_cut(x, skip);
		return;
	}
	Str ragged = ragged_text(x);
	if (g->fn->lanes) {  /* a row of few vectors: all its elements cost less than to find those of its ends */
		out_printf(g->o, "if (!ct_aligned%s%s) {\n", ragged ? " || " : "", ragged ? ragged : "");
		out_in(g->o);
		print_elements(x);
		if (x->words) {
			Str reg[16];
			x->reg = cu_registers(g, x->plan.l, vector_mask(x));
			vector_registers(x, reg);
			put_words(x, reg);
			cu_end(g);
		}
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
		print_pieces(x, true);
		cu_end(g);
		return;
	}
	print_pieces(x, true);
	if (x->rotates)
		out_puts(g->o, "asm volatile(\"\" : \"+r\"(ct_phase));        /* compute coordinates again, "
			"do not keep them */\n");
	out_printf(g->o, "if (!ct_aligned%s%s) {\n", ragged ? " || " : "", ragged ? ragged : "");
	out_in(g->o);
	print_other_elements(x, skip);
	cu_end(g);
}

static void open_access(Access *x, Cu *g, const Op *op, const Val *data, bool store)
{
	access_open(x, g, op, data, store);
	if (store) x->copies = cu_writers(g, x->plan.l);
}

/* Lines of the same tile in the loop's next iteration come into the L2 cache: those of the vectors that begin
 * inside. */
static void print_ahead(Access *x)
{
	Cu *g = x->g;
	if (!x->asked.asks_ahead || x->held) return;
	Out *on = out_new(), *inside = out_new();
	x->reg = cu_register(g, x->plan.l, vector_mask(x));
	for (int a = 0; a < x->plan.rank; a++) {
		int64_t n = x->asked.ahead[a] * x->plan.step[a];
		CuInt at = cu_compound(str_fmt("ct_o%d%s", a, access_of_thread(x, a, "+")));
		Str here = cu_sum(at, access_coord(x, a, x->reg)).text;
		Str next = n ? str_fmt(" + %lldll", (long long)n) : str_intern("");
		if (n) out_puts(on, access_scaled(next, x->v, a));
		if (n || !x->plan.proved[a])
			out_printf(inside, "%s%s%s < %s", inside->n ? " && " : "", here, next, x->v->ext[a]);
		if (x->plan.low[a]) out_printf(inside, "%s%s >= 0", inside->n ? " && " : "", here);
	}
	x->reg = cu_registers(g, x->plan.l, vector_mask(x));
	cu_line(g, x->op);
	out_printf(g->o, "ct_ask_if(%s%s, %s);\n", access_address(x, x->reg), on->p, inside->p);
	cu_end(g);
	out_free(on);
	out_free(inside);
}

/* Each vector is one access, under a condition or not. */
static void print_aligned(Access *x, Str whole)
{
	Cu *g = x->g;
	if (!whole) {
		print_pieces(x, false);
	} else if (x->ways == WAYS_MASKED) {
		print_partial(x);
	} else {
		out_printf(g->o, "if (%s) {\n", whole);
		out_in(g->o);
		print_pieces(x, false);
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
		print_partial(x);
		cu_end(g);
	}
	if (x->words && !x->held) get_words(x);
}

/* The tile, where access_origin and access_thread are printed. */
static void ways(Access *x)
{
	Cu *g = x->g;
	x->rotates = x->plan.rotated_axis >= 0;
	if (x->rotates) x->plan.proved[x->plan.rotated_axis] = false;
	if (!x->plan.vec) {
		access_bounds(x);
		x->forgotten = x->ways == WAYS_SINGLE && regs_of(x->data) > 1;
		if (x->forgotten) access_forget_bounds(x);
		print_elements(x);
		return;
	}
	Str whole = access_whole(x);
	print_ahead(x);
	print_policy(x);
	words_of_vectors(x);
	if (x->ways != WAYS_ANY) {
		print_aligned(x, whole);
		return;
	}
	bool rotated = x->plan.rotated_axis >= 0 && x->plan.rotated_axis == x->plan.fast;
	out_printf(g->o, "const int ct_aligned = %s;\n", rotated ? access_rotated(x) : access_aligned(x));
	out_printf(g->o, "if (ct_aligned%s%s%s) {\n", x->plan.rotated_axis >= 0 ? " && ct_phase == 0" : "",
		whole ? " && " : "", whole ? whole : "");
	x->rotates = false;
	out_in(g->o);
	print_pieces(x, false);
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
	print_partial(x);
	cu_end(g);
	if (x->words && !x->held) get_words(x);
}

static void print_access(Access *x)
{
	if (tilefn_print(x, ways)) return;
	cu_say(x->g, x->op);
	out_puts(x->g->o, "{\n");
	out_in(x->g->o);
	access_origin(x);
	access_thread(x);
	ways(x);
	cu_end(x->g);
}

void access_load_held(Cu *g, const Op *op, Str held)
{
	Access x;
	open_access(&x, g, op, op->out[0], false);
	x.held = held;
	x.pad = words_pad(g, x.v->elem, ir_in(op, op->nin - 1));
	print_access(&x);
}

void access_take_held(Cu *g, const Op *op, Str held)
{
	Access x;
	access_open(&x, g, op, op->out[0], false);
	x.held = held;
	get_words(&x);
}

void memory_load(Cu *g, const Op *op)
{
	Access x;
	if (dense_load(g, op)) return;
	const Val *r = op->out[0];
	bool one = one_thread_reads(op);
	if (!cu_val(g, r)->declared) cu_val(g, r)->name = cu_name(g, r);
	bool peels = type_is_tile(r->type) && peel_row(g->fn, *r->lay);
	if (peels) cu_say(g, op);
	cu_declare(g, r);
	if (peels) {
		peel_load(g, op);
		return;
	}
	if (next_load(g, op)) return;
	if (one) {
		out_puts(g->o, "if (ct_lane == 0 && ct_warp == 0) {\n");
		out_in(g->o);
	}
	open_access(&x, g, op, r, false);
	x.pad = words_pad(g, x.v->elem, ir_in(op, op->nin - 1));
	print_access(&x);
	if (one) {
		cu_end(g);
		if (!g->fn->cluster) move_share_copies(g, op);
	}
}

void memory_store(Cu *g, const Op *op)
{
	Access x;
	if (aim_store(g, op) || dense_store(g, op)) return;
	const Val *data = ir_in(op, op->nin - 1);
	if (type_is_tile(data->type) && peel_row(g->fn, *data->lay)) {
		cu_say(g, op);
		peel_store(g, op);
		return;
	}
	if (ir_int(op, AT_ORDERED, 0)) out_puts(g->o, "__syncwarp();\n");
	open_access(&x, g, op, data, true);
	print_access(&x);
	g->late = NULL;
}
