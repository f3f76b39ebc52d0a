/* test_operands.c: tiles in shared memory, matrix descriptors, warpgroup fragments and tensor-map boxes against the
 * PTX manual and the driver's, on all points.
 *
 * Nothing here calls the module for an expected value: the swizzles are stated by rows and 16-byte chunks, descriptors
 * are decoded and their canonical layouts walked as the manual draws them, copies are made element by element. Prints
 * one line per failing check; returns 1 if any failed.
 */
#include "layout/smem.h"
#include "layout/tma.h"
#include "layout/wgmma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long checks, failures;

static bool check_at(int line, bool ok, const char *what)
{
	checks++;
	if (!ok && failures++ < 50)
		printf("test_operands.c:%d: %s\n", line, what);
	return ok;
}

#define CHECK(c) check_at(__LINE__, (c), #c)

static const int spans[] = { 0, 16, 32, 64, 128 };

/* ---- swizzles ---- */

/* The chunk of 16 bytes that holds chunk c of row r, of rows of `span` bytes that follow each other: the manual's
 * pictures of the three modes, in which eight lines of 128 bytes hold 8, 16 or 32 rows. */
static int permuted(int span, int r, int c)
{
	switch (span) {
	case 128: return c ^ r % 8;
	case 64: return c ^ r / 2 % 4;
	case 32: return c ^ r / 4 % 2;
	default: return c;
	}
}

static void test_swizzle(void)
{
	for (int i = 0; i < 5; i++)
		for (int a = 0; a < 8192; a++) {
			int span = spans[i] ? spans[i] : 128, row = a / span, chunk = a % span / 16;
			int want = row * span + permuted(spans[i], row, chunk) * 16 + a % 16;

			CHECK((int)smem_swizzle(spans[i], (uint32_t)a) == want);
			CHECK((int)smem_swizzle(spans[i], (uint32_t)want) == a);
		}
}

/* ---- tiles ---- */

static int64_t stated(Smem t, int i, int j)
{
	int fast = t.fast ? j : i, slow = t.fast ? i : j, bytes = 1 << t.elem_log2;
	int span = t.span ? t.span : t.extent[t.fast] * bytes, slab = fast * bytes / span, in = fast * bytes % span;

	return (int64_t)slab * t.extent[1 - t.fast] * span + (int64_t)slow * span
		+ (t.span ? permuted(t.span, slow, in / 16) * 16 + in % 16 : in);
}

static void check_tile(Smem t)
{
	int64_t bytes = (int64_t)t.extent[0] * t.extent[1] << t.elem_log2;
	Lay l = smem_lay(t);
	char *seen;

	if (!CHECK(smem_ok(t) && smem_bytes(t) == bytes && smem_slabs(t) * smem_slab_bytes(t) == bytes))
		return;
	seen = calloc((size_t)bytes, 1);
	for (int i = 0; i < t.extent[0]; i++)
		for (int j = 0; j < t.extent[1]; j++) {
			int64_t at = smem_at(t, i, j);

			CHECK(at == stated(t, i, j) && at >= 0 && at < bytes && seen && !seen[at]++);
			if (lay_ok(l)) {
				uint32_t p = lay_image(l, (uint32_t)(at >> t.elem_log2));

				CHECK((int)lay_coord(l, p, 0) == i && (int)lay_coord(l, p, 1) == j);
			}
		}
	free(seen);
}

static void test_tiles(void)
{
	static const int slow[] = { 8, 24, 64, 176, 256 };

	for (int s = 0; s < 5; s++)
		for (int e = 0; e < 4; e++)
			for (int k = 0; k < 5; k++)
				for (int slabs = 1; slabs <= 3; slabs++)
					for (int fast = 0; fast < 2; fast++) {
						int width = (spans[s] ? spans[s] : 48) * slabs >> e;
						Smem t = { (uint8_t)e, (uint8_t)fast, (uint8_t)spans[s], { slow[k], width } };

						if (!fast) {
							t.extent[0] = width;
							t.extent[1] = slow[k];
						}
						check_tile(t);
					}
	CHECK(lay_ok(smem_lay((Smem){ 1, 1, 128, { 64, 256 } })) && lay_ok(smem_lay((Smem){ 1, 0, 0, { 16, 4 } })));
	CHECK(!lay_ok(smem_lay((Smem){ 1, 1, 128, { 96, 64 } })));
	CHECK(!smem_ok((Smem){ 1, 1, 128, { 64, 96 } }) && !smem_ok((Smem){ 1, 1, 64, { 60, 32 } }));
	CHECK(!smem_ok((Smem){ 1, 1, 48, { 64, 24 } }) && !smem_ok((Smem){ 4, 1, 0, { 64, 64 } }));
	CHECK(!smem_ok((Smem){ 1, 1, 0, { 4, 7 } }) && !smem_ok((Smem){ 1, 1, 0, { 0, 8 } }) && !smem_ok((Smem){ 1, 2, 0, { 8, 8 } }));
	CHECK(smem_align(128) == 1024 && smem_align(64) == 512 && smem_align(32) == 256 && smem_align(16) == 128
		&& smem_align(0) == 128);
}

