/* What the verifier refuses: modules of tests/ir, each broken in one place. */
#include "tests/unit/ir_tools.h"

typedef struct Found { Str name; Val *val; OpCode code; int nth; Op *op; } Found;

static void find(void *ctx, Op *op)
{
	Found *f = ctx;
	for (int i = 0; i < op->nout && f->name; i++)
		if (op->out[i]->name == f->name) f->val = op->out[i];
	for (int r = 0; r < op->nregion && f->name; r++)
		for (int i = 0; i < op->region[r]->args.n; i++)
			if (op->region[r]->args.p[i]->name == f->name) f->val = op->region[r]->args.p[i];
	if (!f->name && op->code == f->code && f->nth-- == 0) f->op = op;
}

static Val *val(Module *m, const char *name)
{
	Found f = { .name = str_intern(name) };
	ir_walk(m->fns.p[0]->body, find, &f);
	if (!f.val) bug("no value %s", name);
	return f.val;
}

static Op *op_nth(Module *m, OpCode code, int nth)
{
	Found f = { .code = code, .nth = nth };
	ir_walk(m->fns.p[0]->body, find, &f);
	if (!f.op) bug("no such op");
	return f.op;
}

static const Type *f32_tile(int log2)
{
	return type_tile(EL_F32, 1, (const uint8_t[]){ (uint8_t)log2 });
}

