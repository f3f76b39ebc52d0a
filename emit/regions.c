/* Structured control flow as C text. */
#include "emit/regions.h"

#include "base/diag.h"

void regions_open(Regions *r, Frame *f, const Op *op, int n, Val *const *like, int first)
{
	*f = (Frame){ r->frame, op, NEW_ARRAY(A_TMP, Str, n), NEW_ARRAY(A_TMP, bool, n), n };
	for (int i = 0; i < n; i++) {
		f->tile[i] = type_is_tile(like[i]->type);
		r->declare(r->g, f, i, like[i], first < 0 ? NULL : ir_in(op, first + i));
	}
}

void regions_bind(Regions *r, Val *const *v, const Frame *f)
{
	for (int i = 0; i < f->n; i++) r->bind(r->g, v[i], f, i);
}

void regions_run(Regions *r, Frame *f, const IrBlock *b)
{
	Frame *up = r->frame;
	r->frame = f;
	r->block(r->g, b);
	r->frame = up;
}

void regions_close(Regions *r, const Op *op, const Frame *f)
{
	regions_bind(r, op->out, f);
	if (r->used) r->used(r->g, f);
}

static void run_indented(Regions *r, Frame *f, const IrBlock *b)
{
	out_in(r->o);
	regions_run(r, f, b);
	out_off(r->o);
}

static void emit_while(Regions *r, const Op *op)
{
	Frame carried, results;
	regions_open(r, &carried, op, op->nin, op->region[0]->args.p, 0);
	regions_open(r, &results, op, op->nout, op->out, -1);
	regions_bind(r, op->region[0]->args.p, &carried);
	out_printf(r->o, "%s {\n", r->forever);
	/* the condition's values go to the results; the body sees them there */
	run_indented(r, &results, op->region[0]);
	regions_bind(r, op->region[1]->args.p, &results);
	Frame body = carried;           /* yield and continue: next iteration; break: the results */
	body.up = &results;
	run_indented(r, &body, op->region[1]);
	out_puts(r->o, "}\n");
	regions_close(r, op, &results);
}

static bool is_empty(const IrBlock *b) { return !b->first || (b->first->code == OP_YIELD && !b->first->nin); }

static void emit_if(Regions *r, const Op *op)
{
	Frame f;
	regions_open(r, &f, op, op->nout, op->out, -1);
	out_printf(r->o, "if (%s) {\n", r->scalar(r->g, ir_in(op, 0)));
	run_indented(r, &f, op->region[0]);
	if (!is_empty(op->region[1])) {
		out_puts(r->o, "} else {\n");
		run_indented(r, &f, op->region[1]);
	}
	out_puts(r->o, "}\n");
	regions_close(r, op, &f);
}

static void emit_scope(Regions *r, const Op *op)
{
	Frame f;
	regions_open(r, &f, op, op->nout, op->out, -1);
	out_puts(r->o, "do {\n");
	run_indented(r, &f, op->region[0]);
	out_puts(r->o, "} while (0);\n");
	regions_close(r, op, &f);
}

static const Frame *frame_of(const Regions *r, OpCode a, OpCode b)
{
	const Frame *f = r->frame;
	while (f && f->op->code != a && f->op->code != b) f = f->up;
	if (!f) bug("a jump without its construct");
	return f;
}

/* The values, then the way out. */
static void jump(Regions *r, const Op *op, const Frame *f, const char *word)
{
	r->assign(r->g, op, 0, f);
	out_puts(r->o, word);
}

bool regions_construct(Regions *r, const Op *op)
{
	const Frame *f;
	switch (op->code) {
	case OP_WHILE: emit_while(r, op); return true;
	case OP_IF: emit_if(r, op); return true;
	case OP_SCOPE_: emit_scope(r, op); return true;
	case OP_YIELD: jump(r, op, r->frame, ""); return true;
	case OP_CONDITION:
		r->assign(r->g, op, 1, r->frame);
		out_printf(r->o, "if (!%s) break;\n", r->scalar(r->g, ir_in(op, 0)));
		return true;
	case OP_BREAK:
		f = frame_of(r, OP_FOR, OP_WHILE);
		/* a while has its results in a frame of their own */
		jump(r, op, f->op->code == OP_WHILE ? f->up : f, "break;\n");
		return true;
	case OP_CONTINUE: jump(r, op, frame_of(r, OP_FOR, OP_WHILE), "continue;\n"); return true;
	case OP_LEAVE: jump(r, op, frame_of(r, OP_SCOPE_, OP_SCOPE_), "break;\n"); return true;
	case OP_RETURN:
		if (op->parent->owner) out_puts(r->o, "return;\n");
		return true;
	default: return false;
	}
}
