/* Reads the text form that ir_print writes (shown there). Recursive descent, one token ahead; depth of regions, of host
 * statements and of expressions is limited. Every mistake is reported once, with its place, and ends the reading; a
 * module that was read has passed ir_check.
 *
 * Lenient where people write by hand: comments, header lines in any order, values without a number (%acc), default
 * words. An operation's operands begin on its own line. Spans of what is read are places in the text. */
#include <stdlib.h>
#include <string.h>

#include "ir/ir_read.h"
#include "ir/ir_text.h"

enum { DEPTH_MAX = 200, CUT_LENGTHS = 16 /* of a line `rows` */ };

/* ---- maps from names ---- */
static Slot *map_slot(const Map *m, Str key)
{
	uint32_t h = str_hash(key) & (m->cap - 1);
	while (m->slot[h].key && m->slot[h].key != key) h = (h + 1) & (m->cap - 1);
	return &m->slot[h];
}

void *rd_get(const Map *m, Str key)
{
	return m->cap ? map_slot(m, key)->val : NULL;
}

bool rd_put(Map *m, Str key, void *val)
{
	if (m->n * 2 >= m->cap) {
		Map bigger = { .cap = m->cap ? m->cap * 2 : 64, .n = m->n };
		bigger.slot = NEW_ARRAY(A_UNIT, Slot, bigger.cap);
		for (uint32_t i = 0; i < m->cap; i++)
			if (m->slot[i].key) *map_slot(&bigger, m->slot[i].key) = m->slot[i];
		*m = bigger;
	}
	Slot *s = map_slot(m, key);
	if (s->key) return false;
	*s = (Slot){ key, val };
	m->n++;
	return true;
}

/* ---- the reader ---- */
bool rd_deeper(Reader *r)
{
	if (++r->depth > DEPTH_MAX) lex_error(&r->l, D_IR_DEEP, lex_span(&r->l), str_i64(DEPTH_MAX));
	return !r->l.failed;
}

Str rd_string(Reader *r, const char *what)
{
	Str s = r->l.text;
	if (r->l.tok != T_STRING) {
		lex_expected(&r->l, what);
		return NULL;
	}
	lex_next(&r->l);
	return s;
}

/* ---- what kernels and entries share ---- */
static LayoutKind read_layout(Reader *r)
{
	int k = 0;
	while (k < 5 && !lex_is(&r->l, irt_layouts[k])) k++;
	if (k < 5) lex_next(&r->l);
	else lex_expected(&r->l, "a layout: right, left, right_padded, left_padded or strided");
	return k < 5 ? (LayoutKind)k : ML_RIGHT;
}

static ParamMode read_mode(Reader *r)
{
	if (lex_accept_word(&r->l, "out")) return PM_OUT;
	if (lex_accept_word(&r->l, "inout")) return PM_INOUT;
	if (!lex_accept_word(&r->l, "in")) lex_expected(&r->l, "`in`, `out` or `inout`");
	return PM_IN;
}

static void read_tensor(Reader *r, IrParam *p)
{
	p->is_tensor = true;
	p->mode = read_mode(r);
	if (!lex_accept_word(&r->l, "tensor")) lex_expected(&r->l, "`tensor`");
	lex_need(&r->l, '<', "`<`");
	p->elem = rd_elem(r);
	lex_need(&r->l, ',', "`,`");
	p->rank = rd_syms(r, TENSOR_RANK, p->extent);
	lex_need(&r->l, '>', "`>`");
	if (!lex_accept_word(&r->l, "strides")) lex_expected(&r->l, "`strides`");
	Span at = lex_span(&r->l);
	if (rd_syms(r, TENSOR_RANK, p->stride) != p->rank)
		lex_error(&r->l, D_IR_TYPE, at, "a tensor has one stride for each extent");
	p->layout = read_layout(r);
	if (lex_accept_word(&r->l, "pad")) p->pad = lex_int(&r->l, "a number");
	p->zeroed = lex_accept_word(&r->l, "zeroed");
}

