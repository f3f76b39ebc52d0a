"""What the formulas of cases are written in: the same operations on numpy's arrays and on torch's tensors, so that values are checked
by one formula on any machine. Arrays go in as they are in memory; `f` makes them f64, and everything else keeps them so."""


class Numpy:
    def __init__(self):
        import ml_dtypes
        import numpy as np
        self.np, self.torch = np, None
        self.types = dict(f16=np.float16, bf16=ml_dtypes.bfloat16, f32=np.float32, f64=np.float64, f8e4m3=ml_dtypes.float8_e4m3fn,
                          f8e5m2=ml_dtypes.float8_e5m2, i8=np.int8, i32=np.int32, i64=np.int64, u8=np.uint8, u32=np.uint32, bool=np.bool_)
        for name in ("exp", "log", "log1p", "sqrt", "tanh", "abs", "floor", "where", "cumsum", "stack", "maximum", "minimum", "sign",
                     "cos", "sin"):
            setattr(self, name, getattr(np, name))

    def f(self, x): return x.astype(self.np.float64)
    def i(self, x): return x.astype(self.np.int64)
    def to(self, x, name): return x.astype(self.types[name])
    def erf(self, x):
        from math import erf
        return self.np.vectorize(erf, otypes=[float])(x)
    def sum(self, x, axis=None, keep=False): return x.sum(axis, keepdims=keep)
    def mean(self, x, axis, keep=False): return x.mean(axis, keepdims=keep)
    def max(self, x, axis, keep=False): return x.max(axis, keepdims=keep)
    def argmax(self, x, axis): return x.argmax(axis)
    def argmin(self, x, axis): return x.argmin(axis)
    def cummax(self, x, axis): return self.np.maximum.accumulate(x, axis)
    def arange(self, n): return self.np.arange(n)
    def round(self, x): return self.np.rint(x)
    def clip(self, x, lo, hi): return self.np.clip(x, lo, hi)
    def cat(self, parts, axis): return self.np.concatenate(parts, axis)
    def flip(self, x, axis): return self.np.flip(x, axis)
    def permute(self, x, axes): return self.np.ascontiguousarray(x.transpose(axes))
    def pad(self, x, widths, value=0): return self.np.pad(x, widths, constant_values=value)
    def sort(self, x, axis): return self.np.sort(x, axis)
    def along(self, x, index, axis): return self.np.take_along_axis(x, index, axis)
    def zeros(self, *shape): return self.np.zeros(shape)
    def repeat(self, x, n, axis): return self.np.repeat(x, n, axis)
    def add_rows(self, y, index, x):
        y = y.copy()
        self.np.add.at(y, index, x)
        return y
    def put_rows(self, y, index, x):
        y = y.copy()
        y[index] = x
        return y
    def counts(self, index, bins): return self.np.bincount(index, minlength=bins)[:bins]


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        self.types = dict(f16=torch.float16, bf16=torch.bfloat16, f32=torch.float32, f64=torch.float64, f8e4m3=torch.float8_e4m3fn,
                          f8e5m2=torch.float8_e5m2, i8=torch.int8, i32=torch.int32, i64=torch.int64, u8=torch.uint8, u32=torch.int32,
                          bool=torch.bool)
        for name in ("exp", "log", "log1p", "sqrt", "tanh", "abs", "floor", "cumsum", "erf", "stack", "sign", "round", "cos", "sin"):
            setattr(self, name, getattr(torch, name))

    def f(self, x): return x.double()
    def i(self, x): return x.long()
    def to(self, x, name): return x.to(self.types[name])
    def where(self, c, a, b): return self.torch.where(c, a, b)
    def maximum(self, x, y): return x.clamp(min=y) if isinstance(y, (int, float)) else self.torch.maximum(x, y)
    def minimum(self, x, y): return x.clamp(max=y) if isinstance(y, (int, float)) else self.torch.minimum(x, y)
    def sum(self, x, axis=None, keep=False): return x.sum() if axis is None else x.sum(axis, keepdim=keep)
    def mean(self, x, axis, keep=False): return x.mean(axis, keepdim=keep)
    def max(self, x, axis, keep=False): return x.amax(axis, keepdim=keep)
    def argmax(self, x, axis): return x.argmax(axis)
    def argmin(self, x, axis): return x.argmin(axis)
    def cummax(self, x, axis): return x.cummax(axis)[0]
    def arange(self, n): return self.torch.arange(n, device="cuda" if self.torch.cuda.is_available() else "cpu")
    def clip(self, x, lo, hi): return x.clamp(lo, hi)
    def cat(self, parts, axis): return self.torch.cat(parts, axis)
    def flip(self, x, axis): return x.flip(axis)
    def permute(self, x, axes): return x.permute(axes).contiguous()
    # Always a copy: contiguous() returns x itself where an extent of 1 leaves its elements in their order, and then a peer moves nothing.
    def copied(self, x): return x.clone(memory_format=self.torch.contiguous_format)
    def pad(self, x, widths, value=0):
        return self.torch.nn.functional.pad(x, [w for pair in reversed(widths) for w in pair], value=value)
    def sort(self, x, axis): return x.sort(axis)[0]
    def along(self, x, index, axis): return x.gather(axis, index)
    def zeros(self, *shape): return self.arange(1).double().new_zeros(shape)
    def repeat(self, x, n, axis): return x.repeat_interleave(n, axis)
    def add_rows(self, y, index, x): return y.index_add(0, index, x)
    def put_rows(self, y, index, x): return y.index_copy(0, index, x)
    def counts(self, index, bins): return self.torch.bincount(index, minlength=bins)[:bins]
