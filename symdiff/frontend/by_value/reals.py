"""Scalars that carry their double and the operation that made them, and the record of a run.

A `Real` is no float: `isinstance(x, float)` holds by `__class__`, but C code that asks for its double is refused,
as the derivative would be lost without notice.
"""

from __future__ import annotations

import linecache
import math
import operator
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

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

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARIES = (_OWN, os.path.dirname(np.__file__) + os.sep, f"{os.sep}scipy{os.sep}")


class Record:
    """The state of the run of this process; there is one at a time.

    Attributes
    ----------
    count : operations so far; also the order of the scalars.
    held : pairs that were found equal, of which at least one is a `Real`.
    differ : of a run beside the point, whether such a pair is not equal there; None of others.
    tied : whether other comparisons of such a run are decided beside the point only.
    hashed : the scalar whose hash was asked for last.
    refused : the first refusal, which the function may have caught.
    thread : the thread that runs, or None.
    """

    def __init__(self) -> None:
        self.count = 0
        self.held: list[tuple[Any, Any]] = []
        self.differ: Callable[[Any, Any], bool] | None = None
        self.tied = False
        self.hashed: Any = None
        self.refused: UnsupportedError | None = None
        self.thread: int | None = None

    def begin(self) -> None:
        self.__init__()  # type: ignore[misc]
        self.thread = threading.get_ident()

    def equal(self, a: Any, b: Any) -> bool:
        """Note that two numbers are equal; returns whether they count as equal in this run."""
        if self.differ is None:
            self.held.append((a, b))
            return True
        return not self.differ(a, b)

    def here(self) -> bool:
        """Whether this thread runs a function by values."""
        return self.thread is not None and self.thread == threading.get_ident()


RECORD = Record()


def place() -> Location | None:
    """The user's line that runs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and any(part in frame.f_code.co_filename for part in _LIBRARIES):
        frame = frame.f_back
    if frame is None:
        return None
    path, line = frame.f_code.co_filename, frame.f_lineno
    return Location(path, line, 1, linecache.getline(path, line))


def refuse(message: str, hint: str = "") -> UnsupportedError:
    """A refusal at the user's line, which is kept in case that the function catches it."""
    error = UnsupportedError(message, place(), hint)
    if RECORD.refused is None:
        RECORD.refused = error
    return error


def value_of(x: Any) -> Any:
    """The double of a scalar; numbers are their own."""
    return x.v if type(x) is Real else x


def made(value: Any, op: Any, *args: Any) -> Real:
    """The scalar that an operation gives."""
    if isinstance(value, (complex, np.complexfloating)):
        raise refuse("a complex number of real values, in a function that is run by values")
    found = object.__new__(Real)
    found.v, found.op, found.args = value, op, args
    RECORD.count = found.n = RECORD.count + 1
    if found.n > OPERATIONS:
        raise refuse(f"the function makes more than {OPERATIONS} operations, run by values")
    return found


def variable(value: Any) -> Real:
    """A scalar of an argument."""
    return made(value, VAR)


def _binary(op: Any, f: Callable[[Any, Any], Any]) -> Any:
    """An operator and its reflected form."""

    def forward(self: Real, other: Any) -> Any:
        kind = type(other)
        if kind is Real:
            return made(f(self.v, other.v), op, self, other)
        return made(f(self.v, other), op, self, other) if kind in NUMBERS else NotImplemented

    def reflected(self: Real, other: Any) -> Any:
        return made(f(other, self.v), op, other, self) if type(other) in NUMBERS else NotImplemented

    return forward, reflected


def _comparison(f: Callable[[Any, Any], Any], held_if: bool | None) -> Any:
    """A comparison; one whose result is `held_if` holds at a point only."""

    def compare(self: Real, other: Any) -> Any:
        if type(other) is not Real and type(other) not in NUMBERS:
            return NotImplemented
        found = bool(f(self.v, value_of(other)))
        if self is other:
            return found
        if found is held_if:
            return found is RECORD.equal(self, other)
        if RECORD.differ is not None and self.v == value_of(other):
            RECORD.tied = RECORD.tied or RECORD.differ(self, other)
        return found

    return compare


_equal = _comparison(operator.eq, True)


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

    __array_priority__ = 1000
    __add__, __radd__ = _binary(ADD, operator.add)
    __sub__, __rsub__ = _binary(SUB, operator.sub)
    __mul__, __rmul__ = _binary(MUL, operator.mul)
    __truediv__, __rtruediv__ = _binary(DIV, operator.truediv)
    __pow__, __rpow__ = _binary(POW, operator.pow)
    __floordiv__, __rfloordiv__ = _binary(OPS["floor_quotient"], operator.floordiv)
    __lt__ = _comparison(operator.lt, None)
    __le__ = _comparison(operator.le, None)
    __gt__ = _comparison(operator.gt, None)
    __ge__ = _comparison(operator.ge, None)
    __ne__ = _comparison(operator.ne, False)

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
        return hash(self.v)

    def __neg__(self) -> Real:
        return made(-self.v, NEG, self)

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
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
        return bool(self.v) or not RECORD.equal(self, 0.0)

    def __int__(self) -> int:
        return int(self.v)

    def __trunc__(self) -> int:
        return int(self.v)

    def __floor__(self) -> int:
        found: int = math.floor(self.v)
        return found

    def __ceil__(self) -> int:
        found: int = math.ceil(self.v)
        return found

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.v) if digits is None else round(self.v, digits)

    def __format__(self, spec: str) -> str:
        return format(self.v, spec)

    def __repr__(self) -> str:
        return repr(self.v)

    def __str__(self) -> str:
        return str(self.v)

    def __float__(self) -> float:
        raise refuse("compiled code asks for the double of a number that has a derivative")

    def __complex__(self) -> complex:
        raise refuse("complex numbers in a function that is run by values")

    def __copy__(self) -> Real:
        return self

    def __deepcopy__(self, memo: Any) -> Real:
        return self

    def __reduce__(self) -> Any:
        raise refuse("a number that has a derivative is pickled")

    def is_integer(self) -> bool:
        return bool(self.v.is_integer())

    def conjugate(self) -> Real:
        return self

    def item(self, *args: Any, **kwargs: Any) -> Real:
        """Of NumPy's scalars, whose reductions are they themselves."""
        return self

    copy = sum = mean = max = min = squeeze = item

    def astype(self, kind: Any, **kwargs: Any) -> Any:
        wanted = np.dtype(kind)
        return self if wanted.kind == "f" else wanted.type(int(self.v))

    real = property(lambda self: self)
    imag = property(lambda self: 0.0)
    shape = property(lambda self: ())
    ndim = property(lambda self: 0)
    size = property(lambda self: 1)
    dtype = property(lambda self: np.dtype(float))


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


def _remainder(a: Any, b: Any) -> Real:
    """a % b with Python's own rounding; its slopes are those of a - b * (a // b)."""
    quotient = value_of(a) // value_of(b)
    return made(value_of(a) % value_of(b), REMAINDER, a, b, quotient)


class Mark:
    """An operation of runs that the table has not."""

    def __init__(self, name: str) -> None:
        self.name = name


REMAINDER = Mark("remainder")
TIE = Mark("tie")
"""Of two equal numbers the one or the other, as in max: the mean of their slopes."""
UNDECIDED = Mark("undecided")
"""Of more equal numbers, or at a point where an equality was met: there is no slope by any of the arguments but the first of one that is `KEPT`."""
KEPT = Mark("kept")
"""The first argument; slopes by the others are not known."""