/* ---- descriptors ---- */

typedef struct Decoded { int64_t start, lead, stride; int base, mode; } Decoded;

static Decoded decode(uint64_t d)
{
	return (Decoded){ (int64_t)(d & 0x3fff) * 16, (int64_t)(d >> 16 & 0x3fff) * 16, (int64_t)(d >> 32 & 0x3fff) * 16,
		(int)(d >> 49 & 7), (int)(d >> 62) };
}

/* Where the hardware looks for element (mn,k) of one instruction: the canonical layouts, in which the offsets are those
 * of the manual's table "leading and stride dimension byte offset". */
static int64_t canonical(Decoded d, bool k_major, int span, int bytes, int mn, int k)
{
	int64_t a = d.start;
	int run = (k_major ? k : mn) * bytes, other = k_major ? mn : k, line;

	if (span == 16)
		a += run / 16 * (k_major ? d.lead : d.stride) + other / 8 * (k_major ? d.stride : d.lead) + other % 8 * 16 + run % 16;
	else
		a += (k_major ? 0 : run / span * d.lead) + other / 8 * d.stride + other % 8 * span + (k_major ? run : run % span);
	line = (int)(a / 128 % 8);
	if (span == 128)
		return a / 128 * 128 + ((a / 16 % 8) ^ line) * 16 + a % 16;
	if (span == 64)
		return a / 64 * 64 + ((a / 16 % 4) ^ line % 4) * 16 + a % 16;
	if (span == 32)
		return a / 32 * 32 + ((a / 16 % 2) ^ line % 2) * 16 + a % 16;
	return a;
}

/* All instructions that can begin in the tile read what they should. */
static void check_operand(Smem t, int k_axis, uint32_t base, int mn_block)
{
	int bytes = 1 << t.elem_log2, kk = 32 / bytes, mn_all = t.extent[1 - k_axis], k_all = t.extent[k_axis], begun = 0;
	WgOperand o;

	if (!CHECK(wg_operand(t, k_axis, &o) && o.k_major == (t.fast == k_axis)))
		return;
	for (int mn = 0; mn < mn_all; mn += 8)
		for (int k = 0; k < k_all; k += kk) {
			int64_t step;
			Decoded d;

			if (!wg_step(t, k_axis, mn, k, &step))
				continue;
			begun++;
			/* emitted code adds to the low word, after the mask */
			d = decode(wg_descriptor(o, t.span, base) + (uint64_t)(step >> 4));
			CHECK(step % 16 == 0 && d.base == 0 && d.mode == (t.span == 128 ? 1 : t.span == 64 ? 2 : t.span == 32 ? 3 : 0));
			for (int i = 0; i < mn_block && mn + i < mn_all; i++)
				for (int j = 0; j < kk; j++) {
					int row = k_axis ? mn + i : k + j, col = k_axis ? k + j : mn + i;

					CHECK(canonical(d, o.k_major, t.span, bytes, i, j) == (int64_t)(base & 0x3ffff) + smem_at(t, row, col));
				}
		}
	/* at least every slab begins an operand, and K-major every 8 rows and every step of K */
	CHECK(begun >= (o.k_major ? mn_all / 8 * (k_all / kk) : mn_all * bytes / t.span * (k_all / kk)));
}

