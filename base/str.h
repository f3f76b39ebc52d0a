/* Interned strings: one pointer per distinct text, so equality is ==. They live for the whole run. */
#ifndef BASE_STR_H
#define BASE_STR_H
#include <stddef.h>
#include <stdint.h>

typedef const char *Str;        /* always interned; NUL-terminated */

Str str_intern(const char *s);
Str str_intern_n(const char *s, size_t n);
Str str_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      /* interned result */
size_t str_len(Str s);                   /* O(1) */
uint32_t str_hash(Str s);                /* depends on the text only: the same on any machine */
const char *str_i64(int64_t v);          /* decimal text, interned; for diagnostics */

/* Nearest name: fewest edits (insert, delete, change, swap), at most 2 and fewer than half the length; else one of
 * which the word is the beginning, or that is the beginning of the word, as `pad` of `padding`; else NULL. */
typedef struct Near { Str best; int dist; const char *word; } Near;
void near_begin(Near *n, const char *word);
void near_offer(Near *n, Str candidate);  /* ties: the first offered wins */
#endif
