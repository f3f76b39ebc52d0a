/* Words that people bring from other languages, and what stands for them here: one table for all messages. */
#ifndef AST_FOREIGN_H
#define AST_FOREIGN_H

typedef enum ForeignKind {
	FW_TYPE, FW_NAME, FW_CALL, FW_PREFIX, FW_AXIS, FW_COORD, FW_SAY, FW_MEMBER, FW_MEMBERSAY, FW_ARGUMENT, FW_NEEDLESS,
		FW_LACKS, FW_INSTEAD, FW_ATTR
} ForeignKind;

/* The last column of the word's row of that kind in foreign.def; NULL: there is none. */
const char *foreign_word(ForeignKind kind, const char *word);
#endif
