/* Numbers of devices: machine.def has them, with their sources. Nothing else in the compiler holds one. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

/* On all architectures alike (CUDA C++ Programming Guide, "SIMT Architecture", "Device Memory Accesses", "Technical
 * Specifications per Compute Capability"): lanes of a warp, warps and threads of a thread block, at most; bytes of the
 * widest access of a thread, of a sector of memory, of a line; registers of a thread, at most, how many of them are
 * given at once, and to how many warps; log2 of the thread blocks of a cluster that every device runs which runs
 * clusters; threads of a warpgroup, and by how many registers of a thread setmaxnreg goes (PTX ISA). */
enum {
	LANES_LOG2 = 5, LANES = 1 << LANES_LOG2,
	BLOCK_WARPS_LOG2 = 5, BLOCK_THREADS = LANES << BLOCK_WARPS_LOG2,
	VECTOR_LOG2 = 4, VECTOR_BYTES = 1 << VECTOR_LOG2,
	SECTOR_LOG2 = 5, SECTOR = 1 << SECTOR_LOG2,
	LINE_LOG2 = 7, LINE = 1 << LINE_LOG2,
	REGS_MOST = 255, REGS_UNIT = 8, REGS_WARPS = 4,
	CLUSTER_PORTABLE = 3,
	WARPGROUP = 128, WARPGROUP_REGS = 8
};

/* Of one architecture, where a constant is needed: bytes of shared memory of a thread block, thread blocks of the
 * largest cluster; and log2 of the largest of all. */
enum {
#define MACHINE(number, threads, blocks, registers, shared, shared_block, cluster, ...) \
	MACHINE_SHARED_##number = (shared_block) << 10, MACHINE_CLUSTER_##number = cluster,
#include "base/machine.def"
#undef MACHINE
	CLUSTER_WIDE = 4
};
_Static_assert(1 << CLUSTER_WIDE == MACHINE_CLUSTER_90, "the largest cluster");

typedef struct Machine {
	int number, threads, blocks, registers, shared, shared_block, cluster, l2_percent;
	int sms, mhz, dram, latency, launch;
} Machine;

const Machine *machine_of(int number);          /* the newest row that is not above it */
/* of each number the least of all rows from it on: what runs everywhere has to do with */
Machine machine_least(int number);
int machine_registers(void);                    /* of a multiprocessor, the same in all rows */
Machine machine_most(void);                     /* and the most of all rows */
#endif
