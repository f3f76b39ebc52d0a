/* The tables of targets and architectures. */
#include <string.h>

#include "emit/emit.h"

const TargetRow target_rows[TARGET_COUNT] = {
#define TARGET(id, name, suffix, doc) { name, suffix, doc },
#include "emit/targets.def"
};

const ArchRow arch_rows[] = {
#define ARCH(name, number, specific, doc) { name, number, specific, doc },
#include "emit/targets.def"
};
const int arch_count = sizeof arch_rows / sizeof *arch_rows;

const ArchRow *arch_by_name(const char *name)
{
	for (int i = 0; i < arch_count; i++)
		if (!strcmp(arch_rows[i].name, name)) return &arch_rows[i];
	return NULL;
}
