/* fault FILE SIZES: what the simulator says about placed kernels whose protocol nobody checked. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim.h"

int main(int argc, char **argv)
{
	size_t n;
	const char *why = NULL;
	EmitOptions eo = { 0 };
	if (argc < 3) return 2;
	A_UNIT = arena_new();
	A_TMP = arena_new();
	ir_trusts_protocols = true;
	char *text = src_read(argv[1], &n, &why);
	Module *m = text ? ir_read(src_add(str_intern("broken.tir"), text, n)) : NULL;
	if (!m) {
		diag_flush(stdout);
		return 1;
	}
	vec_push(A_UNIT, &eo.archs, arch_by_name("sm_90a"));
	vec_push(A_UNIT, &m->archs, ((IrArch){ 90, true }));
	for (int i = 0; i < m->fns.n; i++)
		vec_push(A_UNIT, &m->versions, ((Version){ m->fns.p[i], str_intern(""), sym_const(1), 1, m->fns.p[i], NULL }));
	Out *o = out_new();
	bool sound = sim_report(o, m, &eo, str_intern(argv[2]));
	fputs(o->p, stdout);
	return !sound;
}
