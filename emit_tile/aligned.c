/* The two versions of a kernel: for any call, and for calls whose tensors are aligned.
 *
 * NVIDIA's compiler accesses 16-bit elements one at a time, and does not use the copy engine, unless it knows that a
 * tensor's address and row pitch are multiples of 16 bytes and that element offsets fit 32 bits. The language does not
 * require that of a call, so the launcher tests it: a kernel is a template of `bool ct_aligned`, whose spans promise all
 * three when it is true. One body serves both versions; bench/tile/README.md has what each reaches. */
#include "emit_tile/tile.h"

enum { VECTOR = 16 };   /* bytes of the widest access of a thread, and what the copy engine takes for addresses and strides */

/* s is a multiple of n wherever the guard holds. */
static void need_multiple(TAligned *a, const Sym *s, int n)
{
	int64_t known;
	if (n == 1 || sym_is_const(s, &known)) return;
	for (int i = 0; i < a->units.n; i++) {
		TUnit *u = &a->units.p[i];
		if (u->s != s) continue;
		if (u->n < n) u->n = n;
		return;
	}
	vec_push(A_TMP, &a->units, ((TUnit){ s, n }));
}

static bool is_contiguous(const IrParam *p)
{
	int64_t v;
	for (int i = 0; i < p->rank; i++)
		if (sym_is_const(p->stride[i], &v) && v == 1) return true;
	return false;
}

void tl_align(TAligned *a, const IrParam *p)
{
	const Sym *size = sym_const(1);         /* elements up to the last one */
	int unit = VECTOR / elem_bytes(p->elem);
	int64_t v;
	if (!is_contiguous(p)) return;
	for (int i = 0; i < p->rank; i++) {
		bool one = sym_is_const(p->stride[i], &v) && v == 1;
		need_multiple(a, one ? p->extent[i] : p->stride[i], unit);
		size = sym_add(size, sym_mul(sym_sub(p->extent[i], sym_const(1)), p->stride[i]));
	}
	vec_push(A_UNIT, &a->guard, sym_aligned(p->name, VECTOR));
	vec_push(A_UNIT, &a->guard, sym_cmp(SYM_LE, size, sym_const(INT32_MAX)));
	vec_push(A_TMP, &a->tensors, p);
}

void tl_aligned_end(TAligned *a)
{
	bool never = false;
	int n = 0;
	for (int i = 0; i < a->units.n; i++)
		vec_push(A_UNIT, &a->guard, sym_cmp(SYM_EQ, sym_mod(a->units.p[i].s, sym_const(a->units.p[i].n)), sym_const(0)));
	for (int i = 0; i < a->guard.n; i++) {
		int64_t holds;
		if (!sym_is_const(a->guard.p[i], &holds)) a->guard.p[n++] = a->guard.p[i];
		else never |= !holds;
	}
	a->guard.n = n;
	if (never) *a = (TAligned){ 0 };
}

bool tl_is_aligned(const TAligned *a, const IrParam *p)
{
	for (int i = 0; i < a->tensors.n; i++)
		if (a->tensors.p[i] == p) return true;
	return false;
}

Str tl_size(const TAligned *a, const Sym *s, Str text)
{
	for (int i = 0; i < a->units.n; i++)
		if (a->units.p[i].s == s) return str_fmt("ct_size<ct_aligned, %d>(%s)", a->units.p[i].n, text);
	return str_fmt("ct_size<ct_aligned, 1>(%s)", text);
}
