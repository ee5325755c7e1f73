"""SymPy's functions, constants and relations in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symdiff.errors import UnsupportedError
from symdiff.ir import ONE, OPS, ZERO, Expr, const, div, neg, power
from symdiff.ir.functions import EXP, PI, POLYGAMMA


@functools.cache
def python_names() -> dict[Any, tuple[str, ...]]:
    """The Python names of the functions of the table that SymPy also has, by class."""
    import sympy

    found: dict[Any, tuple[str, ...]] = {}
    for op in OPS.values():
        if op.sympy is None or not op.names or not op.arity:
            continue
        args = sympy.symbols(f"a:{op.arity}", real=True)
        made = op.sympy(sympy, *args)
        if made.args == args and made.func not in found:
            found[made.func] = op.names
    found[sympy.Abs] = ("numpy.abs",)
    return found


@functools.cache
def formulas() -> dict[str, Callable[..., Any]]:
    """Functions of SymPy in terms of others, by name (definitions: NIST DLMF 4.14, 4.23, 4.28,
    4.37, 5.2, 5.12; for real arguments)."""
    import sympy as sp

    half = sp.Rational(1, 2)
    return {
        "sec": lambda x: 1 / sp.cos(x),
        "csc": lambda x: 1 / sp.sin(x),
        "cot": lambda x: sp.cos(x) / sp.sin(x),
        "sech": lambda x: 1 / sp.cosh(x),
        "csch": lambda x: 1 / sp.sinh(x),
        "coth": lambda x: sp.cosh(x) / sp.sinh(x),
        "asec": lambda x: sp.acos(1 / x),
        "acsc": lambda x: sp.asin(1 / x),
        "acot": lambda x: sp.atan(1 / x),
        "asech": lambda x: sp.acosh(1 / x),
        "acsch": lambda x: sp.asinh(1 / x),
        "acoth": lambda x: sp.atanh(1 / x),
        "exp_polar": sp.exp,
        "re": lambda x: x,
        "conjugate": lambda x: x,
        "im": lambda x: sp.S.Zero,
        "Heaviside": lambda x, at=half: sp.Piecewise((1, x > 0), (at, sp.Eq(x, 0)), (0, x < 0)),
        "frac": lambda x: x - sp.floor(x),
        "factorial": lambda n: sp.gamma(n + 1),
        "loggamma": lambda x: sp.Piecewise((_call("math.lgamma", x), x > 0), (sp.nan, True)),
        "hyper": lambda above, below, x: _call(
            f"scipy.special.hyp{len(above)}f{len(below)}", *above, *below, x
        ),
        "digamma": lambda x: sp.polygamma(0, x, evaluate=False),
        "trigamma": lambda x: sp.polygamma(1, x, evaluate=False),
        "harmonic": lambda n: sp.polygamma(0, n + 1, evaluate=False) + sp.EulerGamma,
        "beta": lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b),
        "erf2": lambda a, b: sp.erf(b) - sp.erf(a),
        "binomial": _binomial,
        "RisingFactorial": lambda x, k: _factors(x, k, 1),
        "FallingFactorial": lambda x, k: _factors(x, k, -1),
        "KroneckerDelta": lambda i, j: sp.Piecewise((1, sp.Eq(i, j)), (0, True)),
        "sinc": lambda x: _call("np.sinc", x / sp.pi),
        "polylog": _polylogarithm,
        "lowergamma": lambda a, x: _call("scipy.special.gammainc", a, x) * sp.gamma(a),
        "uppergamma": lambda a, x: _call("scipy.special.gammaincc", a, x) * sp.gamma(a),
        "betainc_regularized": lambda a, b, low, high: _share(a, b, high) - _share(a, b, low),
    }  # fmt: skip


def _call(name: str, *args: Any) -> Any:
    """A function that is called by this name in Python."""
    import sympy

    return sympy.Function(name, real=True)(*args)


def _polylogarithm(s: Any, x: Any) -> Any:
    """Order 2 is a function of SciPy (DLMF 25.12.1), lower orders are elementary (25.12.11,
    25.14.2)."""
    import sympy as sp

    if s == 2:
        return _call("scipy.special.spence", 1 - x)
    if s == 1:
        return -sp.log(1 - x)
    if s == 0:
        return x / (1 - x)
    raise UnsupportedError(
        f"symdiff knows polylog of the orders 0, 1 and 2, not {s}",
        hint="expand it, or truncate its series",
    )


def _share(a: Any, b: Any, x: Any) -> Any:
    return x if x in (0, 1) else _call("scipy.special.betainc", a, b, x)


def _factors(x: Any, k: Any, step: int) -> Any:
    """x (x + step) ... of k factors."""
    import sympy as sp

    if not k.is_Integer or k < 0:
        return sp.gamma(x + k) / sp.gamma(x) if step > 0 else sp.gamma(x + 1) / sp.gamma(x - k + 1)
    return sp.Mul(*(x + step * j for j in range(int(k))), evaluate=False)


def _binomial(n: Any, k: Any) -> Any:
    import sympy as sp

    if k.is_Integer and k >= 0:
        return _factors(n, k, -1) / sp.factorial(k)
    return sp.gamma(n + 1) / (sp.gamma(k + 1) * sp.gamma(n - k + 1))


def constants() -> dict[str, Expr]:
    """Constants of SymPy, exact; Catalan's by the trigamma function (DLMF 25.11.40, 5.15)."""
    pi = PI()
    trigamma = POLYGAMMA(ONE, const(1) / const(4))
    return {
        "Pi": pi,
        "Exp1": EXP(ONE),
        "EulerGamma": neg(POLYGAMMA(ZERO, ONE)),
        "Catalan": div(trigamma - power(pi, 2), const(8)),
    }


CONSTANT_NAMES = {
    "Pi": ("pi", 3.141592653589793),
    "Exp1": ("e", 2.718281828459045),
    "EulerGamma": ("euler_gamma", 0.5772156649015329),
    "Catalan": ("catalan", 0.915965594177219),
}
RELATIONS = {
    "Equality": "==", "Unequality": "!=", "StrictLessThan": "<", "LessThan": "<=",
    "StrictGreaterThan": ">", "GreaterThan": ">=",
}  # fmt: skip
ASSUMED = (
    ("is_positive", ">"), ("is_negative", "<"), ("is_nonnegative", ">="),
    ("is_nonpositive", "<="), ("is_nonzero", "!="),
)  # fmt: skip
HINTS = {
    "Derivative": "call .doit() on it first, or let symdiff differentiate",
    "Integral": "call .doit() on it first, or write the integral as a sum",
    "Limit": "call .doit() on it first",
    "Subs": "call .doit() on it first",
    "ImaginaryUnit": "symdiff differentiates real functions",
    "ComplexInfinity": "symdiff differentiates real functions",
}


@functools.cache
def by_short_name() -> dict[str, tuple[str, ...]]:
    """The functions of the table by the last part of their names: `.expr` writes functions that
    SymPy does not have with these."""
    return {n.rpartition(".")[2]: op.names for op in OPS.values() for n in op.names}


def qualified(name: str) -> tuple[str, ...] | None:
    """A name that was passed to `_call`."""
    return (name,) if "." in name else None
