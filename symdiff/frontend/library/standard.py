"""Traced versions of the functions of math, functools, itertools and operator."""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from types import NoneType
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.library.builtin_functions import (
    accumulated,
    call_back,
    countable,
    total,
    whole,
)
from symdiff.frontend.library.numpy.norms import norm
from symdiff.frontend.library.rare_arguments import running
from symdiff.frontend.loops import sequences
from symdiff.frontend.syntax.containers import elements, plain, reader, subscript
from symdiff.frontend.syntax.operators import binary, compare, truth
from symdiff.frontend.trace import closeness, demands, finiteness, raised, scalars
from symdiff.frontend.trace.extents import same_size
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    End,
    Listed,
    Method,
    Real,
    Refused,
    Selected,
    Sequence,
    SymArray,
    Unlisted,
    as_float,
    as_real,
    is_number,
    number,
)
from symdiff.ir import functions


def _rounding(op: ir.Op) -> Callable[..., Any]:
    return lambda t, value: whole(value, op)


def _log(t: Tracer, value: Any, *base: Any) -> Any:
    top = arrays.elementwise(lambda v: scalars.apply(functions.LOG, v), value)
    if not base:
        return top
    for op, known in ((functions.LOG2, 2), (functions.LOG10, 10)):
        if isinstance(base[0], (int, Real)) and ir.rational(as_real(base[0]).expr) == known:
            return scalars.apply(op, value)
    below = scalars.apply(functions.LOG, base[0])
    for v, found in ((value, top), (base[0], below)):
        raised.of_math(t, math.log, (v,), found)
    return raised.operation(t, ast.Div, top, below)


def _prod(t: Tracer, values: Any, start: Any = 1) -> Any:
    try:
        with t.attempt(transparent=True):
            items = countable(t, values)
    except Unlisted:
        return accumulated(t, values, start, arrays.multiply)
    return arrays.product(items, start)


def _dist(t: Tracer, p: Any, q: Any) -> Any:
    if any(isinstance(v, (SymArray, Selected, Listed)) for v in (p, q)):
        a, b = symbolic.symbolic(t, p), symbolic.symbolic(t, q)
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise Refused(
                "math.dist() of what is no vector", "use np.linalg.norm of the difference"
            )
        same_size(t, a.shape[0], b.shape[0])
        return as_float(norm(t, binary(t, ast.Sub, a, b)))
    pairs = zip(elements(t, p), elements(t, q), strict=True)
    return arrays.hypotenuse([scalars.binary(ast.Sub, a, b) for a, b in pairs])


def _sumprod(t: Tracer, p: Any, q: Any) -> Any:
    pairs = zip(elements(t, p), elements(t, q), strict=True)
    return arrays.total(scalars.binary(ast.Mult, a, b) for a, b in pairs)


def _fma(t: Tracer, a: Any, b: Any, c: Any) -> Any:
    return scalars.binary(ast.Add, scalars.binary(ast.Mult, a, b), c)


def _ldexp(t: Tracer, value: Any, exponent: Any) -> Any:
    return scalars.binary(ast.Mult, as_real(value), as_real(_int_power(exponent)))


def _int_power(exponent: Any) -> Any:
    if not isinstance(exponent, int):
        raise Refused("ldexp() with an exponent that is not a known integer")
    return scalars.binary(ast.Pow, 2, exponent)


def _math_isclose(t: Tracer, a: Any, b: Any, *, rel_tol: Any = None, abs_tol: Any = 0) -> Any:
    return closeness.isclose(a, b, number(1e-9) if rel_tol is None else rel_tol, abs_tol, True)


