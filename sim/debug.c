/* print, assert, check. A tile is printed in row order, through shared memory. */
#include <stdio.h>

#include "base/diag.h"
#include "sim/sim_int.h"

static void print_number(Elem e, Cell c)
{
	if (elem_is_ptr(e)) printf("%p", (void *)(uintptr_t)c.i);
	else if (elem_is_any_float(e)) printf("%g", c.f);
	else if (e == EL_BOOL) printf("%s", c.i ? "true" : "false");
	else if (elem_is_signed(e)) printf("%lld", (long long)c.i);
	else printf("%llu", (unsigned long long)c.i);
}

static const char *print_text(const char *p)    /* up to the next argument */
{
	for (; *p; p++) {
		if (p[0] == '{' && p[1] == '}') break;
		if ((*p == '{' || *p == '}') && p[1] == *p) p++;
		putchar(*p);
	}
	return p;
}

/* Element e of a tile, with the brackets and commas around it. */
static void print_element(const Type *t, int64_t e, Cell c)
{
	if (e) printf(", ");
	for (int a = 0, bits = type_log2_size(t); a < t->rank; bits -= t->log2[a], a++)
		if (!(e & ((INT64_C(1) << bits) - 1))) putchar('[');
	print_number(t->elem, c);
	for (int a = 0, bits = type_log2_size(t); a < t->rank; bits -= t->log2[a], a++)
		if (!(~e & ((INT64_C(1) << bits) - 1))) putchar(']');
}

typedef struct Print { int64_t slot; Map *map; } Print;

void *plan_print(Run *r, const Op *op)
{
	Print *p = NEW(r->mem, Print);
	p->slot = ir_int(op, AT_SLOT, 0);
	p->map = NEW_ARRAY(r->mem, Map, op->nin + 1);
	for (int i = 0; i < op->nin; i++)
		if (type_is_tile(ir_in(op, i)->type)) p->map[i] = map_of(r, *ir_in(op, i)->lay, -1);
	return p;
}

static void fill(Warp *w, const Print *p, const Val *x, const Map *off, int64_t piece)
{
	const SimVal *v = sim_val(w, x);
	int64_t elems = piece_elems(x->type);
	uint32_t lanes = first_lanes(*x->lay, w->num);
	for (int reg = 0; reg < sim_regs(x); reg++) {
		Request q = { .bytes = elem_bytes(x->type->elem) };
		Cell c[LANES];
		for (int l = 0; l < LANES; l++) {
			int64_t f = map_at(off, reg, l, w->num);
			q.at[l] = (uint64_t)(shared_base(w, l) + p->slot + f % elems * q.bytes);
			if (lanes >> l & 1 && f / elems == piece) q.lanes |= (uint32_t)1 << l;
			c[l] = sim_at(v, reg, l);
		}
		shared_store(w, x->type->elem, &q, c);
	}
}

static void print_piece(Warp *w, const Print *p, const Val *x, int64_t piece)
{
	int64_t elems = piece_elems(x->type);
	for (int64_t i = 0; i < elems && !sim_failed(w->u->r); i++) {
		Request q = { .lanes = 1, .bytes = elem_bytes(x->type->elem) };
		Cell c[LANES];
		q.at[0] = (uint64_t)(p->slot + i * q.bytes);
		shared_load(w, x->type->elem, &q, c);
		print_element(x->type, piece * elems + i, c[0]);
	}
}

/* Phases: two for each piece of each tile, in the order of the arguments. The first thread speaks. */
Go run_print(Warp *w, const Step *s)
{
	const Print *p = s->plan;
	const Op *op = s->op;
	const IrAttr *text = ir_attr(op, AT_TEXT);
	const char *at = text ? text->u.s : "";
	bool speaks = !w->num && w->u->r->call->prints;
	int phase = 0;          /* how far the arguments before are */
	for (int i = 0; i <= op->nin; i++) {
		bool now = w->phase == phase && !w->met;        /* the text before argument i was not printed yet */
		if (speaks && now) {
			at = print_text(at);
		} else {
			while (*at && !(at[0] == '{' && at[1] == '}'))
				at += (at[0] == '{' || at[0] == '}') && at[1] == at[0] ? 2 : 1;
		}
		if (*at) at += 2;
		if (i == op->nin) break;
		const Val *x = ir_in(op, i);
		if (!type_is_tile(x->type)) {
			if (speaks && now) print_number(x->type->elem, sim_val(w, x)->p[0]);
			continue;
		}
		int count = (int)(type_size(x->type) / piece_elems(x->type));
		for (; w->phase < phase + 2 * count && w->phase >= phase; w->phase++) {
			if (!sim_sync(w)) return GO_WAIT;
			int k = (w->phase - phase) / 2;
			if (w->phase % 2 == 0) fill(w, p, x, &p->map[i], k);
			else if (!w->num && w->u->r->call->prints) print_piece(w, p, x, k);
		}
		phase += 2 * count;
	}
	if (speaks && !ir_int(op, AT_PARTIAL, 0)) putchar('\n');
	return GO_NEXT;
}

Go run_check(Warp *w, const Step *s)
{
	const Op *op = s->op;
	const Val *c = ir_in(op, 0);
	const IrAttr *text = ir_attr(op, AT_TEXT), *source = ir_attr(op, AT_SOURCE);
	if (op->code != OP_CHECK && !w->u->r->call->checked) return GO_NEXT;
	const SimVal *v = sim_val(w, c);
	for (int k = 0; k < sim_regs(c) * LANES; k++)
		if (!sim_at(v, k / LANES, k % LANES).i) {
			sim_fault(w, "%s failed: %s", op_rows[op->code].name,
				text && *text->u.s ? text->u.s : source ? source->u.s : "check");
			break;
		}
	return GO_NEXT;
}
