"""Other libraries' names of NumPy's and SciPy's functions, so that code with these names can be
traced.

A package is never imported: its functions are known, as objects, once the user's module has it. A
name whose meaning differs from that of NumPy's function is refused by name. Programs with such
names compute in NumPy's arithmetic, in double precision, whatever the package does.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from symdiff.frontend.trace.values import Refused


# ------------------------------------------------------------ what NumPy has no function for
def relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def relu6(x: Any) -> Any:
    return np.minimum(np.maximum(x, 0.0), 6.0)


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


def log_sigmoid(x: Any) -> Any:
    return -np.logaddexp(-x, 0.0)


def silu(x: Any) -> Any:
    return x / (1.0 + np.exp(-x))


def softsign(x: Any) -> Any:
    return x / (1.0 + np.abs(x))


def rsqrt(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def squared_difference(x: Any, y: Any) -> Any:
    return (x - y) ** 2


def frac(x: Any) -> Any:
    return x - np.trunc(x)


def lerp(start: Any, end: Any, weight: Any) -> Any:
    return start + weight * (end - start)


def sumsqr(x: Any) -> Any:
    return np.sum(x**2)


def if_else(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)


def _others(rank: int, *taken: Any) -> list[int]:
    """The axes that none of these lists has."""
    used = [k % rank for axes in taken for k in axes]
    return [k for k in range(rank) if k not in used]


def convolve(A: Any, B: Any, axes: Any = None, dot_axes: Any = None, mode: str = "full") -> Any:
    """Convolution along pairs of axes, with a product over others; the remaining axes are those of
    A, those of B, and the convolved ones, in this order."""
    along = (list(range(np.ndim(A))), list(range(np.ndim(A)))) if axes is None else axes
    over = ([], []) if dot_axes is None else dot_axes
    free_a, free_b = _others(np.ndim(A), along[0], over[0]), _others(np.ndim(B), along[1], over[1])
    a = np.transpose(A, [*free_a, *over[0], *along[0]])
    b = np.transpose(B, [*free_b, *over[1], *along[1]])
    first, count = len(free_a) + len(over[0]), len(along[0])
    later = len(free_b) + len(over[1])
    sizes, widths = np.shape(a)[first:], np.shape(b)[later:]
    pairs = list(zip(sizes, widths, strict=True))
    if mode == "valid" and any(n > m for n, m in pairs) and any(n < m for n, m in pairs):
        raise ValueError("one array must be larger than the other along all convolved axes")
    windows = np.pad(a, [(0, 0)] * first + [(m - 1, m - 1) for m in widths])
    for k in range(count):
        windows = np.lib.stride_tricks.sliding_window_view(windows, widths[k], axis=first + k)
    place = len(free_a) + len(over[0]) + count
    summed = [*range(len(free_a), first), *range(place, place + count)]
    turned = np.flip(b, tuple(range(later, later + count))) if count else b
    found = np.tensordot(windows, turned, (summed, list(range(len(free_b), later + count))))
    kept, total = len(free_a), len(free_a) + count + len(free_b)
    order = [*range(kept), *range(kept + count, total), *range(kept, kept + count)]
    found = np.transpose(found, order)
    if mode == "same":
        cut = [slice((m - 1) // 2, (m - 1) // 2 + n) for n, m in pairs]
    elif mode == "valid":
        cut = [slice(min(n, m) - 1, max(n, m)) for n, m in pairs]
    else:
        return found
    return found[tuple([slice(None)] * (total - count) + cut)]


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    return np.where(x > 0, x, negative_slope * x)


def elu(x: Any, alpha: Any = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _reduced(terms: Any, reduction: str) -> Any:
    if reduction == "none":
        return terms
    return np.sum(terms) if reduction == "sum" else np.mean(terms)


def mse_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    return _reduced((input - target) ** 2, reduction)


def l1_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    return _reduced(np.abs(input - target), reduction)


def binary_cross_entropy_with_logits(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    return _reduced(np.logaddexp(input, 0.0) - input * target, reduction)


OWN = (
    relu, relu6, sigmoid, softplus, log_sigmoid, silu, softsign, rsqrt, squared_difference, frac,
    lerp, sumsqr, if_else, leaky_relu, elu, mse_loss, l1_loss, binary_cross_entropy_with_logits,
)  # fmt: skip
_OWN = {f.__name__: f for f in (*OWN, convolve)}


# ------------------------------------------------------------------------- the table
AXIS = {"dim": "axis", "keepdim": "keepdims"}
"""PyTorch's names of keyword arguments, by NumPy's."""

SAME = {
    "jax.numpy": "numpy",
    "jax.numpy.linalg": "numpy.linalg",
    "jax.scipy.special": "scipy.special",
    "jax.scipy.linalg": "scipy.linalg",
    "autograd.numpy": "numpy",
    "autograd.numpy.linalg": "numpy.linalg",
    "autograd.scipy.special": "scipy.special",
    "cupy": "numpy",
    "cupy.linalg": "numpy.linalg",
    "cupyx.scipy.special": "scipy.special",
}
"""Packages that have NumPy's and SciPy's functions under their names."""

_ELEMENTARY = (
    "sin cos tan sinh cosh tanh exp expm1 log log1p sqrt floor ceil sign maximum minimum square "
)
_INVERSE = {f"a{f}": f"arc{f}" for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def _names(text: str, **others: str) -> dict[str, str]:
    return {name: name for name in text.split()} | others


_TORCH = _names(
    f"{_ELEMENTARY} abs exp2 log2 log10 logaddexp logaddexp2 hypot trunc fmod remainder power where sum "
    "mean prod cumsum cumprod matmul dot outer einsum stack reshape arange linspace ones_like "
    "zeros_like full_like full diag trace tril triu kron tensordot flip roll sinc isnan isinf isfinite "
    "copysign heaviside fmax fmin logical_and logical_or logical_not",
    **_INVERSE, absolute="abs", pow="power", atan2="arctan2", arctan2="arctan2", cat="concatenate",
    concat="concatenate", clamp="clip", clip="clip", mm="matmul", mv="matmul", bmm="matmul",
    amax="max", amin="min", neg="negative", reciprocal="reciprocal", tensor="array",
    as_tensor="asarray", squeeze="squeeze", unsqueeze="expand_dims", erf="scipy.special.erf",
    erfc="scipy.special.erfc", lgamma="scipy.special.gammaln", digamma="scipy.special.digamma",
    xlogy="scipy.special.xlogy", logsumexp="scipy.special.logsumexp",
    softmax="scipy.special.softmax", log_softmax="scipy.special.log_softmax",
    sigmoid=".sigmoid", relu=".relu", rsqrt=".rsqrt", frac=".frac", lerp=".lerp", mul="multiply", div="divide",
    add="add", sub="subtract", deg2rad="deg2rad", rad2deg="rad2deg", zeros="zeros", ones="ones",
)  # fmt: skip
_SPECIAL = _names(
    "erf erfc erfcx gammaln digamma psi expit logit xlogy xlog1py entr ndtr log_ndtr logsumexp "
    "softmax log_softmax polygamma"
)
_TENSORFLOW = _names(
    f"{_ELEMENTARY} abs logaddexp pow round where stack concat matmul tensordot einsum cumsum",
    **_INVERSE, pow="power", atan2="arctan2", add="add", subtract="subtract", multiply="multiply",
    divide="divide", negative="negative", reciprocal="reciprocal", floormod="remainder", mod="remainder",
    reduce_sum="sum", reduce_mean="mean", reduce_prod="prod", reduce_max="max", reduce_min="min",
    reduce_std="std", reduce_variance="var", reduce_logsumexp="scipy.special.logsumexp",
    erf="scipy.special.erf", erfc="scipy.special.erfc", lgamma="scipy.special.gammaln",
    digamma="scipy.special.digamma", xlogy="scipy.special.xlogy", xlog1py="scipy.special.xlog1py",
    sigmoid=".sigmoid", softplus=".softplus", log_sigmoid=".log_sigmoid", rsqrt=".rsqrt",
    squared_difference=".squared_difference", clip_by_value="clip", constant="array",
    convert_to_tensor="asarray", is_nan="isnan", is_inf="isinf", is_finite="isfinite",
    cumprod="cumprod", reshape="reshape", transpose="transpose", zeros_like="zeros_like",
    ones_like="ones_like", expand_dims="expand_dims", squeeze="squeeze", linspace="linspace",
)  # fmt: skip
_TENSORFLOW["concat"] = "concatenate"

NAMES: dict[str, Mapping[str, str]] = {
    "torch": _TORCH,
    "torch.special": {k: f"scipy.special.{v}" for k, v in _SPECIAL.items()}
    | {"expm1": "expm1", "log1p": "log1p", "exp2": "exp2", "sinc": "sinc"},
    "torch.linalg": {k: f"numpy.linalg.{k}" for k in ("det", "inv", "solve", "cholesky", "norm")},
    "torch.nn.functional": {
        "relu": ".relu", "relu6": ".relu6", "sigmoid": ".sigmoid", "silu": ".silu", "tanh": "tanh",
        "logsigmoid": ".log_sigmoid", "softsign": ".softsign", "softmax": "scipy.special.softmax",
        "log_softmax": "scipy.special.log_softmax", "leaky_relu": ".leaky_relu", "elu": ".elu",
        "mse_loss": ".mse_loss", "l1_loss": ".l1_loss",
        "binary_cross_entropy_with_logits": ".binary_cross_entropy_with_logits",
    },
    "jax.nn": {
        "relu": ".relu", "relu6": ".relu6", "elu": ".elu", "sigmoid": ".sigmoid", "softplus": ".softplus",
        "silu": ".silu", "swish": ".silu", "log_sigmoid": ".log_sigmoid", "soft_sign": ".softsign",
        "tanh": "tanh", "softmax": "scipy.special.softmax",
        "log_softmax": "scipy.special.log_softmax", "logsumexp": "scipy.special.logsumexp",
    },
    "tensorflow": _TENSORFLOW,
    "tensorflow.math": _TENSORFLOW,
    "tensorflow.linalg": {k: f"numpy.linalg.{k}" for k in ("det", "inv", "solve", "cholesky", "norm")}
    | {"matmul": "matmul", "trace": "trace"},
    "tensorflow.nn": {
        "relu": ".relu", "relu6": ".relu6", "sigmoid": ".sigmoid", "softplus": ".softplus",
        "silu": ".silu", "swish": ".silu", "softsign": ".softsign", "tanh": "tanh",
    },
    "autograd.scipy.signal": {"convolve": ".convolve"},
    "casadi": _names(
        "sin cos tan sinh cosh tanh exp expm1 log log1p log10 sqrt floor ceil sign fabs fmin fmax fmod hypot "
        "power copysign",
        **_INVERSE, arcsin="arcsin", arccos="arccos", arctan="arctan", atan2="arctan2",
        arctan2="arctan2", pow="power", erf="scipy.special.erf", mtimes="matmul", if_else=".if_else",
        sumsqr=".sumsqr", constpow="power",
    ),
}  # fmt: skip
"""For other packages, the target of each name: a name of NumPy, of SciPy with its module, or, after
a point, of a function above."""

_INDEXING = "indices out of bounds are no error there; index the array, or use np.take"
REFUSED: dict[str, Mapping[str, str]] = {
    "jax.numpy": {"take": _INDEXING, "choose": _INDEXING},
    "jax": {
        "vmap": "write it for arrays, or use .map of a decorated function",
        "grad": "use symdiff.grad, which differentiates by all arguments by default",
        "jacfwd": "use symdiff.jacobian",
        "jacrev": "use symdiff.jacobian",
        "hessian": "use symdiff.hessian",
    },
    "jax.lax": {
        "stop_gradient": "the derivative would not be that of the function",
        **dict.fromkeys(
            ("scan", "fori_loop", "while_loop", "map"), "write the loop in Python; it is kept"
        ),
        **dict.fromkeys(("cond", "select", "switch"), "write it with if, or np.where"),
    },
    "jax.nn": {"gelu": "it is an approximation there by default; write the formula"},
    "torch": {
        "std": "it divides by n - 1 there; write np.std(x, ddof=1)",
        "var": "it divides by n - 1 there; write np.var(x, ddof=1)",
        "median": "it is the lower of two there; write np.sort(x)[(len(x) - 1)//2]",
        "max": "it gives indices too with dim=; use torch.amax, or torch.maximum of two",
        "min": "it gives indices too with dim=; use torch.amin, or torch.minimum of two",
        "sort": "it gives indices too; write np.sort",
        "cross": "it takes the first axis of size 3 there; write np.cross with axis=",
        "transpose": "it swaps two axes there; write np.swapaxes",
        "round": "it takes decimals= there; write np.round",
        "norm": "it is deprecated there, with other defaults for matrices; use torch.linalg.norm",
        "nan_to_num": "infinities become the largest of its float type there",
    },
    "torch.nn.functional": {
        "softplus": "it is x above 20 there; write np.logaddexp(x, 0)",
        "gelu": "write the formula",
        "binary_cross_entropy": "logarithms are at least -100 there; write the formula",
        "dropout": "random numbers would be frozen when traced; pass them as arguments",
    },
    "tensorflow.math": {
        "divide_no_nan": "0/0 is 0 there, which is no limit; write np.where",
        "multiply_no_nan": "0*nan is 0 there; write np.where",
        "reciprocal_no_nan": "1/0 is 0 there; write np.where",
    },
    "tensorflow": {"stop_gradient": "the derivative would not be that of the function"},
    "tensorflow.nn": {"gelu": "write the formula"},
    "casadi": {
        "dot": "it is the sum of all products there, of matrices too; write np.sum(a*b)",
        "norm_2": "it is the largest singular value of matrices there; write np.sqrt(np.sum(x**2))",
    },
}
"""Names whose meaning differs from that of NumPy's function, and the replacement."""