static void test_descriptors(void)
{
	static const int rows[] = { 64, 192, 256 };

	for (int s = 1; s < 5; s++)
		for (int e = 0; e < 3; e++)
			for (int r = 0; r < 3; r++)
				for (int slabs = spans[s] == 16 ? 2 : 1; slabs <= 4; slabs *= 2)
					for (int fast = 0; fast < 2; fast++)
						for (int k_axis = 0; k_axis < 2; k_axis++) {
							int width = spans[s] * slabs >> e;
							Smem t = { (uint8_t)e, (uint8_t)fast, (uint8_t)spans[s],
								{ fast ? rows[r] : width, fast ? width : rows[r] } };
							WgOperand o;

							if (fast != k_axis && e != 1) {
								CHECK(!wg_operand(t, k_axis, &o));
								continue;
							}
							/* a rank in the high bits must not reach the fields */
							check_operand(t, k_axis, 0x03000000u + 5 * 1024, 256);
						}
}

/* What the measured kernels use. */
static void test_known(void)
{
	Smem x = { 1, 1, 128, { 128, 64 } }, y = { 1, 1, 128, { 64, 256 } }, v = { 1, 1, 128, { 192, 128 } };
	WgOperand o;
	int64_t step;

	CHECK(wg_operand(x, 1, &o) && o.k_major && o.fixed == UINT64_C(0x4000004000010000));
	CHECK(wg_step(x, 1, 0, 16, &step) && step == 32);
	CHECK(wg_step(x, 1, 64, 0, &step) && step == 512 * 16);
	CHECK(wg_operand(y, 0, &o) && !o.k_major && o.fixed == UINT64_C(0x4000004002000000));
	CHECK(wg_step(y, 0, 0, 16, &step) && step == 128 * 16);
	CHECK(wg_step(y, 0, 64, 0, &step) && step == 512 * 16);
	/* a value tile of attention: slabs of 192 keys */
	CHECK(wg_operand(v, 0, &o) && o.fixed == (UINT64_C(0x4000004000000000) | (uint64_t)(192 * 128 / 16) << 16));
	CHECK(!wg_step(y, 0, 32, 0, &step) && !wg_step(x, 1, 4, 0, &step) && !wg_step(x, 1, 0, 8, &step));
	CHECK(!wg_step(x, 1, 128, 0, &step) && !wg_step(x, 1, 0, 64, &step) && !wg_step(x, 1, -8, 0, &step));
	CHECK(!wg_operand((Smem){ 1, 1, 0, { 64, 64 } }, 1, &o) && !wg_operand((Smem){ 3, 1, 128, { 64, 16 } }, 1, &o));
	CHECK(!wg_operand((Smem){ 1, 1, 16, { 32768, 64 } }, 1, &o));
	/* patterns that begin elsewhere */
	for (uint32_t a = 0; a < 4096; a += 128) {
		CHECK(wg_base_offset(128, a) == (a % 1024 ? a / 128 % 8 : 0) && wg_base_offset(16, a) == 0);
		CHECK(wg_base_offset(64, a) == (a % 512 ? a / 128 % 8 : 0));
		CHECK(wg_base_offset(32, a) == (a % 256 ? a / 128 % 8 : 0));
	}
	CHECK(decode(wg_descriptor(o, 128, 0x480)).base == 1);
	CHECK(wg_k(0) == 32 && wg_k(1) == 16 && wg_k(2) == 8);
	for (int n = -8; n <= 300; n++) {
		bool listed = n == 8 || n == 16 || n == 24 || n == 32;

		for (int m = 48; m <= 256; m += 16) listed |= n == m;
		CHECK(wg_n_ok(1, false, n) == (n > 0 && n <= 256 && n % 8 == 0) && wg_n_ok(0, true, n) == listed);
	}
}

/* ---- fragments of a warpgroup ---- */

