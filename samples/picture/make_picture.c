/*
 * Draws the test picture: the same bytes everywhere, in integers only. Low in contrast on purpose, so that
 * the equalisation shows, with discs and stripes that give the edge filter something to find.
 *
 *     make_picture OUTPUT-PREFIX [WIDTH HEIGHT]
 */
#include <stdio.h>
#include <stdlib.h>

#include "image.h"

static void put(struct image *im, int64_t r, int64_t c, int red, int green, int blue)
{
	unsigned char *p = im->data + (r * im->w + c) * 3;

	p[0] = (unsigned char)red;
	p[1] = (unsigned char)green;
	p[2] = (unsigned char)blue;
}

static void draw_ground(struct image *im)
{
	int64_t r, c;

	for (r = 0; r < im->h; r++)
		for (c = 0; c < im->w; c++)
			put(im, r, c, (int)(80 + 40 * c / im->w), (int)(85 + 40 * r / im->h), 110);
}

static void draw_disc(struct image *im, int64_t row, int64_t col, int64_t radius, int red, int green,
	int blue)
{
	int64_t r, c;

	for (r = 0; r < im->h; r++)
		for (c = 0; c < im->w; c++)
			if ((r - row) * (r - row) + (c - col) * (c - col) <= radius * radius)
				put(im, r, c, red, green, blue);
}

static void draw_stripes(struct image *im, int64_t first_row)
{
	int64_t r, c;

	for (r = first_row; r < im->h; r++)
		for (c = 0; c < im->w; c++)
			if ((c * (8 + c / 16) / 64 + r / 32) % 2)
				put(im, r, c, 150, 140, 100);
}

static int64_t side(const char *text)
{
	long v = strtol(text, NULL, 10);

	if (v < 1 || v > 32768) {
		fprintf(stderr, "a side must be 1 to 32768, not %s\n", text);
		exit(2);
	}
	return v;
}

int main(int argc, char **argv)
{
	struct image im;
	int64_t s;
	int bad;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: make_picture OUTPUT-PREFIX [WIDTH HEIGHT]\n");
		return 2;
	}
	im = argc == 4 ? image_new(side(argv[3]), side(argv[2]), 3) : image_new(301, 403, 3);
	s = im.h < im.w ? im.h : im.w;
	draw_ground(&im);
	draw_stripes(&im, im.h * 3 / 4);
	draw_disc(&im, im.h / 3, im.w / 3, s / 4, 160, 90, 90);
	draw_disc(&im, im.h / 2, im.w * 2 / 3, s / 5, 90, 150, 100);
	draw_disc(&im, im.h / 4, im.w * 3 / 4, s / 9, 165, 165, 170);
	bad = image_write(&im, argv[1]);
	free(im.data);
	return bad ? 1 : 0;
}
