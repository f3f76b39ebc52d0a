/* From trees to TYPED IR: imports, names, generics, types and shapes, functions inlined, compile-time code run. */
#ifndef SEMA_SEMA_H
#define SEMA_SEMA_H
#include "ast/ast.h"
#include "ir/ir.h"

typedef struct SemaDefine { Str name, value; } SemaDefine;      /* -D NAME=VALUE */

typedef struct SemaOptions {
	VEC(SemaDefine) defines;
	VEC(Str) import_dirs;           /* each -I, in order; the installed stdlib last */
	Str tune_path;                  /* --tune, or NULL: `NAME.tune` beside the main file when it has a `tune` */
	bool (*arch_known)(Str);        /* whether a target knows "sm_90"; NULL: all are */
	int least_arch;                 /* the oldest GPU that code is made for, 80 for sm_80; 0: none */
	bool program;                   /* a program is to be written, and should hold a C function */
	bool checked;                   /* --checked: build `check` ops and keep `assert` */
} SemaOptions;

/* One line of --emit=types: a `let`, `var`, parameter or loop counter and the type it got, in source order. */
typedef struct TypeNote { Span span; Str name; Str type; Str fn; } TypeNote;
typedef VEC(TypeNote) TypeNoteVec;

/* Loads imports, checks everything, and builds one Fn for each kernel variant that an entry launches. NULL after errors
 * (all reported). notes may be NULL. The module's sources list every file read, for the depfile. */
Module *sema_check(Ast *main, const SemaOptions *o, TypeNoteVec *notes);
#endif