PACKAGES = frozenset(name.partition(".")[0] for name in (*SAME, *NAMES))
"""The packages whose code can be traced."""


@dataclass(frozen=True, slots=True)
class Alias:
    """The function of another library.

    Attributes
    ----------
    name : its name in users' code.
    target : NumPy's or SciPy's function, or one of this module.
    keywords : the names of keyword arguments, by those of the target.
    sizes : whether a shape is given as several numbers.
    refused : why it is refused; empty if it is not.
    """

    name: str
    target: Any = None
    keywords: Mapping[str, str] = field(default_factory=dict)
    sizes: bool = False
    refused: str = ""

    @property
    def own(self) -> bool:
        """Whether the target is a function of this module."""
        return getattr(self.target, "__module__", None) == __name__

    def arguments(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the target.

        Raises
        ------
        Refused : by name, if this is no function of NumPy's.
        """
        if self.refused:
            raise Refused(f"'{self.name}' is not read", self.refused)
        if self.sizes and len(args) > 1:
            args = (args,)
        renamed = {
            self.keywords.get(k, k): _dtype(v) if k == "dtype" else v for k, v in kwargs.items()
        }
        return args, renamed


def method(name: str) -> str:
    """The hint for a method that other libraries' arrays have, and NumPy's do not."""
    if name == "at":
        return "arrays of JAX have it: copy the array, and assign to its elements"
    target = _TORCH.get(name)
    if target is None or hasattr(np.ndarray, name):
        return "" if name not in ("view", "t") else "write reshape, or .T"
    written = f"torch.{name}" if target.startswith(".") else f"np.{target}"
    return f"NumPy's arrays have no such method: write {written.replace('np.scipy', 'scipy')}(...)"


COMPILED = ("PjitFunction", "PolymorphicFunction", "Function")
"""The types of functions that `jax.jit` and `tf.function` return; their functions are traced."""


def compiled_of(function: Any) -> Any:
    """The Python function that another library compiles; None for other functions."""
    kind = type(function)
    package = kind.__module__.partition(".")[0]
    if kind.__name__ not in COMPILED or package not in (*PACKAGES, "jaxlib"):
        return None
    inner = getattr(function, "__wrapped__", None)
    return inner if isinstance(inner, FunctionType) else None


def find(function: Any) -> Alias | None:
    """The alias of a function of another library; None if it has none."""
    found = _table(tuple(m for m in _MODULES if m in sys.modules)).get(id(function))
    return found[1] if found is not None and found[0] is function else None


_MODULES = tuple(dict.fromkeys((*SAME, *NAMES, *REFUSED)))


@functools.lru_cache(maxsize=16)
def _table(loaded: tuple[str, ...]) -> dict[int, tuple[Any, Alias]]:
    table: dict[int, tuple[Any, Alias]] = {}
    for module in loaded:
        owner = sys.modules[module]
        for name, alias in aliases(module).items():
            function = getattr(owner, name, None)
            if callable(function) and getattr(np, name, None) is not function:
                table.setdefault(id(function), (function, alias))
    return table


def modules() -> tuple[str, ...]:
    """The modules with known names."""
    return _MODULES


@functools.cache
def aliases(module: str) -> dict[str, Alias]:
    """All names of a module."""
    found: dict[str, Alias] = {}
    if module in SAME:
        source = _module(SAME[module])
        names = vars(source) if source is not None else {}
        found |= {n: Alias(f"{module}.{n}", f) for n, f in names.items() if _is_function(n, f)}
    torch = module.startswith("torch")
    for name, target in NAMES.get(module, {}).items():
        function = _resolved(target)
        if function is not None:
            keywords = _keywords(function, torch)
            sizes = torch and name in ("zeros", "ones", "reshape")
            found[name] = Alias(f"{module}.{name}", function, keywords, sizes and name != "reshape")
    for name, reason in REFUSED.get(module, {}).items():
        found[name] = Alias(f"{module}.{name}", refused=reason)
    return found


def _is_function(name: str, value: Any) -> bool:
    return callable(value) and not name.startswith("_") and not isinstance(value, type)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:  # SciPy is optional
        return None


def _resolved(target: str) -> Any:
    if target.startswith("."):
        return _OWN[target[1:]]
    module, _, name = target.rpartition(".")
    owner = _module(module or "numpy")
    return getattr(owner, name, None)


def _keywords(function: Any, torch: bool) -> Mapping[str, str]:
    if function is np.clip:
        return {
            "min": "a_min",
            "max": "a_max",
            "clip_value_min": "a_min",
            "clip_value_max": "a_max",
        }
    if function is np.linspace:
        return {"steps": "num", "end": "stop"}
    return AXIS if torch else {}


def _dtype(value: Any) -> Any:
    """NumPy's type for another library's type of floats or integers."""
    name = (
        getattr(value, "__name__", None)
        or getattr(value, "name", None)
        or str(value).rpartition(".")[2]
    )
    name = {"double": "float64", "float": "float64"}.get(name, name)
    if isinstance(value, (type(None), str)) or name not in ("float64", "float32", "int64", "int32"):
        return value
    return getattr(np, name)
