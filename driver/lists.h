/* What the compiler knows, printed from its tables: operations, element types, messages, passes, targets. */
#ifndef DRIVER_LISTS_H
#define DRIVER_LISTS_H
#include "base/out.h"

/* form: "text", "markdown", "json", or NULL for text. */
void list_ops(Out *o, const char *form);
void list_diagnostics(Out *o, const char *form);
void list_explain(Out *o, const char *code);    /* unknown: a usage error */
void list_passes(Out *o);
void list_arches(Out *o);
void list_target_names(Out *o);         /* "c, cuda" */
void list_arch_names(Out *o);
void list_tile_versions(Out *o);
#endif
