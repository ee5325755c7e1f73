"""Traced versions of Python's own functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from enum import EnumType
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import lists, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.instances import is_instance
from symdiff.frontend.library.numpy.reductions import total as array_total
from symdiff.frontend.loops import sequences
from symdiff.frontend.loops.kept import trace_element
from symdiff.frontend.syntax import records
from symdiff.frontend.syntax.comprehensions import Comprehension, array_of_elements, visit
from symdiff.frontend.syntax.containers import elements, plain, reader, text_of
from symdiff.frontend.syntax.operators import binary, compare, truth
from symdiff.frontend.trace import demands, implied, rounded_digits, scalars
from symdiff.frontend.trace.counted_truth import absolute_of, of_truth
from symdiff.frontend.trace.demands import integer_hint, used_as_array
from symdiff.frontend.trace.extents import extent, nonnegative, positive
from symdiff.frontend.trace.recorder import active, numbers_only
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    End,
    Integral,
    Listed,
    Masked,
    Ratio,
    Real,
    Record,
    Refused,
    Scalar,
    Selected,
    Sequence,
    SmallArray,
    Stream,
    SymArray,
    Unlisted,
    Whole,
    as_real,
    describe,
    is_number,
    is_single,
    number,
    of_integers,
    of_one_kind,
    python_kind,
    written,
)
from symdiff.ir import functions, loop_program
from symdiff.ir.integers import quotient


def countable(t: Tracer, value: Any) -> Any:
    """Elements for a reduction: a list, or `Masked`."""
    if isinstance(value, Stream):
        value = t.spend(value)
    return value if isinstance(value, Masked) else elements(t, value)


def call_back(t: Tracer, function: Any, *args: Any) -> Any:
    """A call of a function that was passed as an argument."""
    return t.call(function, args, {})


def total(t: Tracer, values: Any, start: Any = 0) -> Any:
    """`sum(values, start)`, of numbers or of other values that can be added."""
    try:
        with t.attempt(transparent=True):
            items = countable(t, values)
    except Unlisted:
        return _total_of(t, values, start)
    if isinstance(items, Masked):
        items = list(arrays.counted(items, 0))
    if all(map(is_number, (*items, start))):
        return arrays.total(items, start)
    return functools.reduce(lambda a, b: binary(t, ast.Add, a, b), items, start)


def _extreme(
    op: ir.Op, of_integers: Callable[[int, int], int], sign: type[ast.cmpop]
) -> Callable[..., Any]:
    missing = object()

    def pick(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return of_integers(a, b)
        return _one_of(op, a, b)

    def implementation(t: Tracer, *args: Any, key: Any = None, default: Any = missing) -> Any:
        try:
            with t.attempt(transparent=True):
                items = list(args) if len(args) > 1 else countable(t, args[0])
        except Unlisted:
            if key is not None:
                raise
            if default is missing:
                return _extreme_of(t, args[0], op)
            values = _listed(t, args[0]) if isinstance(args[0], Stream) else args[0]
            rows = sequences.of(values)
            if rows is None:
                raise
            some = ir.lt(ir.ZERO, rows.count)
            return t.either(Cond(some), lambda: _extreme_of(t, values, op), lambda: default)
        if isinstance(items, Masked):
            if key is not None:
                raise Refused("max() or min() with a key of elements that a condition selects")
            found = default is missing or arrays.some(items.present)
            if isinstance(found, bool):
                return arrays.extreme(pick, items) if found else default
            return t.either(found, lambda: arrays.extreme(pick, items), lambda: default)
        if not items and default is not missing:
            return default
        if key is not None:
            return _best(t, sign, items, [call_back(t, key, v) for v in items])
        if any(map(_is_array, items)):
            t.took_single |= all(is_single(v) or is_number(v) for v in items)
            if all(map(is_single, items)) and len({len(v.shape) for v in items}) == 1:
                return functools.reduce(lambda a, b: symbolic.elementwise(t, pick, a, b), items)
            raise numbers_only(
                "max() or min()",
                "max() or min() compares arrays",
                "use np.maximum or np.minimum, or np.max or np.min",
                truth=True,
            )
        if not all(map(is_number, items)):
            return _best(t, sign, items, items)
        return arrays.extreme(pick, items)

    return implementation


def _one_of(op: ir.Op, a: Any, b: Any) -> Any:
    """Python's maximum or minimum of two numbers: nothing is larger or smaller than nan, nor than
    a number outside of its domain."""
    of_one_kind(a, b)
    facts = active.get().facts
    if as_real(b).expr is ir.NAN:
        return a
    found = scalars.apply(op, a, b)
    needs = [c for c in implied.conjuncts(as_real(b).defined) if not implied.follows(c, facts)]
    if not needs:
        return found
    return scalars.select(functools.reduce(ir.and_, needs), ir.TRUE, found, a)


def _best(t: Tracer, sign: type[ast.cmpop], items: Any, keys: Any) -> Any:
    """The first of the items with the best key."""
    found = items[0], keys[0]
    for pair in zip(items[1:], keys[1:], strict=True):
        found = _better(t, sign, pair, found)
    return found[0]


def _better(t: Tracer, sign: type[ast.cmpop], new: Any, old: Any) -> Any:
    exceeds = truth(t, compare(t, sign, new[1], old[1]))
    if isinstance(exceeds, bool):
        return new if exceeds else old
    return t.either(exceeds, lambda: new, lambda: old)


def _is_array(value: Any) -> bool:
    return isinstance(value, (SymArray, SmallArray, Selected, Listed, Masked))


def number_of(value: Any, called: str) -> Any:
    """The argument of a function of numbers, which is not an array."""
    if isinstance(value, SmallArray) and value.items.size == 1:
        return value.items.item()
    if _is_array(value):
        raise numbers_only(called, f"{called} of an array", "use NumPy's functions")
    return value


def accumulated(t: Tracer, values: Any, start: Any, step: Callable[[Any, Any], Any]) -> Any:
    """Fold values of unknown length, one element after the other."""
    return visit(t, values, start, step)


def _total_of(t: Tracer, values: Any, start: Any) -> Any:
    """The sum of values of unknown length: of numbers, or of arrays."""
    generator = values.generator if isinstance(values, Stream) else None
    try:
        with t.attempt(transparent=True):
            return accumulated(t, values, start, lambda a, b: binary(t, ast.Add, a, b))
    except Refused:
        rows = _rows_of(t, values, generator)
        if rows is None:
            raise
        return binary(t, ast.Add, start, rows)


def _rows_of(t: Tracer, values: Any, generator: Any) -> Any:
    """The sum of arrays; None if the elements are not arrays."""
    try:
        with t.attempt(transparent=True):
            found = generator.listed() if generator is not None else _listed(t, values)
    except Refused:
        return None
    if not isinstance(found, Listed) or len(found.items.shape) < 2:
        return None
    symbolic.must_be_some(t, found.items.shape[0])
    return array_total(t, found.items, 0)


def _extreme_of(t: Tracer, values: Any, op: ir.Op) -> Any:
    """The extreme of values of unknown length. The first element stays if it is nan."""
    nothing = "the maximum or minimum of nothing"
    if isinstance(values, Stream) and isinstance(values.generator, Comprehension):
        clauses = values.generator.clauses
        if len(clauses) > 1 or clauses[0].ifs:
            least = Real(ir.neg(ir.INF) if op is functions.LARGER else ir.INF)
            start = least, Cond(ir.FALSE)
            found, some = accumulated(t, values, start, lambda a, b: _next_of(op, a, b))
            t.require(scalars.as_cond(some).expr, "value", nothing)
            return found
        values = _listed(t, values)
    rows = sequences.of(values)
    if rows is None:
        raise Refused("what is reduced is no sequence")
    if not positive(t, rows.count):
        t.require(ir.lt(ir.ZERO, rows.count), "value", nothing)
    return accumulated(t, values, rows.item(ir.ZERO), lambda a, b: _one_of(op, a, b))


def _next_of(op: ir.Op, state: Any, value: Any) -> tuple[Any, Any]:
    """The extreme of the earlier values and one more; the first value is taken as it is."""
    found, some = state
    return arrays.choose(some, _one_of(op, found, value), value), True


maximum = _extreme(functions.LARGER, max, ast.Gt)
minimum = _extreme(functions.SMALLER, min, ast.Lt)


def absolute(t: Tracer, value: Any) -> Any:
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, Cond) and not of_integers.get():
        return absolute_of(value)
    return arrays.elementwise(lambda v: scalars.apply(ir.ABS, v), of_truth(value))


def whole(value: Any, op: ir.Op) -> Any:
    """A rounding function: an integer for a known number, as in Python."""
    if isinstance(value, (int, Integral)):
        return value if isinstance(value, Integral) else int(value)
    e = scalars.apply(op, value)
    if (n := ir.integer(e.expr)) is not None:
        return n
    found = _of_quotient(as_real(value), op)
    return scalars.integral(e) if found is None else found


def _of_quotient(value: Real, op: ir.Op) -> Any:
    """A rounding function of a quotient of integers, as an integer; None for other values."""
    found = (value.n, value.k) if isinstance(value, Ratio) else quotient(value.expr)
    if found is None:
        return None
    n, k = found
    down = ir.apply(loop_program.FLOORDIV, n, ir.const(k))
    up = ir.neg(ir.apply(loop_program.FLOORDIV, ir.neg(n), ir.const(k)))
    if op is functions.FLOOR:
        return scalars.whole(down)
    if op is functions.CEIL:
        return scalars.whole(up)
    if op is not functions.TRUNC:
        return None
    positive = nonnegative(active.get(), n)
    return scalars.whole(down if positive else ir.where(ir.lt(n, ir.ZERO), up, down))


def round_to(value: Any, digits: Any, nearest: Callable[..., Real] | None = None) -> Any:
    """A number rounded to decimal digits as in NumPy: scaled, then rounded half to even by
    `nearest`."""
    if not isinstance(digits, int):
        raise Refused(
            "the digits of round() are not known when traced",
            integer_hint(digits, "they must be an integer known when traced"),
        )
    if digits >= 0 and python_kind(value) == "i":
        return value
    there, back = (ast.Mult, ast.Div) if digits >= 0 else (ast.Div, ast.Mult)
    scale = number(10 ** abs(digits))
    scaled = scalars.binary(there, as_real(value), scale)
    found = scalars.apply(functions.ROUND, scaled)
    if nearest is not None and isinstance(scaled, Real) and scaled.expr.op is not ir.CONST:
        found = nearest(as_real(value), scaled, 10 ** abs(digits), as_real(found))
    result = scalars.binary(back, found, scale)
    if nearest is None or digits < 0:
        return result
    same, size = as_real(value), ir.abs_(written(as_real(scaled)))
    fine = ir.lt(size, ir.const(2**53))  # larger numbers have no such digits
    constant = Real(ir.apply(functions.DETACHED, same.expr), same.defined, written(same))
    return scalars.select(fine, ir.TRUE, result, constant)


def _round(t: Tracer, value: Any, digits: Any = None) -> Any:
    value = number_of(value, "round()")
    if digits is None:
        return whole(value, functions.ROUND)
    return (
        round(value, digits)
        if isinstance(value, int)
        else round_to(value, digits, rounded_digits.nearest)
    )


def _pow(t: Tracer, a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return binary(t, ast.Pow, a, b)
    if all(isinstance(v, int) for v in (a, b, modulus)):
        return pow(a, b, modulus)
    raise Refused("pow with a modulus", "its arguments must be integers known when traced")


def _divmod(t: Tracer, a: Any, b: Any) -> Any:
    return binary(t, ast.FloorDiv, a, b), binary(t, ast.Mod, a, b)


def to_int(t: Tracer, value: Any = 0, base: Any = 10) -> Any:
    if isinstance(value, str):
        return int(value, base)
    value = number_of(value, "int()")
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (Whole, Integral)):
        return value
    if isinstance(value, Cond):
        return scalars.integral(as_real(value))
    if isinstance(value, Real):
        return whole(value, functions.TRUNC)
    raise Refused(f"int() of {describe(value)}")


def _float(t: Tracer, value: Any = 0) -> Any:
    if isinstance(value, str):
        return number(float(value))
    found = as_real(number_of(value, "float()"))
    return Real(found.expr, found.defined)


def _bool(t: Tracer, value: Any = False) -> Any:
    return truth(t, value)


def _len(t: Tracer, value: Any) -> Any:
    if isinstance(value, Sequence):
        return scalars.whole(extent(t, value.count))
    if isinstance(value, Listed):
        value = value.items  # possibly empty
    if isinstance(value, Selected):
        value = symbolic.symbolic(t, value)
    if isinstance(value, SymArray) and value.shape:
        return scalars.whole(extent(t, value.shape[0]))
    if isinstance(value, SmallArray) and value.items.ndim:
        return len(value.items)
    if isinstance(value, (list, tuple, dict, set, frozenset, str, range, EnumType)):
        return len(value)
    if isinstance(value, Masked):
        raise Refused(
            "the number of elements that a condition selects is not known when traced",
            "sum the condition instead: np.sum(a > 0)",
        )
    used_as_array(value, "len()")
    raise Refused(
        f"len() of {describe(value)}",
        raises=TypeError if isinstance(value, (Scalar, int)) else None,
    )


def _range(t: Tracer, *args: Any) -> Any:
    if any(isinstance(v, (Whole, Integral)) for v in args):
        return sequences.symbolic_range(*args)
    for v in args:
        if not isinstance(v, int):
            if isinstance(v, Real):
                demands.retrace_integers(t, v.expr)
            raise Refused(
                f"range() of {describe(v)}",
                integer_hint(v, "the number of steps must be an integer known when traced"),
            )
    return range(*args)


def _enumerate(t: Tracer, values: Any, start: int = 0) -> Any:
    if (found := sequences.of(values)) is not None:
        return sequences.enumerated(found, start)
    at = reader(t, values)
    return t.stream_of(lambda k: (start + k, at(k)))


def _zip(t: Tracer, *columns: Any, strict: bool = False) -> Any:
    if any(sequences.of(c) is not None for c in columns):
        try:
            with t.attempt():
                return sequences.together(columns, strict)
        except Refused:
            if all(sequences.of(c) is not None for c in columns):
                raise
    if strict:
        lists = [elements(t, c) for c in columns]
        if len({len(v) for v in lists}) > 1:
            raise Refused("zip() of columns of different lengths")
        return t.stream(lambda: list(zip(*lists, strict=True)))
    ats = [reader(t, c) for c in columns]  # such as names, which arrays cannot hold
    return t.stream_of(lambda k: tuple([at(k) for at in ats])) if ats else t.stream(list)


def _map(t: Tracer, function: Any, *columns: Any) -> Any:
    if any(sequences.of(c) is not None for c in columns):
        rows = sequences.together(columns)
        return Sequence(rows.count, lambda k: call_back(t, function, *rows.item(k)))
    ats = [reader(t, c) for c in columns]
    return t.stream_of(lambda k: call_back(t, function, *[at(k) for at in ats]))


def _filter(t: Tracer, function: Any, values: Any) -> Any:
    def compute() -> Any:
        items = elements(t, values)
        keep = [truth(t, v if function is None else call_back(t, function, v)) for v in items]
        if all(isinstance(k, bool) for k in keep):
            return [v for v, k in zip(items, keep, strict=True) if k]
        return Masked(tuple(items), tuple(keep))

    return t.stream(compute)


def _reversed(t: Tracer, values: Any) -> Any:
    if (found := sequences.of(values)) is not None:
        return sequences.backwards(found)
    if isinstance(values, list):
        at, last = reader(t, values), len(values) - 1
        return t.stream_of(lambda k: at(last - k) if k <= last else at(len(values)))
    items = elements(t, values)[::-1]
    return t.stream(lambda: items)


def _iter(t: Tracer, values: Any) -> Any:
    if isinstance(values, Stream):
        return values
    return t.stream_of(reader(t, values))


def _next(t: Tracer, stream: Any, *default: Any) -> Any:
    if not isinstance(stream, Stream):
        raise Refused(f"next() of {describe(stream)}")
    try:
        return t.pull(stream)
    except End:
        if default:
            return default[0]
        raise Refused("next() of an iterator without elements left") from None


def _list(t: Tracer, values: Any = ()) -> Any:
    try:
        with t.attempt(transparent=True):
            items = list(elements(t, values))
        return t.own(items)
    except Unlisted:
        return _listed(t, values)


def _tuple(t: Tracer, values: Any = ()) -> Any:
    try:
        with t.attempt(transparent=True):
            return tuple(elements(t, values))
    except Unlisted:
        found = _listed(t, values)
        return Listed(found.items, "t" + found.nest[1:]) if isinstance(found, Listed) else found


def _listed(t: Tracer, values: Any) -> Any:
    """A list of unknown length."""
    if isinstance(values, Stream) and isinstance(values.generator, Comprehension):
        t.spend_generator(values)
        return values.generator.listed()
    found = sequences.of(values)
    assert found is not None
    items: list[Any] = []

    def start(k: ir.Expr) -> None:
        items.append(found.item(k))

    since = lists.now(t)
    made = trace_element(t, found.count, start, lambda: (items[-1], True))
    return array_of_elements(t, found.count, *made, since)


def _set(t: Tracer, values: Any = ()) -> Any:
    return t.own({plain(v) for v in elements(t, values)})


def dictionary(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
    result: dict[Any, Any] = {}
    for source in args:
        pairs = source.items() if isinstance(source, dict) else elements(t, source)
        result.update({plain(k): t.wrap(v) for k, v in pairs})
    result.update(kwargs)
    return t.own(result)


def _truths(t: Tracer, items: Any) -> Any:
    """Elements as truth values for `any` and `all`."""
    if isinstance(items, Masked):
        return items
    return [v if is_number(v) else truth(t, v) for v in items]


def _any(t: Tracer, values: Any) -> Any:
    try:
        with t.attempt(transparent=True), t.piecemeal():
            return arrays.some(_truths(t, countable(t, values)))
    except Unlisted:
        return accumulated(t, values, False, scalars.disjunction)


def _all(t: Tracer, values: Any) -> Any:
    try:
        with t.attempt(transparent=True), t.piecemeal():
            return arrays.every(_truths(t, countable(t, values)))
    except Unlisted:
        return accumulated(t, values, True, scalars.conjunction)


def _str(t: Tracer, value: Any = "") -> Any:
    return text_of(str, value)


def _getattr(t: Tracer, owner: Any, name: Any, *default: Any) -> Any:
    if default and not _hasattr(t, owner, name):
        return default[0]
    return t.attribute(owner, name)


def _setattr(t: Tracer, owner: Any, name: Any, value: Any) -> None:
    if not isinstance(owner, Record):
        raise Refused(
            f"attribute '{name}' is assigned",
            "a function to differentiate has no side effects; use local names",
        )
    records.assign(t, owner, plain(name), value)


def _hasattr(t: Tracer, owner: Any, name: Any) -> bool:
    try:
        t.attribute(owner, name)
    except Refused:
        return False
    return True


def _callable(t: Tracer, value: Any) -> bool:
    return not isinstance(value, (Scalar, SmallArray, Masked, Stream)) and callable(value)


_NAMES: dict[str, Callable[..., Any]] = {
    "abs": absolute, "sum": total, "max": maximum, "min": minimum, "round": _round, "pow": _pow,
    "divmod": _divmod, "int": to_int, "float": _float, "bool": _bool, "isinstance": is_instance,
    "len": _len, "range": _range, "enumerate": _enumerate, "zip": _zip, "map": _map,
    "filter": _filter, "reversed": _reversed, "iter": _iter, "next": _next, "list": _list,
    "tuple": _tuple, "set": _set, "frozenset": lambda t, *a: frozenset(_set(t, *a)),
    "dict": dictionary, "any": _any, "all": _all, "str": _str,
    "repr": lambda t, v: text_of(repr, v), "getattr": _getattr, "hasattr": _hasattr,
    "setattr": _setattr, "callable": _callable, "slice": lambda t, *ends: slice(*ends),
}  # fmt: skip
TABLE = {f"builtins.{name}": implementation for name, implementation in _NAMES.items()}
"""Traced versions, by the dotted name of the function."""
