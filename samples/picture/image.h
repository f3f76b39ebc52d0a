/*
 * 8-bit images in memory, and files of them: PNM (P2, P3, P5, P6) always, PNG where the program was built
 * with -DHAVE_PNG and libpng.
 */
#ifndef SAMPLES_PICTURE_IMAGE_H
#define SAMPLES_PICTURE_IMAGE_H

#include <stdint.h>

struct image {
	int64_t h, w, channels;	/* 1: grey, 3: red green blue, interleaved */
	unsigned char *data;	/* h * w * channels bytes, rows without padding; owned, free() it */
};

/* Memory for an image, all zero. Ends the program when there is none. */
struct image image_new(int64_t h, int64_t w, int64_t channels);

/* The picture in a file, always with 3 channels. 0, or -1 after a sentence on stderr. */
int image_read(struct image *im, const char *path);

/* Writes PREFIX.pgm or PREFIX.ppm, and PREFIX.png where built in. 0, or -1 after a sentence on stderr. */
int image_write(const struct image *im, const char *prefix);

#endif
