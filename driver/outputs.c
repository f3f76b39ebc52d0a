/* See outputs.h. */
#include "driver/outputs.h"

#include <string.h>

#include "base/files.h"
#include "base/src.h"

/* The file that is read and lies at path; NULL: none. Sources in memory have names as `<stdin>`. */
static const char *read_at(const Options *o, const char *path)
{
	if (o->input && file_is_same(path, o->input, FILE_READ)) return o->input;
	bool from_stdin = o->input && strcmp(o->input, "-") == 0;  /* the first source; no file, whatever it is called */
	for (int i = from_stdin; i < src_count(); i++)
		if (src_at(i)->path[0] != '<' && file_is_same(path, src_at(i)->path, FILE_READ)) return src_at(i)->path;
	if (o->tune && file_is_same(path, o->tune, FILE_READ)) return o->tune;
	for (int i = 0; i < o->response.n; i++)
		if (file_is_same(path, o->response.p[i], FILE_READ)) return o->response.p[i];
	return NULL;
}

bool outputs_meet_inputs(const Options *o, const char *path) { return read_at(o, path) != NULL; }

static _Noreturn void refuse(const Output *w, const char *other, const char *is)
{
	diag_flush(stderr);
	if (strcmp(w->path, other) == 0) usage_error("%s `%s` %s; nothing was written", w->what, w->path, is);
	usage_error("%s `%s` %s, `%s`; nothing was written", w->what, w->path, is, other);
}

void outputs_check(const Options *o, const OutputVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const char *input = read_at(o, v->p[i].path);
		if (input) refuse(&v->p[i], input, "is a file that is read");
		for (int k = 0; k < i; k++)
			if (file_is_same(v->p[i].path, v->p[k].path, FILE_WRITTEN))
				refuse(&v->p[i], v->p[k].path, str_fmt("would have the same name as %s", v->p[k].what));
	}
}
