/* See machine.h. */
#include "base/machine.h"

static const Machine machines[] = {
#define MACHINE(...) { __VA_ARGS__ },
#include "base/machine.def"
#undef MACHINE
};
enum { MACHINES = sizeof machines / sizeof *machines };

const Machine *machine_of(int number)
{
	int i = MACHINES - 1;
	while (i > 0 && machines[i].number > number) i--;
	return &machines[i];
}

static int chosen(int a, int b, int most) { return most ? (a > b ? a : b) : (a < b ? a : b); }

static Machine of_rows(const Machine *from, int most)
{
	Machine m = *from;
	for (const Machine *r = from + 1; r < machines + MACHINES; r++) {
		m.threads = chosen(m.threads, r->threads, most);
		m.blocks = chosen(m.blocks, r->blocks, most);
		m.registers = chosen(m.registers, r->registers, most);
		m.shared = chosen(m.shared, r->shared, most);
		m.shared_block = chosen(m.shared_block, r->shared_block, most);
		m.cluster = chosen(m.cluster, r->cluster, most);
		m.l2_percent = chosen(m.l2_percent, r->l2_percent, most);
		m.sms = chosen(m.sms, r->sms, most);
	}
	return m;
}

Machine machine_least(int number) { return of_rows(machine_of(number), 0); }
int machine_registers(void) { return machine_least(0).registers; }
Machine machine_most(void) { return of_rows(machines, 1); }
