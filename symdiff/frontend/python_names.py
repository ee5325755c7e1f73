"""Traced versions of Python's own functions: builtins, math, functools, itertools,
operator, and the methods of containers and strings."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import functions, ir
from symdiff.frontend import arrays, constants, scalars
from symdiff.frontend.tracer import Tracer
from symdiff.frontend.values import (
    Cond,
    Masked,
    Real,
    Refused,
    Scalar,
    SmallArray,
    Stream,
    as_real,
    describe,
    is_number,
    number,
)


def _elements(t: Tracer, value: Any) -> list[Any]:
    from symdiff.frontend.expressions import elements

    return elements(t, value)


def _countable(t: Tracer, value: Any) -> Any:
    """Elements for a reduction: a list, or `Masked`."""
    if isinstance(value, Stream):
        value = t.spend(value)
    return value if isinstance(value, Masked) else _elements(t, value)


def _call(t: Tracer, function: Any, *args: Any) -> Any:
    from symdiff.frontend.calls import call

    return call(t, function, args, {})


def _known(value: Any) -> Any:
    from symdiff.frontend.expressions import plain

    return plain(value)


# --------------------------------------------------------------------- numbers
def _sum(t: Tracer, values: Any, start: Any = 0) -> Any:
    from symdiff.frontend.expressions import binary

    items = _countable(t, values)
    if isinstance(items, Masked):
        items = list(arrays.counted(items, 0))
    if all(map(is_number, (*items, start))):
        return arrays.total(items, start)
    return functools.reduce(lambda a, b: binary(t, ast.Add, a, b), items, start)


def _extreme(op: ir.Op, better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    missing = object()

    def pick(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return b if better(b, a) else a
        return scalars.apply(op, a, b)

    def implementation(t: Tracer, *args: Any, key: Any = None, default: Any = missing) -> Any:
        items = list(args) if len(args) > 1 else _countable(t, args[0])
        if not isinstance(items, Masked) and not items and default is not missing:
            return default
        if key is not None:
            keys = [_known(_call(t, key, v)) for v in items]
            best = 0
            for i in range(1, len(keys)):
                best = i if better(keys[i], keys[best]) else best
            return items[best]
        if not isinstance(items, Masked) and not all(map(is_number, items)):
            values = [_known(v) for v in items]
            best = 0
            for i in range(1, len(values)):
                best = i if better(values[i], values[best]) else best
            return items[best]
        return arrays.extreme(pick, items)

    return implementation


maximum = _extreme(functions.MAXIMUM, lambda a, b: a > b)
minimum = _extreme(functions.MINIMUM, lambda a, b: a < b)


def _abs(t: Tracer, value: Any) -> Any:
    if isinstance(value, int):
        return abs(value)
    return arrays.elementwise(lambda v: scalars.apply(ir.ABS, v), value)


def whole(value: Any, op: ir.Op) -> Any:
    """A rounding function: an integer if the number is known, as Python gives it."""
    if isinstance(value, int):
        return int(value)
    e = scalars.apply(op, value)
    if (n := ir.integer(e.expr)) is not None:
        return n
    if constants.is_closed(e.expr) and (n := constants.integer_part(e.expr)) is not None:
        return n
    return e


def _rounding(op: ir.Op) -> Callable[..., Any]:
    return lambda t, value: whole(value, op)


def round_to(value: Any, digits: int) -> Any:
    """Rounded to decimal digits, exactly: half to even."""
    scale = number(10**digits) if digits >= 0 else Real(ir.power(10, digits))
    scaled = scalars.binary(ast.Mult, as_real(value), scale)
    return scalars.binary(ast.Div, scalars.apply(functions.ROUND, scaled), scale)


def _round(t: Tracer, value: Any, digits: Any = None) -> Any:
    if digits is None:
        return whole(value, functions.ROUND)
    return round(value, digits) if isinstance(value, int) else round_to(value, digits)


def _pow(t: Tracer, a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return scalars.binary(ast.Pow, a, b)
    if all(isinstance(v, int) for v in (a, b, modulus)):
        return pow(a, b, modulus)
    raise Refused("pow with a modulus", "its arguments must be integers known when traced")


def _divmod(t: Tracer, a: Any, b: Any) -> Any:
    return scalars.binary(ast.FloorDiv, a, b), scalars.binary(ast.Mod, a, b)


def _int(t: Tracer, value: Any = 0, base: Any = 10) -> Any:
    if isinstance(value, str):
        return int(value, base)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Real) and constants.is_closed(value.expr):
        if (n := constants.integer_part(value.expr)) is not None:
            return n
    raise Refused(
        f"int() of {describe(value)} that is not known when traced",
        "use np.trunc, np.floor or np.round, which stay real",
    )


def _float(t: Tracer, value: Any = 0) -> Any:
    if isinstance(value, str):
        return number(float(value))
    if isinstance(value, SmallArray):
        value = value.items.item()
    return as_real(value)


def _bool(t: Tracer, value: Any = False) -> Any:
    from symdiff.frontend.expressions import truth

    return truth(t, value)


def _complex(t: Tracer, *args: Any) -> Any:
    raise Refused("a complex number is used", "symdiff differentiates real functions")


def _isinstance(t: Tracer, value: Any, types: Any) -> bool:
    wanted = types if isinstance(types, tuple) else (types,)
    if isinstance(value, Real):
        return any(c in (float, numbers.Number, numbers.Real, np.floating, np.float64, object) for c in wanted)  # fmt: skip
    if isinstance(value, Cond):
        return any(c in (bool, np.bool_, object) for c in wanted)
    if isinstance(value, SmallArray):
        return any(c in (np.ndarray, object) for c in wanted)
    return isinstance(value, wanted)


# ------------------------------------------------------------------- iteration
def _len(t: Tracer, value: Any) -> int:
    if isinstance(value, SmallArray) and value.items.ndim:
        return len(value.items)
    if isinstance(value, (list, tuple, dict, set, frozenset, str, range)):
        return len(value)
    if isinstance(value, Masked):
        raise Refused(
            "the number of elements that a condition selects is not known when traced",
            "sum the condition instead: np.sum(a > 0)",
        )
    if isinstance(value, Real) and value.expr.op is ir.VAR:
        raise Refused(
            f"parameter '{value.expr.value}' is used as an array: len()",
            "arrays as parameters are not supported yet",
        )
    raise Refused(f"len() of {describe(value)}")


def _range(t: Tracer, *args: Any) -> range:
    from symdiff.frontend.expressions import integer_hint

    for v in args:
        if not isinstance(v, int):
            raise Refused(
                f"range() of {describe(v)}",
                integer_hint(v) or "the number of steps must be an integer known when traced",
            )
    return range(*args)


def _enumerate(t: Tracer, values: Any, start: int = 0) -> Any:
    items = _elements(t, values)
    return t.stream(lambda: list(enumerate(items, start)))


def _zip(t: Tracer, *columns: Any, strict: bool = False) -> Any:
    lists = [_elements(t, c) for c in columns]
    if strict and len({len(v) for v in lists}) > 1:
        raise Refused("zip() of columns of different lengths")
    return t.stream(lambda: list(zip(*lists, strict=False)))


def _map(t: Tracer, function: Any, *columns: Any) -> Any:
    lists = [_elements(t, c) for c in columns]
    return t.stream(lambda: [_call(t, function, *row) for row in zip(*lists, strict=False)])


def _filter(t: Tracer, function: Any, values: Any) -> Any:
    from symdiff.frontend.expressions import truth

    items = _elements(t, values)

    def compute() -> Any:
        keep = [truth(t, v if function is None else _call(t, function, v)) for v in items]
        if all(isinstance(k, bool) for k in keep):
            return [v for v, k in zip(items, keep, strict=True) if k]
        return Masked(tuple(items), tuple(keep))

    return t.stream(compute)


def _reversed(t: Tracer, values: Any) -> Any:
    items = _elements(t, values)[::-1]
    return t.stream(lambda: items)


def _iter(t: Tracer, values: Any) -> Any:
    if isinstance(values, Stream):
        return values
    items = _elements(t, values)
    return t.stream(lambda: items)


def _next(t: Tracer, stream: Any, *default: Any) -> Any:
    if not isinstance(stream, Stream):
        raise Refused(f"next() of {describe(stream)}")
    items = _elements(t, stream)
    if not items:
        if default:
            return default[0]
        raise Refused("next() of an iterator without elements left")
    stream.items = items[1:]
    return items[0]


def _sorted(t: Tracer, values: Any, key: Any = None, reverse: bool = False) -> Any:
    items = _elements(t, values)
    keys = [_known(v if key is None else _call(t, key, v)) for v in items]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return t.own([items[i] for i in order])


def _list(t: Tracer, values: Any = ()) -> Any:
    return t.own(list(_elements(t, values)))


def _tuple(t: Tracer, values: Any = ()) -> Any:
    return tuple(_elements(t, values))


def _set(t: Tracer, values: Any = ()) -> Any:
    return t.own({_known(v) for v in _elements(t, values)})


def _dict(t: Tracer, *args: Any, **kwargs: Any) -> Any:
    result: dict[Any, Any] = {}
    for source in args:
        pairs = source.items() if isinstance(source, dict) else _elements(t, source)
        result.update({_known(k): t.wrap(v) for k, v in pairs})
    result.update(kwargs)
    return t.own(result)


def _any(t: Tracer, values: Any) -> Any:
    return arrays.some(_countable(t, values))


def _all(t: Tracer, values: Any) -> Any:
    return arrays.every(_countable(t, values))


def _str(t: Tracer, value: Any = "") -> str:
    if isinstance(value, (str, int)) or value is None:
        return str(value)
    raise Refused(f"{describe(value)} is formatted as text", "text is for messages of assert only")


def _getattr(t: Tracer, owner: Any, name: Any, *default: Any) -> Any:
    from symdiff.frontend.attributes import attribute

    if default and not _hasattr(t, owner, name):
        return default[0]
    return attribute(t, owner, name)


def _hasattr(t: Tracer, owner: Any, name: Any) -> bool:
    from symdiff.frontend.attributes import attribute

    try:
        attribute(t, owner, name)
    except Refused:
        return False
    return True


def _callable(t: Tracer, value: Any) -> bool:
    return not isinstance(value, (Scalar, SmallArray, Masked, Stream)) and callable(value)


# ------------------------------------------------------------------------ math
def _hypot(t: Tracer, *values: Any) -> Any:
    """The Euclidean norm; of more than two numbers by pairs."""
    if not values:
        return number(0)
    if len(values) == 1:
        return _abs(t, as_real(values[0]))
    return functools.reduce(lambda a, b: scalars.apply(functions.HYPOT, a, b), values)


def _log(t: Tracer, value: Any, *base: Any) -> Any:
    top = arrays.elementwise(lambda v: scalars.apply(functions.LOG, v), value)
    if not base:
        return top
    for op, known in ((functions.LOG2, 2), (functions.LOG10, 10)):
        if isinstance(base[0], (int, Real)) and ir.rational(as_real(base[0]).expr) == known:
            return scalars.apply(op, value)
    return scalars.binary(ast.Div, top, scalars.apply(functions.LOG, base[0]))


def _prod(t: Tracer, values: Any, start: Any = 1) -> Any:
    return arrays.product(_countable(t, values), start)


def _dist(t: Tracer, p: Any, q: Any) -> Any:
    pairs = zip(_elements(t, p), _elements(t, q), strict=True)
    return _hypot(t, *(scalars.binary(ast.Sub, a, b) for a, b in pairs))


def _sumprod(t: Tracer, p: Any, q: Any) -> Any:
    pairs = zip(_elements(t, p), _elements(t, q), strict=True)
    return arrays.total(scalars.binary(ast.Mult, a, b) for a, b in pairs)


def _fma(t: Tracer, a: Any, b: Any, c: Any) -> Any:
    return scalars.binary(ast.Add, scalars.binary(ast.Mult, a, b), c)


def _ldexp(t: Tracer, value: Any, exponent: Any) -> Any:
    return scalars.binary(ast.Mult, as_real(value), as_real(_int_power(exponent)))


def _int_power(exponent: Any) -> Any:
    if not isinstance(exponent, int):
        raise Refused("ldexp() with an exponent that is not a known integer")
    return scalars.binary(ast.Pow, 2, exponent)


def isclose(a: Any, b: Any, relative: Any, absolute: Any, symmetric: bool) -> Any:
    """Whether two numbers agree, as math (symmetric) or NumPy defines it."""
    magnitude = _abs_of(b)
    if symmetric:
        magnitude = scalars.apply(functions.MAXIMUM, _abs_of(a), magnitude)
    scaled = scalars.binary(ast.Mult, relative, magnitude)
    if symmetric:
        bound = scalars.apply(functions.MAXIMUM, scaled, absolute)
    else:
        bound = scalars.binary(ast.Add, absolute, scaled)
    return scalars.compare(ast.LtE, _abs_of(scalars.binary(ast.Sub, a, b)), bound)


def _abs_of(value: Any) -> Any:
    return scalars.apply(ir.ABS, value)


def _math_isclose(t: Tracer, a: Any, b: Any, *, rel_tol: Any = None, abs_tol: Any = 0) -> Any:
    return isclose(a, b, number(1e-9) if rel_tol is None else rel_tol, abs_tol, True)


def finite(value: Any) -> Any:
    """A real number is finite wherever it is defined."""
    if isinstance(value, int):
        return True
    x = as_real(value)
    if x.expr.op is ir.CONST and ir.rational(x.expr) is None:
        return False
    return scalars.cond(x.defined)


def undefined(value: Any) -> Any:
    """Whether a value is nan."""
    if isinstance(value, Real) and value.expr is ir.NAN:
        return True
    return scalars.negate(finite(value)) if not infinite(value) else False


def infinite(value: Any) -> bool:
    """A real number is never infinite; the constants inf and -inf are."""
    return isinstance(value, Real) and value.expr in (ir.INF, ir.neg(ir.INF))


def _integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is exact on integers, and for nothing else."""

    def implementation(t: Tracer, *args: Any) -> Any:
        values = [_known(v) for v in args]
        if not all(v == int(v) for v in values):
            raise Refused(f"{function.__name__}() of a number that is no known integer")
        return function(*map(int, values))

    return implementation


