"""Scalars that carry their double and the operation that made them, and the record of a run.

A `Real` is no float: `isinstance(x, float)` holds by `__class__`, but C code that asks for its double is refused,
as the derivative would be lost without notice.
"""

from __future__ import annotations

import dis
import linecache
import math
import operator
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar

import numpy as np

from symdiff.errors import Location, UnsupportedError
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, OPS, POW, SUB, VAR

OPERATIONS = 3_000_000
"""Operations of one run; some 200 bytes each."""

NUMBERS = frozenset((
    int, float, bool, np.float64, np.float32, np.float16, np.bool_,
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
))  # fmt: skip
"""The classes of numbers that operations take beside scalars."""
COMPLEX = frozenset((complex, np.complex128, np.complex64))

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_LIBRARIES = (_OWN, os.path.dirname(np.__file__) + os.sep, f"{os.sep}scipy{os.sep}")


class Record:
    """The state of the run of this process; there is one at a time.

    Attributes
    ----------
    count : operations so far; also the order of the scalars.
    met : decisions by two equal numbers, of which at least one is a `Real`; and on which side of that
        the decision is the same: 1 where the first is greater, -1 where it is less, 0 on neither.
    guards : decisions by numbers that differ: an operator, and both numbers.
    special : whether there are decisions that no guard repeats, by equal numbers or operations without a source.
    side : of a run near the point, on which side of a decision it is; None of others.
    rounded : scalars that steps have taken that are too fine to see, such as times in microseconds; there are no
        derivatives by what they depend on.
    hashed : the scalar whose hash was asked for last.
    refused : the first refusal, which the function may have caught.
    thread : the thread that runs, or None.
    """

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.met: list[tuple[Any, Any, int]] = []
        self.guards: list[tuple[str, Any, Any]] = []
        self.special = False
        self.side: Callable[[Any, Any], int] | None = None
        self.rounded: list[Real] = []
        self.hashed: Any = None
        self.refused: UnsupportedError | None = None
        self.thread: int | None = None

    def begin(self, count: int = 0) -> None:
        self.__init__(count)  # type: ignore[misc]
        self.thread = threading.get_ident()

    def decide(self, f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """A decision by two equal numbers, which is that of `f(sign of a - b, 0)`."""
        if self.side is not None:
            return f(self.side(a, b), 0)
        self.special = True
        found = f(0, 0)
        same = [s for s in (1, -1) if f(s, 0) == found]
        if len(same) < 2:
            self.met.append((a, b, same[0] if same else 0))
        return found

    def guard(self, symbol: str, a: Any, b: Any) -> None:
        """Note what decides."""
        if self.thread is not None:
            self.guards.append((symbol, a, b))

    def order(self, a: Any, b: Any) -> None:
        """Note that two numbers are in the order in which they are."""
        v, w = raw(a), raw(b)
        if type(a) is not Real is not type(b):
            return
        if v < w or v > w:
            self.guard("<" if v < w else ">", a, b)
        elif a is not b:
            self.special = True

    def here(self) -> bool:
        """Whether this thread runs a function by values."""
        return self.thread is not None and self.thread == threading.get_ident()


RECORD = Record()


def _of_user(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    of_python = path.startswith(_PYTHON) and "site-packages" not in path
    return not of_python and not any(part in path for part in _LIBRARIES)


def place(frame: FrameType | None = None, line: int = 0) -> Location | None:
    """The user's line that runs, or that of a frame if it is the user's."""
    if frame is None:
        frame = sys._getframe(1)
        while frame is not None and not _of_user(frame):
            frame = frame.f_back
    elif not _of_user(frame):
        return None
    if frame is None:
        return None
    path, line = frame.f_code.co_filename, line or frame.f_lineno
    return Location(path, line, 1, linecache.getline(path, line))


def refuse(message: str, hint: str = "") -> UnsupportedError:
    """A refusal at the user's line, which is kept in case that the function catches it."""
    error = UnsupportedError(message, place(), hint)
    if RECORD.refused is None:
        RECORD.refused = error
    return error


def raw(x: Any) -> Any:
    """The double of a scalar, which decides nothing; numbers are their own."""
    return x.v if type(x) is Real else x


def value_of(x: Any) -> Any:
    """The double of a scalar, of which any bit may decide something."""
    if type(x) is not Real:
        return x
    if RECORD.thread is not None:
        RECORD.guards.append(("==", x, float(x.v)))
    return x.v


def made(value: Any, op: Any, *args: Any) -> Any:
    """The scalar that an operation gives."""
    if type(value) is complex:  # a negative number to a broken power
        base, exponent = args
        return (base if type(base) is Real else made(base, VAR)).as_complex() ** exponent
    found = object.__new__(Real)
    found.v, found.op, found.args = value, op, args
    RECORD.count = found.n = RECORD.count + 1
    if found.n > OPERATIONS:
        raise refuse(f"the function makes more than {OPERATIONS} operations, run by values")
    return found


def variable(value: Any) -> Any:
    """A scalar of an argument."""
    return made(value, VAR)


def _is_array(x: Real, other: type, op: Any) -> bool:
    """Whether an operator takes a list for an array, as all but one of NumPy's numbers do."""
    return other in (list, tuple) and type(x.v) is not float and op is not MUL


def _binary(op: Any, f: Callable[[Any, Any], Any]) -> Any:
    """An operator and its reflected form."""

    def forward(self: Real, other: Any) -> Any:
        kind = type(other)
        try:
            if kind is Real:
                return made(f(self.v, other.v), op, self, other)
            if kind in COMPLEX:
                return f(self.as_complex(), other)
            if kind in NUMBERS:
                return made(f(self.v, other), op, self, other)
            of_array = _is_array(self, kind, op)
            return f(self, np.asarray(other, object)) if of_array else NotImplemented
        except ArithmeticError:
            RECORD.special = True  # if the function catches it
            raise

    def reflected(self: Real, other: Any) -> Any:
        if type(other) in COMPLEX:
            return f(other, self.as_complex())
        if type(other) not in NUMBERS:
            of_array = _is_array(self, type(other), op)
            return f(np.asarray(other, object), self) if of_array else NotImplemented
        try:
            return made(f(other, self.v), op, other, self)
        except ArithmeticError:
            RECORD.special = True
            raise

    return forward, reflected


_COMPARES = dis.opmap["COMPARE_OP"]


def _sorts() -> bool:
    """Whether a comparison is that of a sort, a heap or the like, in C, called by the user: slopes follow its order."""
    frame = sys._getframe(2)
    code = frame.f_code
    return code.co_code[frame.f_lasti] != _COMPARES and not code.co_filename.startswith(_OWN)


def _comparison(f: Callable[[Any, Any], Any], orders: bool = True) -> Any:
    def compare(self: Real, other: Any) -> Any:
        kind = type(other)
        if kind is Real:
            v, w = self.v, other.v
        elif kind in NUMBERS:
            v, w = self.v, other
        else:
            return NotImplemented
        found = f(v, w)
        if v < w or v > w:
            RECORD.guards.append(("<" if v < w else ">", self, other))
            return found
        if v != w or self is other or (orders and RECORD.side is None and _sorts()):
            RECORD.special = RECORD.special or self is not other
            return found
        return type(found)(RECORD.decide(f, self, other))

    return compare


_equal = _comparison(operator.eq, False)


def _steps(f: Callable[[Any], Any]) -> Any:
    """A step function, such as floor; at a step, that of the side on which a run is."""

    def near(x: Any, side: int) -> Any:
        return f(x) if side == 0 else f(x + 0.5 * side)

    def step(self: Real) -> Any:
        v = self.v
        if not math.isfinite(v) or v % 1.0 != 0.0:
            found = f(v)
            RECORD.guard(">", self, math.floor(v))
            RECORD.guard("<", self, math.ceil(v))
            return found
        return RECORD.decide(lambda side, _: near(v, side), self, v)

    return step


class Real:
    """A real number of a run.

    Attributes
    ----------
    v : its double, a float or np.float64 as in plain Python.
    op, args : the operation that made it.
    n : its place in the order of the run.
    """

    __slots__ = ("__weakref__", "args", "n", "op", "v")
    v: Any
    op: Any
    args: tuple[Any, ...]
    n: int
    __array_ufunc__: Callable[..., Any]  # see `arrays`, which imports this
    as_complex: ClassVar[Callable[[Any], Any]]  # see `complex_scalars`

    __array_priority__ = 1000
    __add__, __radd__ = _binary(ADD, operator.add)
    __sub__, __rsub__ = _binary(SUB, operator.sub)
    __mul__, __rmul__ = _binary(MUL, operator.mul)
    __truediv__, __rtruediv__ = _binary(DIV, operator.truediv)
    __pow__, __rpow__ = _binary(POW, operator.pow)
    __floordiv__, __rfloordiv__ = _binary(OPS["floor_quotient"], operator.floordiv)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __ne__ = _comparison(operator.ne, False)
    __int__ = __trunc__ = _steps(int)
    __floor__ = _steps(math.floor)
    __ceil__ = _steps(math.ceil)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # isinstance asks for it
        return float if type(self.v) is float else np.float64

    def __eq__(self, other: Any) -> Any:
        """Keys of dicts that are equal by chance differ: a memo table holds one for each formula."""
        if type(other) is Real and RECORD.hashed in (id(self), id(other)) and self.v == other.v:
            return same_formula(self, other)
        return _equal(self, other)

    def __hash__(self) -> int:
        RECORD.hashed = id(self)
        return hash(value_of(self))

    def __neg__(self) -> Any:
        return made(-self.v, NEG, self)

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Any:
        return made(abs(self.v), ABS, self)

    def __mod__(self, other: Any) -> Any:
        if type(other) is not Real and type(other) not in NUMBERS:
            return NotImplemented
        return _remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _remainder(other, self) if type(other) in NUMBERS else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __bool__(self) -> bool:
        if self.v:
            RECORD.order(self, 0.0)
            return True
        return bool(RECORD.decide(operator.ne, self, 0.0))

    def __round__(self, digits: int | None = None) -> Any:
        v = value_of(self)
        return round(v) if digits is None else round(v, digits)

    def __format__(self, spec: str) -> str:
        return format(value_of(self), spec)

    def __repr__(self) -> str:
        return repr(value_of(self))

    def __str__(self) -> str:
        return str(value_of(self))

    def __float__(self) -> float:
        raise refuse("compiled code asks for the double of a number that has a derivative")

    def __complex__(self) -> complex:
        raise refuse("compiled code asks for the double of a number that has a derivative")

    def __getitem__(self, key: Any) -> Any:
        if type(self.v) is float or type(key) is not tuple or key:
            raise TypeError(f"'{type(self.v).__name__}' object is not subscriptable")
        return self

    def __copy__(self) -> Real:
        return self

    def __deepcopy__(self, memo: Any) -> Real:
        return self

    def __reduce__(self) -> Any:
        raise refuse("a number that has a derivative is pickled")

    def as_integer_ratio(self) -> tuple[int, int]:
        raise refuse("the fraction of a number that has a derivative")

    def is_integer(self) -> bool:
        return bool(value_of(self).is_integer())

    def conjugate(self) -> Real:
        return self

    def __getattr__(self, name: str) -> Any:
        """What numbers of NumPy's have, and those of Python not, which a function may ask for in `try`."""
        if type(self.v) is float or name not in _OF_NUMPY:
            raise AttributeError(f"'{type(self.v).__name__}' object has no attribute '{name}'")
        return _OF_NUMPY[name](self)

    real = property(lambda self: self)
    imag = property(lambda self: 0.0)


def _converted(x: Real, kind: Any) -> Any:
    wanted = np.dtype(kind)
    return x if wanted.kind == "f" else wanted.type(int(x))


def _itself(x: Real) -> Callable[..., Real]:
    return lambda *args, **kwargs: x


def _truth(x: Real) -> Callable[..., Any]:
    return lambda *args, **kwargs: np.bool_(bool(x))


_OF_NUMPY: dict[str, Callable[[Real], Any]] = {
    "shape": lambda x: (), "ndim": lambda x: 0, "size": lambda x: 1, "dtype": lambda x: np.dtype(float),
    "astype": lambda x: lambda kind, **kwargs: _converted(x, kind), "any": _truth, "all": _truth,
    **dict.fromkeys(("item", "copy", "sum", "mean", "max", "min", "prod", "squeeze"), _itself),
}  # fmt: skip
"""Attributes of NumPy's numbers, whose reductions are they themselves."""


def same_formula(a: Real, b: Real) -> bool:
    """Whether two scalars were computed by the same operations from the same ones."""
    pairs, seen = [(a, b)], set()
    while pairs:
        x, y = pairs.pop()
        if x is y or (id(x), id(y)) in seen:
            continue
        if type(x) is not Real or type(y) is not Real:
            if type(x) is not type(y) or x != y:
                return False
            continue
        if x.op is not y.op or x.op is VAR or x.v != y.v or len(x.args) != len(y.args):
            return False
        seen.add((id(x), id(y)))
        pairs += zip(x.args, y.args, strict=True)
    return True


def _remainder(a: Any, b: Any) -> Any:
    """a % b with Python's own rounding; its slopes are those of a - b * (a // b)."""
    if raw(b) == 0:
        RECORD.special = True
    quotient = raw(a) // raw(b)
    return made(raw(a) % raw(b), REMAINDER, a, b, quotient)


class Mark:
    """An operation of runs that the table has not."""

    def __init__(self, name: str) -> None:
        self.name = name


REMAINDER = Mark("remainder")
TIE = Mark("tie")
"""Of two equal numbers the one or the other, as in max: the mean of their slopes."""
KEPT = Mark("kept")
"""The first argument; slopes by the others are not known."""
SIDED = Mark("sided")
"""The first argument, and the mean of slopes of each two others, of runs on both sides of a point."""