IrParam rd_param(Reader *r)
{
	IrParam p = { .span = lex_span(&r->l) };
	p.name = lex_name(&r->l, "a name");
	lex_need(&r->l, ':', "`:`");
	if (lex_is(&r->l, "in") || lex_is(&r->l, "out") || lex_is(&r->l, "inout")) read_tensor(r, &p);
	else p.elem = rd_elem(r);
	if (lex_accept_word(&r->l, "doc")) p.doc = rd_string(r, "a string");
	return p;
}

IrDim rd_dim(Reader *r, bool is_stride)
{
	IrDim d = { .is_stride = is_stride, .span = lex_span(&r->l) };
	d.name = lex_name(&r->l, "a name");
	lex_need(&r->l, ':', "`:`");
	d.elem = rd_elem(r);
	if (lex_accept(&r->l, '=')) d.def = rd_sym(r);
	return d;
}

IrWhere rd_where(Reader *r)
{
	IrWhere w = { .span = lex_span(&r->l) };
	w.cond = rd_sym(r);
	w.of_type = lex_accept_word(&r->l, "of_type");
	if (lex_accept_word(&r->l, "text")) w.text = rd_string(r, "a string");
	return w;
}

void rd_declare(Reader *r, Str name, AtomKind kind, Span at)
{
	static const AtomKind kinds[] = { [ATOM_DIM] = ATOM_DIM, [ATOM_STRIDE] = ATOM_STRIDE, [ATOM_PARAM] = ATOM_PARAM };
	if (name && !rd_put(&r->names, name, (void *)&kinds[kind])) lex_error(&r->l, D_IR_TWICE, at, name);
}

/* Expressions may name what a later line of the header declares, so the lines are looked at twice. */
void rd_declare_names(Reader *r)
{
	Lex back = r->l;
	r->names = (Map){ 0 };
	while (r->l.tok != T_END && !(r->l.nl && lex_is(&r->l, "body"))) {
		bool dim = lex_is(&r->l, "dim"), stride = lex_is(&r->l, "stride");
		bool line = r->l.nl && (dim || stride || lex_is(&r->l, "param"));
		lex_next(&r->l);
		if (!line) continue;
		Span at = lex_span(&r->l);
		Str name = lex_name(&r->l, "a name");
		rd_declare(r, name, dim ? ATOM_DIM : stride ? ATOM_STRIDE : ATOM_PARAM, at);
	}
	if (!r->l.failed) r->l = back;
}

/* ---- kernels ---- */
static Hint read_hint(Reader *r)
{
	Hint h = { .span = lex_span(&r->l) };
	h.name = lex_name(&r->l, "a hint");
	lex_need(&r->l, '(', "`(`");
	while (!r->l.failed && r->l.tok != ')') {
		if (h.n == (int)(sizeof h.v / sizeof *h.v)) {
			lex_expected(&r->l, "`)`");
			break;
		}
		HintValue *v = &h.v[h.n++];
		if (r->l.tok == T_NAME || r->l.tok == T_STRING) {
			v->arch = lex_name(&r->l, "an architecture");
			lex_need(&r->l, ':', "`:`");
		}
		v->value = lex_int(&r->l, "a number");
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ')', "`)`");
	return h;
}

int rd_small(Reader *r, const char *what)
{
	Span at = lex_span(&r->l);
	int64_t v = lex_int(&r->l, what);
	if (v < 0 || v > INT32_MAX) lex_error(&r->l, D_IR_NUMBER, at, str_i64(v), "i32");
	return r->l.failed ? 0 : (int)v;
}

static void read_generic(Reader *r, Fn *fn)
{
	IrGeneric g = { .name = lex_name(&r->l, "a name") };
	lex_need(&r->l, '=', "`=`");
	g.value = rd_string(r, "a string");
	vec_push(A_UNIT, &fn->generics, g);
}

