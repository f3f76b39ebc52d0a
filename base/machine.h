/* Numbers of devices: machine.def has them, with their sources. Nothing else in the compiler holds one. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

/* On all architectures alike (CUDA C++ Programming Guide, "SIMT Architecture", "Device Memory Accesses", "Technical
 * Specifications per Compute Capability"): lanes of a warp, warps and threads of a thread block, at most; bytes of the
 * widest access of a thread, of a sector of memory, of a line; registers of a thread, at most, and how many of them are
 * given at once. */
enum {
	LANES_LOG2 = 5, LANES = 1 << LANES_LOG2,
	BLOCK_WARPS_LOG2 = 5, BLOCK_THREADS = LANES << BLOCK_WARPS_LOG2,
	PIECE_LOG2 = 4, PIECE = 1 << PIECE_LOG2,
	SECTOR_LOG2 = 5, SECTOR = 1 << SECTOR_LOG2,
	LINE_LOG2 = 7, LINE = 1 << LINE_LOG2,
	REGS_MOST = 255, REGS_UNIT = 8
};

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
