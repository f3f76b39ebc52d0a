/* What says something of a whole kernel without being anybody's operand: passes neither drop it nor take it for something that can be moved,
 * and it stands in the kernel's body. */
#include "tests/unit/ir_tools.h"

#include "lower/lower.h"

static const char text[] = "module \"m\"\n"
	"kernel k placed {\n\tsource k\n\tparam x: out tensor<u32, [256]> strides [1] right\n\tgrid [1]\n\tarch 80\n\twarps 1\n"
	"\tbody (%x.0: tensor<u32, [_]>) {\n"
	"\t\t%1 = const {value = 0} : i32\n"
	"\t\t%2 = const {value = 0} : tile<u32, [256]> @ [256]{reg:(1) (2) (128) lane:(4) (8) (16) (32) (64)}\n"
	"\t\t%3 = phase %x.0, %1 {steps = [256], count = 256} : i32\n"
	"\t\t%4 = const {value = 7} : i32\n"
	"\t\tstore %x.0, %1, %2 {steps = [256], inside = [1]}\n"
	"\t\treturn\n\t}\n}\n";

static int count(const Fn *fn, OpCode code)
{
	int n = 0;
	for (const Op *op = fn->body->first; op; op = op->next) n += op->code == code;
	return n;
}

int main(void)
{
	start();
	Module *m = read_text("m.tir", text);
	if (!m) bug("not read: %s", reported());
	Fn *fn = m->fns.p[0];
	for (const Op *op = fn->body->first; op; op = op->next) CHECK(op->code != OP_PHASE || !op_is_pure(op));
	CHECK(count(fn, OP_CONST) == 3 && count(fn, OP_PHASE) == 1);
	drop_dead(fn);
	CHECK(count(fn, OP_CONST) == 2 && count(fn, OP_PHASE) == 1);    /* the number that nobody takes is gone */
	return finish("what stays");
}
