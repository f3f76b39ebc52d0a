/* Shared memory of other thread blocks of the cluster. Whoever reaches into it must know that the block has begun, and
 * before the block ends one of its warps must know that this is over: else another order of things would find no block
 * there. Both are asked of clocks, so a breach is found in whatever order warps happen to run. */
#include "sim/group.h"

static bool knows(const Unit *u, int rank, int actor, uint32_t clock)   /* a warp of thread block rank? */
{
	int per = u->nwarp / u->nrank;
	for (int i = rank * per; i < (rank + 1) * per; i++)
		if (u->warp[i].clock[actor] >= clock) return true;
	return false;
}

void cluster_met(Warp *w)
{
	for (int i = 0; i < w->u->nwarp; i++)
		if (!w->clock[i]) w->clock[i] = 1;
}

bool cluster_reach(Warp *w, int rank)
{
	Unit *u = w->u;
	int per = u->nwarp / u->nrank, i = rank * per;
	if (rank == w->rank) return true;
	while (i < (rank + 1) * per && !w->clock[i]) i++;
	if (i == (rank + 1) * per) {
		sim_fault(w, "reaches into thread block %d, of which it does not know that it has begun", rank);
		return false;
	}
	u->reach[w->index * u->nrank + rank] = (Reach){ w->clock[w->index], w->at };
	return true;
}

void cluster_end(Unit *u)
{
	for (int i = 0; i < u->nwarp; i++)
		for (int rank = 0; rank < u->nrank && !sim_failed(u->r); rank++) {
			const Reach *k = &u->reach[i * u->nrank + rank];
			if (!k->clock || knows(u, rank, i, k->clock)) continue;
			u->warp[i].at = k->at;
			sim_fault(&u->warp[i],
				"thread block %d may have ended when this reaches it: none of its warps waits for it", rank);
		}
	for (int rank = 0; rank < u->nrank; rank++)
		for (int bar = 0; bar < u->r->nmbar && !sim_failed(u->r); bar++) {
			uint32_t clock = u->shared[rank].mbar[bar].filled;
			if (clock && !knows(u, rank, actor_of_mbar(u, rank, bar), clock))
				sim_fault(&u->warp[rank * (u->nwarp / u->nrank)],
					"ends while copies that mbarrier %d counts may still arrive: no warp waits for them", bar);
		}
}
