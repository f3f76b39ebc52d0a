/* What the driver asks of the emitters. Each emitter appends a whole file to an Out; none of them fails: what a target
 * cannot do is reported (D_NOT_SUPPORTED) by its check before anything is printed. */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H
#include "ir/ir.h"

typedef enum TargetId {
#define TARGET(id, name, suffix, doc) TARGET_##id,
#include "emit/targets.def"
	TARGET_COUNT
} TargetId;
typedef struct TargetRow { const char *name, *suffix, *doc; } TargetRow;
extern const TargetRow target_rows[TARGET_COUNT];

typedef struct ArchRow { const char *name; int number; bool specific; const char *doc; } ArchRow;
extern const ArchRow arch_rows[];
extern const int arch_count;
typedef VEC(const ArchRow *) ArchVec;
const ArchRow *arch_by_name(const char *name);


typedef struct TileVersion { int number; const char *name; } TileVersion;
extern const TileVersion tile_versions[];
extern const int tile_version_count;

typedef enum TileFeature {
#define TILE_FEATURE(id, since, what, before) TILE_##id,
#include "emit/targets.def"
	TILE_FEATURE_COUNT
} TileFeature;
typedef struct TileFeatureRow { int since; const char *what, *before; } TileFeatureRow;
extern const TileFeatureRow tile_feature_rows[TILE_FEATURE_COUNT];
const char *tile_version_name(int number);

typedef enum LineMode { LINE_ON, LINE_OFF, LINE_ABS } LineMode;

typedef struct EmitOptions {
	Str version;                    /* "0.1.0": for the first comment */
	Str header_name;  /* what the output includes: the header's file name, without folder; NULL: prototypes only */
	Str output_name;                /* its path as #line has it, for lines of its own */
	Str ns;                         /* --namespace: an inline C++ section in the header; or NULL */
	LineMode line;
	Str (*abs_path)(Str path);      /* for LINE_ABS */
	bool checked;
	int opt;                        /* 0 to 3 */
	ArchVec archs;                  /* in increasing order */
	ArchVec tile_archs;             /* the same, of target cuda: which Beside serves */
	int tile_version;               /* the CUDA Tile C++ that may be used: the number of a row */
} EmitOptions;

/* Kernels of another target in a file of target cuda. A launcher takes them on the devices for which nvcc compiled them
 * (CT_TILES, ct_on_tiles: emit_cuda/beside.c). All that they bring stands in namespace ct_tiled. */
typedef struct Beside {
	void *part;             /* what the functions know */
	void (*kernels)(Out *o, void *part);    /* o: the file */
	void (*runners)(Out *o, void *part);  /* ct_run_<fn>, with the parameters of the file's own; after host_prologue */
	bool (*has)(const void *part, const char *fn);  /* is there a kernel of that name? */
} Beside;

/* Prints of each kernel the version for aligned tensors, or for all calls, once for the architectures that share it,
 * whose names `arches` lists. false: print said so of one. */
typedef bool KernelPrinter(Out *o, const Module *m, const Version *v, Str arches, Str more);
bool emit_kernels(Out *o, const Module *m, const EmitOptions *opt, KernelPrinter *print, Str more);

void emit_header(Out *o, const Module *m, const EmitOptions *opt);      /* the same bytes for every target */
/* `#include "name.h"`; where there is no header, or none that could be named so, what it holds. */
void emit_include(Out *o, const Module *m, const EmitOptions *opt);
#endif