#define M(name) static void m_##name(Module *m)
M(operand_type) { val(m, "e")->def->in[1] = val(m, "i"); }
M(operand_missing) { val(m, "e")->def->in[0] = NULL; }
M(arity) { val(m, "e")->def->nin = 1; }
M(result_type) { val(m, "e")->type = f32_tile(3); }
M(result_elem) { val(m, "go")->type = type_scalar(EL_I32); }
M(use_later) { val(m, "c")->def->in[1] = val(m, "r"); }
M(use_inner) { op_nth(m, OP_PRINT, 0)->in[0] = val(m, "i"); }
M(use_removed) { ir_remove(val(m, "c")->def); }
M(use_other_kernel) { Fn *f = ir_fn(str_intern("o"), (Span){ 0, 0 }); op_nth(m, OP_PRINT, 0)->in[0] = ir_arg(f->body, type_scalar(EL_I32), NULL); }
M(id_twice) { val(m, "c")->id = val(m, "e")->id; }
M(id_range) { val(m, "c")->id = 1 << 20; }
M(owner) { val(m, "c")->def = val(m, "e")->def; }
M(index) { val(m, "u")->index = 0; }
M(no_return) { ir_remove(m->fns.p[0]->body->last); }
M(early_return) { Op *r = m->fns.p[0]->body->last; ir_move_before(r, r->prev); }
M(no_yield) { ir_remove(op_nth(m, OP_YIELD, 0)); }
M(yield_count) { op_nth(m, OP_YIELD, 2)->nin = 1; }
M(yield_type) { op_nth(m, OP_YIELD, 2)->in[0] = m->fns.p[0]->body->args.p[1]; }
M(break_type) { op_nth(m, OP_BREAK, 0)->in[0] = m->fns.p[0]->body->args.p[1]; }
M(continue_count) { op_nth(m, OP_CONTINUE, 0)->nin = 1; }
M(break_nowhere) { op_nth(m, OP_RETURN, 0)->code = OP_BREAK; }
M(leave_nowhere) { op_nth(m, OP_RETURN, 0)->code = OP_LEAVE; }
M(leave_type) { op_nth(m, OP_LEAVE, 0)->in[0] = val(m, "v"); }
M(condition_bool) { op_nth(m, OP_CONDITION, 0)->in[0] = val(m, "t"); }
M(condition_away) { op_nth(m, OP_CONDITION, 0)->code = OP_YIELD; }
M(if_condition) { val(m, "d")->def->in[0] = val(m, "i"); }
M(if_regions) { val(m, "d")->def->nregion = 1; }
M(for_counter) { val(m, "i")->type = type_scalar(EL_I64); }
M(for_carried) { val(m, "a")->type = f32_tile(5); }
M(for_bounds) { val(m, "w")->def->in[2] = val(m, "v"); }
M(region_owner) { val(m, "d")->def->region[0]->owner = val(m, "w")->def; }
M(links) { val(m, "c")->def->next->prev = NULL; }
M(parent) { val(m, "e")->def->parent = m->fns.p[0]->body; }
M(code) { val(m, "e")->def->code = OP_COUNT; }
M(sugar) { val(m, "e")->def->code = OP_CLAMP; }
M(placed_op) { Op *op = op_nth(m, OP_ASSERT, 0); op->code = OP_BARRIER; op->nin = 0; op->nattr = 0; }
M(attr_missing) { op_nth(m, OP_CONST, 0)->nattr = 0; }
M(attr_order) { IrAttr *a = val(m, "e")->def->attr, t = a[0]; a[0] = a[1]; a[1] = t; }
M(attr_default) { val(m, "e")->def->attr[0].u.i = 0; }
M(attr_word) { val(m, "e")->def->attr[0].u.i = 40; }
M(mode_not_here) { ir_set_int(val(m, "c")->def, AT_ROUNDING, 1); }
M(mode_int) { ir_set_int(val(m, "q")->def, AT_ROUNDING, 1); }
M(value_range) { ir_set_num(op_nth(m, OP_CONST, 0)->out[0]->def, AT_VALUE, (Num){ .i = INT64_MAX }); }
M(value_rounds) { ir_set_num(val(m, "v")->def, AT_VALUE, (Num){ .f = 0.1 }); }
M(text_missing) { op_nth(m, OP_PRINT, 0)->nattr = 0; }
M(early_layout) { ir_set_layout(val(m, "v"), lay_unit(1)); }
M(grid) { m->fns.p[0]->ngrid = 0; }
M(grid_atom) { m->fns.p[0]->grid[0] = sym_atom(ATOM_DIM, str_intern("zz"), 0); }
M(grid_bid) { m->fns.p[0]->grid[0] = sym_atom(ATOM_BID, NULL, 0); }
M(grid_kind) { m->fns.p[0]->grid[0] = sym_atom(ATOM_STRIDE, str_intern("n"), 0); }
M(param_val) { m->fns.p[0]->params.p[1].val = NULL; }
M(param_type) { m->fns.p[0]->params.p[1].elem = EL_U8; }
M(param_stride) { m->fns.p[0]->params.p[0].stride[1] = NULL; }
M(dim_elem) { m->fns.p[0]->dims.p[0].elem = EL_F32; }
M(dim_twice) { m->fns.p[0]->dims.p[1].name = m->fns.p[0]->dims.p[0].name; }
M(type_none) { val(m, "e")->type = NULL; }
M(fn_name) { vec_push(A_UNIT, &m->fns, m->fns.p[0]); }
/* gemm.ir */
M(load_rank) { val(m, "ta")->def->nin--; }
M(load_index) { val(m, "ta")->def->in[1] = val(m, "pad"); }
M(load_pad) { val(m, "ta")->def->in[3] = val(m, "i"); }
M(load_elem) { val(m, "ta")->type = type_with_elem(val(m, "ta")->type, EL_F32); }
M(load_steps) { ir_set_ints(val(m, "ta")->def, AT_STEPS, 1, (const int64_t[]){ 1 }); }
M(store_value) { op_nth(m, OP_STORE, 0)->in[3] = val(m, "acc"); }
M(store_result) { Op *op = op_nth(m, OP_STORE, 0); op->in[0] = val(m, "i"); op->nattr = 0; }
M(mma_inner) { val(m, "next")->def->in[1] = val(m, "ta"); }
M(mma_acc) { val(m, "next")->def->in[2] = val(m, "ta"); }
M(bid_axis) { ir_set_int(val(m, "i")->def, AT_AXIS, 2); }
M(launch_atom) { ir_set_sym(val(m, "kt")->def, AT_SYM, sym_atom(ATOM_VAL, NULL, 3)); }
M(cast_shape) { val(m, "out")->type = type_tile(EL_F16, 1, (const uint8_t[]){ 14 }); }
M(entry_tensor) { m->entries.p[0]->body.p[0]->u.launch.args.p[0].tensor = 9; }
M(entry_kind) { m->entries.p[0]->body.p[0]->u.launch.args.p[0].is_tensor = false; }
M(entry_count) { m->entries.p[0]->body.p[0]->u.launch.args.n = 2; }
M(entry_dims) { m->entries.p[0]->body.p[0]->u.launch.dims.n = 2; }
M(entry_fn) { m->entries.p[0]->body.p[0]->u.launch.variants.p[0].fn = ir_fn(str_intern("q"), (Span){ 0, 0 }); }
M(entry_none) { m->entries.p[0]->body.p[0]->u.launch.variants.n = 0; }
/* host.ir */
M(host_elem) { m->entries.p[0]->params.p[1].elem = EL_F64; }
M(host_num) { m->entries.p[0]->body.p[2]->u.ifs.then.p[2]->u.launch.args.p[4].num.i = 2; }
M(host_rule) { m->entries.p[0]->body.p[2]->u.ifs.other.p[0]->u.ifs.then.p[1]->u.launch.rules.p[0].variant = 2; }
M(host_variants) { m->fns.p[1]->params.n = 4; m->fns.p[1]->body->args.n = 4; }
M(host_let) { m->entries.p[0]->body.p[0]->u.let.name = str_intern("other"); }
M(host_scratch) { m->entries.p[0]->body.p[1]->u.scratch.tensor.is_tensor = false; }
M(host_name) { m->entries.p[0]->name = NULL; }
/* placed.ir */
M(lay_none) { val(m, "b")->lay = NULL; }
M(lay_shape) { ir_set_layout(val(m, "d"), lay_unit(2)); }
M(lay_onto) { Lay l = *val(m, "d")->lay; l.col[0] = l.col[1]; ir_set_layout(val(m, "d"), l); }
M(lay_other) { ir_set_layout(val(m, "b"), *val(m, "c")->lay); }
M(lay_leaves_warp) { val(m, "c")->def->code = OP_CONVERT_REGS; }
M(lay_scalar) { ir_set_layout(val(m, "i"), lay_unit(0)); }
M(lay_warps) { m->fns.p[0]->warps = 2; }
M(many_warps) { m->fns.p[0]->warps = 64; }
M(many_blocks) { m->fns.p[0]->warps = 32; m->fns.p[0]->cluster = 32; }
M(odd_blocks) { m->fns.p[0]->warps = 6; m->fns.p[0]->cluster = 3; }
M(much_shared) { m->fns.p[0]->shared_bytes = (227 << 10) + 1; }
M(packed_warps) { m->fns.p[0]->packed = 2; }
M(packed_lanes) { m->fns.p[1]->lanes = 3; }
M(packed_part) { m->fns.p[1]->packed = 2; }
M(lay_lanes) { m->fns.p[1]->lanes = 4; }
M(buffer_layout) { ir_set_lay(val(m, "buf")->def, AT_LAYOUT, lay_id(2, HW_OFF, 1, 6)); }
M(buffer_onto) { Lay l = *ir_attr(val(m, "buf")->def, AT_LAYOUT)->u.lay; l.col[7] = 0; ir_set_lay(val(m, "buf")->def, AT_LAYOUT, l); }
M(store_view) { Op *op = op_nth(m, OP_STORE, 0); op->code = OP_SCATTER; op->nattr = 0; op->in[0] = val(m, "i"); }
M(buffer_shape) { op_nth(m, OP_STORE_SHARED, 0)->in[1] = val(m, "pad"); }
M(step_grows) { val(m, "e")->type = type_tile(EL_F32, 2, (const uint8_t[]){ 3, 5 }); }
M(step_region) { val(m, "f")->def->nregion = 0; }
M(step_kind) { val(m, "f")->def->nattr = 1; }
M(step_yield) { op_nth(m, OP_YIELD, 0)->in[0] = val(m, "i"); }
M(stage) { m->fns.p[0]->stage = STAGE_TYPED; }
/* window.ir */
M(loads_none) { Op *op = val(m, "a")->def; op->nout = 0; ir_set_ints(op, AT_OFFSETS, 0, NULL); }
M(loads_type) { val(m, "b")->type = f32_tile(7); }
M(loads_elem) { val(m, "a")->type = val(m, "b")->type = type_with_elem(val(m, "a")->type, EL_I32); }
M(loads_index) { val(m, "a")->def->in[1] = val(m, "pad"); }
M(loads_pad) { val(m, "a")->def->in[2] = val(m, "i"); }
M(loads_count) { val(m, "a")->def->nin = 2; }
M(slide_none) { Op *op = val(m, "c")->def; op->nout = 0; ir_set_ints(op, AT_OFFSETS, 0, NULL); }
M(slide_arity) { val(m, "c")->def->nin = 1; }
M(slide_fill) { val(m, "c")->def->in[1] = val(m, "i"); }
M(slide_type) { val(m, "d")->type = f32_tile(7); }
M(slide_tile) { Op *op = val(m, "c")->def; op->in[0] = val(m, "pad"); }
/* steps.ir */
M(steps_none) { m->steps.p[0]->fns.p[0]->is_step = false; }
M(steps_within)
{
	Steps *s = NEW(A_UNIT, Steps);
	s->of = m->steps.p[0]->fns.p[1];
	ir_add_steps(&m->steps, s);
}
M(steps_params) { Steps *s = m->steps.p[0]; vec_push(A_UNIT, &s->of->params, s->fns.p[0]->params.p[s->fns.p[0]->params.n - 1]); }
M(steps_more) { Fn *fn = m->steps.p[0]->fns.p[0]; vec_push(A_UNIT, &fn->params, fn->params.p[0]); }
M(steps_dims) { Fn *fn = m->steps.p[0]->fns.p[1]; vec_push(A_UNIT, &fn->dims, fn->dims.p[0]); }
M(steps_tensor) { const Steps *s = m->steps.p[0]; IrParamVec *v = &s->fns.p[s->fns.n - 1]->params; v->p[v->n - 1].is_tensor = false; }
M(steps_clear) { Steps *s = m->steps.p[0]; s->clear = s->fns.p[0]; }
M(steps_guard) { m->steps.p[0]->guard = sym_atom(ATOM_DIM, str_intern("zz"), 0); }
M(steps_gain) { m->steps.p[0]->gain = sym_atom(ATOM_DIM, str_intern("zz"), 0); }

