/* Text for people's eyes, of which parts come from outside: names of files, values of options. */
#ifndef BASE_SHOW_H
#define BASE_SHOW_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/out.h"

/* Whether a character changes what a terminal shows besides itself: controls, and marks that turn
 * the direction of text around. */
bool show_is_control(int32_t c);
/* s[0..n) with controls as `\n`, `\x1b`, `\u{202e}` and with bytes that are not UTF-8 as `\xff`:
 * one line, whatever it holds. */
void show_text(Out *o, const char *s, size_t n);
Str shown(const char *s);
void show_to(FILE *f, const char *s);           /* the same without an Out: allocates nothing */
#endif
