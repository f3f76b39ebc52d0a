/* The whole: all items of all files are checked, and what nothing uses is said. */
#include "sema/build.h"
#include "sema/scope.h"

#include <stdlib.h>
#include <string.h>

/* Constants are evaluated, functions that nothing called are checked, also where nothing uses them. */
static void check_rest(Sema *s)
{
	for (int i = 0; i < s->units.n; i++) {
		Unit *u = s->units.p[i];
		for (int k = 0; k < u->globals.n && !diag_full(); k++) {
			Global *g = u->globals.p[k];
			ItemKind kind = g->item->kind;
			if (kind == IT_FN || kind == IT_KERNEL) generics_check(cx_new(s, u, g->item, g->name), &g->item->u.fn);
			if (kind == IT_CONST || kind == IT_PARAM) global_value(cx_new(s, u, NULL, g->name), g, g->item->span);
			if (kind == IT_FN && !g->used) fn_check(s, g);
		}
	}
}

/* An instance to begin with: `<f32, 128>`. */
static Str example_arguments(const Item *kernel)
{
	const GenericVec *v = &kernel->u.fn.generics;
	Out *o = out_new();
	for (int i = 0; i < v->n && !v->p[i].dflt; i++) {
		const Expr *c = v->p[i].class_;
		if (c && c->kind == EX_ALT) c = c->u.list.p[0];
		Elem e;
		Str word = c && c->kind == EX_NAME ? c->u.name : str_intern("");
		const char *value = !strcmp(word, "int") ? "128" : !strcmp(word, "bool") ? "true" : !strcmp(word, "float")
			? "f32" : elem_by_name(word, &e) ? word : "...";
		out_printf(o, "%s%s", i ? ", " : "", value);
	}
	return out_take(o);
}

/* Kernels that make no C function. The first is reported in any case where the whole program would be empty. */
static void warn_kernels(Sema *s)
{
	const Unit *u = s->units.p[0];
	bool empty = s->opt->program && !s->mod->entries.n;
	for (int i = 0; i < u->globals.n; i++) {
		const Global *g = u->globals.p[i];
		if (g->item->kind != IT_KERNEL || g->used) continue;
		Diag *d = diag(empty ? D_EMPTY_OUTPUT : D_KERNEL_UNUSED, g->item->name.span, g->name);
		diag_help(d, "an instance gives its generic parameters values, as in `instance name = %s<%s>;`", g->name,
			example_arguments(g->item));
		empty = false;
	}
}

static int note_order(const void *a, const void *b)
{
	const TypeNote *x = a, *y = b;
	return x->span.lo < y->span.lo ? -1 : x->span.lo > y->span.lo;
}

Module *sema_check(Ast *main, const SemaOptions *o, TypeNoteVec *notes)
{
	Sema *s = NEW(A_UNIT, Sema);
	s->opt = o;
	s->notes = notes;
	s->mod = ir_module(main->src->path);
	if (!load_all(s, main)) return NULL;
	load_defines(s);
	entries_build(s);
	check_rest(s);
	sv_poison_said();
	if (notes && notes->n) qsort(notes->p, (size_t)notes->n, sizeof *notes->p, note_order);
	if (diag_errors() == 0) warn_kernels(s);
	if (diag_errors() == 0) unused_report(s);
	return diag_errors() ? NULL : s->mod;
}
