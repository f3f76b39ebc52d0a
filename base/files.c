/* See files.h. A file is staged as a temporary beside its final place, under a short name of its own; file_commit
 * renames what was staged. What was not committed is removed at exit, and when a signal ends the program.
 *
 * One file is replaced by a rename, at once. Of several, those that are there are first moved to temporary names, the
 * program before the others, then the new ones get their places, the program last. Where a step fails, all go back.
 * Signals wait meanwhile; a program that is killed between two steps leaves no program, and so no program beside a
 * header of another one: a build makes it again. */
#define _XOPEN_SOURCE 700
#include "base/files.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sys.h"

typedef struct Staged {
	const char *tmp;        /* NULL: written at commit, or in its place */
	const char *old;        /* where the file lies that is replaced; NULL: there is none, or it lies in its place */
	const char *path;
	const Out *text;
} Staged;
static VEC(Staged) staged;

/* ---- signals ---- */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };

static void remove_temporaries(void)
{
	for (int i = 0; i < staged.n; i++)
		if (staged.p[i].tmp) unlink(staged.p[i].tmp);
}

static void on_end(int sig)
{
	remove_temporaries();
	signal(sig, SIG_DFL);
	raise(sig);             /* comes when this returns */
}

static sigset_t hold_signals(void)
{
	sigset_t set, before;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

static void let_signals(sigset_t before) { sigprocmask(SIG_SETMASK, &before, NULL); }

/* Once. Signals that somebody ignores or handles stay so. */
static void clean_up_at_the_end(void)
{
	static bool done;
	if (done) return;
	done = true;
	atexit(file_discard);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct sigaction old, mine = { .sa_handler = on_end };
		sigemptyset(&mine.sa_mask);
		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(ends[i], &mine, NULL);
	}
}

void file_discard(void)
{
	remove_temporaries();
	staged.n = 0;
}

/* ---- paths ---- */
static const char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return arena_printf(A_UNIT, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
}

/* Through symbolic links, as a plain write would go, also where the last one leads to no file yet. */
static const char *final_path(const char *path)
{
	char to[PATH_MAX];
	struct stat st;
	for (int hops = 0; hops < 40 && lstat(path, &st) == 0 && S_ISLNK(st.st_mode); hops++) {
		ssize_t n = readlink(path, to, sizeof to - 1);
		if (n <= 0) break;
		to[n] = 0;
		path = *to == '/' ? arena_strndup(A_UNIT, to, (size_t)n) : beside(path, to);
	}
	return path;
}

/* The folder's real path and the name in it, for a file that may not exist. */
static const char *real_place(const char *path)
{
	const char *final = final_path(path), *slash = strrchr(final, '/');
	char *folder = realpath(!slash ? "." : slash == final ? "/" : arena_strndup(A_UNIT, final, (size_t)(slash - final)),
		NULL);
	const char *place = folder ? arena_printf(A_UNIT, "%s/%s", folder, slash ? slash + 1 : final) : final;
	free(folder);
	return place;
}

static bool status_of(const char *path, FileUse use, struct stat *st)
{
	if (strcmp(path, "-") == 0) return fstat(use == FILE_READ ? STDIN_FILENO : STDOUT_FILENO, st) == 0;
	return stat(path, st) == 0;
}

bool file_is_same(const char *written, const char *other, FileUse use)
{
	struct stat a, b;
	bool is_a = status_of(written, FILE_WRITTEN, &a), is_b = status_of(other, use, &b);
	if (use == FILE_WRITTEN && strcmp(written, "-") == 0 && strcmp(other, "-") == 0) return true;
	if (is_a != is_b) return false;
	if (is_a) return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return strcmp(real_place(written), real_place(other)) == 0;
}

/* ---- writing ---- */
static bool to_stream(void *f, const char *s, size_t n) { return !n || fwrite(s, 1, n, f) == n; }

static bool write_text(const Out *o, FILE *f, const char **why)
{
	if (out_parts(o, to_stream, f) && fflush(f) == 0) return true;
	*why = sys_error(errno);
	return false;
}

static bool same_as_stream(void *f, const char *s, size_t n)
{
	char buf[4096];
	for (size_t k; n; s += k, n -= k) {
		k = n < sizeof buf ? n : sizeof buf;
		if (fread(buf, 1, k, f) != k || memcmp(buf, s, k) != 0) return false;
	}
	return true;
}

static bool holds_already(const Out *o, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) return false;
	bool same = out_parts(o, same_as_stream, f) && fgetc(f) == EOF && !ferror(f);
	fclose(f);
	return same;
}