static Fn *read_fn_name(Reader *r)
{
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "a kernel's name");
	Fn *fn = name ? rd_get(&r->fns, name) : NULL;
	if (name && !fn) lex_error(&r->l, D_IR_NAME, at, name, r->l.src->path);
	return fn;
}

static void need_word(Reader *r, const char *word)
{
	if (!lex_accept_word(&r->l, word)) lex_expected(&r->l, str_fmt("`%s`", word));
}

static Fn *read_step(Reader *r)
{
	Fn *fn = read_fn_name(r);
	if (fn) fn->is_step = true;
	return fn;
}

static void read_steps(Reader *r, Fn *fn)
{
	Steps *s = NEW(A_UNIT, Steps);
	s->of = fn;
	ir_add_steps(&r->m->steps, s);
	do vec_push(A_UNIT, &s->fns, read_step(r));
	while (lex_accept(&r->l, ','));
	need_word(r, "guard");
	s->guard = rd_sym(r);
	need_word(r, "gain");
	s->gain = rd_sym(r);
	if (lex_accept_word(&r->l, "on")) s->arch = rd_small(r, "an architecture");
	if (!lex_accept_word(&r->l, "clear")) return;
	s->clears = rd_small(r, "a number");
	need_word(r, "by");
	s->clear = read_step(r);
}

static void read_rows(Reader *r, Fn *fn)
{
	const Sym *below[CUT_LENGTHS];
	fn->row_log2 = rd_small(r, "a number");
	int n = rd_syms(r, CUT_LENGTHS, below);
	for (int i = 0; i < n; i++) vec_push(A_UNIT, &fn->below, below[i]);
	need_word(r, "holds");
	fn->row_regs = rd_small(r, "a number");
	need_word(r, "of");
	fn->row_regs_log2 = rd_small(r, "a number");
	need_word(r, "sure");
	fn->row_sure = rd_small(r, "a number");
	if (lex_accept_word(&r->l, "few")) fn->row_few = rd_small(r, "a number");
	if (lex_accept_word(&r->l, "from")) fn->lanes_least = rd_small(r, "a number");
}

static void read_peeled(Reader *r, Fn *fn)
{
	fn->peel_line = rd_small(r, "a number of bytes");
	need_word(r, "apart");
	fn->peel_apart = rd_small(r, "a number");
	need_word(r, "stage");
	fn->stage_at = lex_int(&r->l, "a number of bytes");
}

static bool read_flag(Reader *r, Fn *fn)
{
	for (int i = 0; i < FN_FLAGS; i++) {
		if (!lex_accept_word(&r->l, irt_fn_flags[i].name)) continue;
		*(bool *)((char *)fn + irt_fn_flags[i].offset) = true;
		return true;
	}
	return false;
}

static uint32_t read_plan(Reader *r)
{
	Str digits = rd_string(r, "a plan");
	return digits ? (uint32_t)strtoul(digits, NULL, 16) : 0;
}

