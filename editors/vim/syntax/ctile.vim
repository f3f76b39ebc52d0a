" Printed by tools/gen-editors.py from the tables of ctilec.
if exists("b:current_syntax") | finish | endif
syn keyword ctileKeyword break const continue else fn for if in kernel let
syn keyword ctileKeyword ptr return tensor tile unsafe var while
syn keyword ctileContextual as dims entry grid import inout instance out param scratch
syn keyword ctileContextual step tune where
syn keyword ctileType any any_float arith bf16 bool f16 f32 f64 f8e4m3 f8e5m2
syn keyword ctileType float i16 i32 i64 i8 int integral layout_left layout_left_padded layout_right
syn keyword ctileType layout_right_padded layout_strided numeric shape signed tf32 u16 u32 u64 u8
syn keyword ctileType unsigned void
syn keyword ctileConstant false inf nan null true
syn keyword ctileOperation abs acos add add_sat all_of any_of arange argmax argmin asin
syn keyword ctileOperation assert assume assume_aligned assume_aligned_strided assume_blocked assume_bounded assume_bounded_above assume_bounded_below assume_divisible assume_divisible_strided
syn keyword ctileOperation assume_unique atan atan2 atomic_add atomic_and atomic_compare_exchange atomic_load atomic_max atomic_min atomic_or
syn keyword ctileOperation atomic_store atomic_sub atomic_xchg atomic_xor bid bitreverse broadcast cat cbrt cdiv
syn keyword ctileOperation ceil ceildiv clamp clz copysign cos cosh ctz cumprod cumsum
syn keyword ctileOperation div element_bitcast element_cast erf erfc exp exp2 expand expm1 extent
syn keyword ctileOperation extract flip floor floordiv floormod fma fmod full gather gather_scatter
syn keyword ctileOperation histogram hypot insert iota isfinite isinf isnan join layout_of load
syn keyword ctileOperation load_at log log10 log1p log2 mask matmul max max_element min
syn keyword ctileOperation min_element mma mma_scaled mul mulhi mulhi_signed num_blocks num_tiles ones pack
syn keyword ctileOperation partial_max partial_min partial_prod partial_sum partition permute popcount pow print prod
syn keyword ctileOperation rand randint randn reduce reduce_bitand reduce_bitor reduce_bitxor reduce_max reduce_min remainder
syn keyword ctileOperation reshape rint rotate round rsqrt scan scatter select shift signbit
syn keyword ctileOperation sin sinh slice sort span_size split sqrt static_assert static_extent static_print
syn keyword ctileOperation static_stride store store_at stride strided sub sub_sat sum tan tanh
syn keyword ctileOperation tensor_span topk transpose trunc type_of unpack zeros
syn match ctileNumber "\v<(0x[0-9a-fA-F_.]+([pP][+-]?\d+)?|0b[01_]+|\d[0-9_]*(\.\d[0-9_]*)?([eE][+-]?\d+)?)\w*>"
syn match ctileAttribute "@\h\w*"
syn region ctileString start=+"+ skip=+\\.+ end=+"+ oneline
syn match ctileComment "//.*$" contains=@Spell
syn match ctileDoc "///.*$" contains=@Spell
syn region ctileComment start="/\*" end="\*/" contains=@Spell
hi def link ctileKeyword Statement
hi def link ctileContextual PreProc
hi def link ctileType Type
hi def link ctileConstant Constant
hi def link ctileOperation Function
hi def link ctileNumber Number
hi def link ctileAttribute PreProc
hi def link ctileString String
hi def link ctileComment Comment
hi def link ctileDoc SpecialComment
let b:current_syntax = "ctile"
