/* What launchers check about the tensors of one call: extents, strides, addresses, and that no output shares an element
 * with another tensor or with itself.
 *
 * Two elements share an address where a sum of strides, each taken a bounded number of times, has one certain value.
 * For tensors without gaps comparing address ranges decides that, and only that is printed for them. Where strides
 * leave gaps, ct_reaches searches for such a sum, largest stride first: what the smaller ones can still add bounds how
 * often a stride is taken, and the greatest common divisor of the smaller ones says which of those counts may lead
 * anywhere. Nested strides leave two or three counts each, two strides are solved at once; the search ends after
 * CT_STEPS tries in any case, and the call is refused. */
#include "emit/tensors.h"

#include "base/diag.h"
#include "emit/host.h"
#include "emit/names.h"

static const char check_types[] =
	"/* Checks of the tensors of one call. */\n"
	"typedef struct CtTensor {\n"
	"\tconst char *name; const void *p;\n"
	"\tint rank, bytes, writes;    /* bytes of an element; writes: out or inout */\n"
	"\tint64_t extent[5], stride[5];\n"
	"} CtTensor;\n"
	"\n"
	"/* Bytes from the first element to the end of the last; 0 for an empty tensor. */\n"
	"static int64_t ct_span(const CtTensor *t, int *bad)\n"
	"{\n"
	"\tint64_t last = 0;\n"
	"\tfor (int i = 0; i < t->rank; i++) {\n"
	"\t\tif (t->extent[i] <= 0) return 0;\n"
	"\t\tlast = ct_host_add(last, ct_host_mul(t->extent[i] - 1, t->stride[i], bad), bad);\n"
	"\t}\n"
	"\treturn ct_host_mul(ct_host_add(last, 1, bad), t->bytes, bad);\n"
	"}\n"
	"\n";