static void test_fragments(void)
{
	for (int n = 8; n <= 256; n += 8) {
		CHECK(wg_d_regs(n) == n / 2);
		for (int t = 0; t < 128; t++)
			for (int i = 0; i < n / 2; i++) {
				FragAt at = wg_d_at(i, t);

				CHECK(at.row == t / 32 * 16 + t % 32 / 4 + (i / 2 % 2) * 8 && at.col == i / 4 * 8 + t % 4 * 2 + i % 2);
			}
	}
	for (int t = 0; t < 128; t++) {
		int row = t / 32 * 16 + t % 32 / 4, q = t % 4;

		for (int i = 0; i < 8; i++) {           /* f16: a_i, i = 0, 1, 4, 5 in the upper rows, 4 to 7 in the right half */
			FragAt at = wg_a_at(1, i, t);

			CHECK(at.row == row + (i / 2 % 2 ? 8 : 0) && at.col == 2 * q + i % 2 + (i >= 4 ? 8 : 0));
		}
		for (int i = 0; i < 4; i++) {           /* tf32 */
			FragAt at = wg_a_at(2, i, t);

			CHECK(at.row == row + (i % 2 ? 8 : 0) && at.col == q + (i >= 2 ? 4 : 0));
		}
		for (int i = 0; i < 16; i++) {          /* 8 bits */
			FragAt at = wg_a_at(0, i, t);

			CHECK(at.row == row + (i / 4 % 2 ? 8 : 0) && at.col == 4 * q + i % 4 + (i >= 8 ? 16 : 0));
		}
	}
	for (int e = 0; e < 3; e++) {
		CHECK(wg_a_elems(e) == 16 >> e);
		for (int i = 0; i < wg_a_elems(e); i++) {
			int reg = -1;

			if (CHECK(wg_a_from_d(e, i, &reg) == (e == 1)) && e == 1)
				for (int t = 0; t < 128; t++) {
					FragAt a = wg_a_at(e, i, t), d = wg_d_at(reg, t);

					CHECK(reg == i && a.row == d.row && a.col == d.col);
				}
		}
	}
}

/* ---- stmatrix: lane 8 i + r gives the address of row r of matrix i; lane t stores its word i to elements 2 (t % 4)
 * and one more of row t / 4, or with .trans to row 2 (t % 4) and the next of element t / 4 ---- */

static void check_stmatrix(Smem t, int log2_n, bool trans)
{
	Lay d = frag_wgmma(FRAG_M16N8K16, ROLE_C, log2_n), l = smem_lay(t), addr;
	int issues, wrong = 0;
	int64_t bytes = smem_bytes(t);
	int *at = malloc((size_t)bytes * sizeof *at);

	if (!CHECK(lay_ok(d) && lay_ok(l) && at && frag_ldmatrix(d, l, 1, 2, trans, &addr))) {
		free(at);
		return;
	}
	for (int64_t i = 0; i < bytes; i++) at[i] = -1;
	issues = 1 << addr.in[HW_REG];
	CHECK(issues == wg_d_regs(1 << log2_n) / 8);
	for (int warp = 0; warp < 4; warp++)
		for (int issue = 0; issue < issues; issue++)
			for (int m = 0; m < 4; m++)
				for (int lane = 0; lane < 32; lane++)
					for (int half = 0; half < 2; half++) {
						int row = trans ? lane % 4 * 2 + half : lane / 4, elem = trans ? lane / 4 : lane % 4 * 2 + half;
						uint32_t in[HW_N] = { (uint32_t)issue, (uint32_t)(8 * m + row), (uint32_t)warp };
						uint32_t off = lay_coord(addr, lay_apply(addr, in), LAY_HWAXIS(HW_OFF));
						FragAt f = wg_d_at(issue * 8 + m * 2 + half, warp * 32 + lane);

						at[(off + (uint32_t)elem) * 2] = f.row << 8 | f.col;
					}
	for (int i = 0; i < t.extent[0]; i++)
		for (int j = 0; j < t.extent[1]; j++) wrong += at[smem_at(t, i, j)] != (i << 8 | j);
	CHECK(wrong == 0);
	CHECK(frag_ldmatrix_conflicts(addr, 1) == 0);
	for (int warp = 0; warp < 4 && t.span == 128; warp++)
		for (int issue = 0; issue < issues; issue++)
			for (int lane = 0; lane < 32; lane++) {
				uint32_t in[HW_N] = { (uint32_t)issue, (uint32_t)lane, (uint32_t)warp };
				int off = (int)lay_coord(addr, lay_apply(addr, in), LAY_HWAXIS(HW_OFF)) * 2, row, chunk;

				/* within a slab of 64 columns, as the measured kernels write it */
				row = trans ? (lane & 7) + 8 * (lane / 16) + 16 * issue : 16 * warp + (lane & 15);
				chunk = trans ? 2 * warp + (lane / 8 & 1) : 2 * (issue % 4) + lane / 16;
				CHECK(off == (trans ? 0 : issue / 4 * 8192) + row * 128 + (chunk ^ (row & 7)) * 16);
			}
	free(at);
}

