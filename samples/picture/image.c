/*
 * Reads and writes image files. Sizes are limited to 1 .. 32768 in each direction, so that no product
 * overflows.
 */
#include "image.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PNG
#include <png.h>
#endif

enum { MAX_SIDE = 32768 };

struct image image_new(int64_t h, int64_t w, int64_t channels)
{
	struct image im = {h, w, channels, NULL};

	im.data = (unsigned char *)calloc((size_t)(h * w * channels), 1);
	if (!im.data) {
		fprintf(stderr, "not enough memory for an image of %lld x %lld\n", (long long)w, (long long)h);
		exit(2);
	}
	return im;
}

static int complain(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return -1;
}

/* A number of a PNM header, after white space and comments; -1 if there is none. */
static int64_t read_number(FILE *f)
{
	int64_t v = 0;
	int c = getc(f);

	while (c == '#' || isspace(c)) {
		if (c == '#')
			while (c != '\n' && c != EOF)
				c = getc(f);
		c = getc(f);
	}
	if (!isdigit(c))
		return -1;
	for (; isdigit(c) && v < 1000000; c = getc(f))
		v = v * 10 + c - '0';
	return v;	/* the one character after the number is consumed, as the format wants */
}

static int read_samples(FILE *f, unsigned char *data, size_t count, int text, int64_t max)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t v = text ? read_number(f) : getc(f);

		if (v < 0 || v > max)
			return -1;
		data[i] = (unsigned char)((v * 255 + max / 2) / max);
	}
	return 0;
}

static int read_pnm(struct image *im, FILE *f, const char *path)
{
	int kind = getc(f) == 'P' ? getc(f) : 0;
	int64_t w, h, max, in_file = kind == '3' || kind == '6' ? 3 : 1, i;
	unsigned char *d;

	if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
		return complain(path, "not a PGM or PPM file");
	w = read_number(f), h = read_number(f), max = read_number(f);
	if (w < 1 || h < 1 || w > MAX_SIDE || h > MAX_SIDE || max < 1 || max > 255)
		return complain(path, "the size must be 1 to 32768, the largest value 1 to 255");
	*im = image_new(h, w, 3);
	d = im->data;
	if (read_samples(f, d, (size_t)(h * w * in_file), kind < '4', max)) {
		free(d);
		return complain(path, "the file ends too early or holds a value above its largest");
	}
	for (i = h * w - 1; in_file == 1 && i >= 0; i--)	/* from the end: the space is shared */
		d[3 * i + 2] = d[3 * i + 1] = d[3 * i] = d[i];
	return 0;
}

static int write_pnm(const struct image *im, const char *prefix)
{
	char path[1024];
	size_t bytes = (size_t)(im->h * im->w * im->channels), written;
	FILE *f;
	int n = snprintf(path, sizeof path, "%s.%s", prefix, im->channels == 3 ? "ppm" : "pgm");

	if (n < 0 || (size_t)n >= sizeof path)
		return complain(prefix, "the name is too long");
	f = fopen(path, "wb");
	if (!f)
		return complain(path, strerror(errno));
	fprintf(f, "P%d\n%lld %lld\n255\n", im->channels == 3 ? 6 : 5, (long long)im->w, (long long)im->h);
	written = fwrite(im->data, 1, bytes, f);
	if (fclose(f) || written != bytes)
		return complain(path, "could not be written");
	return 0;
}

#ifdef HAVE_PNG
static int read_png(struct image *im, const char *path)
{
	png_image png;

	memset(&png, 0, sizeof png);
	png.version = PNG_IMAGE_VERSION;
	if (!png_image_begin_read_from_file(&png, path))
		return complain(path, png.message);
	if (png.width > MAX_SIDE || png.height > MAX_SIDE) {
		png_image_free(&png);
		return complain(path, "the size must be 1 to 32768");
	}
	png.format = PNG_FORMAT_RGB;
	*im = image_new(png.height, png.width, 3);
	if (!png_image_finish_read(&png, NULL, im->data, 0, NULL)) {
		free(im->data);
		return complain(path, png.message);
	}
	return 0;
}

static int write_png(const struct image *im, const char *prefix)
{
	png_image png;
	char path[1024];
	int n = snprintf(path, sizeof path, "%s.png", prefix);

	if (n < 0 || (size_t)n >= sizeof path)
		return complain(prefix, "the name is too long");
	memset(&png, 0, sizeof png);
	png.version = PNG_IMAGE_VERSION;
	png.width = (png_uint_32)im->w, png.height = (png_uint_32)im->h;
	png.format = im->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
	if (!png_image_write_to_file(&png, path, 0, im->data, 0, NULL))
		return complain(path, png.message);
	return 0;
}
#endif

int image_read(struct image *im, const char *path)
{
	FILE *f = fopen(path, "rb");
	int first, bad;

	if (!f)
		return complain(path, strerror(errno));
	first = getc(f);
	if (first == 0x89) {
		fclose(f);
#ifdef HAVE_PNG
		return read_png(im, path);
#else
		return complain(path, "this program was built without libpng: give it a PGM or PPM file");
#endif
	}
	ungetc(first, f);
	bad = read_pnm(im, f, path);
	fclose(f);
	return bad;
}

int image_write(const struct image *im, const char *prefix)
{
#ifdef HAVE_PNG
	if (write_png(im, prefix))
		return -1;
#endif
	return write_pnm(im, prefix);
}
