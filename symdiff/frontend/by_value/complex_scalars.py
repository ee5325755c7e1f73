"""Complex numbers of a run: pairs of scalars, with the doubles that Python's own complex numbers have.

The formulas of the parts are those that the compiler traces (`library.complex_numbers`), with the names of scalars.
"""

from __future__ import annotations

import cmath
import functools
import importlib
import itertools
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.by_value.elementary import FUNCTIONS
from symdiff.frontend.by_value.reals import (
    COMPLEX,
    KEPT,
    NUMBERS,
    RECORD,
    Real,
    made,
    raw,
    refuse,
    value_of,
)
from symdiff.frontend.library.complex_numbers import holomorphic, of_operators
from symdiff.ir import ADD


class Complex:
    """A complex number of a run.

    Attributes
    ----------
    real, imag : its parts, scalars or doubles.
    """

    __slots__ = ("__weakref__", "imag", "real")
    real: Any
    imag: Any
    __array_ufunc__: Callable[..., Any]  # see `arrays`, which imports this
    __array_priority__ = 1000

    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag = real, imag

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # isinstance asks for it
        numpys = isinstance(raw(self.real), np.floating) or isinstance(raw(self.imag), np.floating)
        return np.complex128 if numpys else complex

    @property
    def v(self) -> Any:
        """Its double."""
        return self.__class__(complex(raw(self.real), raw(self.imag)))

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imag)

    def __pos__(self) -> Complex:
        return self

    def conjugate(self) -> Complex:
        return Complex(self.real, -self.imag)

    conj = conjugate

    def __abs__(self) -> Any:
        return _valued(abs(self.v), _FORMULAS["absolute"], self)

    def __bool__(self) -> bool:
        return bool(self.real != 0 or self.imag != 0)

    def __hash__(self) -> int:
        return hash(complex(value_of(self.real), value_of(self.imag)))

    def __repr__(self) -> str:
        return repr(self._shown())

    def __str__(self) -> str:
        return str(self._shown())

    def __format__(self, spec: str) -> str:
        return format(self._shown(), spec)

    def _shown(self) -> Any:
        return self.__class__(complex(value_of(self.real), value_of(self.imag)))

    def __complex__(self) -> complex:
        raise refuse("compiled code asks for the double of a number that has a derivative")

    def __copy__(self) -> Complex:
        return self

    def __deepcopy__(self, memo: Any) -> Complex:
        return self

    def __reduce__(self) -> Any:
        raise refuse("a number that has a derivative is pickled")

    def item(self, *args: Any, **kwargs: Any) -> Complex:
        """Of NumPy's scalars, whose reductions are they themselves."""
        return self

    copy = sum = mean = squeeze = item
    shape = property(lambda self: ())
    ndim = property(lambda self: 0)
    size = property(lambda self: 1)
    dtype = property(lambda self: np.dtype(complex))


PAIRS = frozenset((Complex, *COMPLEX))
"""The classes of complex numbers of a run."""
_OPERANDS = frozenset((*PAIRS, Real, *NUMBERS))


def as_pair(x: Any) -> Any:
    """A number as an element of a complex array."""
    if type(x) is Real:
        return Complex(x, np.float64(0.0))
    return x if type(x) is Complex else np.complex128(x)


def double(x: Any) -> Any:
    """The value of a number, which decides nothing."""
    return x.v if type(x) is Complex else raw(x)


# ------------------------------------------------------------- values and formulas
def part_with(value: Any, x: Any) -> Any:
    """A part whose double is that of plain Python, computed by a formula of real numbers."""
    if type(x) is not Real:
        return value
    same = x.v == value or (math.isnan(x.v) and math.isnan(value))
    return x if same and type(x.v) is type(value) else made(value, ADD, x, 0.0)


def with_value(value: Any, found: Any) -> Any:
    """What a formula gives, with the doubles of plain Python."""
    if isinstance(value, tuple):
        return tuple(map(with_value, value, found))
    if isinstance(value, (bool, np.bool_)):
        return value
    if type(value) not in COMPLEX:
        return part_with(value, found)
    if type(found) is not Complex:
        return (
            value if type(found) in COMPLEX else Complex(part_with(value.real, found), value.imag)
        )
    return Complex(part_with(value.real, found.real), part_with(value.imag, found.imag))


def _valued(value: Any, formula: Callable[..., Any], *args: Any) -> Any:
    try:
        found = formula(*args)
    except ArithmeticError:  # the formula of the parts has no value here
        inside = [p for a in args for p in (a.real, a.imag) if type(p) is Real]
        unknown = [made(v, KEPT, v, *inside) for v in (value.real, value.imag)]
        found = Complex(*unknown) if type(value) in COMPLEX else unknown[0]
    return with_value(value, found)


def _operator(name: str, f: Callable[[Any, Any], Any], formula: Callable[..., Any]) -> None:
    """Add an operator and its reflected form."""

    def forward(self: Complex, other: Any) -> Any:
        if type(other) not in _OPERANDS:
            return NotImplemented
        return _valued(_by_value(f, self, other), formula, self, other)

    def reflected(self: Complex, other: Any) -> Any:
        if type(other) not in _OPERANDS:
            return NotImplemented
        return _valued(_by_value(f, other, self), formula, other, self)

    setattr(Complex, f"__{name}__", forward)
    setattr(Complex, f"__r{name}__", reflected)