static bool read_fn_line(Reader *r, Fn *fn)
{
	Lex *l = &r->l;
	if (lex_accept_word(l, "source")) fn->source_name = lex_name(l, "a name");
	else if (lex_accept_word(l, "doc")) fn->doc = rd_string(r, "a string");
	else if (lex_accept_word(l, "generic")) read_generic(r, fn);
	else if (lex_accept_word(l, "dim")) vec_push(A_UNIT, &fn->dims, rd_dim(r, false));
	else if (lex_accept_word(l, "stride")) vec_push(A_UNIT, &fn->dims, rd_dim(r, true));
	else if (lex_accept_word(l, "param")) vec_push(A_UNIT, &fn->params, rd_param(r));
	else if (lex_accept_word(l, "grid")) fn->ngrid = rd_syms(r, 4, fn->grid);
	else if (lex_accept_word(l, "sweep")) for (int i = 0; i < fn->ngrid; i++) fn->sweep[i] = rd_small(r, "an axis");
	else if (lex_accept_word(l, "where")) vec_push(A_UNIT, &fn->where, rd_where(r));
	else if (lex_accept_word(l, "hint")) vec_push(A_UNIT, &fn->hints, read_hint(r));
	else if (lex_accept_word(l, "joined")) for (int i = 0; i < 4; i++) fn->joined[i] = (int)lex_int(l, "a number");
	else if (lex_accept_word(l, "plan")) fn->plan = read_plan(r);
	else if (lex_accept_word(l, "ordered")) fn->ordered = true;
	else if (lex_accept_word(l, "no_contract")) fn->no_contract = true;
	else if (lex_accept_word(l, "steps")) read_steps(r, fn);
	else if (lex_accept_word(l, "persistent")) fn->persistent = true;
	else if (lex_accept_word(l, "specific")) fn->specific = true;
	else if (lex_accept_word(l, "arch")) fn->arch = rd_small(r, "a number");
	else if (lex_accept_word(l, "warps")) fn->warps = rd_small(r, "a number");
	else if (lex_accept_word(l, "cluster")) fn->cluster = rd_small(r, "a number");
	else if (lex_accept_word(l, "lanes")) fn->lanes = rd_small(r, "a number");
	else if (lex_accept_word(l, "packed")) fn->packed = rd_small(r, "a number");
	else if (lex_accept_word(l, "shared")) fn->shared_bytes = lex_int(l, "a number of bytes");
	else if (lex_accept_word(l, "warp_bytes")) fn->warp_bytes = lex_int(l, "a number of bytes");
	else if (lex_accept_word(l, "rows")) read_rows(r, fn);
	else if (lex_accept_word(l, "peeled")) read_peeled(r, fn);
	else return read_flag(r, fn);
	return true;
}

static void number_rest(Reader *r)
{
	for (int i = 0; i < r->unnumbered.n; i++) r->unnumbered.p[i]->id = r->fn->nval++;
	r->unnumbered.n = 0;
}

static void read_resident(Reader *r, Version *v)
{
	int n = 0, *blocks = NEW_ARRAY(A_UNIT, int, r->m->archs.n);
	if (!lex_accept_word(&r->l, "resident")) return;
	for (int i = 0; i < r->m->archs.n && !r->l.failed; i++) {
		if (!(v->archs >> i & 1)) continue;
		if (n) lex_need(&r->l, ',', "`,` and the next number");
		blocks[n++] = rd_small(r, "a number of thread blocks");
	}
	v->resident = blocks;
}

/* From the brace on, in which the guard of a version comes first. */
static void read_fn(Reader *r, Fn *fn, Version *v)
{
	lex_need(&r->l, '{', "`{`");
	rd_declare_names(r);
	if (v) {
		need_word(r, "guard");
		v->guard = rd_sym(r);
		if (lex_accept_word(&r->l, "time")) v->time = rd_sym(r);
		read_resident(r, v);
	}
	while (!r->l.failed && read_fn_line(r, fn)) continue;
	if (!lex_accept_word(&r->l, "body")) lex_expected(&r->l, "a line of the kernel's head, or `body`");
	rd_block(r, fn->body);
	lex_need(&r->l, '}', "`}`");
	number_rest(r);
	for (int i = 0; i < fn->params.n && i < fn->body->args.n; i++) fn->params.p[i].val = fn->body->args.p[i];
}

static void read_kernel(Reader *r)
{
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "a kernel's name");
	if (!name) return;
	Fn *fn = r->fn = ir_fn(name, at);
	r->owner = name;
	r->values = (Map){ 0 };
	if (!rd_put(&r->fns, name, fn)) lex_error(&r->l, D_IR_TWICE, at, name);
	if (lex_accept_word(&r->l, "placed")) fn->stage = STAGE_PLACED;
	else if (!lex_accept_word(&r->l, "typed")) lex_expected(&r->l, "`typed` or `placed`");
	read_fn(r, fn, NULL);
	vec_push(A_UNIT, &r->m->fns, fn);
}

