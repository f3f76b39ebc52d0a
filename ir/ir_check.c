/* The sentence of a broken rule: the first one that the verifier finds. */
#include <stdarg.h>
#include <stdio.h>

#include "ir/ir_check.h"
#include "ir/ir_text.h"

bool chk_fail(Check *c, const char *rule, ...)
{
	char text[512];
	va_list ap;
	if (c->msg) return false;
	va_start(ap, rule);
	vsnprintf(text, sizeof text, rule, ap);
	va_end(ap);
	const char *kind = c->fn ? "kernel" : "entry";
	Str name = c->fn ? c->fn->name : c->entry ? c->entry->name : NULL;
	Str where = name ? str_fmt("in %s `%s`, ", kind, name) : str_intern("");
	if (c->op) {
		c->msg = str_fmt("%s`%s`: %s", where, ir_op_text(c->op), text);
		c->at = c->op->span;
	} else {
		c->msg = str_fmt("%s%s", where, text);
		c->at = c->fn ? c->fn->span : c->entry ? c->entry->span : c->at;
	}
	return false;
}
