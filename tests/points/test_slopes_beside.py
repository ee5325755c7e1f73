"""Derivatives at many special points at once: those that the definition has, which `interpret.along_lines` asks one
point at a time, and by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.interpret import exclusive
from symdiff.interpret.along_lines import Derivatives
from symdiff.interpret.terms import Term
from symdiff.pipeline.slopes_beside import slopes_beside
from symdiff.runtime.scalar.fallback import Tiered


def divided(x: Any, y: Any) -> Any:
    return np.where(x != y, (np.exp(x) - np.exp(y)) / np.where(x != y, x - y, 1.0), np.exp(x))


def guarded(x: Any, y: Any) -> Any:
    r2 = x * x + y * y
    r = np.sqrt(np.where(r2 > 0, r2, 1.0))
    return np.where(r2 > 0, np.sin(r) / r, 1.0) * np.exp(y)


def tied(x: Any, y: Any) -> Any:
    return np.maximum(np.sin(x), np.sin(y)) * np.abs(x - y) + np.minimum(x, 2 * y)


def clipped(x: Any, y: Any) -> Any:
    return np.clip(x, -y, y) * np.where(x > y, x, y)


def jumps(x: Any, y: Any) -> Any:
    return np.where(x == y, x + 7.0, x * y)


def kept(x: Any, y: Any) -> Any:
    return np.where(x > y, x - y, 3 * (x - y)) + y


def rooted(x: Any, y: Any) -> Any:
    return np.sqrt(np.abs(x - y)) + x


def pole(x: Any, y: Any) -> Any:
    return np.where(x == y, 0.0, 1 / np.where(x == y, 1.0, x - y) ** 2)


def flat(x: Any, y: Any) -> Any:
    return np.where(x == y, y, y + np.exp(-1 / np.where(x == y, 1.0, x - y) ** 2))


PAIRS = np.array(
    [
        [0.5, 0.5],
        [-1.25, -1.25],
        [3.0, 3.0],
        [0.1, 0.1],
        [0.0, 0.0],
        [2.0, -1.0],
        [1.0, 2.0],
        [2.0, 1.0],
    ]
)


@pytest.mark.parametrize("f", [divided, guarded, tied, clipped, jumps, kept, rooted, pole, flat])
def test_they_are_those_of_the_definition(f: Callable[..., Any]) -> None:
    program = symgrad(f).raw_program
    made = slopes_beside(program)
    assert made is not None
    rows = [[Term(0)], [Term(0, (0,))], [Term(0, (1,))]]
    found, known = made(PAIRS, rows)
    with exclusive():
        every = Derivatives(program.params, program.outputs)
        for point, values, is_known in zip(PAIRS, found, known, strict=True):
            if not is_known:
                continue
            there = every.at(point)
            for (t,), value in zip(rows, values, strict=True):
                want = there.partial(t.output, t.by)
                assert want.known and not want.jumps
                assert value == pytest.approx(want.value, rel=1e-14, abs=1e-30), (point, t)


LEFT: dict[Any, Any] = {jumps: PAIRS[:5], rooted: PAIRS[:5], pole: PAIRS[:5], kept: PAIRS[:5]}


@pytest.mark.parametrize("f", LEFT)
def test_points_that_need_the_whole_definition_are_left(f: Callable[..., Any]) -> None:
    made = slopes_beside(symgrad(f).raw_program)
    assert made is not None
    assert not made(LEFT[f], [[Term(0, (0,))]])[1].any()


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.where(np.abs(x - y) < 1e-8, 1.0, np.sin(x - y) / (x - y)),
        lambda x, y: np.where(np.abs(x) < y, 1.0, np.sin(x) / x),
        lambda x, y: np.where(x < y, 1.0, np.sin(x) / x),
        lambda x, y: np.where(np.abs(x) < y, y, x),
        lambda x, y: np.floor(x) * y,
        lambda x, y: np.where(x == y, x, 1e-40 * y),
    ],
)
def test_bands_steps_and_tiny_constants_are_left(f: Callable[..., Any]) -> None:
    assert inspect.isfunction(f)
    assert slopes_beside(symgrad(f).raw_program) is None


def test_most_points_are_found() -> None:
    for f in (divided, guarded, tied, clipped, flat):
        made = slopes_beside(symgrad(f).raw_program)
        assert made is not None
        points = PAIRS[4:5] if f is guarded else PAIRS[[0, 2, 3]]
        assert made(points, [[Term(0, (0,))], [Term(0, (1,))]])[1].all(), f


@pytest.mark.slow
def test_weights_of_directions() -> None:
    f = symgrad(divided)
    x = np.array([0.5, 1.5])
    value, tangent = f.jvp((x, x), (np.array([1.0, 0.0]), np.array([2.0, 3.0])))
    np.testing.assert_allclose(value, np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(tangent, np.exp(x) / 2 * [3.0, 3.0], rtol=1e-14)


@pytest.mark.slow
def test_elements_are_those_of_numbers() -> None:
    g = symgrad(guarded).grad
    zero, y = np.zeros(5), np.array([0.0, 0.5, 0.0, -0.5, 0.0])
    for k, pair in enumerate(zip(*g(zero, y), strict=True)):
        assert pair == g(0.0, float(y[k]))


ENDS = np.array([[0.0, 0.3], [0.0, 0.5], [0.0, 0.9], [0.0, 0.0625]])


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda x, p: x**p, np.inf),
        (lambda x, p: -(x**p) * np.cos(x), -np.inf),
        (lambda x, p: (-x) ** p, -np.inf),
        (lambda x, p: np.arccos(np.sqrt(x)) * p, -np.inf),
        (lambda x, p: np.where(x >= 0, x**p, np.log(x)), np.inf),
    ],
)
def test_infinite_slopes_at_ends_of_the_domain(f: Callable[..., Any], slope: float) -> None:
    made = slopes_beside(symgrad(f).raw_program)
    assert made is not None
    found, known = made(ENDS, [[Term(0, (0,))]])
    assert known.all()
    assert (found == slope).all()


@pytest.mark.parametrize(
    "f",
    [
        lambda x, p: np.sqrt(np.abs(x)) * p,  # no derivative
        lambda x, p: np.where(x > 0, np.sqrt(x), 0.0) * p,  # the branch at 0 has slope 0
        lambda x, p: np.sqrt(np.maximum(x, 0.0)) * p,
        lambda x, p: x * np.log(x) * p,  # which is no power
        lambda x, p: np.sqrt(x + p**400),  # finite, with a slope that is larger the nearer
        lambda x, p: np.sqrt(x + p**41),
        lambda x, p: p * np.sqrt(x) + np.where(x == 0, 1.0, 0.0),  # it jumps
    ],
)
def test_other_slopes_are_not_infinite(f: Callable[..., Any]) -> None:
    made = slopes_beside(symgrad(f).raw_program)
    assert made is not None
    points = np.array([[0.0, 0.125], [0.0, 0.0625], [0.0, 0.03125]])
    found, known = made(points, [[Term(0, (0,))]])
    assert not (known & np.isinf(found[:, 0])).any()


def test_powers_at_zero_are_not_interpreted(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(Tiered, "_asked", lambda self, point, dtype: asked.append(point))
    f = symgrad(lambda x, p: x**p)
    x, p = np.zeros(300), np.linspace(0.05, 0.95, 300)
    value, (by_x, by_p) = f.value_and_grad(x, p)
    assert not asked
    assert (value == 0).all()
    assert (by_x == np.inf).all()
    assert (by_p == 0).all()
