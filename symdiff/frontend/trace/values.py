"""The values a traced function computes with.

Integers, strings, tuples, lists, functions, ... are themselves. What may depend on
a real parameter is a `Scalar` (real or truth value) or an array of scalars.

Each scalar carries, with its expression, the condition under which the operations
that led to it were all defined: simplification loses it (`sqrt(x)**2` becomes x),
the value of a program must not; and its plain form, if that is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff.frontend.trace.array_memory import SLOTS, Memory
from symdiff.ir import ONE, TRUE, ZERO, Expr, and_, const, ne, substitute, where
from symdiff.ir.loop_program import kind_of, load
from symdiff.ir.plain import Reading

of_integers: ContextVar[bool] = ContextVar("arguments are traced as integers", default=False)
"""Whether integers among the arguments are traced as such. What may be an integer in Python then is
one: what is traced says only which results are floats for sure."""
readings: ContextVar[Reading | None] = ContextVar("plain forms", default=None)
"""The plain forms of a trace, and the plain twins of values that its loops carry."""
unsure: ContextVar[set[str] | None] = ContextVar("numbers of two kinds, and stores", default=None)
"""In such a trace: whether there are numbers that may be integers or floats ("mixed"), and whether something is
stored in an array of integers ("stored"). Where both are so, what is stored is not known."""
domains: ContextVar[dict[Expr, Expr] | None] = ContextVar("where nodes are defined", default=None)
"""What a trace found of them, as each comparison asks again."""

MAX_ARRAY = 65536
"""Arrays with more elements than this are not traced element by element."""


LIST_HINT = "np.array(...) makes an array of a list; gradients by lists are lists"

TRUTH_OF_ARRAY = "the truth value of an array of several elements"


class Refused(Exception):  # noqa: N818
    """What was just evaluated is not supported; the tracer adds the place. `raises`: what Python raises there,
    whatever the arguments are, if it does."""

    def __init__(
        self, message: str, hint: str = "", raises: type[BaseException] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.raises = message, hint, raises


class Scalar:
    """A real number or truth value: its expression and where it is defined.

    Attributes
    ----------
    plain : what decides (`symdiff.ir.plain`), if that is not the expression as it stands.
    """

    __slots__ = ("defined", "expr", "plain")

    def __init__(self, expr: Expr, defined: Expr = TRUE, plain: Expr | None = None) -> None:
        self.expr, self.defined, self.plain = expr, defined, plain

    def __index__(self) -> int:
        """Python asks for a known integer."""
        raise Refused(
            f"{describe(self)} is used where an integer must be known when traced",
            "annotate a parameter that is one, such as n: int, or make it static",
        )


class Real(Scalar):
    """A real number, also one that is known."""

    __slots__ = ()


class Whole(Real):
    """An integer that is not known when traced: a size, a loop's index."""

    __slots__ = ()


class Integral(Real):
    """A number that is an int in Python and a real number here: a chosen one, a rounded one."""

    __slots__ = ()


class ZeroDimensional(Real):
    """A number that is an array without axes in NumPy, as what `np.where` gives."""

    __slots__ = ()


class Ratio(Real):
    """An integer that is not known, divided by one that is: once, so that rounding the quotient
    to a double does not reach the next integer.

    Attributes
    ----------
    n, k : the integers.
    """

    __slots__ = ("k", "n")

    def __init__(self, expr: Expr, n: Expr, k: int) -> None:
        super().__init__(expr)
        self.n, self.k = n, k


class Cond(Scalar):
    """A truth value that is not known when traced."""

    __slots__ = ()


class Logical(Cond):
    """A truth value of NumPy's, which `~` negates."""

    __slots__ = ()


class Undecided(Cond):
    """A truth value if the numbers in it are NumPy's, the integer 0 or 1 if they are
    Python's: a product of truth values."""

    __slots__ = ()


class Mixed(Integral):
    """An integer on one path and a truth value on another."""

    __slots__ = ()


