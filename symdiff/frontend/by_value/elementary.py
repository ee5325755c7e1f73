"""Functions of math, NumPy and SciPy of scalars: the value by the function itself, slopes by the table.

`FUNCTIONS` maps each original function to one that takes scalars as well as numbers.
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.by_value.reals import COMPLEX, RECORD, Real, made, raw, value_of
from symdiff.frontend.by_value.ties import ELEMENTWISE
from symdiff.ir import OPS, POW
from symdiff.ir.functions import TABLE

Function = Callable[..., Any]
FUNCTIONS: dict[Any, Function] = {}
BOOLEAN = frozenset((
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.isnan, np.isfinite,
    np.isinf, np.signbit, np.logical_not, np.logical_and, np.logical_or, np.logical_xor,
))  # fmt: skip


def library(name: str) -> Any:
    """A module that the table names; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _value(original: Function, *args: Any) -> Any:
    """The value of a function; an error, which the function may catch, is a decision."""
    try:
        return original(*map(raw, args))
    except (ValueError, ArithmeticError):
        RECORD.special = True
        raise


def entry(op: Any, original: Function) -> Function:
    """An entry of the table."""
    if op.arity == 1:

        def of_one(x: Any) -> Any:
            return made(_value(original, x), op, x) if type(x) is Real else original(x)

        return of_one

    def fun(*args: Any) -> Any:
        value = _value(original, *args)
        return made(value, op, *args) if any(type(a) is Real for a in args) else value

    return fun


def _unary(original: Function, of_real: Function) -> Function:
    """A function of one number that is another one for scalars."""
    return lambda x: of_real(x) if type(x) is Real else original(x)


def _fill_from_table() -> None:
    for op in TABLE:
        for name in op.names:
            module, _, attribute = name.rpartition(".")
            if module in ("math", "numpy", "scipy.special"):
                original = getattr(library(module), attribute, None)
                if callable(original):
                    FUNCTIONS[original] = entry(op, original)
    for whole in (math.floor, math.ceil, math.trunc):
        FUNCTIONS.pop(whole, None)  # Real.__floor__ and the like give integers


def _fill_roots_and_logarithms() -> None:
    for root in (math.sqrt, np.sqrt):
        FUNCTIONS[root] = _unary(root, lambda x, root=root: made(_value(root, x), POW, x, 0.5))
    FUNCTIONS[math.pow] = lambda a, b: (
        made(_value(math.pow, a, b), POW, a, b)
        if Real in (type(a), type(b)) else math.pow(a, b)
    )  # fmt: skip
    logarithm = entry(OPS["log"], math.log)

    def log(x: Any, *base: Any) -> Any:
        return logarithm(x) / logarithm(base[0]) if base else logarithm(x)

    FUNCTIONS[math.log] = log


def _tested(test: Function, x: Real) -> bool:
    """isnan and its like."""
    if math.isfinite(x.v):
        RECORD.guard("-", x, x)  # finite
    else:
        RECORD.special = True
    return bool(test(x.v))


def _parts(x: Real) -> Any:
    whole = float(int(x))
    return x - whole, whole


def _scaled(exponent: Any, x: Real) -> Any:
    """The mantissa and the exponent."""
    return x * 0.5**exponent, exponent


def _fill_shorthands() -> None:
    degrees, radians = 180 / math.pi, math.pi / 180
    shorthands: list[tuple[Any, Function]] = [
        (np.square, lambda x: x * x),
        (np.reciprocal, lambda x: 1.0 / x),
        (np.negative, operator.neg),
        (np.positive, lambda x: x),
        (np.conjugate, lambda x: x),
        (np.logical_not, lambda x: not x),
        (np.signbit, lambda x: math.copysign(1, value_of(x)) < 0),
        (np.degrees, lambda x: x * degrees),
        (np.rad2deg, lambda x: x * degrees),
        (math.degrees, lambda x: x * degrees),
        (np.radians, lambda x: x * radians),
        (np.deg2rad, lambda x: x * radians),
        (math.radians, lambda x: x * radians),
        (math.modf, _parts),
        (np.modf, _parts),
        (math.frexp, lambda x: _scaled(math.frexp(value_of(x))[1], x)),
        (np.frexp, lambda x: _scaled(np.frexp(value_of(x))[1], x)),
    ]
    for module in (math, np):
        for name in ("isnan", "isfinite", "isinf"):
            test = getattr(module, name)
            shorthands.append((test, lambda x, test=test: _tested(test, x)))
    if special := library("scipy.special"):
        exp, erfc, polygamma = FUNCTIONS[np.exp], FUNCTIONS[special.erfc], OPS["polygamma"]
        shorthands += [
            (special.expit, lambda x: 1.0 / (1.0 + exp(-x))),
            (special.ndtr, lambda x: 0.5 * erfc(x * -math.sqrt(0.5))),
            (special.digamma, lambda x: made(special.digamma(x.v), polygamma, 0, x)),
        ]
    for original, of_real in shorthands:
        FUNCTIONS[original] = _unary(original, of_real)


