"""The reference of `tests.validation.points` against closed forms; none of these tests runs the package."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

import pytest
from mpmath import mpf

from tests.validation import point_trees as trees
from tests.validation.point_programs import Generator
from tests.validation.point_reference import UnclearError, second, truth
from tests.validation.point_spelling import spelled
from tests.validation.point_trees import Node, both, call, choose, compare, let, num, reduce, var
from tests.validation.points import plain

W, X, Y, Z, T = (var(n) for n in "wxyzt")
Q = var("q", 1)


def smooth_guard(shape: str) -> Node:
    k = choose(compare(X, "!=", 0.0), call("sin", W * X) / X, 1.0)
    return k * X if shape == "times x" else k


def half_angle() -> Node:
    """A factor 2*atan2(s, w)/s with a constant where s = 0."""
    s = call("abs", X)
    return choose(compare(s, ">", 0.0), 2.0 * call("arctan2", s, W) / s, 2.0) * X


def vortex() -> Node:
    g, a, r2 = var("g"), var("a"), X * X + Y * Y
    k = choose(compare(r2, ">", 0.0), (1.0 - call("exp", -r2 / (a * a))) / r2, 1.0)
    return -g * Y * k


def at_origin(value: Any, beside: Node) -> Node:
    return choose(both(compare(X, "==", 0.0), compare(Y, "==", 0.0)), value, beside)


def cosines() -> Node:
    def body(r: Node) -> Node:
        c, s = (choose(compare(r, ">", 0.0), v / r, 0.0) for v in (X, Y))
        return r * c + 2.0 * r * s

    return let("r", call("hypot", X, Y), body)


def untaken() -> Node:
    r = var("r")
    return choose(compare(r, "<", -5.0), r**2.0, reduce("sum", Q / reduce("norm", Q)))


def pole(guarded: bool) -> Node:
    phi = call("arctan2", Y, X)
    if guarded:
        phi = choose(trees.either(compare(X, "!=", 0.0), compare(Y, "!=", 0.0)), phi, 0.0)
    r = call("sqrt", X * X + Y * Y + Z * Z)
    return r * call("sin", call("arccos", Z / r)) * call("cos", phi)


def rodrigues() -> Node:
    return let("n", reduce("norm", Q), lambda n: n * n * (Q[0] / n) * (Q[0] / n))


ORIGIN = {"x": 0.0, "y": 0.0}
TWICE = X + 2.0 * Y
NORM2 = X * X + Y * Y
CASES: dict[str, tuple[Node, dict[str, Any], list[float]]] = {
    "a constant times what vanishes": (smooth_guard("times x"), {"w": 2.0, "x": 0.0}, [0, 2]),
    "half angle": (half_angle(), {"w": 2.0, "x": 0.0}, [0, 1]),
    "half angle, another w": (half_angle(), {"w": 0.5, "x": 0.0}, [0, 4]),
    "vortex": (vortex(), {**ORIGIN, "g": 1.0, "a": 0.5}, [0, -4, 0, 0]),
    "a branch not taken": (untaken(), {"q": [0.0, 0.0], "r": -6.0}, [0, 0, -12]),
    "log of zero": (reduce("logsumexp", call("log", Q)), {"q": [0.0, 0.3, 0.5]}, [1.25] * 3),
    "shortcut": (at_origin(0.0, TWICE), ORIGIN, [1, 2]),
    "shortcut of arrays": (choose(trees.every_zero(Q), 0.0, Q[0] + 2.0 * Q[1]), {"q": [0.0, 0.0]}, [1, 2]),
    "shortcut in a band": (choose(trees.band(NORM2, 1e-20), 0.0, call("sin", X) + Y), ORIGIN, [1, 1]),
    "cosines": (cosines(), ORIGIN, [1, 2]),
    "equal": (choose(compare(X, "==", Y), 0.0, X - Y), {"x": 1.0, "y": 1.0}, [1, -1]),
    "interpolation": (
        choose(compare(X, "==", Y), X, X * (1.0 - T) + Y * T), {"x": 1.0, "y": 1.0, "t": 0.3}, [0.7, 0.3, 0],
    ),
    "middle": (choose(compare(X, "==", Y), X, (X + Y) / 2.0), {"x": 1.0, "y": 1.0}, [0.5, 0.5]),
    "unit vectors": (rodrigues(), {"q": [0.0, 0.0]}, [0, 0]),
    "power above a half": (NORM2 ** (0.5 + 1e-16), ORIGIN, [0, 0]),
    "pole, guarded": (pole(True), {**ORIGIN, "z": 1.0}, [1, 0, 0]),
    "kink": (call("abs", X) + call("abs", X - 1.0), {"x": 0.0}, [-1]),
    "tie": (call("maximum", X, 3.0 * Y), ORIGIN, [0.5, 1.5]),
    "norm": (call("hypot", X, Y), ORIGIN, [0, 0]),
    "only what is taken": (choose(compare(X, ">", 0.0), call("sqrt", X), 0.0), {"x": 0.0}, [0]),
    "end of the domain": (call("sqrt", X), {"x": 0.0}, [math.inf]),
    "two infinite sides": (call("sqrt", call("abs", X)), {"x": 0.0}, [math.nan]),
    "one infinity": (call("sign", X) * call("sqrt", call("abs", X)), {"x": 0.0}, [math.inf]),
    "a step squared": ((X + 1.0) * call("sign", X) ** 2.0, {"x": 0.0}, [0]),
    "a step that is continuous": (call("abs", X) * call("sign", X), {"x": 0.0}, [1]),
    "floor": (call("floor", X) * X, {"x": 2.0}, [2]),
    "chain": (trees.chain(compare(X, ">", 0.0), X, compare(X, "<", 0.0), 3.0 * X, num(0.0)), {"x": 0.0}, [2]),
    "loop": (
        trees.total("i", 3, lambda i: choose(compare(trees.element(Q, i), ">", 0.0), trees.element(Q, i), 0.0)),
        {"q": [1.0, 0.0, -1.0]}, [1, 0, 0],
    ),
    "mask": (reduce("sum", choose(compare(Q, "==", 0.0), 1.0, call("sin", Q) / Q) * Q), {"q": [0.0, 0.0]}, [1, 1]),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_closed_forms(name: str) -> None:
    tree, params, want = CASES[name]
    found = [float(s.slope) for s in truth(tree, params).slopes]
    assert found == pytest.approx(want, rel=1e-14, abs=1e-30, nan_ok=True)


def test_a_jump_is_that_of_the_taken_branch() -> None:
    found = truth(at_origin(3.0 * X + 1.0, TWICE), ORIGIN)
    assert [(float(s.slope), s.jump) for s in found.slopes] == [(3.0, True), (0.0, True)]
    assert not any(s.jump for s in truth(at_origin(0.0, TWICE), ORIGIN).slopes)


def test_the_value_is_the_limit_along_every_path() -> None:
    assert float(truth(rodrigues(), {"q": [0.0, 0.0]}).value) == pytest.approx(0, abs=1e-30)
    with pytest.raises(UnclearError, match="no limit"):
        truth(X * Y / NORM2, ORIGIN)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("tree", "params", "want"),
    [
        (smooth_guard("times x"), {"w": 2.0, "x": 0.0}, [[0, 1], [1, 0]]),
        (half_angle(), {"w": 1.0, "x": 0.0}, [[0, -2], [-2, 0]]),
        (call("logaddexp", call("log", X), num(0.0)), {"x": 0.0}, [[-1]]),
        (at_origin(0.0, NORM2 + X), ORIGIN, [[2, 0], [0, 2]]),
        (call("cos", call("hypot", X, Y)), ORIGIN, [[-1, 0], [0, -1]]),
        (call("maximum", X, 0.0) ** 2.0, {"x": 0.0}, [[1]]),
    ],
)
def test_second_derivatives(tree: Node, params: dict[str, Any], want: list[list[float]]) -> None:
    found = second(tree, params)
    assert [[float(x.slope) for x in row] for row in found] == [
        pytest.approx(r, rel=1e-14, abs=1e-30) for r in want
    ]


@pytest.mark.slow
def test_source_and_tree_are_one_function() -> None:
    """Plain Python and the evaluation of the tree agree, also at the special point."""
    compared = 0
    for seed in range(20):
        drawn = Generator(seed).program()
        try:
            want = truth(drawn.tree, drawn.params).value
        except UnclearError:
            continue
        scope = _module(drawn.source)
        got = plain(scope, drawn, drawn.params)
        compared += not math.isnan(got)
        assert math.isnan(got) or got == pytest.approx(float(mpf(want)), rel=1e-12, abs=1e-12), seed
    assert compared > 12


def _module(source: str) -> Any:
    module = types.ModuleType("spelled_program")
    sys.modules["spelled_program"] = module
    exec(compile(source, "<spelled>", "exec"), module.__dict__)
    return module


def test_every_spelling_of_a_condition_means_the_same() -> None:
    tree = choose(trees.every_zero(trees.vec(X, Y)), 5.0, TWICE)
    sources = {spelled(tree, ORIGIN, seed, "plain") for seed in range(40)}
    assert len(sources) > 8
    for source in sources:
        f = _module(source).f
        assert (float(f(0.0, 0.0)), float(f(1.0, 0.0))) == (5.0, 1.0), source