class Axes(tuple[Any, ...]):
    """The shape of an array, as Python sees it, and which array that is."""

    of: SymArray

    def __new__(cls, sizes: Iterable[Any], of: SymArray) -> Axes:
        made = super().__new__(cls, sizes)
        made.of = of
        return made


class SymArray:
    """An array whose size is not known when traced: a view of memory, or, where a
    condition decides between two arrays, the one or the other.

    Attributes
    ----------
    shape : integer expressions.
    kind : "b" for truth values, "i" for integers, "f" for reals.
    memory : the memory that this is a view of.
    where : the index in the memory of the element at `symbolic.SLOTS`.
    sides : a condition, the array where it holds, and the one where it does not.
    seen : how many rows of the memory had been replaced when the view was made.
    """

    __slots__ = ("kind", "memory", "seen", "shape", "sides", "where")

    def __init__(
        self,
        shape: tuple[Expr, ...],
        kind: str,
        memory: Memory,
        where: tuple[Expr, ...],
        sides: tuple[Expr, SymArray, SymArray] | None = None,
    ) -> None:
        self.shape, self.kind, self.memory = shape, kind, memory
        self.where, self.sides = where, sides
        self.seen = len(memory.replaced())


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """Elements of an array, where only those with a true condition count: `a[a > 0]`.

    The condition is one on the first axes of the array, which become one axis.

    Attributes
    ----------
    nest : how it nests if it is a list, as of `Listed`; "" of an array.
    in_place : whether elements that do not count keep their places, as for `where=` of
        reductions: the condition is one on all axes, which stay.
    """

    items: SymArray
    present: SymArray
    nest: str = ""
    in_place: bool = False

    @property
    def kind(self) -> str:
        return self.items.kind


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A list whose length is not known when traced. Elements that may be changed are references:
    an element is the number of a row.

    Attributes
    ----------
    storage : its elements, or the rows that they refer to, along the first axis of memory.
    nest : of its first axes, whether each is a list ("l") or a tuple ("t").
    table : the row of each element, if elements can be stored and are references.
    counts : how many elements refer to each row.
    """

    storage: SymArray
    nest: str = "l"
    table: SymArray | None = None
    counts: SymArray | None = None

    @property
    def kind(self) -> str:
        return self.storage.kind

    @property
    def items(self) -> SymArray:
        """All elements, as they are now."""
        a, table = self.storage, self.table
        if table is None:
            return a
        where = a.where
        if table.memory.leaf is not None:
            row = load(table.memory.leaf, *table.where)
            where = substitute(where, {SLOTS[0]: row})
        return SymArray(a.shape, a.kind, a.memory, tuple(where))


def nest_of(value: Any) -> str:
    """How a value nests that is traced as an array, as in `Listed.nest`."""
    if isinstance(value, (Listed, Selected)):
        return value.nest
    if not isinstance(value, (list, tuple)):
        return ""
    inner = {nest_of(v) for v in value}
    return ("l" if isinstance(value, list) else "t") + (inner.pop() if len(inner) == 1 else "")


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Something to loop over whose length is not known when traced."""

    count: Expr
    item: Callable[[Expr], Any]


class SmallArray:
    """A NumPy array whose elements are traced one by one.

    Attributes
    ----------
    items : object array of scalars; views share memory as NumPy's do.
    kind : "b" for truth values, "i" for integers, "f" for reals.
    """

    __slots__ = ("items", "kind")

    def __init__(self, items: np.ndarray[Any, Any], kind: str) -> None:
        self.items, self.kind = items, kind

    def owner(self) -> np.ndarray[Any, Any]:
        """The array that holds the memory of this view."""
        base = self.items
        while isinstance(base.base, np.ndarray):
            base = base.base
        return base


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """Elements, where only those with a true condition count: `a[a > 0]`."""

    items: tuple[Any, ...]
    present: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """An object of a user's class that was made while tracing.

    Attributes
    ----------
    made_of : its class.
    fields : its attributes; a dict that is changed, merged and carried as others are.
    """

    made_of: type
    fields: Any


