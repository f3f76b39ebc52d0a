/* Modes of arithmetic: which words an operation takes on which element types. */
#include "sema/build.h"

#include <string.h>

const Modes no_modes = { { -1, -1, -1, -1 }, { { 0, 0 } } };

static const AttrKey mode_keys[] = { AT_ROUNDING, AT_SUBNORMALS, AT_NAN, AT_OVERFLOW };

FoldModes modes_fold(const Modes *m)
{
	FoldModes f;
	f.rounding = m->word[MD_ROUNDING] > 0 ? m->word[MD_ROUNDING] : 0;
	f.subnormals = m->word[MD_SUBNORMALS] > 0 ? m->word[MD_SUBNORMALS] : 0;
	f.nan = m->word[MD_NAN] > 0 ? m->word[MD_NAN] : 0;
	f.overflow = m->word[MD_OVERFLOW] > 0 ? m->word[MD_OVERFLOW] : 0;
	return f;
}

void modes_put(Op *op, const Modes *m)
{
	bool full_is_default = op->code == OP_EXP || op->code == OP_TANH;
	for (int i = 0; i < 4; i++) {
		if (m->word[i] <= 0) continue;
		if (full_is_default && i == MD_ROUNDING && attr_word_text(AT_ROUNDING, m->word[i]) == str_intern("full"))
			continue;
		ir_set_int(op, mode_keys[i], m->word[i]);
	}
}

/* The words an operation takes for a mode on an element type. */
static int mode_words(OpCode op, int mode, Elem e, const char **w)
{
	static const char *const ieee[] = { "nearest_even", "toward_zero", "toward_negative", "toward_positive" };
	int n = 0;
	bool flt = elem_is_float(e), f32 = e == EL_F32;
	switch (mode) {
	case MD_ROUNDING:
		if (op == OP_EXP || op == OP_TANH) {
			if (flt) w[n++] = "full";
			if (f32) w[n++] = "approximate";
			return n;
		}
		if (!flt && !(op == OP_CAST && elem_is_any_float(e))) return 0;
		for (; n < 4; n++) w[n] = ieee[n];
		if (f32 && (op == OP_DIV || op == OP_SQRT)) w[n++] = "approximate";
		if (f32 && op == OP_DIV) w[n++] = "full";
		return n;
	case MD_SUBNORMALS:
		if (!flt) return 0;
		w[n++] = "preserve";
		if (f32) w[n++] = "flush";
		return n;
	case MD_NAN:
		if (!flt) return 0;
		w[n++] = "suppress";
		w[n++] = "propagate";
		return n;
	default:
		w[n++] = "default";
		w[n++] = "saturate";
		if (elem_is_any_float(e) && e != EL_F8E4M3) w[n++] = "inf";
		if (elem_is_any_float(e)) w[n++] = "nan";
		else w[n++] = "wrap";
		return n;
	}
}

bool modes_allowed(Cx *cx, OpCode op, Elem e, const Modes *m)
{
	for (int i = 0; i < 4; i++) {
		if (m->word[i] < 0) continue;
		const char *w[8];
		int n = elem_is_ptr(e) ? 0 : mode_words(op, i, e, w);
		Str given = attr_word_text(mode_keys[i], m->word[i]);
		bool ok = false;
		for (int k = 0; k < n; k++) ok |= !strcmp(w[k], given);
		if (ok) continue;
		Diag *d = cx_diag(cx, D_MODE_TYPE, m->at[i], attr_rows[mode_keys[i]].name, given, op_rows[op].name,
			elem_name(e));
		if (n) diag_help(d, "`%s` on %s takes %s", op_rows[op].name, elem_name(e), list_or(n, w));
		else diag_help(d, "leave `%s:` out: %s has no such choice", attr_rows[mode_keys[i]].name, elem_name(e));
		return false;
	}
	return true;
}