static const char check_sums[] =
	"#define CT_STEPS 10000      /* tries until a question about strides stays open */\n"
	"#define CT_LONGEST (INT64_C(1) << 60)       /* bytes: sums of what is longer might not fit 64 bits; "
	"its range counts */\n"
	"\n"
	"/* Sums of step[i] taken 0 to most[i] times, steps growing. */\n"
	"typedef struct CtSums { int n, left; int64_t step[12], most[12]; } CtSums;\n"
	"\n"
	"static void ct_sum_add(CtSums *s, int64_t step, int64_t most)\n"
	"{\n"
	"\tint i;\n"
	"\tif (step == 0 || most == 0) return;\n"
	"\tfor (i = s->n++; i > 0 && s->step[i - 1] > step; i--) s->step[i] = s->step[i - 1], "
	"s->most[i] = s->most[i - 1];\n"
	"\ts->step[i] = step;\n"
	"\ts->most[i] = most;\n"
	"}\n"
	"\n"
	"/* The least k with a * k = b modulo m, -1: there is none. m < 2^31. */\n"
	"static int64_t ct_modular(int64_t a, int64_t b, int64_t m)\n"
	"{\n"
	"\tint64_t k;\n"
	"\ta %= m;\n"
	"\tb %= m;\n"
	"\tif (b == 0) return 0;\n"
	"\tif (a == 0) return -1;\n"
	"\tk = ct_modular(m, a - b % a, a);\n"
	"\treturn k < 0 ? -1 : (b + m * k) / a;\n"
	"}\n"
	"\n"
	"static int64_t ct_common(int64_t a, int64_t b) { return b ? ct_common(b, a % b) : a; }\n"
	"\n"
	"/* Whether `to` is a sum of the first n steps; 2: not known. */\n"
	"static int ct_is_sum(CtSums *s, int n, int64_t to)\n"
	"{\n"
	"\tint64_t rest = 0, unit = 0, k, hi, by = 1;\n"
	"\tif (n == 0 || to < 0) return to == 0;\n"
	"\tn--;\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\trest += s->step[i] * s->most[i];\n"
	"\t\tunit = ct_common(unit, s->step[i]);\n"
	"\t}\n"
	"\tk = to > rest ? (to - rest + s->step[n] - 1) / s->step[n] : 0;\n"
	"\thi = to / s->step[n];\n"
	"\tif (hi > s->most[n]) hi = s->most[n];\n"
	"\tif (unit > 1 && unit <= INT32_MAX) {\n"
	"\t\tint64_t first = ct_modular(s->step[n], to, unit);\n"
	"\t\tif (first < 0) return 0;\n"
	"\t\tby = unit / ct_common(unit, s->step[n]);\n"
	"\t\tk += ((first - k) % by + by) % by;\n"
	"\t}\n"
	"\tfor (; k <= hi; k += by) {\n"
	"\t\tint found = --s->left < 0 ? 2 : ct_is_sum(s, n, to - k * s->step[n]);\n"
	"\t\tif (found) return found;\n"
	"\t}\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"/* The same of all steps. A step that goes on where a smaller one ends is first made one with it. */\n"
	"static int ct_reaches(CtSums *s, int64_t to)\n"
	"{\n"
	"\tfor (int i = 0; i < s->n; i++)\n"
	"\t\tfor (int k = i + 1; k < s->n; k++) {\n"
	"\t\t\tconst int64_t times = s->step[k] / s->step[i];\n"
	"\t\t\tif (s->step[k] % s->step[i] != 0 || times - 1 > s->most[i]) continue;\n"
	"\t\t\ts->most[i] += times * s->most[k];\n"
	"\t\t\ts->n--;\n"
	"\t\t\tfor (int j = k; j < s->n; j++) s->step[j] = s->step[j + 1], s->most[j] = s->most[j + 1];\n"
	"\t\t\tk = i;\n"
	"\t\t}\n"
	"\ts->left = CT_STEPS;\n"
	"\treturn ct_is_sum(s, s->n, to);\n"
	"}\n"
	"\n"
	"/* Whether two elements share an address; 2: not known. Axes by growing stride: one that steps over all "
	"before it is nothing to\n"
	" * look into. */\n"
	"static int ct_folds(const CtTensor *t, int64_t span)\n"
	"{\n"
	"\tint64_t reach = 0;\n"
	"\tCtSums before = { 0, 0, { 0 }, { 0 } };\n"
	"\tint seen[5] = { 0, 0, 0, 0, 0 };\n"
	"\tfor (int k = 0; k < t->rank; k++) {\n"
	"\t\tint best = -1;\n"
	"\t\tfor (int i = 0; i < t->rank; i++)\n"
	"\t\t\tif (!seen[i] && (best < 0 || t->stride[i] < t->stride[best])) best = i;\n"
	"\t\tseen[best] = 1;\n"
	"\t\tif (t->extent[best] <= 1) continue;\n"
	"\t\tif (t->stride[best] <= reach) {\n"
	"\t\t\tCtSums s = before;\n"
	"\t\t\tint found;\n"
	"\t\t\tct_sum_add(&s, t->stride[best], t->extent[best] - 2);\n"
	"\t\t\tfound = span > CT_LONGEST ? 1 : ct_reaches(&s, reach - t->stride[best]);\n"
	"\t\t\tif (found) return found;\n"
	"\t\t}\n"
	"\t\treach += (t->extent[best] - 1) * t->stride[best];\n"
	"\t\tct_sum_add(&before, t->stride[best], 2 * (t->extent[best] - 1));\n"
	"\t}\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"/* Whether two tensors whose address ranges meet share an element; 2: not known. */\n"
	"static int ct_meet(const CtTensor *a, const CtTensor *b)\n"
	"{\n"
	"\tconst int unit = a->bytes < b->bytes ? a->bytes : b->bytes;\n"
	"\tint64_t to = ((int64_t)(uintptr_t)b->p - (int64_t)(uintptr_t)a->p) / unit + b->bytes / unit - 1;\n"
	"\tCtSums s = { 0, 0, { 0 }, { 0 } };\n"
	"\tct_sum_add(&s, 1, a->bytes / unit - 1 + b->bytes / unit - 1);\n"
	"\tfor (int i = 0; i < a->rank; i++) ct_sum_add(&s, a->stride[i] * (a->bytes / unit), a->extent[i] - 1);\n"
	"\tfor (int i = 0; i < b->rank; i++) {\n"
	"\t\tto += b->stride[i] * (b->bytes / unit) * (b->extent[i] - 1);\n"
	"\t\tct_sum_add(&s, b->stride[i] * (b->bytes / unit), b->extent[i] - 1);\n"
	"\t}\n"
	"\treturn ct_reaches(&s, to);\n"
	"}\n"
	"\n";

static const char check_each[] =
	"CT_HELPER int ct_check_tensors(const char *entry, const CtTensor *t, int n)\n"
	"{\n"
	"\tint bad = 0;\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\tfor (int k = 0; k < t[i].rank; k++) {\n"
	"\t\t\tif (t[i].extent[k] < 0)\n"
	"\t\t\t\treturn ct_fail(CTILE_DIMENSION, \"%s: extent %d of %s is %lld\", entry, k, t[i].name, (long "
	"long)t[i].extent[k]);\n"
	"\t\t\tif (t[i].stride[k] < 0)\n"
	"\t\t\t\treturn ct_fail(CTILE_STRIDE, \"%s: stride %d of %s is %lld\", entry, k, t[i].name, (long "
	"long)t[i].stride[k]);\n"
	"\t\t}\n"
	"\t\tconst int64_t span = ct_span(&t[i], &bad);\n"
	"\t\tif (bad) return ct_fail(CTILE_OVERFLOW, \"%s: the size of %s does not fit 64 bits\", entry, t[i].name);\n"
	"\t\tif (span == 0) continue;\n"
	"\t\tif (!t[i].p) return ct_fail(CTILE_NULL, \"%s: %s is null but has elements\", entry, t[i].name);\n"
	"\t\tif ((uintptr_t)t[i].p % (uintptr_t)t[i].bytes != 0)\n"
	"\t\t\treturn ct_fail(CTILE_ALIGNMENT, \"%s: %s is not aligned to its %d-byte elements\", entry, "
	"t[i].name, t[i].bytes);\n";