def _hypot(*xs: Any) -> Any:
    if not any(type(x) is Real for x in xs):
        return math.hypot(*xs)
    of_two = entry(OPS["hypot"], math.hypot)
    return functools.reduce(of_two, xs) if len(xs) > 1 else abs(xs[0])


def _fsum(xs: Any) -> Any:
    """The sum, whose double is the exact one."""
    items = list(xs)
    total = sum(items, 0.0)
    if type(total) is not Real:
        return math.fsum(items)
    return made(math.fsum(map(raw, items)), OPS["add"], total, 0.0)


def _product(xs: Any, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, xs, start)


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    return math.isclose(
        value_of(a), value_of(b), rel_tol=value_of(rel_tol), abs_tol=value_of(abs_tol)
    )


def _nextafter(x: Any, y: Any) -> Any:
    return x + (np.nextafter(value_of(x), value_of(y)) - value_of(x))


def _heaviside(x: Any, at_zero: Any) -> Any:
    return at_zero if x == 0 else float(x > 0)


def _float_power(a: Any, b: Any) -> Any:
    return made(np.float64(raw(a)) ** raw(b), POW, a, b)


def _fill_functions_of_several() -> None:
    FUNCTIONS.update(ELEMENTWISE)
    FUNCTIONS[math.hypot] = _hypot
    FUNCTIONS[math.dist] = lambda p, q: _hypot(*[a - b for a, b in zip(p, q, strict=True)])
    FUNCTIONS[math.fsum] = _fsum
    FUNCTIONS[math.prod] = _product
    FUNCTIONS[math.isclose] = _isclose
    FUNCTIONS[math.ldexp] = lambda x, e: x * 2.0**e if type(x) is Real else math.ldexp(x, e)
    FUNCTIONS[np.nextafter] = _nextafter
    FUNCTIONS[np.heaviside] = _heaviside
    operators = {
        np.true_divide: operator.truediv, np.add: operator.add, np.subtract: operator.sub,
        np.multiply: operator.mul, np.power: operator.pow, np.float_power: _float_power,
        np.remainder: operator.mod, np.floor_divide: operator.floordiv,
        np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt,
        np.greater_equal: operator.ge, np.equal: operator.eq, np.not_equal: operator.ne,
        np.divmod: divmod,
    }  # fmt: skip
    FUNCTIONS.update({ufunc: _two_numbers(f) for ufunc, f in operators.items()})
    FUNCTIONS[np.logical_and] = lambda a, b: bool(a) and bool(b)
    FUNCTIONS[np.logical_or] = lambda a, b: bool(a) or bool(b)
    FUNCTIONS[np.logical_xor] = lambda a, b: bool(a) is not bool(b)


def _two_numbers(f: Function) -> Function:
    """An operator as its ufunc: numbers beside scalars are NumPy's, so that 1/0 is inf."""

    def fun(a: Any, b: Any) -> Any:
        a = np.float64(a) if type(a) in (int, float) else a
        b = np.float64(b) if type(b) in (int, float) and f is not operator.pow else b
        return f(a, b)  # the operators of np.float64 ask those of the scalar

    def reflected(a: Any, b: Any) -> Any:
        if type(b) is Real and type(a) in COMPLEX:
            return f(a, b.as_complex())
        if type(b) is Real and type(a) is not Real:
            mirrored = getattr(Real, _MIRRORED[f])(b, np.float64(a))
            return fun(a, b) if mirrored is NotImplemented else mirrored
        return fun(a, b)

    return reflected if f in _MIRRORED else fun


_MIRRORED = {
    operator.truediv: "__rtruediv__", operator.add: "__radd__", operator.sub: "__rsub__",
    operator.mul: "__rmul__", operator.pow: "__rpow__", operator.mod: "__rmod__",
    operator.floordiv: "__rfloordiv__", operator.lt: "__gt__", operator.le: "__ge__",
    operator.gt: "__lt__", operator.ge: "__le__", operator.eq: "__eq__", operator.ne: "__ne__",
    divmod: "__rdivmod__",
}  # fmt: skip

_fill_from_table()
_fill_roots_and_logarithms()
_fill_shorthands()
_fill_functions_of_several()


def _add_methods() -> None:
    """NumPy's functions of object arrays call methods of the elements."""
    for ufunc, fun in FUNCTIONS.items():
        if isinstance(ufunc, np.ufunc) and not hasattr(Real, ufunc.__name__):
            setattr(Real, ufunc.__name__, lambda *args, fun=fun: fun(*args))


_add_methods()