class ComplexNumber:
    """The parts of the record of a complex number, or of an array of them: the fields "real"
    and "imag", which are numbers, or arrays of one shape. No record of it is changed; arrays are."""


def is_complex(value: Any) -> bool:
    """Whether it is a complex number, or an array of them."""
    return isinstance(value, Record) and value.made_of is ComplexNumber


def is_array_pair(value: Record) -> bool:
    """Whether the parts of a complex value are arrays."""
    return not is_number(value.fields["real"])


class Generator:
    """What a stream runs through, where its length is not known when traced."""


class Unlisted(Refused):
    """The refusal to list what has a length that is not known when traced; a decorated function is
    traced again with the sizes of its arguments."""


class End(Exception):  # noqa: N818
    """An iterator has no more elements."""


class Stream:
    """An iterator: its elements, each used up once. They are computed at the first use, or read one by
    one: then `at` gives that at a position, which is in `items`, or raises `End`."""

    __slots__ = ("at", "compute", "generator", "items", "region")

    def __init__(
        self,
        compute: Callable[[], Any] | None,
        region: object,
        at: Callable[[int], Any] | None = None,
    ) -> None:
        self.compute = compute
        self.at = at
        self.generator: Generator | None = None
        self.items: Any = None if at is None else 0
        self.region = region


class Unbound:
    """The value of a name that is not assigned on some path."""

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND = Unbound()

UNREACHED: Any = object()
"""The value of a side that no path reaches."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Two values that cannot be merged into one, by the condition that decides."""

    condition: Expr
    then: Any
    other: Any


class Text:
    """Text with values that are not known when traced: for messages only."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """The value of a name that a loop cannot carry: why, and what to do."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """The value of a name that is bound on some paths only, and where it is: `checked` at run time if need be."""

    value: Any
    bound: Expr
    checked: bool = False


def join(a: Expr, b: Expr) -> Expr:
    """Both definedness conditions."""
    if a is TRUE:
        return b
    return a if b is TRUE else and_(a, b)


def number(value: int | float | Fraction) -> Real:
    """The exact value of a Python number."""
    return Real(const(value))


class ExactReal(float):
    """A named constant, such as SymPy's pi: to Python the nearest double, to a trace the number
    itself."""

    exact: Expr

    @classmethod
    def of(cls, nearest: float, exact: Expr) -> ExactReal:
        """The constant that an expression without variables denotes."""
        made = cls(nearest)
        made.exact = exact
        return made


def as_real(value: Any) -> Real:
    """A number or truth value as a real number."""
    if isinstance(value, Real):
        return value
    if isinstance(value, Cond):
        return Real(where(value.expr, ONE, ZERO), value.defined)
    if isinstance(value, int):
        return Real(const(int(value)))
    raise Refused(f"{describe(value)} is used as a number")


def as_float(value: Any) -> Real:
    """A number or truth value as a float of Python's."""
    x = as_real(value)
    return Real(x.expr, x.defined, x.plain)


def written(x: Scalar) -> Expr:
    """What plain Python computes of a value, in plain operations."""
    if x.plain is not None:
        return x.plain
    return (readings.get() or Reading()).of(x.expr)


def is_number(value: Any) -> bool:
    return isinstance(value, (Scalar, int))


def python_kind(value: Any) -> str:
    """What a number is in Python: "b" for a truth value, "i" for an integer, "f" for a float."""
    if isinstance(value, (bool, Cond)):
        return "b"
    return "i" if isinstance(value, (int, Whole, Integral)) else "f"


def of_whole_kind(value: Any) -> bool:
    """Whether it is integers: a number or an array."""
    return getattr(value, "kind", "") == "i" or (is_number(value) and python_kind(value) == "i")


