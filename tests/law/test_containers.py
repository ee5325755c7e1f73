"""Containers of numbers and arrays as arguments: gradients have the same structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.errors import SymdiffError

V = np.array([1.0, 2.0, 3.0])


class Pair(NamedTuple):
    scale: Any
    values: Any


@dataclass
class Box:
    scale: Any
    values: Any
    name: str = "box"

    def area(self) -> Any:
        return self.scale * np.sum(self.values)


@dataclass
class Parts:
    a: Any
    b: Any


class Both(NamedTuple):
    a: Any
    b: Any


def equal(got: Any, want: Any) -> None:
    """The same containers, with the same numbers in them."""
    assert type(got) is type(want) or (isinstance(got, float) and isinstance(want, float))
    if isinstance(want, dict):
        assert list(got) == list(want)
        for k in want:
            equal(got[k], want[k])
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            equal(g, w)
    elif isinstance(want, Box):
        equal(vars(got), vars(want))
    elif isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12)
        assert np.shape(got) == np.shape(want)


@pytest.mark.slow
def test_lists_and_tuples_are_what_python_has() -> None:
    f = symgrad(lambda p: p[0] ** 2 * p[1])
    for kind in (list, tuple):
        equal(f(kind([2.0, 3.0])), 12.0)
        equal(f.grad(kind([2.0, 3.0])), kind([12.0, 4.0]))
    equal(f.grad(np.array([2.0, 3.0])), np.array([12.0, 4.0]))
    equal(f.hessian((2.0, 3.0)), ((6.0, 4.0), (4.0, 0.0)))
    equal(f.value_and_grad([2.0, 3.0]), (12.0, [12.0, 4.0]))
    equal(f.jvp(((2.0, 3.0),), (1.0, 0.0)), (12.0, 12.0))
    equal(f.vjp(([2.0, 3.0],), 2.0), (12.0, [24.0, 8.0]))
    equal(f.hvp(((2.0, 3.0),), (1.0, 0.0)), (6.0, 4.0))
    equal(symgrad(lambda q: q * 2)([1.0, 2.0]), [1.0, 2.0, 1.0, 2.0])
    equal(symgrad(lambda q: np.array(q) * 2)([1.0, 2.0]), np.array([2.0, 4.0]))
    with pytest.raises(SymdiffError, match=r"'\*\*' of a list"):
        symgrad(lambda q: q**2)([1.0, 2.0])


@pytest.mark.slow
def test_trees_of_arrays() -> None:
    def loss(layers, x):
        for w, b in layers:
            x = np.tanh(w @ x + b)
        return np.sum(x**2)

    layers = [(np.eye(3) / 2, np.zeros(3)), (np.ones((2, 3)) / 4, np.array([0.1, 0.2]))]
    f = symgrad(loss)
    equal(f(layers, V), float(loss(layers, V)))
    slopes, by_x = f.grad(layers, V)
    assert [type(s) for s in slopes] == [tuple, tuple]
    h = 1e-6
    for k, (w, b) in enumerate(layers):
        for j, a in enumerate((w, b)):
            for at in np.ndindex(a.shape):
                ends = []
                for step in (h, -h):
                    moved = [tuple(v.copy() for v in pair) for pair in layers]
                    moved[k][j][at] += step
                    ends.append(loss(moved, V))
                np.testing.assert_allclose(slopes[k][j][at], (ends[0] - ends[1]) / 2 / h, atol=1e-6)
    assert by_x.shape == (3,)


@pytest.mark.slow
def test_dicts_named_tuples_and_dataclasses() -> None:
    f = symgrad(lambda p: np.sum(p["a"] * p["b"] ** 2))
    equal(f.grad({"a": 2.0, "b": V}), {"a": 14.0, "b": 4.0 * V})
    g = symgrad(lambda s, y: np.sum(s.scale * s.values) * y)
    equal(g.grad(Pair(2.0, V), 3.0), (Pair(18.0, np.full(3, 6.0)), 12.0))
    equal(g.grad(Box(2.0, V), 3.0), (Box(18.0, np.full(3, 6.0)), 12.0))
    equal(symgrad(lambda s: s.area()).grad(Box(2.0, V)), Box(6.0, np.full(3, 2.0)))
    h = symgrad(lambda s: (s["a"] * s["b"], {"c": s["a"] ** 2}))
    equal(h.jacobian({"a": 2.0, "b": 3.0}), ({"a": 3.0, "b": 2.0}, {"c": {"a": 4.0, "b": 0.0}}))


def test_what_is_no_number_is_fixed() -> None:
    f = symgrad(lambda o: o["n"] * o["x"] if o["mode"] == "a" else o["x"])
    equal(f({"n": 2.0, "x": 3.0, "mode": "a"}), 6.0)
    equal(f({"n": 2.0, "x": 3.0, "mode": "b"}), 3.0)
    equal(f.grad({"n": 2.0, "x": 3.0, "mode": "a"}), {"n": 3.0, "x": 2.0, "mode": "a"})


def test_containers_inside_of_other_functions() -> None:
    inner = symgrad(lambda p: p[0] ** 2 * p[1])
    outer = symgrad(lambda a: inner([a, 2 * a]) * inner.grad([a, 3.0])[0])
    equal(outer(2.0), 16.0 * 12.0)
    equal(outer.grad(2.0), 48 * 2.0**3)


def test_refusals() -> None:
    f = symgrad(lambda p: p[0] * p[1])
    with pytest.raises(SymdiffError, match="more than 2000"):
        f([1.0] * 3000)
    with pytest.raises(SymdiffError, match="nested as the argument is"):
        f.jvp(((2.0, 3.0),), [1.0, 0.0])
    with pytest.raises(SymdiffError, match="not defined for containers"):
        f.diff("p")((2.0, 3.0))
    with pytest.raises(SymdiffError, match="changed"):
        symgrad(lambda p: p.append(1.0) or p[0])([1.0])


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["dataclass", "named", "dict", "list", "tuple"])
def test_functions_that_are_decorated_already(kind):
    """`grad` and its like of a decorated function, of containers that it does not differentiate by."""
    a, b = np.array([1.0, 2.0]), 3.0
    p = {
        "dataclass": Parts(a, b),
        "named": Both(a, b),
        "dict": {"a": a, "b": b},
        "list": [a, b],
        "tuple": (a, b),
    }[kind]

    @symgrad
    def attributes(p, y):
        return np.sum(p.a) * y + p.b**2 * y

    @symgrad
    def keys(p, y):
        return np.sum(p["a"]) * y + p["b"] ** 2 * y

    @symgrad
    def places(p, y):
        return np.sum(p[0]) * y + p[1] ** 2 * y

    f = {"dict": keys, "list": places, "tuple": places}.get(kind, attributes)
    assert symdiff.grad(f, wrt="y")(p, 2.0) == symdiff.jacobian(f, wrt="y")(p, 2.0) == 12.0
    assert symgrad(f, accuracy="fast")(p, 2.0) == 24.0
    by_p = symdiff.grad(f, wrt="p")(p, 2.0)
    assert type(by_p) is type(p)
    assert symgrad(f, wrt=["y"]).vjp((p, 2.0), 1.0) == (24.0, 12.0)
    assert symgrad(f, wrt=["y"]).jvp((p, 2.0), (1.0,)) == (24.0, 12.0)
