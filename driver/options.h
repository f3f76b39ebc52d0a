/* The command line: one table (options.def), one reader, one structure with what was asked for. */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H
#include <stdbool.h>
#include "base/diag.h"
#include "base/out.h"
#include "base/vec.h"
#include "emit/emit.h"

typedef enum OptId {
#define GROUP(title)
#define OPT(id, spellings, argument, metavar, words, help) OPT_##id,
#include "driver/options.def"
#undef OPT
#undef GROUP
	OPT_COUNT
} OptId;

typedef enum OptArg { ARG_NONE, ARG_ONE, ARG_MAYBE, ARG_JOIN } OptArg;

typedef struct OptRow {
	const char *group;              /* non-NULL: a heading, and nothing else is set */
	OptId id;
	const char *spellings;          /* with spaces between them */
	OptArg arg;
	const char *metavar, *words, *help;
} OptRow;
extern const OptRow opt_rows[];
extern const int opt_nrows;

typedef enum EmitKind {
	EMIT_ALL, EMIT_TOKENS, EMIT_AST, EMIT_TYPES, EMIT_IR, EMIT_PLACED, EMIT_CUDA, EMIT_C, EMIT_HEADER, EMIT_MANIFEST
} EmitKind;

enum { TUNE_BEST = 8 };

typedef VEC(const char *) TextVec;

typedef struct Define { const char *name, *value; } Define;
typedef struct PinnedExtent { Str name; int64_t value; } PinnedExtent;
typedef struct PinnedPlan { Str kernel; uint32_t id; } PinnedPlan;

typedef struct Options {
	const char *input;              /* "-": standard input */
	const char *stdin_name;
	VEC(Define) defines;
	TextVec include;
	VEC(PinnedPlan) plans;          /* --plan */
	const char *entry, *variant;    /* --entry; NULL: all */
	bool tune_it;                   /* `ctilec tune`, */
	VEC(PinnedExtent) extents;      /* with --extent, --best, --drawn, --nvcc */
	int best, drawn;
	const char *nvcc;
	const char *tune;
	const char *output, *header;    /* as given; NULL: by default */
	bool want_header, no_header;
	const char *ns;
	const char *target;             /* NULL: the default one */
	const char *arch, *tile_arch;   /* lists as given, or NULL */
	const char *tile_version;       /* as given, or NULL */
	EmitKind emit;
	bool check, list_outputs;
	LineMode line;
	int level;
	int versions;                   /* --versions; 0: by default */
	bool checked;
	bool dep, dep_only, dep_phony;
	const char *dep_file;
	TextVec dep_targets;
	DiagOptions diag;
	TextVec warnings;               /* what stood after -W, in order; "" for -w */
	TextVec dump_after, without;
	const char *stop_after;
	bool time_report, save_repro;
	const char *repro_file;
	bool print_params, explain_schedule;
	bool report;
	const char *report_sizes;
	OptId action;                   /* an option that prints something and stops; OPT_COUNT: compile */
	const char *action_arg;
	TextVec all;                    /* the arguments, response files expanded: for the repro */
	TextVec response;               /* those files */
} Options;

/* Reads the arguments; mistakes are a sentence and exit 2. */
void options_read(Options *o, int argc, char **argv);
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Index of `word` in a list with spaces, or a usage error that names the list and the nearest. */
int options_word(const char *what, const char *word, const char *words);
void help_print(Out *o, const char *form);
#endif