def of_one_kind(a: Any, b: Any) -> None:
    """Refuse one of a truth value and a float where arguments are traced as integers: NumPy's
    functions compute in float16 of truth values alone, so Python has to say."""
    if of_integers.get() and {python_kind(a), python_kind(b)} == {"b", "f"}:
        raise Refused("one of a truth value and a float")


def is_single(value: Any) -> bool:
    """Whether it is an array that is known to have one element: Python takes its truth."""
    return isinstance(value, SymArray) and bool(value.shape) and all(n is ONE for n in value.shape)


def describe(value: Any) -> str:
    """What a value is, for error messages."""
    match value:
        case Whole():
            return "an integer that is not known when traced"
        case Real():
            return "a real number"
        case Cond() | bool():
            return "a truth value"
        case SmallArray() | SymArray():
            return "an array"
        case Sequence():
            return "a range that is not known when traced"
        case Listed():
            return "a list whose length is not known when traced"
        case Masked() | Selected():
            return "a selection by a condition"
        case Stream():
            return "an iterator"
        case Choice():
            return "a value that depends on a condition"
        case Text():
            return "text of values that are not known when traced"
        case Unusable():
            return value.message
        case Record(made_of=made_of) if made_of is ComplexNumber:
            return "an array of complex numbers" if is_array_pair(value) else "a complex number"
        case Record():
            return f"an object of '{value.made_of.__name__}'"
        case None:
            return "None"
        case int():
            return "an integer"
        case str():
            return "a string"
    if callable(value):
        return "a function"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def dimensions(count: int) -> str:
    """A number of dimensions, for error messages."""
    return "1 dimension" if count == 1 else f"{count} dimensions"


KINDS = {
    bool: "b",
    int: "i",
    Cond: "b",
    Logical: "b",
    Real: "f",
    Integral: "i",
    Ratio: "f",
    Whole: "i",
    ZeroDimensional: "f",
}


def array_of(values: Iterable[Any], shape: tuple[int, ...]) -> SmallArray:
    """An array of scalars with one common kind, as NumPy promotes."""
    kinds_only = of_integers.get()
    flat = [
        Whole(v.expr)
        if isinstance(v, Integral)
        and (kinds_only or (v.defined is TRUE and kind_of(v.expr) == "i"))
        else v
        for v in values
    ]
    if len(flat) > MAX_ARRAY:
        raise Refused(
            f"an array of {len(flat)} elements is made",
            f"arrays are traced element by element, up to {MAX_ARRAY} of them",
        )
    kinds = set()
    for v in flat:
        kind = KINDS.get(type(v))
        if kind is None:
            raise Refused(f"{describe(v)} is put into an array", "arrays hold numbers")
        kinds.add(kind)
    kind = "f" if "f" in kinds or not flat else "i" if "i" in kinds else "b"
    if len(kinds) > 1:
        flat = [cast(v, kind) for v in flat]
    items = np.empty(len(flat), object)
    items[:] = flat
    return SmallArray(items.reshape(shape), kind)


def cast(value: Any, kind: str) -> Any:
    """A scalar as an element of an array of this kind."""
    if kind == "f":
        found = as_real(value)
        return as_float(found) if isinstance(found, (Whole, Integral)) else found
    if kind == "b" and is_number(value) and not isinstance(value, Cond):
        x = as_real(value)  # what is not 0 is true, nan too
        return bool(value) if isinstance(value, int) else Cond(ne(x.expr, ZERO), x.defined)
    if kind == "i" and isinstance(value, Cond):
        return Integral(as_real(value).expr, value.defined)
    if kind == "i" and not isinstance(value, (int, Whole, Integral)):
        raise Refused(
            "a real number is stored in an array of integers",
            "make the array one of floats, such as np.zeros(n)",
        )
    return int(value) if kind == "i" and isinstance(value, int) else value


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method of a traced array, bound to it."""

    function: Callable[..., Any]
    owner: Any
    name: str
