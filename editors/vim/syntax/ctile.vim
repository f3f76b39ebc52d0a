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
syn keyword ctileOperation assert assume assume_aligned assume_bounded assume_bounded_above assume_bounded_below assume_divisible assume_unique atan atan2
syn keyword ctileOperation atomic_add atomic_and atomic_compare_exchange atomic_load atomic_max atomic_min atomic_or atomic_store atomic_sub atomic_xchg
syn keyword ctileOperation atomic_xor bid bitreverse broadcast cat cbrt cdiv ceil ceildiv clamp
syn keyword ctileOperation clz copysign cos cosh ctz cumprod cumsum div element_bitcast element_cast
syn keyword ctileOperation erf erfc exp exp2 expand expm1 extent extract flip floor
syn keyword ctileOperation floordiv floormod fma fmod full gather gather_scatter histogram hypot insert
syn keyword ctileOperation iota isfinite isinf isnan join layout_of load load_at log log10
syn keyword ctileOperation log1p log2 mask matmul max max_element min min_element mma mul
syn keyword ctileOperation mulhi mulhi_signed num_blocks num_tiles ones pack partial_max partial_min partial_prod partial_sum
syn keyword ctileOperation partition permute popcount pow print prod rand randint randn reduce
syn keyword ctileOperation reduce_bitand reduce_bitor reduce_bitxor reduce_max reduce_min remainder reshape rint rotate round
syn keyword ctileOperation rsqrt scan scatter select shift signbit sin sinh slice sort
syn keyword ctileOperation span_size split sqrt static_assert static_print static_stride store store_at stride strided
syn keyword ctileOperation sub sub_sat sum tan tanh topk transpose trunc type_of unpack
syn keyword ctileOperation zeros
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