static const char check_folds[] =
	"\t\tif (t[i].writes) {\n"
	"\t\t\tconst int folds = ct_folds(&t[i], span);\n"
	"\t\t\tif (folds) return ct_fail(CTILE_STRIDE, folds > 1 ? \"%s: elements of the output %s may share an address: "
	"its strides are too uneven to tell\" :\n"
	"\t\t\t\t\"%s: elements of the output %s share an address\", entry, t[i].name);\n"
	"\t\t}\n";

static const char check_pairs[] =
	"\t\tfor (int j = 0; j < i; j++) {\n"
	"\t\t\tint64_t other = ct_span(&t[j], &bad);\n"
	"\t\t\tuintptr_t a = (uintptr_t)t[i].p, b = (uintptr_t)t[j].p;\n";

static const char check_ranges[] =
	"\t\t\tif ((t[i].writes || t[j].writes) && other && a < b + (uintptr_t)other && b < a + (uintptr_t)span)\n"
	"\t\t\t\treturn ct_fail(CTILE_OVERLAP, \"%s: %s and %s overlap\", entry, t[j].name, t[i].name);\n";

static const char check_meet[] =
	"\t\t\tif ((t[i].writes || t[j].writes) && other && a < b + (uintptr_t)other && b < a + (uintptr_t)span) {\n"
	"\t\t\t\tconst int meet = span > CT_LONGEST || other > CT_LONGEST ? 1 : ct_meet(&t[j], &t[i]);\n"
	"\t\t\t\tif (meet) return ct_fail(CTILE_OVERLAP, meet > 1 ? \"%s: %s and %s may overlap: their strides are too "
	"uneven to tell\" :\n"
	"\t\t\t\t\t\"%s: %s and %s overlap\", entry, t[j].name, t[i].name);\n"
	"\t\t\t}\n";

static const char check_end[] =
	"\t\t}\n"
	"\t}\n"
	"\treturn CTILE_OK;\n"
	"}\n"
	"\n";

/* Row-major and column-major tensors hold their address range without gaps, and no element twice. */
static bool leaves_gaps(const IrParam *p) { return p->is_tensor && p->layout != ML_RIGHT && p->layout != ML_LEFT; }

static bool any_gaps(const Module *m)
{
	for (int i = 0; i < m->entries.n; i++) {
		const Entry *e = m->entries.p[i];
		for (int k = 0; k < e->params.n; k++)
			if (leaves_gaps(&e->params.p[k])) return true;
	}
	return false;
}

void tensors_prologue(Out *o, const Module *m)
{
	bool gaps = any_gaps(m);
	out_puts(o, check_types);
	if (gaps) out_puts(o, check_sums);
	out_puts(o, check_each);
	if (gaps) out_puts(o, check_folds);
	out_puts(o, check_pairs);
	out_puts(o, gaps ? check_meet : check_ranges);
	out_puts(o, check_end);
}

static void print_row(Out *o, const IrParam *p)
{
	out_printf(o, "{ \"%s\", %s, %d, %d, %d, { ", p->name, name_c(p->name), p->rank, elem_bytes(p->elem),
		p->mode != PM_IN);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < p->rank; i++) {
			if (i) out_puts(o, ", ");
			host_expr(o, pass ? p->stride[i] : p->extent[i]);
		}
		if (!p->rank) out_puts(o, "0");
		out_puts(o, pass ? " } },\n" : " }, { ");
	}
}

void tensors_check(Out *o, const Entry *e, bool workspace)
{
	int n = workspace;
	for (int i = 0; i < e->params.n; i++) n += e->params.p[i].is_tensor;
	if (!n) return;
	out_printf(o, "const CtTensor ct_t[%d] = {\n", n);
	out_in(o);
	for (int i = 0; i < e->params.n; i++)
		if (e->params.p[i].is_tensor) print_row(o, &e->params.p[i]);
	if (workspace) out_puts(o, "{ \"the workspace\", workspace, 1, 1, 1, { (int64_t)ct_need }, { 1 } },\n");
	out_off(o);
	out_puts(o, "};\n");
	host_overflow(o, e->name, "the size of a tensor");
	out_printf(o, "if ((ct_s = ct_check_tensors(\"%s\", ct_t, %d)) != 0) return ct_s;\n", e->name, n);
}
