/* Which registers of updates of memory a thread combines. */
#include "tests/unit/ir_tools.h"

#include "placed/access.h"

static const char text[] =
	"module \"t.tile\"\n\nkernel add placed {\n\tsource add\n\tdim n: i32\n\tdim m: i32\n"
	"\tparam x: in tensor<f32, [n]> strides [1] right\n\tparam k: in tensor<i32, [n]> strides [1] right\n"
	"\tparam y: inout tensor<f32, [m]> strides [1] right\n\tgrid [cdiv(n, 256)]\n\tarch 90\n\twarps 1\n"
	"\tbody (%%x.0: tensor<f32, [_]>, %%k.1: tensor<i32, [_]>, %%y.2: tensor<f32, [_]>) {\n"
	"\t\t%%3 = bid {axis = 0} : i32\n\t\t%%4 = const {value = 0} : i32\n"
	"\t\t%%5 = load %%k.1, %%3, %%4 {steps = [256]} : tile<i32, [256]> @ %s\n"
	"\t\t%%6 = const {value = 0.0} : f32\n"
	"\t\t%%7 = load %%x.0, %%3, %%6 {steps = [256]} : tile<f32, [256]> @ %s\n"
	"\t\tatomic_rmw %%y.2, %%5, %%7\n\t\treturn\n\t}\n}\n";

static uint32_t run_bits(const char *layout)
{
	Module *m = read_text("t.ir", str_fmt(text, layout, layout));
	if (!m || !m->fns.n) {
		FAIL("%s is not read:\n%s\n", layout, reported());
		return 0;
	}
	for (const Op *op = m->fns.p[0]->body->first; op; op = op->next)
		if (op->code == OP_ATOMIC_RMW) {
			ElementsRun run = elements_run(op);
			CHECK(run.log2 == __builtin_popcount(run.bits));
			return run.bits;
		}
	FAIL("there is no update");
	return 0;
}

int main(void)
{
	start();
	CHECK(run_bits("[256]{reg:(1) (2) (128) lane:(4) (8) (16) (32) (64)}") == 7);
	/* an element that a thread holds twice is added once: the register bit is zero, or the sum of others */
	CHECK(run_bits("[256]{reg:(1) (0) (2) (128) lane:(4) (8) (16) (32) (64)}") == 13);
	CHECK(run_bits("[256]{reg:(1) (2) (3) (128) lane:(4) (8) (16) (32) (64)}") == 11);
	CHECK(run_bits("[256]{reg:(2) (3) (1) (128) lane:(4) (8) (16) (32) (64)}") == 11);
	return finish("accesses");
}