/* ---- versions ---- */
/* sm_90a */
static IrArch read_arch(Reader *r)
{
	IrArch a = { 0, false };
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "an architecture");
	if (!name) return a;
	const char *p = name;
	if (strncmp(p, "sm_", 3)) p = "";
	else for (p += 3; *p >= '0' && *p <= '9' && a.number < 1000; p++) a.number = 10 * a.number + (*p - '0');
	a.specific = *p == 'a';
	if (!a.number || p[a.specific]) lex_error(&r->l, D_IR_NAME, at, name, r->l.src->path);
	return a;
}

static void read_archs(Reader *r)
{
	do vec_push(A_UNIT, &r->m->archs, read_arch(r));
	while (lex_accept(&r->l, ','));
}

static uint32_t read_served(Reader *r)
{
	uint32_t set = 0;
	do {
		Span at = lex_span(&r->l);
		IrArch a = read_arch(r);
		int i = 0;
		while (i < r->m->archs.n && (r->m->archs.p[i].number != a.number || r->m->archs.p[i].specific != a.specific))
			i++;
		if (i == r->m->archs.n || i > 31) lex_error(&r->l, D_IR_NAME, at, str_fmt("sm_%d", a.number), "archs");
		else set |= (uint32_t)1 << i;
	} while (lex_accept(&r->l, ','));
	return set;
}

static void read_version(Reader *r)
{
	Span at = lex_span(&r->l);
	Version v = { .of = read_fn_name(r) };
	v.name = rd_string(r, "a version's name in quotes");
	need_word(r, "for");
	v.archs = read_served(r);
	if (r->l.failed) return;
	v.fn = r->fn = ir_fn(v.of->name, at);
	v.fn->stage = STAGE_PLACED;
	r->owner = v.of->name;
	r->values = (Map){ 0 };
	read_fn(r, v.fn, &v);
	vec_push(A_UNIT, &r->m->versions, v);
}

/* Their text is not needed: as many lines are. */
static void read_file(Reader *r)
{
	Span at = lex_span(&r->l);
	int64_t number = lex_int(&r->l, "a number");
	Str path = rd_string(r, "a path in quotes");
	int64_t lines = lex_int(&r->l, "a number of lines");
	if (!r->l.failed && (number != r->files.n || lines < 1 || lines > SRC_MOST))
		lex_error(&r->l, D_IR_NUMBER, at, str_i64(number), "file");
	if (r->l.failed) return;
	size_t ends = (size_t)lines - 1;
	Src *src = src_add(path, memset(arena_alloc(A_UNIT, (size_t)lines), '\n', ends), ends);
	if (src) vec_push(A_UNIT, &r->files, src);
	else lex_error(&r->l, D_IR_NUMBER, at, str_i64(lines), "file");
}

/* ---- modules ---- */
Module *ir_read(Src *src)
{
	Reader r = { .l = { .src = src } };
	lex_next(&r.l);
	if (!lex_accept_word(&r.l, "module")) lex_expected(&r.l, "`module`");
	Str path = rd_string(&r, "the path of the module in quotes");
	r.m = ir_module(path);
	vec_push(A_UNIT, &r.m->sources, src);
	while (!r.l.failed && r.l.tok != T_END) {
		if (lex_accept_word(&r.l, "kernel")) read_kernel(&r);
		else if (lex_accept_word(&r.l, "file")) read_file(&r);
		else if (lex_accept_word(&r.l, "archs")) read_archs(&r);
		else if (lex_accept_word(&r.l, "version")) read_version(&r);
		else if (lex_accept_word(&r.l, "entry")) rd_entry(&r);
		else lex_expected(&r.l, "`kernel`, `version` or `entry`");
	}
	if (r.l.failed) return NULL;
	Span at = { 0, 0 };
	const char *why = irt_check(r.m, &at);
	if (why) diag(D_IR_INVALID, at, why);
	return why ? NULL : r.m;
}
