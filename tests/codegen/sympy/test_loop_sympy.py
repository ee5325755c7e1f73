"""Programs with arrays and loops in SymPy: their values are those of the function."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import sympy

from symdiff import Array, symgrad

Vector, Short, Square, Table = Array["n"], Array["m"], Array["n", "n"], Array["n", "m"]
SIZES = {"n": 3, "m": 2}
RNG = np.random.default_rng(5)


def quadratic(x: Vector, A: Square) -> float:
    return x @ A @ x


def bilinear(x: Vector, A: Table, y: Short) -> float:
    return x @ (A @ y) * 2


def triangle(x: Vector) -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i] ** 2 * x[j]
    return total


def neighbours(x: Vector) -> float:
    return np.sum((x[1:] - x[:-1]) ** 2)


def reversed_products(x: Vector, y: Vector) -> float:
    return np.sum(x * y[::-1])


def recurrence(x: Vector) -> float:
    total = 0.0
    for v in x:
        total = np.sin(total) + v
    return total


def value(e: Any, at: dict[str, Any]) -> float:
    """A number, with the elements and sizes of these arrays; sums term by term."""
    e = sympy.sympify(e).xreplace(SIZES_OF)
    while e.has(sympy.Sum):
        e = e.replace(lambda t: isinstance(t, sympy.Sum), written_out)
    e = e.replace(
        lambda t: isinstance(t, sympy.Indexed),
        lambda t: sympy.Float(at[str(t.base)][tuple(int(i) for i in t.indices)], 30),
    )
    return float(e)


def written_out(s: Any) -> Any:
    """A sum without its outermost index, if that has numbers for bounds."""
    *inner, (i, low, high) = s.limits
    if not (low.is_Integer and high.is_Integer):
        return s
    term = sympy.Sum(s.function, *inner) if inner else s.function
    return sympy.Add(*(term.xreplace({i: sympy.Integer(k)}) for k in range(low, high + 1)))


SIZES_OF = {sympy.Symbol(k, integer=True): v for k, v in SIZES.items()}


@pytest.mark.sampled
@pytest.mark.parametrize(
    "fun", [quadratic, bilinear, triangle, neighbours, reversed_products], ids=lambda f: f.__name__
)
def test_gradients_are_sums(fun: Any) -> None:
    f = symgrad(fun)
    program = f._loop_program()
    at = {
        p.name: RNG.normal(size=tuple(SIZES[str(n)] for n in p.type.shape)) for p in program.params
    }
    assert value(f.expr, at) == pytest.approx(f(*at.values()), rel=1e-12)
    expr, numbers = f.grad.expr, f.grad(*at.values())
    if len(at) == 1:
        expr, numbers = (expr,), (numbers,)
    for e, expected in zip(expr, numbers, strict=True):
        assert isinstance(e, sympy.Lambda)
        for index in itertools.product(*map(range, expected.shape)):
            assert value(e(*index), at) == pytest.approx(expected[index], rel=1e-12, abs=1e-14)


def test_they_are_short() -> None:
    first, second = symgrad(quadratic).grad.expr
    assert str(second) == "Lambda((k, l), x[k]*x[l])"
    assert str(first).count("Sum") == 2 and "Piecewise" not in str(first)


def test_what_is_no_sum_stays_a_recurrence() -> None:
    assert "total" in str(symgrad(recurrence).expr)
    assert isinstance(symgrad(recurrence).grad.expr, (sympy.IndexedBase, sympy.Lambda))
