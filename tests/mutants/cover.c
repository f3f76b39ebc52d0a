/* Linked with a compiler built with -finstrument-functions: writes the addresses of all functions that a run has entered to the
   file that MUTANTS_COVER names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 16, TEXT = 32 << 20 };   /* functions begin at multiples of ALIGN (-falign-functions), the text is smaller than TEXT */
extern char __executable_start;
static unsigned char entered[TEXT / ALIGN];

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from)
{
	(void)from;
	entered[((uintptr_t)function - (uintptr_t)&__executable_start) / ALIGN] = 1;
}

void __cyg_profile_func_exit(void *function, void *from)
{
	(void)function;
	(void)from;
}

__attribute__((destructor)) static void write_all(void)
{
	const char *name = getenv("MUTANTS_COVER");
	FILE *f = name ? fopen(name, "wb") : NULL;
	if (!f)
		return;
	for (uint32_t i = 0; i < TEXT / ALIGN; i++)
		if (entered[i])
			fwrite(&i, sizeof i, 1, f);
	fclose(f);
}