typedef struct Mutation { const char *file, *name; void (*f)(Module *m); const char *says; } Mutation;
#define X(file, name, says) { file, #name, m_##name, says }
static const Mutation mutations[] = {
	X("control", operand_type, "operands must have one type"), X("control", operand_missing, "operand 0 is missing"),
	X("control", arity, "2 operands needed"), X("control", result_type, "the result must have the operands' type"),
	X("control", result_elem, "the result must be bool"), X("control", use_later, "operand 1 is not defined before this use"),
	X("control", use_inner, "not defined before this use"), X("control", use_removed, "not defined before this use"),
	X("control", use_other_kernel, "not defined before this use"),
	X("control", id_twice, "is used twice"), X("control", id_range, "is outside the kernel's"),
	X("control", owner, "result 0 belongs elsewhere"), X("control", index, "result 1 belongs elsewhere"),
	X("control", no_return, "the block has no end"), X("control", early_return, "the block goes on after its end"),
	X("control", no_yield, "the block has no end"), X("control", yield_count, "1 values given, 2 needed"),
	X("control", yield_type, "values 0: `i32` given, `tile<f32, [4]>` needed"),
	X("control", break_type, "values 0: `i32` given, `tile<f32, [4]>` needed"),
	X("control", continue_count, "1 values given, 2 needed"), X("control", break_nowhere, "no loop to break"),
	X("control", leave_nowhere, "no scope to leave"), X("control", leave_type, "`tile<f32, [4]>` given, `i32` needed"),
	X("control", condition_bool, "the condition must be a bool scalar"), X("control", condition_away, "ends in `condition`"),
	X("control", if_condition, "the condition must be a bool scalar"), X("control", if_regions, "two regions needed"),
	X("control", for_counter, "the counter must have the type of the bounds"), X("control", for_carried, "initial values 0"),
	X("control", for_bounds, "bounds and step must have one type"), X("control", region_owner, "belongs to another operation"),
	X("control", links, "the links of the block are broken"), X("control", parent, "the links of the block are broken"),
	X("control", code, "the operation does not exist"), X("control", sugar, "exists in the language only"),
	X("control", placed_op, "exists in placed kernels only"), X("control", attr_missing, "attribute `value` is missing"),
	X("control", attr_order, "attributes are not in order"), X("control", attr_default, "the default of `rounding` is stored"),
	X("control", attr_word, "is not one of its words"), X("control", mode_not_here, "`rounding` means nothing here"),
	X("control", mode_int, "integers take no `rounding`"), X("control", value_range, "`value` is not a value of the result's type"),
	X("control", value_rounds, "`value` is not a value of the result's type"),
	X("control", text_missing, "attribute `text` is missing"), X("control", early_layout, "has a layout before the kernel is placed"),
	X("control", grid, "the grid needs 1 to 4 extents"), X("control", grid_atom, "`zz` is not declared"),
	X("control", grid_bid, "`bid(0)` is not known at the launch"), X("control", grid_kind, "`n` is not declared"),
	X("control", param_val, "does not know its argument"), X("control", param_type, "argument 1 must be `u8`"),
	X("control", param_stride, "lacks an extent or a stride"), X("control", dim_elem, "must be i32 or i64"),
	X("control", dim_twice, "is declared twice"), X("control", type_none, "result 0 belongs elsewhere"),
	X("control", fn_name, "another kernel has the same name"),
	X("gemm", load_rank, "the number of operands is wrong"), X("gemm", load_index, "operand 1 must be integers"),
	X("gemm", load_pad, "the pad must be a scalar of the element type"), X("gemm", load_elem, "of the element type in memory"),
	X("gemm", load_steps, "one number for each axis"), X("gemm", store_value, "of the element type in memory"),
	X("gemm", store_result, "attribute `steps` is missing"), X("gemm", mma_inner, "inner extents differ"),
	X("gemm", mma_acc, "the result must have the accumulator's type"), X("gemm", bid_axis, "is not an axis of the grid"),
	X("gemm", launch_atom, "is not known at the launch"), X("gemm", cast_shape, "the shape must stay"),
	X("gemm", entry_tensor, "gets no tensor"), X("gemm", entry_kind, "the wrong kind of argument"),
	X("gemm", entry_count, "one argument for each parameter"), X("gemm", entry_dims, "one value for each dimension"),
	X("gemm", entry_fn, "not in the module"), X("gemm", entry_none, "a launch of nothing"),
	X("host", host_elem, "a scalar of another type"), X("host", host_num, "a number of another type"),
	X("host", host_rule, "a variant that does not exist"), X("host", host_variants, "have different signatures"),
	X("host", host_let, "`half` is not declared"), X("host", host_scratch, "is no tensor"), X("host", host_name, "an entry without a name"),
	X("placed", lay_none, "a tile without a layout"), X("placed", lay_shape, "has another shape"),
	X("placed", lay_onto, "leaves out elements"), X("placed", lay_other, "must share one layout"),
	X("placed", lay_leaves_warp, "the data would leave its thread"), X("placed", lay_scalar, "is no tile and has a layout"),
	X("placed", lay_warps, "has more warps than the kernel"),
	X("placed", many_warps, "at most 1024 threads"), X("placed", many_blocks, "at most 16 thread blocks"),
	X("placed", odd_blocks, "a power of two"), X("placed", much_shared, "at most 227 KiB"),
	X("placed", packed_warps, "have no shared memory"), X("placed", packed_lanes, "are a power of two, or a warp"),
	X("placed", packed_part, "a thread block consists of whole warps"), X("placed", lay_lanes, "has more lanes than the tile block"),
	X("placed", buffer_layout, "`layout` has another shape"), X("placed", buffer_onto, "`layout` leaves out elements"),
	X("placed", store_view, "the first operand must be a view"),
	X("placed", buffer_shape, "the buffer's shape"), X("placed", step_grows, "the other extents must stay"),
	X("placed", step_region, "a region belongs to `kind = custom`"), X("placed", step_kind, "a region belongs to `kind = custom`"),
	X("placed", step_yield, "must be a scalar of the result's element type"), X("placed", stage, "before the kernel is placed"),
	X("window", loads_none, "a view, indices, a pad, and results needed"), X("window", loads_type, "the results must have one type"),
	X("window", loads_elem, "tiles of the view's rank and elements"), X("window", loads_index, "operand 1 must be an integer scalar"),
	X("window", loads_pad, "the pad must be a scalar of the element type"), X("window", loads_count, "one index for each axis and a pad needed"),
	X("window", slide_none, "a tile, a fill, and results needed"), X("window", slide_fill, "the fill must be a scalar of the element type"),
	X("window", slide_type, "the results must have the tile's type"), X("window", slide_tile, "is not an axis of the operand"),
	X("window", slide_arity, "a tile, a fill, and results needed"),
	X("steps", steps_none, "is a step of another kernel"), X("steps", steps_within, "is a step of another kernel"),
	X("steps", steps_params, "takes what its kernel takes, and workspace"), X("steps", steps_more, "takes what its kernel takes, and workspace"),
	X("steps", steps_dims, "has the dimensions of its kernel"), X("steps", steps_tensor, "has in workspace is a tensor"),
	X("steps", steps_clear, "takes nothing else"), X("steps", steps_guard, "`zz` is not declared"), X("steps", steps_gain, "`zz` is not declared"),
};

static void verifier(void)
{
	for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
		const Mutation *x = &mutations[i];
		Module *m = read_text(x->file, load("tests/ir", str_fmt("%s.ir", x->file)));
		if (!m) {
			FAIL("%s: %s", x->file, reported());
			continue;
		}
		x->f(m);
		const char *why = ir_check(m);
		if (!why || !strstr(why, x->says)) FAIL("%s.%s: wanted `%s`, got `%s`", x->file, x->name, x->says, why ? why : "nothing");
	}
}

int main(void)
{
	start();
	verifier();
	return finish("verifier");
}
