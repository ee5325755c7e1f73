"""Containers of numbers and arrays as arguments and as results: derivatives have the same structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.errors import SymdiffError
from tests.law.alike import alike

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


@pytest.mark.slow
def test_lists_and_tuples_are_what_python_has() -> None:
    f = symgrad(lambda p: p[0] ** 2 * p[1])
    for kind in (list, tuple):
        alike(f(kind([2.0, 3.0])), 12.0)
        alike(f.grad(kind([2.0, 3.0])), kind([12.0, 4.0]))
    alike(f.grad(np.array([2.0, 3.0])), np.array([12.0, 4.0]))
    alike(f.hessian((2.0, 3.0)), ((6.0, 4.0), (4.0, 0.0)))
    alike(f.value_and_grad([2.0, 3.0]), (12.0, [12.0, 4.0]))
    alike(f.jvp(((2.0, 3.0),), (1.0, 0.0)), (12.0, 12.0))
    alike(f.vjp(([2.0, 3.0],), 2.0), (12.0, [24.0, 8.0]))
    alike(f.hvp(((2.0, 3.0),), (1.0, 0.0)), (6.0, 4.0))
    alike(symgrad(lambda q: q * 2)([1.0, 2.0]), [1.0, 2.0, 1.0, 2.0])
    alike(symgrad(lambda q: np.array(q) * 2)([1.0, 2.0]), np.array([2.0, 4.0]))
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
    alike(f(layers, V), float(loss(layers, V)))
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
    alike(f.grad({"a": 2.0, "b": V}), {"a": 14.0, "b": 4.0 * V})
    g = symgrad(lambda s, y: np.sum(s.scale * s.values) * y)
    alike(g.grad(Pair(2.0, V), 3.0), (Pair(18.0, np.full(3, 6.0)), 12.0))
    alike(g.grad(Box(2.0, V), 3.0), (Box(18.0, np.full(3, 6.0)), 12.0))
    alike(symgrad(lambda s: s.area()).grad(Box(2.0, V)), Box(6.0, np.full(3, 2.0)))
    h = symgrad(lambda s: (s["a"] * s["b"], {"c": s["a"] ** 2}))
    alike(h.jacobian({"a": 2.0, "b": 3.0}), ({"a": 3.0, "b": 2.0}, {"c": {"a": 4.0, "b": 0.0}}))


def test_what_is_no_number_is_fixed() -> None:
    f = symgrad(lambda o: o["n"] * o["x"] if o["mode"] == "a" else o["x"])
    alike(f({"n": 2.0, "x": 3.0, "mode": "a"}), 6.0)
    alike(f({"n": 2.0, "x": 3.0, "mode": "b"}), 3.0)
    alike(f.grad({"n": 2.0, "x": 3.0, "mode": "a"}), {"n": 3.0, "x": 2.0, "mode": "a"})


def test_containers_inside_of_other_functions() -> None:
    inner = symgrad(lambda p: p[0] ** 2 * p[1])
    outer = symgrad(lambda a: inner([a, 2 * a]) * inner.grad([a, 3.0])[0])
    alike(outer(2.0), 16.0 * 12.0)
    alike(outer.grad(2.0), 48 * 2.0**3)


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


# --- what is returned is nested as in Python, with the same classes
class Two(NamedTuple):
    first: Any
    second: Any


@dataclass
class Sized:
    size: Any
    parts: Any = 1.0


@dataclass(frozen=True, slots=True)
class Frozen:
    x: Any
    y: Any


@dataclass
class Checked:
    x: Any

    def __post_init__(self) -> None:
        self.x = 2 * self.x


RETURNED = [
    lambda x: Two(x, 2 * x),
    lambda x: Two(x, 2 * x)._replace(first=x + 1),
    lambda x: Two(second=x, first=x * x),
    lambda x: Two(x, Two(2 * x, [x])),
    lambda x: [Two(x, 1.0), (x,), {"a": Two(1.0, x)}],
    lambda x: {"p": Two(x, 1.0), "b": Sized(x)},
    lambda x: Sized(x, 2 * x),
    lambda x: Sized(Two(x, x), [Sized(x)]),
    lambda x: Frozen(x, y=x * x),
    lambda x: Checked(x),
    lambda x: (Frozen(x, x), x),
    lambda x: Two(x, 1.0) + (x,),  # noqa: RUF005
    lambda x: Two(x, 1.0)[:1],
    lambda x: Two(x, 1.0) * 2,
    lambda x: list(Two(x, 1.0)),
    lambda x: Two(x, 1.0)._asdict(),
    lambda x: [],
    lambda x: (),
    lambda x: {},
    lambda x: (x,),
]
CHOSEN = [
    lambda x: Two(x, 1.0) if x > 0 else Two(2.0, x),
    lambda x: Sized(x, 1.0) if x > 0 else Sized(2.0, x),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", RETURNED + CHOSEN)
def test_of_numbers(f: Any) -> None:
    s = symgrad(f)
    for x in (1.5, -0.5, 2, 1.5):
        alike(s(x), f(x))


@pytest.mark.sampled
@pytest.mark.parametrize("f", RETURNED)
def test_of_arrays(f: Any) -> None:
    s = symgrad(f)
    for x in (np.array([1.5, 2.0]), np.array([1, 2]), np.array([1.5, 2.0, 3.0])):
        for _ in range(2):
            alike(s(x), f(x))


def test_with_reductions() -> None:
    f = symgrad(lambda x: Sized(np.sum(x), Two(x, np.max(x))))
    x = np.array([1.0, 3.0, 2.0])
    for _ in range(3):
        alike(f(x), Sized(6.0, Two(x, 3.0)))
    got = f.jacobian(x)
    alike(got, Sized(np.ones(3), Two(np.eye(3), np.array([0.0, 1.0, 0.0]))))


def test_derivatives() -> None:
    f = symgrad(lambda x, y: Two(x * y, Sized(x, [y * y])))
    alike(f.jacobian(2.0, 3.0), Two((3.0, 2.0), Sized((1.0, 0.0), [(0.0, 6.0)])))
    value = Two(6.0, Sized(2.0, [9.0]))
    alike(f.jvp((2.0, 3.0), (1.0, 0.0)), (value, Two(3.0, Sized(1.0, [0.0]))))
    alike(f.vjp((2.0, 3.0), Two(1.0, Sized(0.0, [1.0]))), (value, (3.0, 8.0)))
    alike(f.vjp((2.0, 3.0), (1.0, Sized(0.0, [1.0]))), (value, (3.0, 8.0)))
    alike(f.diff("y")(2.0, 3.0), Two(2.0, Sized(0.0, [6.0])))
    with pytest.raises(SymdiffError, match="fields"):
        f.vjp((2.0, 3.0), Two(1.0, 2.0))
    with pytest.raises(SymdiffError, match="jacobian"):
        f.grad(2.0, 3.0)


def test_out_and_map() -> None:
    f = symgrad(lambda x: Two(x * x, Sized(x, 2 * x)))
    x = np.array([1.0, 2.0])
    places = Two(np.zeros(2), Sized(np.zeros(2), np.zeros(2)))
    for _ in range(3):
        assert f(x, out=places) is places
        alike(places, Two(x * x, Sized(x, 2 * x)))
    alike(f.map(x), Two(x * x, Sized(x, 2 * x)))


def test_expressions() -> None:
    f = symgrad(lambda x: Sized(x * x, Two(x, 1.0)))
    assert str(f.expr) == "Sized(size=x**2, parts=Two(first=x, second=1))"
    assert str(f.jacobian.expr) == "Sized(size=2*x, parts=Two(first=1, second=0))"


def test_composition() -> None:
    inner = symgrad(lambda x: Two(x, Sized(x * x, 1.0)))
    outer = symgrad(lambda x: inner(x).second.size + inner(2 * x).first)
    assert outer(3.0) == 15.0
    assert outer.grad(3.0) == 8.0
    assert symgrad(lambda x: np.sum(inner(x).second.size))(np.array([1.0, 2.0])) == 5.0
    slopes = symgrad(lambda x: inner.jacobian(x).second.size * 2)
    assert slopes(3.0) == 12.0
    alike(symgrad(lambda x: inner(x))(2.0), Two(2.0, Sized(4.0, 1.0)))


@pytest.mark.slow
def test_named_results_of_numpy() -> None:
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert symgrad(lambda x: np.linalg.slogdet(x).logabsdet)(a) == pytest.approx(np.log(1.75))
    for plain in (
        lambda x: np.linalg.slogdet(x),
        lambda x: np.linalg.eigh(x),
        lambda x: np.linalg.svd(x),
    ):
        got, want = symgrad(plain)(a), plain(a)
        assert type(got) is type(want)
        for p, q in zip(got, want, strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-12)


def test_kept_on_disk() -> None:
    source = lambda x: Frozen(Two(x, x * x), 1.0)
    for _ in range(2):  # the second is read
        alike(symgrad(source)(3.0), Frozen(Two(3.0, 9.0), 1.0))
        alike(symgrad(source).jacobian(3.0), Frozen(Two(1.0, 6.0), 0.0))


class TestContainersAsArguments:
    f = staticmethod(symgrad(lambda p, y: p["a"] ** 2 * p["b"] * y))

    @property
    def p(self) -> Any:
        return {"a": 2.0, "b": 3.0}

    @pytest.mark.slow
    def test_nested_derivatives(self) -> None:
        want = {"a": ({"a": 24.0, "b": 16.0}, 12.0), "b": ({"a": 16.0, "b": 0.0}, 4.0)}
        alike(self.f.hessian(self.p, 4.0), (want, ({"a": 12.0, "b": 4.0}, 0.0)))
        alike(self.f.grad.jacobian(self.p, 4.0), (want, ({"a": 12.0, "b": 4.0}, 0.0)))
        assert self.f.diff("y")(self.p, 4.0) == 12.0
        alike(self.f.diff("y").grad(self.p, 4.0), ({"a": 12.0, "b": 4.0}, 0.0))
        with pytest.raises(SymdiffError, match="use jacobian"):
            self.f.grad.grad(self.p, 4.0)
        with pytest.raises(SymdiffError, match="not defined for containers"):
            self.f.diff("p")(self.p, 4.0)

    def test_of_what_is_no_container(self) -> None:
        f = symgrad(lambda p, y: p[0] * y**3, wrt="y")
        assert f.grad([2.0], 3.0) == 54.0
        assert f.grad.grad([2.0], 3.0) == 36.0
        assert f.grad.grad.grad([2.0], 3.0) == 12.0

    def test_out(self) -> None:
        p = {"a": np.ones(2), "b": np.array([1.0, 2.0])}
        places = {"a": np.zeros(2), "b": np.zeros(2)}, np.zeros(2)
        assert self.f.grad(p, np.ones(2), out=places) is places
        alike(places, ({"a": np.array([2.0, 4.0]), "b": np.ones(2)}, np.array([1.0, 2.0])))
        with pytest.raises(SymdiffError, match="out"):
            self.f.grad(p, np.ones(2), out=({"a": np.zeros(2)}, np.zeros(2)))

    @pytest.mark.slow
    def test_map(self) -> None:
        p = {"a": np.array([1.0, 2.0]), "b": np.array([1.0, 3.0])}
        np.testing.assert_allclose(self.f.map(p, 2.0), [2.0, 24.0])
        got = self.f.grad.map(p, np.array([1.0, 2.0]))
        alike(got, ({"a": np.array([2.0, 24.0]), "b": np.array([1.0, 8.0])}, np.array([1.0, 12.0])))
        total = symgrad(lambda q: np.sum(q.first * q.second))
        q = Two(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))
        alike(total.grad.map(q), Two(q.second, q.first))
        one = symgrad(lambda q, s: np.sum(q[0]) * s)
        alike(one.map([np.ones((2, 3))], 2.0), np.array([6.0, 6.0]))
        alike(one.map([np.ones(3)], np.array([1.0, 2.0]), axes=(None, 0)), np.array([3.0, 6.0]))

    def test_inside_of_others(self) -> None:
        f = self.f
        g = symgrad(lambda q: f.grad({"a": q, "b": q}, 1.0)[0]["a"])
        assert g(2.0) == 8.0
        assert g.grad(2.0) == 8.0

    def test_expressions(self) -> None:
        f = symgrad(lambda p: p["a"] * p["b"])
        f({"a": 2.0, "b": 3.0})
        assert str(f.expr) == "p_a*p_b"
        assert str(f.grad.expr) == "{'a': p_b, 'b': p_a}"
        assert "p_a" in f.grad.latex() or "p_{a}" in f.grad.latex()
        assert "p_a" in str(f.grad.report())
        g = symgrad(lambda q: np.sum(q.first * q.second))
        g(Two(np.ones(2), np.ones(2)))
        assert isinstance(g.grad.expr, Two)
