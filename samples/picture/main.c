/*
 * Runs the kernels of picture.tile on an image file and writes what they make of it. Everything is integer
 * arithmetic or one exactly rounded square root, so each result is compared byte for byte with plain C loops.
 *
 *     picture INPUT OUTPUT-PREFIX
 */
#include "../common/sample.h"
#include "image.h"
#include "picture.h"

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static struct image grey_reference(const struct image *x)
{
	struct image y = image_new(x->h, x->w, 1);
	int64_t i;

	for (i = 0; i < x->h * x->w; i++) {
		const unsigned char *p = x->data + 3 * i;

		y.data[i] = (unsigned char)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256);
	}
	return y;
}

static unsigned char blurred(const struct image *x, int64_t r, int64_t c, int64_t channel)
{
	static const int weight[5] = {1, 4, 6, 4, 1};
	int s = 0, n = 0, i, j;

	for (i = 0; i < 5; i++) {
		for (j = 0; j < 5; j++) {
			int64_t rr = r + i - 2, cc = c + j - 2;

			if (rr < 0 || rr >= x->h || cc < 0 || cc >= x->w)
				continue;
			s += weight[i] * weight[j] * x->data[(rr * x->w + cc) * 3 + channel];
			n += weight[i] * weight[j];
		}
	}
	return (unsigned char)((s + n / 2) / n);
}

static struct image blur_reference(const struct image *x)
{
	struct image y = image_new(x->h, x->w, 3);
	int64_t i;

	for (i = 0; i < x->h * x->w * 3; i++)
		y.data[i] = blurred(x, i / 3 / x->w, i / 3 % x->w, i % 3);
	return y;
}

static int pixel(const struct image *x, int64_t r, int64_t c)
{
	return x->data[clamp(r, 0, x->h - 1) * x->w + clamp(c, 0, x->w - 1)];
}

static struct image sobel_reference(const struct image *x)
{
	struct image y = image_new(x->h, x->w, 1);
	int64_t i, r, c, d;

	for (i = 0; i < x->h * x->w; i++) {
		int gx = 0, gy = 0;
		float length;

		r = i / x->w, c = i % x->w;
		for (d = -1; d < 2; d++) {
			gx += (d ? 1 : 2) * (pixel(x, r + d, c + 1) - pixel(x, r + d, c - 1));
			gy += (d ? 1 : 2) * (pixel(x, r + 1, c + d) - pixel(x, r - 1, c + d));
		}
		length = sqrtf((float)(gx * gx + gy * gy)) + 0.5f;
		y.data[i] = (unsigned char)(length < 255 ? length : 255);
	}
	return y;
}

static struct image equalise_reference(const struct image *x)
{
	struct image y = image_new(x->h, x->w, 1);
	int64_t sums[256] = {0}, n = x->h * x->w, least = n, span, i;

	for (i = 0; i < n; i++)
		sums[x->data[i]]++;
	for (i = 1; i < 256; i++)
		sums[i] += sums[i - 1];
	for (i = 255; i >= 0; i--)
		least = sums[i] ? sums[i] : least;
	span = n - least > 1 ? n - least : 1;
	for (i = 0; i < n; i++)
		y.data[i] = (unsigned char)(((sums[x->data[i]] - least) * 255 + span / 2) / span);
	return y;
}

/* One step: what the kernel made, compared with the reference and written to PREFIX-NAME. */
static int finish(const char *name, const char *prefix, int status, const unsigned char *device,
	struct image want)
{
	size_t bytes = (size_t)(want.h * want.w * want.channels), i;
	struct image got = image_new(want.h, want.w, want.channels);
	struct check check = {0};
	char size[64], path[1024], title[64];
	int bad;

	snprintf(size, sizeof size, "%lld x %lld", (long long)want.w, (long long)want.h);
	snprintf(title, sizeof title, "picture %s", name);
	if (status) {
		bad = status_report(title, size, status, ctile_status_text(status));
	} else {
		dev_download(got.data, device, bytes);
		for (i = 0; i < bytes; i++)
			check_value(&check, i, got.data[i], want.data[i], 0);
		bad = check_report(&check, title, size);
		snprintf(path, sizeof path, "%s-%s", prefix, name);
		bad |= image_write(&got, path) != 0;
	}
	free(got.data);
	free(want.data);
	return bad;
}

static int run_all(const struct image *im, const char *prefix)
{
	size_t n = (size_t)(im->h * im->w), ws_bytes = equalise_workspace((int64_t)n);
	struct image grey = grey_reference(im);
	unsigned char *rgb = (unsigned char *)dev_copy_of(im->data, 3 * n);
	unsigned char *rgb_out = (unsigned char *)dev_alloc(3 * n);
	unsigned char *x = (unsigned char *)dev_alloc(n), *y = (unsigned char *)dev_alloc(n);
	void *ws = dev_alloc(ws_bytes);
	int bad, status;

	status = blur(rgb, rgb_out, im->h, im->w, NULL);
	bad = finish("blur", prefix, status, rgb_out, blur_reference(im));
	status = to_grey(rgb, x, im->h, im->w, NULL);
	bad |= finish("grey", prefix, status, x, grey_reference(im));
	status = sobel(x, y, im->h, im->w, NULL);
	bad |= finish("sobel", prefix, status, y, sobel_reference(&grey));
	status = equalise_ws(x, y, (int64_t)n, ws, ws_bytes, NULL);
	bad |= finish("equalised", prefix, status, y, equalise_reference(&grey));
	dev_free(rgb), dev_free(rgb_out), dev_free(x), dev_free(y), dev_free(ws);
	free(grey.data);
	return bad;
}

int main(int argc, char **argv)
{
	struct image im;
	int bad;

	if (argc != 3) {
		fprintf(stderr, "usage: picture INPUT OUTPUT-PREFIX\n");
		return 2;
	}
	if (image_read(&im, argv[1]))
		return 2;
	bad = run_all(&im, argv[2]);
	free(im.data);
	return bad ? 1 : 0;
}
