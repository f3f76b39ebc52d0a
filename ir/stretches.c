/* Registers by stretches between waits; see stretches.h. */
#include "ir/stretches.h"

#include "base/arena.h"
#include "base/cost.h"

typedef struct Stretch { int kept, in, out, sinks; } Stretch;

static void add(Stretch *s, const Life *l, int at)
{
	int middle = 2 * at;
	bool before = l->begin < middle && l->end >= middle, after = l->begin <= middle && l->end > middle;
	if (before && after) s->kept += l->words;
	else if (before && l->sinks && l->begin > middle - 2) s->sinks += l->words;
	else if (before) s->in += l->words;
	else if (after) s->out += l->words;
}

static int words_in(const Stretch *s)
{
	int sinks = s->sinks, in = s->in, beside = s->kept + (in > s->out ? in : s->out);
	if (beside >= COST_PASSING_BESIDE && sinks > COST_PASSING) sinks = COST_PASSING;
	in += sinks;
	return s->kept + (in > s->out ? in : s->out);
}

int stretches_most(const Life *life, int n, int last, int *where)
{
	ArenaMark mark = arena_mark(A_TMP);
	Stretch *s = NEW_ARRAY(A_TMP, Stretch, last + 1);
	int most = 0;
	*where = 0;
	for (int i = 0; i < n; i++)
		for (int at = (life[i].begin + 1) / 2; at <= last && 2 * at - 1 <= life[i].end; at++) add(&s[at], &life[i], at);
	for (int at = 1; at <= last; at++)
		if (words_in(&s[at]) > most) most = words_in(&s[at]), *where = at;
	arena_release(A_TMP, mark);
	return most;
}