def _integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is exact on integers, and refuses other values."""

    def implementation(t: Tracer, *args: Any) -> Any:
        for v in args:
            if isinstance(v, Real) and ir.rational(v.expr) is None:
                raise Refused(
                    f"{function.__name__}() of a number that is not known when traced",
                    demands.integer_hint(v, "it must be an integer known when traced"),
                )
        values = [plain(v) for v in args]
        if not all(v == int(v) for v in values):
            raise Refused(f"{function.__name__}() of a number that is no known integer")
        return function(*map(int, values))

    return implementation


def _reduce(t: Tracer, function: Any, values: Any, *initial: Any) -> Any:
    try:
        with t.attempt(transparent=True):
            items = [*initial, *elements(t, values)]
    except Unlisted:
        return _reduce_unknown(t, function, values, *initial)
    if not items:
        raise Refused("reduce() of nothing")
    return functools.reduce(lambda a, b: call_back(t, function, a, b), items)


def _reduce_unknown(t: Tracer, function: Any, values: Any, *initial: Any) -> Any:
    """The same for values of unknown length."""

    def step(a: Any, b: Any) -> Any:
        return call_back(t, function, a, b)

    if initial:
        return accumulated(t, values, initial[0], step)
    found = sequences.of(values)
    if found is None:
        raise Refused("reduce() of an iterator without a start", "give it a start value")
    t.require(ir.lt(ir.ZERO, found.count), "value", "reduce() of nothing")
    rest = Sequence(ir.sub(found.count, ir.ONE), lambda k: found.item(ir.add(k, ir.ONE)))
    return accumulated(t, rest, found.item(ir.ZERO), step)


def _pairwise(t: Tracer, values: Any) -> Any:
    if (found := sequences.of(values)) is None:
        return _shuffle(itertools.pairwise)(t, values)
    return Sequence(
        ir.sub(found.count, ir.ONE), lambda k: (found.item(k), found.item(ir.add(k, ir.ONE)))
    )


def _product(t: Tracer, *columns: Any, repeat: int = 1) -> Any:
    columns = columns * repeat
    if not any(sequences.of(c) is not None for c in columns):
        return _shuffle(itertools.product)(t, *columns)
    return sequences.product(columns)


def _partial(t: Tracer, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return Method(lambda t, f, /, *a, **k: t.call(f, (*args, *a), kwargs | k), function, "partial")


def _accumulate(t: Tracer, values: Any, function: Any = None, *, initial: Any = None) -> Any:
    try:
        items = elements(t, values)
    except Unlisted:
        if initial is not None or not isinstance(values, SymArray):
            raise
        return t.inline(running, (np.add if function is None else function, values), {})
    if initial is not None:
        items = [initial, *items]

    def step(a: Any, b: Any) -> Any:
        return binary(t, ast.Add, a, b) if function is None else call_back(t, function, a, b)

    return t.stream(lambda: list(itertools.accumulate(items, step)))


_READ_AT_ONCE = (itertools.combinations, itertools.permutations, itertools.product)


def _shuffle(function: Callable[..., Any]) -> Callable[..., Any]:
    """An iterator that only rearranges elements, which Python reads at the call or one by one."""

    def implementation(t: Tracer, *columns: Any, **kwargs: Any) -> Any:
        def lists() -> list[Any]:
            return [c if isinstance(c, int) else elements(t, c) for c in columns]

        read = lists() if function in _READ_AT_ONCE else None
        return t.stream(lambda: list(function(*(lists() if read is None else read), **kwargs)))

    return implementation


def _repeat(t: Tracer, value: Any, times: Any = None) -> Any:
    if times is None:
        return t.stream_of(lambda k: value)
    if not isinstance(times, int):
        raise Refused("itertools.repeat() of a count that is not known when traced")
    return t.stream(lambda: [value] * times)


def _count(t: Tracer, start: Any = 0, step: Any = 1) -> Any:
    return t.stream_of(lambda k: binary(t, ast.Add, start, binary(t, ast.Mult, k, step)))


def _islice(t: Tracer, values: Any, *bounds: Any) -> Any:
    if not all(isinstance(b, (int, NoneType)) for b in bounds):
        raise Refused("itertools.islice() of bounds that are not known when traced")
    part = slice(*bounds)

    def compute() -> list[Any]:
        if part.stop is None:
            return elements(t, values)[part]
        at, found = reader(t, values), []
        with suppress(End):
            for k in range(part.stop):
                found.append(at(k))
        return found[part]

    return t.stream(compute)


def _cycle(t: Tracer, values: Any) -> Any:
    at, seen = reader(t, values), list[Any]()

    def again(k: int) -> Any:
        if k == len(seen):
            try:
                seen.append(at(k))
            except End:
                if not seen:
                    raise
                return seen[0]
        return seen[k % len(seen)]

    return t.stream_of(again)


def _operator(op: type[ast.AST]) -> Callable[..., Any]:
    """An operator as a function of two numbers."""
    how: Any = compare if issubclass(op, ast.cmpop) else binary
    return lambda t, a, b: how(t, op, a, b)


def _fsum(t: Tracer, values: Any) -> Any:
    """The sum as a float, also of integers."""
    found = total(t, values)
    return as_float(found) if is_number(found) else found


def _modf(t: Tracer, x: Any) -> Any:
    """The fraction, and the whole part as a float."""
    value = as_float(x)
    whole = scalars.apply(functions.TRUNC, value)
    part = scalars.binary(ast.Sub, value, whole)
    return arrays.choose(finiteness.infinite(value), number(0), part), as_float(whole)


def _starmap(t: Tracer, function: Any, rows: Any) -> Any:
    items = elements(t, rows)
    return t.stream(lambda: [call_back(t, function, *elements(t, row)) for row in items])


def _while(t: Tracer, function: Any, values: Any, taken: bool) -> list[Any]:
    """The elements before the first for which a function is false, or those from it on."""
    with t.piecemeal():
        items = elements(t, values)
    for k, v in enumerate(items):
        holds = truth(t, call_back(t, function, v))
        if not isinstance(holds, bool):
            raise Refused("a condition of itertools that is not known when traced", "use np.where")
        if not holds:
            return items[:k] if taken else items[k:]
    return items if taken else []


def _items(t: Tracer, keys: tuple[Any, ...], value: Any) -> Any:
    """`operator.itemgetter(*keys)(value)`."""
    found = tuple([subscript(t, value, k) for k in keys])
    return found if len(found) > 1 else found[0]


def _remainder(t: Tracer, x: Any, y: Any) -> Any:
    times = scalars.apply(functions.ROUND, scalars.binary(ast.Div, x, y))
    return scalars.binary(ast.Sub, x, scalars.binary(ast.Mult, y, times))


_OPERATORS: dict[str, type[ast.AST]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "pow": ast.Pow,
    "floordiv": ast.FloorDiv, "mod": ast.Mod, "matmul": ast.MatMult, "lt": ast.Lt, "le": ast.LtE,
    "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq, "concat": ast.Add,
}  # fmt: skip

TABLE: dict[str, Callable[..., Any]] = {
    "math.floor": _rounding(functions.FLOOR), "math.ceil": _rounding(functions.CEIL),
    "math.trunc": _rounding(functions.TRUNC), "math.hypot": lambda t, *values: arrays.hypotenuse(values),
    "math.log": _log, "math.prod": _prod, "math.fsum": _fsum, "math.dist": _dist,
    "math.sumprod": _sumprod, "math.fma": _fma, "math.ldexp": _ldexp, "math.isclose": _math_isclose,
    "math.isfinite": lambda t, x: finiteness.finite(x), "math.isnan": lambda t, x: finiteness.undefined(x),
    "math.isinf": lambda t, x: finiteness.infinite(x), "math.remainder": _remainder, "math.modf": _modf,
    **{
        f"math.{f.__name__}": _integers(f)
        for f in (math.comb, math.perm, math.factorial, math.gcd, math.lcm, math.isqrt)
    },
    "typing.cast": lambda t, kind, value: value, "functools.reduce": _reduce, "functools.partial": _partial,
    **{
        f"itertools.{f.__name__}": _shuffle(f)
        for f in (itertools.chain, itertools.combinations, itertools.permutations, itertools.zip_longest)
    },
    "itertools.accumulate": _accumulate, "itertools.product": _product, "itertools.repeat": _repeat,
    "itertools.count": _count, "itertools.cycle": _cycle, "itertools.islice": _islice,
    "itertools.pairwise": _pairwise, "itertools.starmap": _starmap,
    "itertools.takewhile": lambda t, f, values: t.stream(lambda: _while(t, f, values, True)),
    "itertools.dropwhile": lambda t, f, values: t.stream(lambda: _while(t, f, values, False)),
    **{f"operator.{name}": _operator(op) for name, op in _OPERATORS.items()},
    "operator.getitem": lambda t, a, key: subscript(t, a, key),
    "operator.itemgetter": lambda t, *keys: Method(_items, keys, "itemgetter"),
    "operator.not_": lambda t, x: scalars.negate(truth(t, x)), "operator.truth": truth,
    "operator.abs": lambda t, x: t.call(abs, (x,), {}),
    "operator.pos": lambda t, x: t.call(np.positive, (x,), {}),
    "operator.neg": lambda t, x: arrays.elementwise(scalars.negative, x),
    "operator.contains": lambda t, a, b: compare(t, ast.In, b, a),
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""