/* A new file gets the mode that fopen would give it, an old one keeps its own. */
static mode_t mode_for(const struct stat *old)
{
	if (old) return old->st_mode & 07777;
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* A new file beside path, open; its name, or NULL. */
static const char *new_beside(const char *path, int *fd, const char **why)
{
	char *tmp = arena_printf(A_UNIT, "%s", beside(path, ".ctilecXXXXXX"));
	*fd = mkstemp(tmp);
	if (*fd >= 0) return tmp;
	*why = sys_error(errno);
	return NULL;
}

static bool stage_temporary(const Out *o, const char *path, const struct stat *old, const char **why)
{
	int fd;
	clean_up_at_the_end();
	sigset_t before = hold_signals();
	const char *tmp = new_beside(path, &fd, why);
	if (tmp) vec_push(A_UNIT, &staged, ((Staged){ .tmp = tmp, .path = path, .text = o }));
	let_signals(before);
	if (!tmp) return false;
	FILE *f = fdopen(fd, "wb");
	if (!f) {
		*why = sys_error(errno);
		close(fd);
		return false;
	}
	static char buffer[1 << 16];            /* pieces are of some kilobytes; glibc asks for no such buffer itself */
	setvbuf(f, buffer, _IOFBF, sizeof buffer);
	bool ok = write_text(o, f, why);
	if (ok && fchmod(fd, mode_for(old)) != 0) {
		*why = sys_error(errno);
		ok = false;
	}
	if (fclose(f) != 0 && ok) {
		*why = sys_error(errno);
		ok = false;
	}
	return ok;
}

bool file_stage(const Out *o, const char *path, FileMode mode, const char **why)
{
	struct stat st;
	bool stream = strcmp(path, "-") == 0, there = !stream && stat(path, &st) == 0;
	if (there && S_ISDIR(st.st_mode)) {
		*why = sys_error(EISDIR);
		return false;
	}
	if (stream || (there && !S_ISREG(st.st_mode))) {        /* a device or a pipe: nothing to rename */
		vec_push(A_UNIT, &staged, ((Staged){ .path = path, .text = o }));
		return true;
	}
	if (!there) return stage_temporary(o, final_path(path), NULL, why);
	if (mode == FILE_KEEP_IF_SAME && holds_already(o, path)) return true;
	if (access(path, W_OK) != 0) {  /* a rename would replace a file that its owner protected */
		*why = sys_error(errno);
		return false;
	}
	return stage_temporary(o, final_path(path), &st, why);
}

/* ---- putting in place ---- */
static bool write_directly(const Staged *s, const char **why)
{
	if (strcmp(s->path, "-") == 0) return write_text(s->text, stdout, why);
	FILE *f = fopen(s->path, "wb");
	if (!f) {
		*why = sys_error(errno);
		return false;
	}
	bool ok = write_text(s->text, f, why);
	if (fclose(f) != 0 && ok) {
		*why = sys_error(errno);
		ok = false;
	}
	return ok;
}

static bool move(const char *from, const char *to, const char **why)
{
	if (rename(from, to) == 0) return true;
	*why = sys_error(errno);
	return false;
}

/* What lies in the place of s goes to a name of its own. */
static bool set_aside(Staged *s, const char **why)
{
	struct stat st;
	int fd;
	if (lstat(s->path, &st) != 0) return true;
	const char *name = new_beside(s->path, &fd, why);
	if (!name) return false;
	close(fd);
	if (move(s->path, name, why)) {
		s->old = name;
		return true;
	}
	unlink(name);
	return false;
}

static bool put(Staged *s, const char **why)
{
	if (!move(s->tmp, s->path, why)) return false;
	s->tmp = NULL;
	return true;
}

/* All go back: what was put is removed, what was set aside returns. */
static void put_back(void)
{
	for (int i = staged.n - 1; i >= 0; i--) {
		Staged *s = &staged.p[i];
		if (!s->tmp) unlink(s->path);
		if (s->old) rename(s->old, s->path);
		s->old = NULL;
	}
}

static bool put_all(const char **why, const char **path)
{
	bool ok = true;
	for (int i = 0; i < staged.n && ok && staged.n > 1; i++) {
		*path = staged.p[i].path;
		ok = set_aside(&staged.p[i], why);
	}
	for (int i = staged.n - 1; i >= 0 && ok; i--) {
		*path = staged.p[i].path;
		ok = put(&staged.p[i], why);
	}
	if (!ok) put_back();
	for (int i = 0; i < staged.n; i++)
		if (staged.p[i].old) unlink(staged.p[i].old);
	return ok;
}

/* Streams first: they may fail, and then no file has changed yet. */
bool file_commit(const char **why, const char **path)
{
	bool ok = true;
	int files = 0;
	for (int i = 0; i < staged.n && ok; i++) {
		*path = staged.p[i].path;
		if (!staged.p[i].tmp) ok = write_directly(&staged.p[i], why);
	}
	for (int i = 0; i < staged.n; i++)
		if (staged.p[i].tmp) staged.p[files++] = staged.p[i];
	staged.n = files;
	if (ok) {
		sigset_t before = hold_signals();
		ok = put_all(why, path);
		let_signals(before);
	}
	file_discard();
	return ok;
}

bool file_write(const Out *o, const char *path, FileMode mode, const char **why)
{
	const char *at;
	if (file_stage(o, path, mode, why)) return file_commit(why, &at);
	file_discard();
	return false;
}
