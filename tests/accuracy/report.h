/* The greatest error so far, and lines of JSON: the machine, then a function each. */
#ifndef REPORT_H
#define REPORT_H

#include <inttypes.h>
#include <stdio.h>

#include "measure.h"

static void note(Worst *w, const Verdict *v, uint64_t at, double b)
{
	if (v->ulp > w->ulp)
		w->ulp = v->ulp, w->ulp_at = at, w->ulp_b = b;
	if (v->part > w->part)
		w->part = v->part, w->part_at = at, w->part_b = b;
	if (v->fault >= 0 && w->faults[v->fault]++ == 0)
		w->fault_at[v->fault] = at, w->fault_b[v->fault] = b;
}

static void report_machine(const char *target, const char *machine)
{
	printf("{\"target\": \"%s\", \"machine\": \"%s\"}\n", target, machine);
	fflush(stdout);
}

static void report_operands(const char *name, const Row *r, uint64_t at, double b)
{
	double a = r->in == F64 ? of_bits(at) : element(r->in, r->in == F32 ? (uint32_t)at : (uint32_t)at & 0xffff);

	printf(", \"%s\": \"%a", name, a);
	if (r->arity == 2)
		printf(", %a", r->in == F64 ? b : element(r->in, r->in == F32 ? (uint32_t)(at >> 32) : (uint32_t)(at >> 16)));
	printf("\"");
}

static void report(const char *target, const Row *r, uint64_t all, const Worst *w, double seconds)
{
	static const char *const faults[FAULTS] = { "nan", "inf", "sign", "direction" };

	printf("{\"target\": \"%s\", \"function\": \"%s\", \"type\": \"%s\", \"inputs\": %" PRIu64 ", \"planned\": %" PRIu64 ", \"ulp\": %.6f",
		target, r->name, r->type, w->inputs, all, w->ulp);
	report_operands("at", r, w->ulp_at, w->ulp_b);
	if (r->r0 != 0) {
		printf(", \"r0\": %.17g, \"r1\": %.17g, \"part\": %.6f", r->r0, r->r1, w->part);
		report_operands("part_at", r, w->part_at, w->part_b);
	}
	for (int k = 0; k < FAULTS; k++) {
		printf(", \"%s\": %" PRIu64, faults[k], w->faults[k]);
		if (w->faults[k])
			report_operands(k == FAULT_NAN ? "nan_at" : k == FAULT_INF ? "inf_at" : k == FAULT_SIGN ? "sign_at" : "direction_at", r,
				w->fault_at[k], w->fault_b[k]);
	}
	printf(", \"seconds\": %.2f}\n", seconds);
	fflush(stdout);
}

#endif
