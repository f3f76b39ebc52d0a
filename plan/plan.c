/* A plan as a number and in words. */
#include "plan/plan.h"

#include "base/out.h"

static const PlanRange ranges[PC_COUNT] = {
#define COORD(id, name, least, most, doc) { least, most },
#include "plan/coords.def"
#undef COORD
};

const char *const plan_coord_name[PC_COUNT] = {
#define COORD(id, name, least, most, doc) name,
#include "plan/coords.def"
#undef COORD
};

enum { DIGIT = 4, DIGIT_MASK = 15 };

PlanRange plan_range(Coord c) { return ranges[c]; }

uint32_t plan_digit(Coord c, int value) { return (uint32_t)(value - ranges[c].least + 1) << c * DIGIT; }

uint32_t plan_id(const Plan *p)
{
	uint32_t id = 0;
	for (int c = 0; c < PC_COUNT; c++) id |= plan_digit((Coord)c, p->at[c]);
	return id;
}

uint32_t plan_digits_below(Coord c) { return ((uint32_t)1 << c * DIGIT) - 1; }

static int digit(uint32_t id, Coord c) { return (int)(id >> c * DIGIT) & DIGIT_MASK; }

bool plan_pins(uint32_t id, Coord c, int *value)
{
	*value = digit(id, c) - 1 + ranges[c].least;
	return digit(id, c) != 0;
}

bool plan_id_ok(uint32_t id, Coord *wrong)
{
	for (int c = 0; c < PC_COUNT; c++) {
		*wrong = (Coord)c;
		if (digit(id, (Coord)c) > ranges[c].most - ranges[c].least + 1) return false;
	}
	return true;
}

Str plan_id_text(uint32_t id) { return str_fmt("%x", (unsigned)id); }

bool plan_id_read(const char *text, size_t n, uint32_t *id)
{
	*id = 0;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (d < 0) return false;
		*id = *id << DIGIT | (uint32_t)d;
	}
	return n > 0 && n <= 8;
}

static void counted(Out *o, int log2, const char *thing)
{
	out_printf(o, "%d %s%s", 1 << log2, thing, log2 ? "s" : "");
}

Str plan_text(const Plan *p)
{
	Out *o = out_new();
	counted(o, p->at[PC_WARPS], "warp");
	if (p->at[PC_CLUSTER]) out_printf(o, ", clusters of %d thread blocks", 1 << p->at[PC_CLUSTER]);
	if (p->at[PC_PACK]) out_printf(o, ", %d tile blocks a thread block", 1 << p->at[PC_PACK]);
	if (p->at[PC_BLOCKS]) out_printf(o, ", %d thread blocks a multiprocessor", p->at[PC_BLOCKS]);
	for (int g = 0; g < 4; g++) {
		int n = p->at[PC_GRID0 + g];
		if (n > 0) out_printf(o, ", %d joined along axis %d", 1 << n, g);
		if (n < 0) out_printf(o, ", divided into %d along axis %d", 1 << -n, g);
	}
	Str r = str_intern(o->p);
	out_free(o);
	return r;
}
