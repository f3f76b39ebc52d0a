/* The table of words from other languages. Asked on the way to a message only, so it is searched from its start. */
#include "ast/foreign.h"
#include <stddef.h>
#include <string.h>

static const struct { ForeignKind kind; const char *word, *ours; } rows[] = {
#define FOREIGN(kind, word, ours) { FW_##kind, word, ours },
#include "ast/foreign.def"
#undef FOREIGN
};

const char *foreign_word(ForeignKind kind, const char *word)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].kind == kind && !strcmp(rows[i].word, word)) return rows[i].ours;
	return NULL;
}
