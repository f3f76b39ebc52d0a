/* Kernels with a loop of matrix products whose factors come ahead of them: what the files of pass pipeline share.
 *
 *	pipeline_find.c         which kernels: conditions on the loop, its loads and its sums
 *	pipeline_plan.c         which plans: shapes of tiles and clusters, by what they cost over the
 * 	calls that users may make
 *	pipeline_retile.c       tiles of the size that tensor cores do best with, by several blocks of
 * 	the author's or parts of one
 *	pipeline_transpose.c    the transposed kernel, whose columns are the author's rows
 *	pipeline_layout.c       layouts of what stands around the loop, which follow from the accumulators'
 *	pipeline.c              the placed kernel of roles, and the role of the producer; pipeline_write.h says where
 *	                        the rest is: rings, the walk over tiles, consumers, epilogue, shared tiles
 *	streamk.c              pass streamk: a version with workspace, in which blocks share the iterations of a tile
 *	pipeline_stages.c       the placed kernel of several stages: copies by all threads, products by mma.sync */
#ifndef LOWER_PIPELINE_H
#define LOWER_PIPELINE_H
#include "lower/placed.h"

enum {
	PIPE_LOADS = 8, PIPE_PRODUCTS = 4,      /* of a loop, at most */
	PIPE_GROUPS = 3, PIPE_PLANS = 5,        /* of consumers; of a kernel: at most */
	PIPE_STAGE_PLANS = 2,                   /* of several stages */
	PIPE_ROWS_LOG2 = 6,                     /* of a group's tile: those of one wgmma, */
	PIPE_COLS = 256,                        /* and its columns, at most; several sums share them */
	PIPE_COLS_LEAST = 64, PIPE_COLS_STEP = 64,      /* and at least; from one plan to the next, */
	PIPE_COLS_FINE = 32,                    /* where the second factor is contiguous along the depth */
	PIPE_PART_LOG2 = 6,                     /* columns of the parts in which what follows the loop is done */
	PIPE_SPAN = 128                         /* bytes of a row of the widest swizzle */
};

/* How the tiles of a loop of products are dealt out: what pipe_retile makes of the kernel, and the writer follows. */
typedef struct PipePlan {
	int groups;             /* warpgroups that multiply, each rows of its own; 1: all threads of several stages */
	int rows;               /* of the sums of a group */
	int cols;               /* of the sums of a group; 0: as many as the author's tile has */
	int depth;              /* bytes of an iteration along the depth */
	/* thread blocks whose tiles are neighbours along an axis of the sums, and that share what does not differ */
	int cluster;
	int axis;               /* that axis */
	bool transposed;        /* of the transposed kernel (pipeline_transpose.c), whose sums these are */
	int warps[2];           /* of several stages: log2 of those along rows, along columns */
} PipePlan;

/* A load whose tile is a factor of products. */
typedef struct PipeLoad {
	Op *op;
	bool second;            /* the product's second factor, else its first */
	int depth_axis;         /* of the tile: along it products are summed */
	bool along_depth;       /* memory is contiguous along it, else along rows or columns */
	bool differs;           /* each group multiplies rows of its own */
	bool shared;            /* the thread blocks of a cluster multiply the same */
} PipeLoad;

typedef struct PipeProduct {
	Op *op;
	int load[2];            /* of its factors */
	int sum;                /* which of the loop's carried values it adds to */
} PipeProduct;

typedef struct Pipe {
	Fn *fn;
	Op *loop;
	PipeLoad load[PIPE_LOADS];
	PipeProduct product[PIPE_PRODUCTS];
	int loads, products;
	int row_axis, col_axis; /* of the grid: neighbours have other rows, other columns */
	PipePlan plan;
	int reps;  /* blocks of the kernel, neighbours along col_axis, whose sums are side by side in one group */
} Pipe;

bool pipe_stores_by_engine(const Pipe *p);      /* all tiles around the loop whose sums are stored as 16 bits */
bool pipe_transpose(Fn *fn);                    /* TYPED, in place; false: it cannot be, and is spoilt */
bool pipe_find(Pipe *p, Fn *fn);                /* TYPED. false: the kernel has no such loop, or more than that */
/* Tiles of 64 rows and a power of two of columns, of which a plan joins any number; iterations of 128 bytes along the
 * depth. p is found again. false: they cannot be had. */
bool pipe_retile(Pipe *p, const PipePlan *plan, const LowerCx *cx);
/* A copy of the kernel for what stands around the loop, by parts of the columns: so few values live at once beside the
 * sums. Log2 of the parts; 0: it is done at once. */
int pipe_part(const Pipe *p, Pipe *part, const LowerCx *cx);
/* along which neighbours' tiles can be joined along an axis of the sums; -1: none */
int pipe_grid_axis(Pipe *p, int of_sums);
bool pipe_starts_with_constants(const Pipe *p); /* the sums do */
/* The plans that serve the calls that users may make best, each with its time for a call, of a kernel that was found;
 * 0: of those that join tiles along both axes there is none. */
typedef struct PipeChoice { PipePlan plan; const Sym *time; } PipeChoice;
int pipe_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS]);
/* The same of plans whose last waves' iterations are dealt out, for calls with workspace that they serve better. */
int pipe_stream_k_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS]);
int pipe_places(const LowerCx *cx, const PipePlan *plan);       /* clusters that run at once */
/* How tiles are shared out where iterations are dealt: waves of whole tiles; iterations of a share, of a tile (with
 * some after its last one, perhaps, in which nothing is done), of all tiles that are dealt out. */
typedef struct PipeStreamK { const Sym *waves, *each, *iterations, *rest; } PipeStreamK;
PipeStreamK pipe_stream_k(const Sym *tiles, const Sym *iterations, int places);
bool pipe_wanted(const Fn *fn, const LowerCx *cx);              /* no hint stands against roles */
bool pipe_has_roles(const Pipe *p);                             /* of its elements products by wgmma do */
bool pipe_may_stream_k(const Pipe *p);                      /* iterations 0, 1 ... that add to zero */
/* Sets Val.lay of all tiles outside of the loop, given that of each product's sum; false: some has none, or two. */
bool pipe_layouts(const Pipe *p, const Lay *sums);
int pipe_stage_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS]);     /* the same for several stages */
PipePlan pipe_own_stages(const Pipe *p);         /* of tiles as the author has them */
Fn *pipe_stages(Fn *typed, const PipePlan *plan, const LowerCx *cx);    /* NULL: the plan does not suit the kernel */
Lay pipe_sum_layout(const Type *t);             /* of an accumulator of wgmma */
#endif
