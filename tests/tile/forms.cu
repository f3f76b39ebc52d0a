/* row_max: BN = 64 */
template<bool ct_aligned>
static __tile_global__ void row_max_64(const float *x, float *y, const long long rows, const long long cols)
{
	using f32_1x64 = ct::tile<float, ct::shape<1, 64>>;
	using f32_1x1 = ct::tile<float, ct::shape<1, 1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent, ct::dynamic_extent>(ct_size<ct_aligned, 4>(rows), ct_size<ct_aligned, 4>(cols)), ct::strides<ct_index<ct_aligned>, ct::dynamic_stride, 1>(ct_size<ct_aligned, 4>(cols))));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent, 1>(ct_size<ct_aligned, 4>(rows)), ct::strides<ct_index<ct_aligned>, 1, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v1 = load(x, v0, 0): tile<f32, [1, 64]> */
	f32_1x64 v1 = ct::full<f32_1x64>((-__builtin_inff()));
	if (ct_aligned || ct_begins_inside(0, 64, cols)) [[cutile::hint(0, allow_tma=false)]] v1 = ct::partition_view(x_span, ct::shape<1, 64>{}).load_masked(ct::view_padding_negative_inf_t{}, v0, 0);
	/* v2 = reduce_max(v1): tile<f32, [1, 1]> */
	const f32_1x1 v2 = ct::reduce_max<1>(v1);
	/* store(y, v0, 0, v2): tile<f32, [1, 1]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<1, 1>{}).store(v2, v0, 0);
}

/* least */
template<bool ct_aligned>
static __tile_global__ void least(const int *x, int *y, const long long n)
{
	using i32_32 = ct::tile<int, ct::shape<32>>;
	using i64_32 = ct::tile<long long, ct::shape<32>>;
	using i32_1 = ct::tile<int, ct::shape<1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v = load(x, v0): tile<i32, [32]> */
	const long long ct_at0 = ct_tile_at(v0, 32, 0);
	const auto ct_c1 = ct_offset(ct::iota<i64_32>(), ct_at0);
	const auto ct_in2 = ct_c1 >= 0ll && ct_c1 < (long long)n;
	i32_32 v;
	[[cutile::hint(0, allow_tma=false)]] v = ct::select(ct_in2, ct::partition_view(x_span, ct::shape<32>{}).load_masked(v0), ct::full<i32_32>(7));
	/* v1 = mul(v, 3): tile<i32, [32]> */
	const i32_32 v1 = ct_mul_s(v, ct::full<i32_32>(3));
	/* v2 = reduce_min(v): tile<i32, [1]> */
	const i32_1 v2 = ~ct::reduce_max<0>(~v);
	/* v3 = broadcast(v2): tile<i32, [32]> */
	const i32_32 v3 = ct::broadcast<ct::shape<32>>(v2);
	/* v4 = sub(v, v3): tile<i32, [32]> */
	const i32_32 v4 = ct_sub_s(v, v3);
	/* v5 = div(v1, v4): tile<i32, [32]> */
	const i32_32 v5 = ct_div_s(v1, v4);
	/* v6 = shl(v5, 2): tile<i32, [32]> */
	const i32_32 v6 = ct_shl(v5, ct::full<i32_32>(2));
	/* store(y, v0, v6): tile<i32, [32]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<32>{}).store_masked(v6, v0);
}

/* pieces */
template<bool ct_aligned>
static __tile_global__ void pieces(const unsigned char *x, short *y, const int at, const long long n)
{
	using bool_32 = ct::tile<bool, ct::shape<32>>;
	using i64_32 = ct::tile<long long, ct::shape<32>>;
	using i16_32 = ct::tile<short, ct::shape<32>>;
	using i16_16 = ct::tile<short, ct::shape<16>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(x, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent>(n), ct::strides<long long, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 8>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int n_2 = (int)n;
	const int v0 = (int)ct_bid0;
	/* a = load(x, v0): tile<bool, [32]> */
	bool_32 a;
	[[cutile::hint(0, allow_tma=false)]] a = ct_nonzero(ct::strided_view(x_span, ct::shape<32>{}, ct::strides<long long, 16>{}).load_masked(v0));
	/* b = load(x, at): tile<bool, [32]> */
	const long long ct_at0 = ct_tile_at(at, 1, 0);
	const auto ct_c1 = ct_offset(ct::iota<i64_32>(), ct_at0);
	const auto ct_at2 = x + ct_c1;
	const auto ct_in3 = ct_c1 >= 0ll && ct_c1 < (long long)n;
	const bool_32 b = ct_nonzero(ct::load_masked(ct_at2, ct_in3, ct::element_cast<unsigned char>(false)));
	const long long v1 = ct::element_cast<long long>(at);
	const long long v2 = ct::element_cast<long long>(n_2);
	const long long v3 = ct::max(v2, v1);
	const long long v4 = ct_sub_s(v3, v1);
	const bool v5 = v1 <= n;
	const bool v6 = v1 >= 0ll;
	const bool v7 = v6 && v5;
	const long long v8 = ct::select(v7, v4, 0ll);
	const auto x_span_2 = ct::tensor_span(x + v1, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent>(v8), ct::strides<long long, 1>{}));
	/* c = load(x, v0): tile<bool, [32]> */
	bool_32 c = ct::full<bool_32>(false);
	if (ct_begins_inside(v0, 32, v8)) [[cutile::hint(0, allow_tma=false)]] c = ct_nonzero(ct::partition_view(x_span_2, ct::shape<32>{}).load_masked(v0));
	/* v9 = bitand(a, b): tile<bool, [32]> */
	const bool_32 v9 = a && b;
	/* v10 = element_cast(c): tile<i16, [32]> */
	const i16_32 v10 = ct::element_cast<short>(c);
	/* v11 = select(v9, v10, 2): tile<i16, [32]> */
	const i16_32 v11 = ct::select(v9, v10, ct::full<i16_32>((short)2));
	/* v12 = extract(v11, 0): tile<i16, [16]> */
	const i16_16 v12 = ct::extract(v11, ct::shape<16>{}, 0);
	/* store(y, v0, v12): tile<i16, [16]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<16>{}).store_masked(v12, v0);
}

/* rounded */
template<bool ct_aligned>
static __tile_global__ void rounded(const float *x, float *y, const long long n)
{
	using f32_64 = ct::tile<float, ct::shape<64>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v = load(x, v0): tile<f32, [64]> */
	f32_64 v;
	[[cutile::hint(0, allow_tma=false)]] v = ct::partition_view(x_span, ct::shape<64>{}).load_masked(v0);
	/* p = mul(v, v): tile<f32, [64]> */
	const f32_64 p = ct_round(ct::mul(v, v));
	/* v1 = add(p, v): tile<f32, [64]> */
	const f32_64 v1 = ct::add(p, v);
	/* v2 = fma(v, 2, 1): tile<f32, [64]> */
	const f32_64 v2 = ct::fma(v, ct::full<f32_64>(2.0f), ct::full<f32_64>(1.0f));
	/* v3 = mul(v1, v2): tile<f32, [64]> */
	const f32_64 v3 = ct::mul(v1, v2);
	/* store(y, v0, v3): tile<f32, [64]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<64>{}).store_masked(v3, v0);
}

/* loops */
template<bool ct_aligned>
static __tile_global__ void loops(const float *x, float *y, const int most, const long long n)
{
	using f32_8 = ct::tile<float, ct::shape<8>>;
	using f32_1 = ct::tile<float, ct::shape<1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* s = load(x, v0): tile<f32, [8]> */
	f32_8 s;
	[[cutile::hint(0, allow_tma=false)]] s = ct::partition_view(x_span, ct::shape<8>{}).load_masked(v0);
	f32_8 s_2 = s;
	f32_8 t = ct::full<f32_8>(0.0f);
	for (const int i : ct::irange<int>(0, most)) {
		const auto ct_new0 = t;
		const auto ct_new1 = s_2;
		s_2 = ct_new0;
		t = ct_new1;
	}
	f32_8 s_3 = s_2;
	const long long ct_trips3 = ct_trips<int>(0, most, 3);
	for (long long ct_k2 = 0; ct_k2 < ct_trips3; ct_k2++) {
		const int i_2 = ct_counter<int>(0, 3, ct_k2);
		/* v1 = sum(s_3): tile<f32, [1]> */
		const f32_1 v1 = ct::sum<0>(s_3);
		/* v2 = to_scalar(v1): f32 */
		const float v2 = ct_scalar<float>(v1);
		const bool v3 = v2 > 100.0f;
		if (v3) {
			break;
		}
		/* v4 = exp(t): tile<f32, [8]> */
		const f32_8 v4 = ct::exp(t);
		/* s_4 = add(s_3, v4): tile<f32, [8]> */
		const f32_8 s_4 = ct::add(s_3, v4);
		s_3 = s_4;
	}
	f32_8 s_5 = s_3;
	f32_8 s_6;
	while (true) {
		/* v5 = sum(s_5): tile<f32, [1]> */
		const f32_1 v5 = ct::sum<0>(s_5);
		/* v6 = to_scalar(v5): f32 */
		const float v6 = ct_scalar<float>(v5);
		const bool v7 = v6 < 1.0f;
		s_6 = s_5;
		if (!v7) break;
		/* s_7 = mul(s_6, 2): tile<f32, [8]> */
		const f32_8 s_7 = ct_round(ct::mul(s_6, ct::full<f32_8>(2.0f)));
		s_5 = s_7;
	}
	/* store(y, v0, s_6): tile<f32, [8]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<8>{}).store_masked(s_6, v0);
}

/* scattered */
template<bool ct_aligned>
static __tile_global__ void scattered(const __nv_bfloat16 *x, const int *i, float *y, const long long m, const long long n, const unsigned int ct_g0)
{
	using i32_32 = ct::tile<int, ct::shape<32>>;
	using i64_32 = ct::tile<long long, ct::shape<32>>;
	using bf16_32 = ct::tile<__nv_bfloat16, ct::shape<32>>;
	using f32_32 = ct::tile<float, ct::shape<32>>;
	using bool_32 = ct::tile<bool, ct::shape<32>>;
	const unsigned int ct_rest0 = ct::bid().x;
	const unsigned int ct_bid0 = ct_rest0 % ct_g0;
	const unsigned int ct_bid1 = ct_rest0 / ct_g0;
	const auto i_span = ct::tensor_span(ct_base<ct_aligned>(i), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid1;
	/* at = load(i, v0): tile<i32, [32]> */
	const long long ct_at0 = ct_tile_at(v0, 32, 0);
	const auto ct_c1 = ct_offset(ct::iota<i64_32>(), ct_at0);
	const auto ct_in2 = ct_c1 >= 0ll && ct_c1 < (long long)n;
	i32_32 at;
	[[cutile::hint(0, allow_tma=false)]] at = ct::select(ct_in2, ct::partition_view(i_span, ct::shape<32>{}).load_masked(v0), ct::full<i32_32>((-1)));
	const int v1 = (int)ct_bid0;
	/* v2 = broadcast(v1): tile<i32, [32]> */
	const i32_32 v2 = ct::full<i32_32>(v1);
	/* v3 = gather(x, v2, at): tile<bf16, [32]> */
	const auto ct_c3 = ct::element_cast<long long>(v2);
	const auto ct_c4 = ct::element_cast<long long>(at);
	const auto ct_at5 = x + ct_times(ct_c3, n) + ct_c4;
	const auto ct_in6 = ct_c3 >= 0ll && ct_c3 < (long long)m && ct_c4 >= 0ll && ct_c4 < (long long)n;
	const bf16_32 v3 = ct::load_masked(ct_at5, ct_in6, ct::element_cast<__nv_bfloat16>(0.0f));
	/* v = element_cast(v3): tile<f32, [32]> */
	const f32_32 v = ct::element_cast<float>(v3);
	/* v4 = gt(v, 0): tile<bool, [32]> */
	const bool_32 v4 = v > ct::full<f32_32>(0.0f);
	/* v5 = atomic_rmw(y, v2, at, v, v4): tile<f32, [32]> */
	const auto ct_c7 = ct::element_cast<long long>(v2);
	const auto ct_c8 = ct::element_cast<long long>(at);
	const auto ct_at9 = y + ct_times(ct_c7, n) + ct_c8;
	const auto ct_in10 = ct_c7 >= 0ll && ct_c7 < (long long)m && ct_c8 >= 0ll && ct_c8 < (long long)n && v4;
	ct::atomic_add_masked(ct_at9, v, ct_in10, ct::memory_order_release_t{}, ct::thread_scope_system_t{});
}

static __tile__ const float ct_values0[32] = {
	1.0f, (-2.5f), 3.0f, 4.0f, 5.5f, 6.0f, 7.0f, 8.0f,
	9.0f, 10.0f, 11.0f, 12.0f, 13.0f, 14.0f, 15.0f, 16.0f,
	17.0f, 18.0f, 19.0f, 20.0f, 21.0f, 22.0f, 23.0f, 24.0f,
	25.0f, 26.0f, 27.0f, 28.0f, 29.0f, 30.0f, 31.0f, 32.0f
};

/* written */
template<bool ct_aligned>
static __tile_global__ void written(const float *x, __half *y, int *z, const long long n)
{
	using f32_32 = ct::tile<float, ct::shape<32>>;
	using f16_32 = ct::tile<__half, ct::shape<32>>;
	using i32_32 = ct::tile<int, ct::shape<32>>;
	using i32_1x16x1x1x1 = ct::tile<int, ct::shape<1, 16, 1, 1, 1>>;
	using bool_1x16x1x1x1 = ct::tile<bool, ct::shape<1, 16, 1, 1, 1>>;
	using i32_1x8x1x1x1 = ct::tile<int, ct::shape<1, 8, 1, 1, 1>>;
	using bool_1x8x1x1x1 = ct::tile<bool, ct::shape<1, 8, 1, 1, 1>>;
	using i32_1x4x1x1x1 = ct::tile<int, ct::shape<1, 4, 1, 1, 1>>;
	using bool_1x4x1x1x1 = ct::tile<bool, ct::shape<1, 4, 1, 1, 1>>;
	using i32_1x2x1x1x1 = ct::tile<int, ct::shape<1, 2, 1, 1, 1>>;
	using bool_1x2x1x1x1 = ct::tile<bool, ct::shape<1, 2, 1, 1, 1>>;
	using i32_1x1x1x1x1 = ct::tile<int, ct::shape<1, 1, 1, 1, 1>>;
	using bool_1x1x1x1x1 = ct::tile<bool, ct::shape<1, 1, 1, 1, 1>>;
	using i32_1 = ct::tile<int, ct::shape<1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(x, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent>(n), ct::strides<long long, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 8>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto z_span = ct::tensor_span(ct_base<ct_aligned>(z), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, 1>{}, ct::strides<ct_index<ct_aligned>, 1>{}));
	/* table = literal(1, -2.5, 3, 4, 5.5, 6, 7, 8): tile<f32, [32]> */
	const f32_32 table = ct::reshape<ct::shape<32>>(ct::load(ct_values0 + ct::iota<ct::tile<int, ct::shape<32>>>()));
	/* v = load(x, 0): tile<f32, [32]> */
	f32_32 v = ct::full<f32_32>(0.0f);
	if (ct_aligned || ct_begins_inside(0, 32, n)) [[cutile::hint(0, allow_tma=false)]] v = ct::partition_view(x_span, ct::shape<32>{}).load_masked(0);
	/* v0 = mul(v, table): tile<f32, [32]> */
	const f32_32 v0 = ct::mul(v, table);
	/* v1 = element_cast(v0): tile<f16, [32]> */
	const f16_32 v1 = ct::element_cast<__half>(ct_digits<11, -14, 1, 1>(ct::element_cast<double>(v0), 65504.0));
	/* store(y, 0, v1): tile<f16, [32]> */
	if (ct_aligned || ct_begins_inside(0, 32, n)) [[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<32>{}).store_masked(v1, 0);
	/* v2 = element_cast(v): tile<i32, [32]> */
	const i32_32 v2 = ct_to_int<int>(v);
	const auto ct_x0 = ct::reshape<ct::shape<1, 32, 1>>(v2);
	const auto ct_pairs1 = ct::reshape<ct::shape<1, 16, 2, 1, 1>>(ct_x0);
	const auto ct_a2 = ct::extract(ct_pairs1, ct::shape<1, 16, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b3 = ct::extract(ct_pairs1, ct::shape<1, 16, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_k4 = ct::full<i32_1x16x1x1x1>(0);
	/* v3 = ge(ct_a2, 0): tile<bool, [1, 16, 1, 1, 1]> */
	const bool_1x16x1x1x1 v3 = ct_a2 >= ct_k4;
	const auto ct_here5 = !v3;
	const auto ct_left6 = ct::select(ct_here5, ct_b3, ct_a2);
	const auto ct_pairs7 = ct::reshape<ct::shape<1, 8, 2, 1, 1>>(ct_left6);
	const auto ct_a8 = ct::extract(ct_pairs7, ct::shape<1, 8, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b9 = ct::extract(ct_pairs7, ct::shape<1, 8, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_k10 = ct::full<i32_1x8x1x1x1>(0);
	/* v4 = ge(ct_a8, 0): tile<bool, [1, 8, 1, 1, 1]> */
	const bool_1x8x1x1x1 v4 = ct_a8 >= ct_k10;
	const auto ct_here11 = !v4;
	const auto ct_left12 = ct::select(ct_here11, ct_b9, ct_a8);
	const auto ct_pairs13 = ct::reshape<ct::shape<1, 4, 2, 1, 1>>(ct_left12);
	const auto ct_a14 = ct::extract(ct_pairs13, ct::shape<1, 4, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b15 = ct::extract(ct_pairs13, ct::shape<1, 4, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_k16 = ct::full<i32_1x4x1x1x1>(0);
	/* v5 = ge(ct_a14, 0): tile<bool, [1, 4, 1, 1, 1]> */
	const bool_1x4x1x1x1 v5 = ct_a14 >= ct_k16;
	const auto ct_here17 = !v5;
	const auto ct_left18 = ct::select(ct_here17, ct_b15, ct_a14);
	const auto ct_pairs19 = ct::reshape<ct::shape<1, 2, 2, 1, 1>>(ct_left18);
	const auto ct_a20 = ct::extract(ct_pairs19, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b21 = ct::extract(ct_pairs19, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_k22 = ct::full<i32_1x2x1x1x1>(0);
	/* v6 = ge(ct_a20, 0): tile<bool, [1, 2, 1, 1, 1]> */
	const bool_1x2x1x1x1 v6 = ct_a20 >= ct_k22;
	const auto ct_here23 = !v6;
	const auto ct_left24 = ct::select(ct_here23, ct_b21, ct_a20);
	const auto ct_pairs25 = ct::reshape<ct::shape<1, 1, 2, 1, 1>>(ct_left24);
	const auto ct_a26 = ct::extract(ct_pairs25, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b27 = ct::extract(ct_pairs25, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_k28 = ct::full<i32_1x1x1x1x1>(0);
	/* v7 = ge(ct_a26, 0): tile<bool, [1, 1, 1, 1, 1]> */
	const bool_1x1x1x1x1 v7 = ct_a26 >= ct_k28;
	const auto ct_here29 = !v7;
	const auto ct_left30 = ct::select(ct_here29, ct_b27, ct_a26);
	const i32_1 v8 = ct::reshape<ct::shape<1>>(ct_left30);
	/* store(z, 0, v8): tile<i32, [1]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(z_span, ct::shape<1>{}).store(v8, 0);
}

/* rounds */
static __tile_global__ void rounds(const int *x, int *y, const long long n)
{
	using i32_2 = ct::tile<int, ct::shape<2>>;
	using bool_1x1x1x1x1 = ct::tile<bool, ct::shape<1, 1, 1, 1, 1>>;
	using i32_1x1x1x1x1 = ct::tile<int, ct::shape<1, 1, 1, 1, 1>>;
	using i32_1 = ct::tile<int, ct::shape<1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(x, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent>(n), ct::strides<long long, 1>{}));
	/* v = load(x, 0): tile<i32, [2]> */
	i32_2 v = ct::full<i32_2>(0);
	if (ct_begins_inside(0, 2, n)) v = ct::partition_view(x_span, ct::shape<2>{}).load_masked(0);
	const auto ct_x0 = ct::reshape<ct::shape<1, 2, 1>>(v);
	const auto ct_pairs1 = ct::reshape<ct::shape<1, 1, 2, 1, 1>>(ct_x0);
	const auto ct_a2 = ct::extract(ct_pairs1, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b3 = ct::extract(ct_pairs1, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	bool_1x1x1x1x1 ct_live4 = ct::full<bool_1x1x1x1x1>(true);
	i32_1x1x1x1x1 ct_var5 = ct_a2;
	i32_1x1x1x1x1 ct_var6 = ct_b3;
	i32_1x1x1x1x1 ct_var7 = ct::full<i32_1x1x1x1x1>(0);
	i32_1x1x1x1x1 ct_var8 = ct::full<i32_1x1x1x1x1>(0);
	while (true) {
		const auto ct_k9 = ct::full<i32_1x1x1x1x1>(0);
		/* v0 = ne(ct_var6, 0): tile<bool, [1, 1, 1, 1, 1]> */
		const bool_1x1x1x1x1 v0 = ct_var6 != ct_k9;
		const auto ct_new10 = ct::select(ct_live4, ct_var5, ct_var7);
		const auto ct_new11 = ct::select(ct_live4, ct_var6, ct_var8);
		ct_var7 = ct_new10;
		ct_var8 = ct_new11;
		ct_live4 = ct_live4 && v0;
		if (!ct_any<1>(ct_live4)) break;
		/* t = remainder(ct_var7, ct_var8): tile<i32, [1, 1, 1, 1, 1]> */
		const i32_1x1x1x1x1 t = ct_rem_i(ct_var7, ct_var8);
		const auto ct_new12 = ct::select(ct_live4, ct_var8, ct_var5);
		const auto ct_new13 = ct::select(ct_live4, t, ct_var6);
		ct_var5 = ct_new12;
		ct_var6 = ct_new13;
	}
	const i32_1 v1 = ct::reshape<ct::shape<1>>(ct_var7);
	/* v2 = to_scalar(v1): i32 */
	const int v2 = ct_scalar<int>(v1);
	const auto ct_c14 = ct::element_cast<long long>(0);
	const auto ct_at15 = y + ct_c14;
	const auto ct_in16 = ct_c14 >= 0ll && ct_c14 < (long long)2ll;
	ct::store_masked(ct_at15, v2, ct_in16);
	const auto ct_x17 = ct::reshape<ct::shape<1, 2, 1>>(v);
	const auto ct_pairs18 = ct::reshape<ct::shape<1, 1, 2, 1, 1>>(ct_x17);
	const auto ct_a19 = ct::extract(ct_pairs18, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b20 = ct::extract(ct_pairs18, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_range22 = ct::full<i32_1x1x1x1x1>(2);
	bool_1x1x1x1x1 ct_live23 = ct::full<bool_1x1x1x1x1>(true);
	i32_1x1x1x1x1 ct_var24 = ct_a19;
	i32_1x1x1x1x1 ct_var25 = ct_a19;
	auto ct_rest21 = ct_rounds(ct_a19, ct_b20, ct_range22);
	while (true) {
		ct_live23 = ct_live23 && ct_nonzero(ct_rest21);
		if (!ct_any<1>(ct_live23)) break;
		/* v3 = eq(ct_var25, 7): tile<bool, [1, 1, 1, 1, 1]> */
		const bool_1x1x1x1x1 v3 = ct_var25 == ct::full<i32_1x1x1x1x1>(7);
		const auto ct_here26 = ct_live23 && v3;
		/* v4 = gt(ct_var24, 100): tile<bool, [1, 1, 1, 1, 1]> */
		const bool_1x1x1x1x1 v4 = ct_var24 > ct::full<i32_1x1x1x1x1>(100);
		const auto ct_here27 = ct_live23 && v4 && !ct_here26;
		ct_live23 = ct_live23 && !ct_here27;
		const auto ct_k28 = ct::full<i32_1x1x1x1x1>(1);
		/* r = add(ct_var24, 1): tile<i32, [1, 1, 1, 1, 1]> */
		const i32_1x1x1x1x1 r = ct_add_s(ct_var24, ct_k28);
		const auto ct_stays29 = ct_live23 && !ct_here26;
		ct_var24 = ct::select(ct_stays29, r, ct_var24);
		ct_var25 = ct_next(ct_var25, ct_range22);
		ct_rest21 = ct::sub(ct_rest21, ct_splat<decltype(ct_rest21)>(1));
	}
	const i32_1 v5 = ct::reshape<ct::shape<1>>(ct_var24);
	/* v6 = to_scalar(v5): i32 */
	const int v6 = ct_scalar<int>(v5);
	const auto ct_c30 = ct::element_cast<long long>(1);
	const auto ct_at31 = y + ct_c30;
	const auto ct_in32 = ct_c30 >= 0ll && ct_c30 < (long long)2ll;
	ct::store_masked(ct_at31, v6, ct_in32);
}

/* added */
template<bool ct_aligned>
static __tile_global__ void added(const int *i, __nv_bfloat16 *y, __nv_bfloat16 *z, const long long n, const long long m)
{
	using i32_32 = ct::tile<int, ct::shape<32>>;
	using i64_32 = ct::tile<long long, ct::shape<32>>;
	using bf16_32 = ct::tile<__nv_bfloat16, ct::shape<32>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto i_span = ct::tensor_span(ct_base<ct_aligned>(i), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 8>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto z_span = ct::tensor_span(ct_base<ct_aligned>(z), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 8>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v1 = load(i, v0): tile<i32, [32]> */
	const long long ct_at0 = ct_tile_at(v0, 32, 0);
	const auto ct_c1 = ct_offset(ct::iota<i64_32>(), ct_at0);
	const auto ct_in2 = ct_c1 >= 0ll && ct_c1 < (long long)n;
	i32_32 v1;
	[[cutile::hint(0, allow_tma=false)]] v1 = ct::select(ct_in2, ct::partition_view(i_span, ct::shape<32>{}).load_masked(v0), ct::full<i32_32>((-1)));
	/* old = atomic_rmw(y, v1, 1): tile<bf16, [32]> */
	const auto ct_c3 = ct::element_cast<long long>(v1);
	const auto ct_at4 = y + ct_c3;
	const auto ct_in5 = ct_c3 >= 0ll && ct_c3 < (long long)m;
	const bf16_32 old = ct::select(ct_in5, ct::atomic_add_masked(ct_at4, ct::full<bf16_32>(ct::element_cast<__nv_bfloat16>(1.0f)), ct_in5, ct::memory_order_acquire_t{}, ct::thread_scope_device_t{}), ct::full<bf16_32>(ct::element_cast<__nv_bfloat16>(0.0f)));
	/* store(z, v0, old): tile<bf16, [32]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(z_span, ct::shape<32>{}).store_masked(old, v0);
	const auto ct_c6 = ct::element_cast<long long>(v0);
	const auto ct_at7 = y + ct_c6;
	const auto ct_in8 = ct_c6 >= 0ll && ct_c6 < (long long)m;
	ct::atomic_sub_masked(ct_at7, ct::element_cast<__nv_bfloat16>(2.0f), ct_in8, ct::memory_order_release_t{}, ct::thread_scope_system_t{});
}

/* hinted */
template<bool ct_aligned>
[[cutile::hint(0, occupancy=2)]] [[cutile::hint(900, occupancy=1)]]
static __tile_global__ void hinted(const float *x, const int *i, float *y, float *p, const long long n)
{
	using f32_64 = ct::tile<float, ct::shape<64>>;
	using i64_64 = ct::tile<long long, ct::shape<64>>;
	using i32_64 = ct::tile<int, ct::shape<64>>;
	using f32_ptr_64 = ct::tile<float *, ct::shape<64>>;
	using bool_64 = ct::tile<bool, ct::shape<64>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto i_span = ct::tensor_span(ct_base<ct_aligned>(i), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* a = load(x, v0): tile<f32, [64]> */
	f32_64 a;
	[[cutile::hint(0, latency=3)]] [[cutile::hint(0, allow_tma=false)]] a = ct::partition_view(x_span, ct::shape<64>{}).load_masked(v0);
	const int v1 = ct_mul_s(v0, 64);
	/* b = load(x, v1): tile<f32, [64]> */
	const long long ct_at0 = ct_tile_at(v1, 1, -3);
	const auto ct_c1 = ct_offset(ct::iota<i64_64>(), ct_at0);
	const auto ct_at2 = x + ct_c1;
	const auto ct_in3 = ct_c1 >= 0ll && ct_c1 < (long long)n;
	f32_64 b;
	[[cutile::hint(0, latency=5)]] b = ct::load_masked(ct_at2, ct_in3, 0.0f);
	/* v2 = load(i, v0): tile<i32, [64]> */
	const long long ct_at4 = ct_tile_at(v0, 64, 0);
	const auto ct_c5 = ct_offset(ct::iota<i64_64>(), ct_at4);
	const auto ct_in6 = ct_c5 >= 0ll && ct_c5 < (long long)n;
	i32_64 v2;
	[[cutile::hint(0, latency=1)]] [[cutile::hint(0, allow_tma=false)]] v2 = ct::select(ct_in6, ct::partition_view(i_span, ct::shape<64>{}).load_masked(v0), ct::full<i32_64>((-4)));
	/* v3 = hint(v2): tile<i32, [64]> */
	const i32_64 v3 = ct::assume_divisible<4>(v2);
	/* at = hint(v3): tile<i32, [64]> */
	const i32_64 at = ct::assume_bounded<-4ll, 1000ll>(v3);
	/* c = gather(x, at): tile<f32, [64]> */
	const auto ct_c7 = ct::element_cast<long long>(at);
	const auto ct_at8 = x + ct_c7;
	const auto ct_in9 = ct_c7 >= 0ll && ct_c7 < (long long)n;
	f32_64 c;
	[[cutile::hint(0, latency=3)]] c = ct::load_masked(ct_at8, ct_in9, 0.0f);
	/* v4 = element_cast(at): tile<i64, [64]> */
	const i64_64 v4 = ct::element_cast<long long>(at);
	/* v5 = broadcast(p): tile<ptr<f32>, [64]> */
	const f32_ptr_64 v5 = ct::full<f32_ptr_64>(p);
	/* v6 = ptr_add(v5, v4): tile<ptr<f32>, [64]> */
	const f32_ptr_64 v6 = v5 + v4;
	/* v7 = hint(v6): tile<ptr<f32>, [64]> */
	const f32_ptr_64 v7 = ct::assume_aligned<16>(v6);
	/* v8 = ge(at, 0): tile<bool, [64]> */
	const bool_64 v8 = at >= ct::full<i32_64>(0);
	/* d = load_ptr(v7, 0, v8): tile<f32, [64]> */
	f32_64 d;
	[[cutile::hint(0, latency=3)]] d = ct::load_masked(v7, v8, 0.0f);
	/* v9 = add(a, b): tile<f32, [64]> */
	const f32_64 v9 = ct::add(a, b);
	/* v10 = add(v9, c): tile<f32, [64]> */
	const f32_64 v10 = ct::add(v9, c);
	/* v11 = add(v10, d): tile<f32, [64]> */
	const f32_64 v11 = ct::add(v10, d);
	/* store(y, v0, v11): tile<f32, [64]> */
	[[cutile::hint(0, latency=10)]] [[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<64>{}).store_masked(v11, v0);
}

/* modes */
template<bool ct_aligned>
static __tile_global__ void modes(const float *x, float *y, int *z, const long long n)
{
	using f32_64 = ct::tile<float, ct::shape<64>>;
	using f32_1 = ct::tile<float, ct::shape<1>>;
	using i32_64 = ct::tile<int, ct::shape<64>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v = load(x, v0): tile<f32, [64]> */
	f32_64 v;
	[[cutile::hint(0, allow_tma=false)]] v = ct::partition_view(x_span, ct::shape<64>{}).load_masked(v0);
	/* a = add(v, v): tile<f32, [64]> */
	const f32_64 a = ct::add(v, v, ct::round_toward_zero_t{});
	/* b = mul(v, a): tile<f32, [64]> */
	const f32_64 b = ct::mul(v, a, ct::round_toward_negative_t{}, ct::round_subnormals_to_zero_t{});
	/* c = div(v, b): tile<f32, [64]> */
	const f32_64 c = ct::div(v, b, ct::round_approximate_t{});
	/* d = max(a, c): tile<f32, [64]> */
	const f32_64 d = ct::max(a, c, ct::propagate_nan_t{});
	/* e = exp(d): tile<f32, [64]> */
	const f32_64 e = ct::exp(d, ct::round_approximate_t{});
	/* f = sqrt(e): tile<f32, [64]> */
	const f32_64 f = ct::sqrt(e, ct::round_toward_positive_t{});
	/* g = fma(a, b, f): tile<f32, [64]> */
	const f32_64 g = ct::fma(a, b, f, ct::round_ties_to_even_t{}, ct::round_subnormals_to_zero_t{});
	/* v1 = sum(f): tile<f32, [1]> */
	const f32_1 v1 = ct::sum(f, ct::integral_constant<0>{}, ct::round_toward_positive_t{});
	/* v2 = broadcast(v1): tile<f32, [64]> */
	const f32_64 v2 = ct::broadcast<ct::shape<64>>(v1);
	/* v3 = add(g, v2): tile<f32, [64]> */
	const f32_64 v3 = ct::add(g, v2);
	/* v4 = reduce_max(g): tile<f32, [1]> */
	const f32_1 v4 = ct::reduce_max(g, ct::integral_constant<0>{}, ct::propagate_nan_t{});
	/* v5 = broadcast(v4): tile<f32, [64]> */
	const f32_64 v5 = ct::broadcast<ct::shape<64>>(v4);
	/* v6 = add(v3, v5): tile<f32, [64]> */
	const f32_64 v6 = ct::add(v3, v5);
	/* v7 = partial_sum(g): tile<f32, [64]> */
	const f32_64 v7 = ct::partial_sum(g, ct::integral_constant<0>{}, ct::scan_backward_t{});
	/* v8 = add(v6, v7): tile<f32, [64]> */
	const f32_64 v8 = ct::add(v6, v7);
	/* store(y, v0, v8): tile<f32, [64]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<64>{}).store_masked(v8, v0);
	/* at = iota(): tile<i32, [64]> */
	const i32_64 at = ct::iota<i32_64>();
	/* p = atomic_rmw(z, at, 1): tile<i32, [64]> */
	const auto ct_c0 = ct::element_cast<long long>(at);
	const auto ct_at1 = z + ct_c0;
	const auto ct_in2 = ct_c0 >= 0ll && ct_c0 < (long long)n;
	const i32_64 p = ct::select(ct_in2, ct::atomic_add_masked(ct_at1, ct::full<i32_64>(1), ct_in2, ct::memory_order_relaxed_t{}, ct::thread_scope_block_t{}), ct::full<i32_64>(0));
	/* q = atomic_rmw(z, at, p): tile<i32, [64]> */
	const auto ct_c3 = ct::element_cast<long long>(at);
	const auto ct_at4 = z + ct_c3;
	const auto ct_in5 = ct_c3 >= 0ll && ct_c3 < (long long)n;
	const i32_64 q = ct::select(ct_in5, ct::atomic_xchg_masked(ct_at4, p, ct_in5, ct::memory_order_acquire_t{}, ct::thread_scope_device_t{}), ct::full<i32_64>(0));
	/* r = atomic_rmw(z, at, q): tile<i32, [64]> */
	const auto ct_c6 = ct::element_cast<long long>(at);
	const auto ct_at7 = z + ct_c6;
	const auto ct_in8 = ct_c6 >= 0ll && ct_c6 < (long long)n;
	const i32_64 r = ct::select(ct_in8, ct::atomic_or_masked(ct_at7, q, ct_in8, ct::memory_order_acq_rel_t{}, ct::thread_scope_system_t{}), ct::full<i32_64>(0));
	/* s = atomic_cas(z, at, r, 1): tile<i32, [64]> */
	const auto ct_c9 = ct::element_cast<long long>(at);
	const auto ct_at10 = z + ct_c9;
	const auto ct_in11 = ct_c9 >= 0ll && ct_c9 < (long long)n;
	const i32_64 s = ct::select(ct_in11, ct::atomic_compare_exchange_masked(ct_at10, r, ct::full<i32_64>(1), ct_in11, ct::memory_order_release_t{}, ct::thread_scope_device_t{}), r);
	/* t = atomic_load(z, at, 0): tile<i32, [64]> */
	const auto ct_c12 = ct::element_cast<long long>(at);
	const auto ct_at13 = z + ct_c12;
	const auto ct_in14 = ct_c12 >= 0ll && ct_c12 < (long long)n;
	const i32_64 t = ct::select(ct_in14, ct_atomic_read(ct_at13, ct_in14, ct::memory_order_acquire_t{}, ct::thread_scope_block_t{}), ct::full<i32_64>(0));
	/* v9 = add(s, t): tile<i32, [64]> */
	const i32_64 v9 = ct_add_s(s, t);
	/* atomic_store(z, at, v9): tile<i32, [64]> */
	const auto ct_c15 = ct::element_cast<long long>(at);
	const auto ct_at16 = z + ct_c15;
	const auto ct_in17 = ct_c15 >= 0ll && ct_c15 < (long long)n;
	ct::atomic_store_masked(ct_at16, v9, ct_in17, ct::memory_order_release_t{}, ct::thread_scope_device_t{});
}

/* modes_together */
template<bool ct_aligned>
static __tile_global__ void modes_together(const float *x, float *y, const long long n)
{
	using f32_32 = ct::tile<float, ct::shape<32>>;
	using f32_1 = ct::tile<float, ct::shape<1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(ct_base<ct_aligned>(x), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent>(ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v = load(x, v0): tile<f32, [32]> */
	f32_32 v;
	[[cutile::hint(0, allow_tma=false)]] v = ct::partition_view(x_span, ct::shape<32>{}).load_masked(v0);
	/* a = add(v, 1): tile<f32, [32]> */
	const f32_32 a = ct::add(v, ct::full<f32_32>(1.0f), ct::round_toward_zero_t{});
	/* b = mul(v, 3): tile<f32, [32]> */
	const f32_32 b = ct::mul(v, ct::full<f32_32>(3.0f), ct::round_ties_to_even_t{}, ct::round_subnormals_to_zero_t{});
	/* c = fma(v, a, b): tile<f32, [32]> */
	const f32_32 c = ct::fma(v, a, b, ct::round_toward_negative_t{}, ct::round_subnormals_to_zero_t{});
	/* d = max(a, b): tile<f32, [32]> */
	const f32_32 d = ct::max(a, b, ct::propagate_nan_t{});
	/* e = min(b, c): tile<f32, [32]> */
	const f32_32 e = ct::min(b, c, ct::suppress_nan_t{}, ct::round_subnormals_to_zero_t{});
	/* f = max(c, d): tile<f32, [32]> */
	const f32_32 f = ct::max(c, d, ct::propagate_nan_t{}, ct::round_subnormals_to_zero_t{});
	/* v1 = exp(d): tile<f32, [32]> */
	const f32_32 v1 = ct::exp(d, ct::round_approximate_t{});
	/* v2 = sqrt(e): tile<f32, [32]> */
	const f32_32 v2 = ct::sqrt(e, ct::round_approximate_t{}, ct::round_subnormals_to_zero_t{});
	/* v3 = add(v1, v2): tile<f32, [32]> */
	const f32_32 v3 = ct::add(v1, v2);
	/* v4 = tanh(f): tile<f32, [32]> */
	const f32_32 v4 = ct::tanh(f, ct::round_approximate_t{});
	/* v5 = add(v3, v4): tile<f32, [32]> */
	const f32_32 v5 = ct::add(v3, v4);
	/* store(y, v0, v5): tile<f32, [32]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<32>{}).store_masked(v5, v0);
	/* v6 = reduce_max(e): tile<f32, [1]> */
	const f32_1 v6 = ct::reduce_max(e, ct::integral_constant<0>{}, ct::propagate_nan_t{});
	/* v7 = broadcast(v6): tile<f32, [32]> */
	const f32_32 v7 = ct::broadcast<ct::shape<32>>(v6);
	/* v8 = add(f, v7): tile<f32, [32]> */
	const f32_32 v8 = ct::add(f, v7);
	/* v9 = reduce_min(e): tile<f32, [1]> */
	const f32_1 v9 = ct::reduce_min(e, ct::integral_constant<0>{}, ct::propagate_nan_t{}, ct::round_subnormals_to_zero_t{});
	/* v10 = broadcast(v9): tile<f32, [32]> */
	const f32_32 v10 = ct::broadcast<ct::shape<32>>(v9);
	/* v11 = add(v8, v10): tile<f32, [32]> */
	const f32_32 v11 = ct::add(v8, v10);
	/* store(y, v0, v11): tile<f32, [32]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<32>{}).store_masked(v11, v0);
}

/* patched */
template<bool ct_aligned>
static __tile_global__ void patched(const float *x, float *y, const int most, const long long m, const long long n, const unsigned int ct_g1)
{
	using f32_4x16 = ct::tile<float, ct::shape<4, 16>>;
	using f32_2x8 = ct::tile<float, ct::shape<2, 8>>;
	using f32_2x1 = ct::tile<float, ct::shape<2, 1>>;
	using f32_1x1 = ct::tile<float, ct::shape<1, 1>>;
	const unsigned int ct_rest0 = ct::bid().x;
	const unsigned int ct_bid1 = ct_rest0 % ct_g1;
	const unsigned int ct_bid0 = ct_rest0 / ct_g1;
	const auto x_span = ct::tensor_span(x, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent, ct::dynamic_extent>(m, n), ct::strides<long long, ct::dynamic_stride, 1>(n)));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent, ct::dynamic_extent>(ct_size<ct_aligned, 1>(m), ct_size<ct_aligned, 4>(n)), ct::strides<ct_index<ct_aligned>, ct::dynamic_stride, 1>(ct_size<ct_aligned, 4>(n))));
	const int v0 = (int)ct_bid0;
	const int v1 = (int)ct_bid1;
	/* s = load(x, v0, v1): tile<f32, [4, 16]> */
	f32_4x16 s;
	[[cutile::hint(0, allow_tma=false)]] s = ct::partition_view(x_span, ct::shape<4, 16>{}).load_masked(v0, v1);
	/* t = extract(s, 1, 0): tile<f32, [2, 8]> */
	const f32_2x8 t = ct::extract(s, ct::shape<2, 8>{}, 1, 0);
	f32_4x16 s_2 = s;
	f32_2x8 t_2 = t;
	for (const int i : ct::irange<int>(0, most)) {
		f32_4x16 s_3 = s_2;
		f32_2x8 t_3 = t_2;
		for (int k = 0; k < i; k++) {
			/* u = extract(s_3, 0, 1): tile<f32, [2, 8]> */
			const f32_2x8 u = ct::extract(s_3, ct::shape<2, 8>{}, 0, 1);
			const int v2 = k & 1;
			const int v3 = i & 1;
			/* s_4 = insert(s_3, t_3, v2, v3): tile<f32, [4, 16]> */
			const auto ct_here0 = (ct::reshape<ct::shape<2, 1, 1, 1>>(ct::iota<ct::tile<long long, ct::shape<2>>>()) == (long long)v2) && (ct::reshape<ct::shape<1, 1, 2, 1>>(ct::iota<ct::tile<long long, ct::shape<2>>>()) == (long long)v3);
			const f32_4x16 s_4 = ct::reshape<ct::shape<4, 16>>(ct::select(ct::broadcast<ct::shape<2, 2, 2, 8>>(ct_here0), ct::broadcast<ct::shape<2, 2, 2, 8>>(ct::reshape<ct::shape<1, 2, 1, 8>>(t_3)), ct::reshape<ct::shape<2, 2, 2, 8>>(s_3)));
			/* v4 = sum(u): tile<f32, [2, 1]> */
			const f32_2x1 v4 = ct::sum<1>(u);
			/* v5 = sum(v4): tile<f32, [1, 1]> */
			const f32_1x1 v5 = ct::sum<0>(v4);
			/* v6 = to_scalar(v5): f32 */
			const float v6 = ct_scalar<float>(v5);
			const bool v7 = v6 > 9.0f;
			if (v7) {
				s_3 = s_4;
				t_3 = u;
				break;
			}
			s_3 = s_4;
			t_3 = u;
		}
		/* t_4 = add(t_3, 1): tile<f32, [2, 8]> */
		const f32_2x8 t_4 = ct::add(t_3, ct::full<f32_2x8>(1.0f));
		s_2 = s_3;
		t_2 = t_4;
	}
	const int v8 = most & 1;
	/* v9 = insert(s_2, t_2, v8, 0): tile<f32, [4, 16]> */
	const auto ct_here1 = (ct::reshape<ct::shape<2, 1, 1, 1>>(ct::iota<ct::tile<long long, ct::shape<2>>>()) == (long long)v8) && (ct::reshape<ct::shape<1, 1, 2, 1>>(ct::iota<ct::tile<long long, ct::shape<2>>>()) == (long long)0);
	const f32_4x16 v9 = ct::reshape<ct::shape<4, 16>>(ct::select(ct::broadcast<ct::shape<2, 2, 2, 8>>(ct_here1), ct::broadcast<ct::shape<2, 2, 2, 8>>(ct::reshape<ct::shape<1, 2, 1, 8>>(t_2)), ct::reshape<ct::shape<2, 2, 2, 8>>(s_2)));
	/* store(y, v0, v1, v9): tile<f32, [4, 16]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<4, 16>{}).store_masked(v9, v0, v1);
}

/* none */
static __tile_global__ void none(const float *x, const float *y, float *z, const long long n)
{
	using i64_1x1x1 = ct::tile<long long, ct::shape<1, 1, 1>>;
	using i64_1x4x1 = ct::tile<long long, ct::shape<1, 4, 1>>;
	using i64_1x1x2 = ct::tile<long long, ct::shape<1, 1, 2>>;
	using f32_1x4x2 = ct::tile<float, ct::shape<1, 4, 2>>;
	using f32_4x2 = ct::tile<float, ct::shape<4, 2>>;
	using i64_4x1 = ct::tile<long long, ct::shape<4, 1>>;
	using i64_1x2 = ct::tile<long long, ct::shape<1, 2>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto z_span = ct::tensor_span(z, ct::layout_strided_mapping(ct::extents<long long, 4, ct::dynamic_extent>(n), ct::strides<long long, ct::dynamic_stride, 1>(n)));
	const int v0 = (int)ct_bid0;
	/* v1 = load(x, v0, 0, 0): tile<f32, [1, 4, 2]> */
	const long long ct_at0 = ct_tile_at(v0, 1, 0);
	const long long ct_at1 = ct_tile_at(0, 4, 0);
	const long long ct_at2 = ct_tile_at(0, 2, 0);
	const auto ct_c3 = ct_offset(ct::iota<i64_1x1x1>(), ct_at0);
	const auto ct_c4 = ct_offset(ct::iota<i64_1x4x1>(), ct_at1);
	const auto ct_c5 = ct_offset(ct::iota<i64_1x1x2>(), ct_at2);
	const auto ct_at6 = x + ct_times(ct_c3, 8ll) + ct_times(ct_c4, 2ll) + ct_c5;
	const auto ct_in7 = ct_c3 >= 0ll && ct_c3 < (long long)0ll;
	const f32_1x4x2 v1 = ct::load_masked(ct_at6, ct_in7, 0.0f);
	/* v2 = reshape(v1): tile<f32, [4, 2]> */
	const f32_4x2 v2 = ct::reshape<ct::shape<4, 2>>(v1);
	/* v3 = load(y, 0, 0): tile<f32, [4, 2]> */
	const long long ct_at8 = ct_tile_at(0, 4, 0);
	const long long ct_at9 = ct_tile_at(0, 2, 0);
	const auto ct_c10 = ct_offset(ct::iota<i64_4x1>(), ct_at8);
	const auto ct_c11 = ct_offset(ct::iota<i64_1x2>(), ct_at9);
	const auto ct_at12 = y + ct_times(ct_c10, 0ll) + ct_c11;
	const auto ct_in13 = ct_c11 >= 0ll && ct_c11 < (long long)0ll;
	const f32_4x2 v3 = ct::load_masked(ct_at12, ct_in13, 1.0f);
	/* v4 = add(v2, v3): tile<f32, [4, 2]> */
	const f32_4x2 v4 = ct::add(v2, v3);
	/* store(z, 0, 0, v4): tile<f32, [4, 2]> */
	if (ct_begins_inside(0, 2, n)) ct::partition_view(z_span, ct::shape<4, 2>{}).store_masked(v4, 0, 0);
}

/* awaited */
template<bool ct_aligned>
static __tile_global__ void awaited(unsigned int *flag, unsigned char *b, unsigned char *y, const long long n)
{
	using i32_64 = ct::tile<int, ct::shape<64>>;
	using u8_64 = ct::tile<unsigned char, ct::shape<64>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, 64>{}, ct::strides<ct_index<ct_aligned>, 1>{}));
	while (true) {
		const int v0 = (int)ct_bid0;
		const auto ct_c0 = ct::element_cast<long long>(v0);
		const auto ct_at1 = flag + ct_c0;
		const auto ct_in2 = ct_c0 >= 0ll && ct_c0 < (long long)n;
		const unsigned int v1 = ct::select(ct_in2, ct_atomic_read(ct_at1, ct_in2, ct::memory_order_acquire_t{}, ct::thread_scope_device_t{}), 0u);
		const bool v2 = v1 == 0u;
		if (!v2) break;
	}
	/* v3 = iota(): tile<i32, [64]> */
	const i32_64 v3 = ct::iota<i32_64>();
	/* v4 = atomic_load(b, v3, 3): tile<u8, [64]> */
	const auto ct_c3 = ct::element_cast<long long>(v3);
	const auto ct_at4 = b + ct_c3;
	const auto ct_in5 = ct_c3 >= 0ll && ct_c3 < (long long)n;
	const u8_64 v4 = ct::select(ct_in5, ct_atomic_read(ct_at4, ct_in5, ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}), ct::full<u8_64>((unsigned char)3));
	/* store(y, 0, v4): tile<u8, [64]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<64>{}).store(v4, 0);
}

/* same */
static __tile_global__ void same(int *s, const int k, const int a0, const int b0)
{
	const unsigned int ct_bid0 = ct::bid().x;
	int b = b0;
	int a = a0;
	for (const int i : ct::irange<int>(0, k)) {
		const int v0 = ct_mul_s(a, i);
		const int b_2 = ct_add_s(v0, 3);
		b = b_2;
		a = b_2;
	}
	if (!(0 < k)) b = b0;
	const auto ct_c0 = ct::element_cast<long long>(0);
	const auto ct_at1 = s + ct_c0;
	const auto ct_in2 = ct_c0 >= 0ll && ct_c0 < (long long)2ll;
	ct::store_masked(ct_at1, a, ct_in2);
	const auto ct_c3 = ct::element_cast<long long>(1);
	const auto ct_at4 = s + ct_c3;
	const auto ct_in5 = ct_c3 >= 0ll && ct_c3 < (long long)2ll;
	ct::store_masked(ct_at4, b, ct_in5);
}

/* folded */
template<bool ct_aligned>
static __tile_global__ void folded(const int *x, int *y, int *z, const long long m)
{
	using i32_1x4 = ct::tile<int, ct::shape<1, 4>>;
	using i32_1x2x1x1x1 = ct::tile<int, ct::shape<1, 2, 1, 1, 1>>;
	using i32_1x1x1x1x1 = ct::tile<int, ct::shape<1, 1, 1, 1, 1>>;
	using i32_1x1 = ct::tile<int, ct::shape<1, 1>>;
	using i32_1x1x1x2x1 = ct::tile<int, ct::shape<1, 1, 1, 2, 1>>;
	const unsigned int ct_bid0 = ct::bid().x;
	const auto x_span = ct::tensor_span(x, ct::layout_strided_mapping(ct::extents<long long, ct::dynamic_extent, 4>(m), ct::strides<long long, 4, 1>{}));
	const auto y_span = ct::tensor_span(ct_base<ct_aligned>(y), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent, 1>(ct_size<ct_aligned, 4>(m)), ct::strides<ct_index<ct_aligned>, 1, 1>{}));
	const auto z_span = ct::tensor_span(ct_base<ct_aligned>(z), ct::layout_strided_mapping(ct::extents<ct_index<ct_aligned>, ct::dynamic_extent, 4>(ct_size<ct_aligned, 4>(m)), ct::strides<ct_index<ct_aligned>, 4, 1>{}));
	const int v0 = (int)ct_bid0;
	/* v = load(x, v0, 0): tile<i32, [1, 4]> */
	i32_1x4 v;
	[[cutile::hint(0, allow_tma=false)]] v = ct::partition_view(x_span, ct::shape<1, 4>{}).load(v0, 0);
	const auto ct_x0 = ct::reshape<ct::shape<1, 4, 1>>(v);
	const auto ct_pairs1 = ct::reshape<ct::shape<1, 2, 2, 1, 1>>(ct_x0);
	const auto ct_a2 = ct::extract(ct_pairs1, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b3 = ct::extract(ct_pairs1, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	i32_1x2x1x1x1 ct_var5 = ct_b3;
	for (const int ct_i4 : ct::irange<int>(0, 3)) {
		const auto ct_round6 = ct::full<i32_1x2x1x1x1>(ct_i4);
		/* v1 = mul(ct_var5, ct_a2): tile<i32, [1, 2, 1, 1, 1]> */
		const i32_1x2x1x1x1 v1 = ct_mul_s(ct_var5, ct_a2);
		/* r = add(v1, ct_b3): tile<i32, [1, 2, 1, 1, 1]> */
		const i32_1x2x1x1x1 r = ct_add_s(v1, ct_b3);
		ct_var5 = r;
	}
	const auto ct_pairs7 = ct::reshape<ct::shape<1, 1, 2, 1, 1>>(ct_var5);
	const auto ct_a8 = ct::extract(ct_pairs7, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_b9 = ct::extract(ct_pairs7, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	i32_1x1x1x1x1 ct_var11 = ct_b9;
	for (const int ct_i10 : ct::irange<int>(0, 3)) {
		const auto ct_round12 = ct::full<i32_1x1x1x1x1>(ct_i10);
		/* v2 = mul(ct_var11, ct_a8): tile<i32, [1, 1, 1, 1, 1]> */
		const i32_1x1x1x1x1 v2 = ct_mul_s(ct_var11, ct_a8);
		/* r_2 = add(v2, ct_b9): tile<i32, [1, 1, 1, 1, 1]> */
		const i32_1x1x1x1x1 r_2 = ct_add_s(v2, ct_b9);
		ct_var11 = r_2;
	}
	const i32_1x1 v3 = ct::reshape<ct::shape<1, 1>>(ct_var11);
	/* store(y, v0, 0, v3): tile<i32, [1, 1]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(y_span, ct::shape<1, 1>{}).store(v3, v0, 0);
	const auto ct_x13 = ct::reshape<ct::shape<1, 4, 1>>(v);
	const auto ct_runs14 = ct::reshape<ct::shape<1, 2, 2, 1, 1>>(ct_x13);
	const auto ct_lo15 = ct::extract(ct_runs14, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_hi16 = ct::extract(ct_runs14, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_all17 = ct::broadcast<ct::shape<1, 2, 1, 1, 1>>(ct::extract(ct_lo15, ct::shape<1, 2, 1, 1, 1>{}, 0, 0, 0, 0, 0));
	i32_1x2x1x1x1 ct_var19 = ct_hi16;
	for (const int ct_i18 : ct::irange<int>(0, 3)) {
		const auto ct_round20 = ct::full<i32_1x2x1x1x1>(ct_i18);
		/* v4 = mul(ct_var19, ct_all17): tile<i32, [1, 2, 1, 1, 1]> */
		const i32_1x2x1x1x1 v4 = ct_mul_s(ct_var19, ct_all17);
		/* r_3 = add(v4, ct_hi16): tile<i32, [1, 2, 1, 1, 1]> */
		const i32_1x2x1x1x1 r_3 = ct_add_s(v4, ct_hi16);
		ct_var19 = r_3;
	}
	const auto ct_x21 = ct::reshape<ct::shape<1, 4, 1>>(ct::cat<2>(ct_lo15, ct_var19));
	const auto ct_runs22 = ct::reshape<ct::shape<1, 1, 2, 2, 1>>(ct_x21);
	const auto ct_lo23 = ct::extract(ct_runs22, ct::shape<1, 1, 1, 2, 1>{}, 0, 0, 0, 0, 0);
	const auto ct_hi24 = ct::extract(ct_runs22, ct::shape<1, 1, 1, 2, 1>{}, 0, 0, 1, 0, 0);
	const auto ct_all25 = ct::broadcast<ct::shape<1, 1, 1, 2, 1>>(ct::extract(ct_lo23, ct::shape<1, 1, 1, 1, 1>{}, 0, 0, 0, 1, 0));
	i32_1x1x1x2x1 ct_var27 = ct_hi24;
	for (const int ct_i26 : ct::irange<int>(0, 3)) {
		const auto ct_round28 = ct::full<i32_1x1x1x2x1>(ct_i26);
		/* v5 = mul(ct_var27, ct_all25): tile<i32, [1, 1, 1, 2, 1]> */
		const i32_1x1x1x2x1 v5 = ct_mul_s(ct_var27, ct_all25);
		/* r_4 = add(v5, ct_hi24): tile<i32, [1, 1, 1, 2, 1]> */
		const i32_1x1x1x2x1 r_4 = ct_add_s(v5, ct_hi24);
		ct_var27 = r_4;
	}
	const auto ct_x29 = ct::reshape<ct::shape<1, 4, 1>>(ct::cat<2>(ct_lo23, ct_var27));
	const i32_1x4 v6 = ct::reshape<ct::shape<1, 4>>(ct_x29);
	/* store(z, v0, 0, v6): tile<i32, [1, 4]> */
	[[cutile::hint(0, allow_tma=false)]] ct::partition_view(z_span, ct::shape<1, 4>{}).store(v6, v0, 0);
}