/* The same through wg_stmatrix, for tiles that need not be powers of two. */
static void check_store(Smem t, bool trans)
{
	int n = t.extent[1 - trans], wrong = 0;
	int64_t bytes = smem_bytes(t);
	int *at = malloc((size_t)bytes * sizeof *at);

	for (int64_t i = 0; at && i < bytes; i++) at[i] = -1;
	for (int group = 0; at && group < n / 16; group++) {
		WgStore s;

		if (!CHECK(wg_stmatrix(t, trans, group, &s)))
			break;
		for (int warp = 0; warp < 4; warp++)
			for (int m = 0; m < 4; m++)
				for (int lane = 0; lane < 32; lane++)
					for (int half = 0; half < 2; half++) {
						int row = trans ? lane % 4 * 2 + half : lane / 4, elem = trans ? lane / 4 : lane % 4 * 2 + half;
						uint32_t in[HW_N] = { 0, (uint32_t)(8 * m + row), (uint32_t)warp };
						uint32_t off = lay_coord(s.addr, lay_apply(s.addr, in), LAY_HWAXIS(HW_OFF)) ^ s.flip;
						FragAt f = wg_d_at(group * 8 + m * 2 + half, warp * 32 + lane);
						int64_t byte = (int64_t)off * 2 + s.add + elem * 2;

						CHECK(byte >= 0 && byte + 2 <= bytes);
						at[byte] = f.row << 8 | f.col;
					}
	}
	for (int i = 0; at && i < t.extent[0]; i++)
		for (int j = 0; j < t.extent[1]; j++) wrong += at[smem_at(t, i, j)] != (trans ? j << 8 | i : i << 8 | j);
	CHECK(wrong == 0);
	free(at);
}

static void test_stmatrix(void)
{
	WgStore s;

	for (int n = 64; n <= 256; n += 64) check_store((Smem){ 1, 1, 128, { 64, n } }, false);
	for (int n = 32; n <= 224; n += 32) check_store((Smem){ 1, 1, 64, { 64, n } }, false);
	for (int n = 16; n <= 240; n += 16) check_store((Smem){ 1, 1, 32, { 64, n } }, false);
	for (int n = 16; n <= 256; n *= 2) check_store((Smem){ 1, 1, 0, { 64, n } }, false);
	for (int n = 16; n <= 240; n += 16) {
		check_store((Smem){ 1, 1, 128, { n, 64 } }, true);
		check_store((Smem){ 1, 1, 0, { n, 64 } }, true);
	}
	CHECK(!wg_stmatrix((Smem){ 2, 1, 128, { 64, 64 } }, false, 0, &s) && !wg_stmatrix((Smem){ 1, 1, 128, { 128, 64 } }, false, 0, &s));
	CHECK(!wg_stmatrix((Smem){ 1, 1, 128, { 64, 64 } }, false, 4, &s) && !wg_stmatrix((Smem){ 1, 1, 16, { 64, 64 } }, false, 0, &s));
	CHECK(!wg_stmatrix((Smem){ 1, 1, 64, { 32, 64 } }, true, 0, &s) && !wg_stmatrix((Smem){ 1, 0, 128, { 64, 64 } }, false, 0, &s));
	for (int span = 32; span <= 128; span *= 2)
		for (int log2_n = 4; log2_n <= 7; log2_n++) {
			if (span <= 2 << log2_n)
				check_stmatrix((Smem){ 1, 1, (uint8_t)span, { 64, 1 << log2_n } }, log2_n, false);
			check_stmatrix((Smem){ 1, 0, (uint8_t)span, { 64, 1 << log2_n } }, log2_n, true);
		}
}

/* ---- tensor maps ---- */

/* Makes the copies as the bulk tensor copy does: rows of the box one after the other from where it begins, chunks
 * permuted by the mode's picture. */