def _by_value(f: Callable[..., Any], *args: Any) -> Any:
    """The value of plain Python; an error, which the function may catch, is a decision."""
    try:
        return f(*map(double, args))
    except (ValueError, ArithmeticError):
        RECORD.special = True
        raise


# -------------------------------------------------------------------- formulas
def _small_integer(value: Any) -> Any:
    fixed = type(value) in NUMBERS or (type(value) in COMPLEX and value.imag == 0)
    return of_operators.small_integer(value.real) if fixed else None


def _sqrt(z: Any) -> Complex:
    """The root with a positive real part; the side of the cut is a decision."""
    x, y = z.real, z.imag
    hypot, sqrt = FUNCTIONS[math.hypot], FUNCTIONS[math.sqrt]
    RECORD.order(x, 0.0)
    if raw(x) >= 0:
        larger = sqrt((hypot(x, y) + x) / 2)
        return Complex(larger, y / (2 * larger))
    RECORD.order(y, 0.0)
    larger = sqrt((hypot(x, y) - x) / 2)
    below = math.copysign(1.0, raw(y)) < 0
    return Complex(-y / (2 * larger), -larger) if below else Complex(y / (2 * larger), larger)


def _scalar_names() -> types.SimpleNamespace:
    """Functions of NumPy that the formulas call, of scalars."""
    names = (
        "exp", "log", "hypot", "arctan2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsinh", "log1p", "sqrt",
        "isfinite", "isnan", "isinf",
    )  # fmt: skip
    found = {name: FUNCTIONS[getattr(np, name)] for name in names}
    found["logical_and"], found["logical_or"] = (lambda a, b: a and b), (lambda a, b: a or b)
    found["logical_not"], found["where"] = operator.not_, lambda c, a, b: a if c else b
    return types.SimpleNamespace(**found)


def with_names(modules: tuple[types.ModuleType, ...], **names: Any) -> dict[str, Any]:
    """Copies of the functions of modules, in which these names mean something else."""
    scope: dict[str, Any] = {}
    own = {module.__name__ for module in modules}
    for name, value in itertools.chain(*(vars(module).items() for module in modules)):
        scope[name] = value
        if isinstance(value, types.FunctionType) and value.__module__ in own:
            scope[name] = types.FunctionType(
                value.__code__, scope, name, value.__defaults__, value.__closure__
            )
            scope[name].__kwdefaults__ = value.__kwdefaults__
    scope.update(names)
    return scope


_FORMULAS = with_names(
    (of_operators, holomorphic), pair=Complex, is_complex=lambda x: type(x) in PAIRS, np=_scalar_names(),
    small_integer=_small_integer, sqrt=_sqrt,
)  # fmt: skip
for _name, _f, _formula in (
    ("add", operator.add, "add"), ("sub", operator.sub, "subtract"), ("mul", operator.mul, "multiply"),
    ("truediv", operator.truediv, "divide"), ("pow", operator.pow, "power"), ("eq", operator.eq, "equal"),
    ("ne", operator.ne, "unequal"),
):  # fmt: skip
    _operator(_name, _f, _FORMULAS[_formula])
Real.as_complex = lambda x: Complex(x, 0.0)


def _of_complex(original: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: _valued(_by_value(original, *args), formula, *args)


def _either(original: Callable[..., Any], of_complex: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy: of complex numbers if one is."""
    of_reals = FUNCTIONS.get(original, original)

    def found(*args: Any) -> Any:
        return (of_complex if any(type(a) is Complex for a in args) else of_reals)(*args)

    return found


def _of_cmath(original: Callable[..., Any], of_complex: Callable[..., Any]) -> Callable[..., Any]:
    """A function of cmath: of numbers without derivatives the original."""

    @functools.wraps(original)
    def found(*args: Any) -> Any:
        traced = any(type(a) in (Real, Complex) for a in args)
        return (of_complex if traced else original)(*args)

    return found


def _fill() -> None:
    for table in (holomorphic.TABLE, holomorphic.CMATH):
        for dotted, function in table.items():
            module, _, name = dotted.rpartition(".")
            original: Any = getattr(importlib.import_module(module), name, None)
            formula: Any = _FORMULAS.get(function.__name__)
            if module == "cmath":
                FUNCTIONS[original] = _of_cmath(original, _of_complex(original, formula))
            elif isinstance(original, np.ufunc) and original is not np.matmul:
                FUNCTIONS[original] = _either(original, _of_complex(original, formula))
    FUNCTIONS[np.conjugate] = _either(np.conjugate, Complex.conjugate)
    FUNCTIONS[cmath.isclose] = lambda a, b, **options: cmath.isclose(
        *(complex(value_of(x.real), value_of(x.imag)) for x in (a, b)), **options
    )


_fill()