# ------------------------------------------------ functools, itertools, operator
def _reduce(t: Tracer, function: Any, values: Any, *initial: Any) -> Any:
    items = [*initial, *_elements(t, values)]
    if not items:
        raise Refused("reduce() of nothing")
    return functools.reduce(lambda a, b: _call(t, function, a, b), items)


def _partial(t: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    from symdiff.frontend.calls import Method, call

    return Method(lambda t, f, *a, **k: call(t, f, (*args, *a), kwargs | k), function, "partial")


def _accumulate(t: Tracer, values: Any, function: Any = None, *, initial: Any = None) -> Any:
    from symdiff.frontend.expressions import binary

    items = _elements(t, values)
    if initial is not None:
        items = [initial, *items]

    def step(a: Any, b: Any) -> Any:
        return binary(t, ast.Add, a, b) if function is None else _call(t, function, a, b)

    return t.stream(lambda: list(itertools.accumulate(items, step)))


def _shuffle(function: Callable[..., Any]) -> Callable[..., Any]:
    """An iterator that only arranges elements."""

    def implementation(t: Tracer, *columns: Any, **kwargs: Any) -> Any:
        lists = [c if isinstance(c, int) else _elements(t, c) for c in columns]
        return t.stream(lambda: list(function(*lists, **kwargs)))

    return implementation


def _repeat(t: Tracer, value: Any, times: Any = None) -> Any:
    if not isinstance(times, int):
        raise Refused("itertools.repeat() without end")
    return t.stream(lambda: [value] * times)


def _from_iterable(t: Tracer, values: Any) -> Any:
    return t.stream(lambda: [v for part in _elements(t, values) for v in _elements(t, part)])


def _operator(op: type[ast.operator]) -> Callable[..., Any]:
    def implementation(t: Tracer, a: Any, b: Any) -> Any:
        from symdiff.frontend.expressions import binary

        return binary(t, op, a, b)

    return implementation


def _comparison(op: type[ast.cmpop]) -> Callable[..., Any]:
    def implementation(t: Tracer, a: Any, b: Any) -> Any:
        from symdiff.frontend.expressions import compare

        return compare(t, op, a, b)

    return implementation


TABLE: dict[str, Callable[..., Any]] = {
    "builtins.abs": _abs, "builtins.sum": _sum, "builtins.max": maximum, "builtins.min": minimum,
    "builtins.round": _round, "builtins.pow": _pow, "builtins.divmod": _divmod,
    "builtins.int": _int, "builtins.float": _float, "builtins.bool": _bool,
    "builtins.complex": _complex, "builtins.isinstance": _isinstance, "builtins.len": _len,
    "builtins.range": _range, "builtins.enumerate": _enumerate, "builtins.zip": _zip,
    "builtins.map": _map, "builtins.filter": _filter, "builtins.reversed": _reversed,
    "builtins.iter": _iter, "builtins.next": _next, "builtins.sorted": _sorted,
    "builtins.list": _list, "builtins.tuple": _tuple, "builtins.set": _set,
    "builtins.frozenset": lambda t, *a: frozenset(_set(t, *a)), "builtins.dict": _dict,
    "builtins.any": _any, "builtins.all": _all, "builtins.str": _str,
    "builtins.getattr": _getattr, "builtins.hasattr": _hasattr, "builtins.callable": _callable,
    "math.floor": _rounding(functions.FLOOR), "math.ceil": _rounding(functions.CEIL),
    "math.trunc": _rounding(functions.TRUNC), "math.hypot": _hypot, "math.log": _log,
    "math.prod": _prod, "math.fsum": _sum, "math.dist": _dist, "math.sumprod": _sumprod,
    "math.fma": _fma, "math.ldexp": _ldexp, "math.isclose": _math_isclose,
    "math.isfinite": lambda t, x: finite(x), "math.isnan": lambda t, x: undefined(x),
    "math.isinf": lambda t, x: infinite(x), "math.comb": _integers(math.comb),
    "math.perm": _integers(math.perm), "math.factorial": _integers(math.factorial),
    "math.gcd": _integers(math.gcd), "math.lcm": _integers(math.lcm),
    "math.isqrt": _integers(math.isqrt),
    "functools.reduce": _reduce, "functools.partial": _partial,
    "itertools.accumulate": _accumulate, "itertools.product": _shuffle(itertools.product),
    "itertools.chain": _shuffle(itertools.chain), "itertools.repeat": _repeat,
    "itertools.pairwise": _shuffle(itertools.pairwise),
    "itertools.combinations": _shuffle(itertools.combinations),
    "itertools.permutations": _shuffle(itertools.permutations),
    "itertools.zip_longest": _shuffle(itertools.zip_longest),
    "operator.add": _operator(ast.Add), "operator.sub": _operator(ast.Sub),
    "operator.mul": _operator(ast.Mult), "operator.truediv": _operator(ast.Div),
    "operator.pow": _operator(ast.Pow), "operator.floordiv": _operator(ast.FloorDiv),
    "operator.mod": _operator(ast.Mod), "operator.matmul": _operator(ast.MatMult),
    "operator.lt": _comparison(ast.Lt), "operator.le": _comparison(ast.LtE),
    "operator.gt": _comparison(ast.Gt), "operator.ge": _comparison(ast.GtE),
    "operator.eq": _comparison(ast.Eq), "operator.ne": _comparison(ast.NotEq),
    "operator.neg": lambda t, x: arrays.elementwise(scalars.negative, x),
}  # fmt: skip
"""Traced versions, by the dotted name of what they implement."""


# --------------------------------------------------------------------- methods
def _changing(change: Callable[..., Any]) -> Callable[..., Any]:
    """A method that changes its owner; positions and keys must be known."""

    def implementation(t: Tracer, owner: Any, *args: Any) -> Any:
        t.mutate(owner)
        return change(t, owner, *args)

    return implementation


def _position(value: Any) -> Any:
    from symdiff.frontend.expressions import position

    return position(value)


def _setdefault(t: Tracer, owner: Any, k: Any, default: Any = None) -> Any:
    return t.wrap(owner.setdefault(_known(k), default))


def _dict_pop(t: Tracer, owner: Any, k: Any, *default: Any) -> Any:
    return t.wrap(owner.pop(_known(k), *default))


def _update(t: Tracer, owner: dict[Any, Any], *args: Any, **kwargs: Any) -> None:
    t.mutate(owner)
    owner.update(_dict(t, *args, **kwargs))


def _list_sort(t: Tracer, owner: Any, key: Any = None, reverse: bool = False) -> None:
    t.mutate(owner)
    owner[:] = _sorted(t, owner, key, reverse)


def _index(t: Tracer, owner: Any, value: Any) -> int:
    return [_known(t.wrap(v)) for v in owner].index(_known(value))


def _count(t: Tracer, owner: Any, value: Any) -> int:
    return [_known(t.wrap(v)) for v in owner].count(_known(value))


def _text(name: str) -> Callable[..., Any]:
    def implementation(t: Tracer, owner: str, *args: Any) -> Any:
        if name == "join":
            return owner.join(_elements(t, args[0]))
        found = getattr(owner, name)(*args)
        return t.own(found) if isinstance(found, list) else found

    return implementation


METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    (list, "append"): _changing(lambda t, o, v: o.append(v)),
    (list, "extend"): _changing(lambda t, o, v: o.extend(_elements(t, v))),
    (list, "insert"): _changing(lambda t, o, i, v: o.insert(_position(i), v)),
    (list, "pop"): _changing(lambda t, o, i=-1: t.wrap(o.pop(_position(i)))),
    (list, "clear"): _changing(lambda t, o: o.clear()),
    (list, "reverse"): _changing(lambda t, o: o.reverse()),
    (list, "sort"): _list_sort,
    (list, "copy"): lambda t, o: t.own(list(o)),
    (list, "index"): _index,
    (list, "count"): _count,
    (tuple, "index"): _index,
    (tuple, "count"): _count,
    (dict, "get"): lambda t, o, k, d=None: t.wrap(o.get(_known(k), d)),
    (dict, "keys"): lambda t, o: o.keys(),
    (dict, "values"): lambda t, o: o.values(),
    (dict, "items"): lambda t, o: o.items(),
    (dict, "copy"): lambda t, o: t.own(dict(o)),
    (dict, "pop"): _changing(_dict_pop),
    (dict, "setdefault"): _changing(_setdefault),
    (dict, "update"): _update,
    (dict, "clear"): _changing(lambda t, o: o.clear()),
    (set, "add"): _changing(lambda t, o, v: o.add(_known(v))),
    (set, "discard"): _changing(lambda t, o, v: o.discard(_known(v))),
    **{
        (str, name): _text(name)
        for name in (
            "capitalize", "count", "endswith", "find", "isalpha", "isdigit", "join", "lower",
            "lstrip", "replace", "rstrip", "split", "startswith", "strip", "title", "upper",
        )
    },
}  # fmt: skip
"""Methods of Python's containers and strings."""