static void check_box(Smem t, int rank, int dim, int stride)
{
	TmaBox b;
	int bytes = 1 << t.elem_log2, fast_all = t.extent[t.fast], slow_all = t.extent[1 - t.fast], found = 0;
	int64_t total = 0;

	if (!CHECK(tma_box(t, rank, dim, stride, &b)))
		return;
	CHECK(b.rank == rank && b.swizzle == (t.span == 128 ? 3 : t.span == 64 ? 2 : t.span == 32 ? 1 : 0));
	for (int i = 0; i < rank; i++) {
		CHECK(b.box[i] >= 1 && b.box[i] <= 256 && b.elem_stride[i] >= 1 && b.elem_stride[i] <= 8);
		CHECK(i == 0 || i == dim || (b.box[i] == 1 && b.elem_stride[i] == 1));
	}
	CHECK((int)b.box[0] * bytes % 16 == 0 && (t.span == 0 || (int)b.box[0] * bytes <= t.span) && b.elem_stride[0] == 1);
	for (int i = 0; i < tma_copies(&b); i++) {
		int fast, slow, rows = rank > 1 ? ((int)b.box[dim] + stride - 1) / stride : 1;
		int64_t byte;

		tma_copy(t, &b, i, &fast, &slow, &byte);
		CHECK(byte % 128 == 0 && (t.span == 0 || byte % (8 * t.span) == 0));
		total += b.bytes;
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < (int)b.box[0]; c++) {
				int width = (int)b.box[0] * bytes, in = c * bytes;
				int64_t at = byte + (int64_t)r * width + (t.span ? permuted(t.span, r, in / 16) * 16 + in % 16 : in);

				found += fast + c < fast_all && slow + r < slow_all
					&& smem_at(t, t.fast ? slow + r : fast + c, t.fast ? fast + c : slow + r) == at;
			}
	}
	CHECK(found == fast_all * slow_all && total == smem_bytes(t));
}

static void test_boxes(void)
{
	static const int slow[] = { 8, 64, 176, 256, 384, 512 };

	for (int s = 0; s < 5; s++)
		for (int e = 0; e < 4; e++)
			for (int k = 0; k < 6; k++)
				for (int fast = 0; fast < 2; fast++) {
					int width = spans[s] ? spans[s] * 2 >> e : 64;
					Smem t = { (uint8_t)e, (uint8_t)fast, (uint8_t)spans[s],
						{ fast ? slow[k] : width, fast ? width : slow[k] } };

					check_box(t, 2, 1, 1);
					check_box(t, 3, 1, 1);
					check_box(t, 5, 3, 2);
					check_box(t, 4, 2, slow[k] == 176 ? 4 : 8);
				}
	check_box((Smem){ 2, 1, 0, { 1, 256 } }, 1, 0, 1);
	TmaBox b;
	CHECK(!tma_box((Smem){ 2, 1, 0, { 1, 512 } }, 1, 0, 1, &b) && !tma_box((Smem){ 2, 1, 0, { 2, 64 } }, 1, 0, 1, &b));
	CHECK(!tma_box((Smem){ 1, 1, 128, { 64, 64 } }, 2, 1, 9, &b) && !tma_box((Smem){ 1, 1, 128, { 64, 64 } }, 2, 2, 1, &b));
	CHECK(!tma_box((Smem){ 1, 1, 128, { 64, 64 } }, 6, 1, 1, &b) && !tma_box((Smem){ 1, 1, 128, { 64, 64 } }, 2, 1, 0, &b));
	CHECK(!tma_box((Smem){ 1, 1, 0, { 509, 40 } }, 2, 1, 2, &b));
	/* the measured kernel's: 128 rows of 64 columns, and four loads of 64 by 64 */
	CHECK(tma_box((Smem){ 1, 1, 128, { 128, 64 } }, 2, 1, 1, &b) && b.box[0] == 64 && b.box[1] == 128 && tma_copies(&b) == 1);
	CHECK(tma_box((Smem){ 1, 1, 128, { 64, 256 } }, 2, 1, 1, &b) && b.box[0] == 64 && b.box[1] == 64 && tma_copies(&b) == 4
		&& b.bytes == 8192 && b.swizzle == 3);
}

int main(void)
{
	test_swizzle();
	test_tiles();
	test_descriptors();
	test_known();
	test_fragments();
	test_stmatrix();
	test_boxes();
	printf("test_operands: %ld checks, %ld failed\n", checks, failures);
	return failures != 0;
}
