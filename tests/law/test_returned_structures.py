"""What is returned is nested as in Python, with the same classes; so are derivatives of it, and
derivatives by arguments that are containers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Box:
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
    lambda x: Pair(x, 2 * x),
    lambda x: Pair(x, 2 * x)._replace(first=x + 1),
    lambda x: Pair(second=x, first=x * x),
    lambda x: Pair(x, Pair(2 * x, [x])),
    lambda x: [Pair(x, 1.0), (x,), {"a": Pair(1.0, x)}],
    lambda x: {"p": Pair(x, 1.0), "b": Box(x)},
    lambda x: Box(x, 2 * x),
    lambda x: Box(Pair(x, x), [Box(x)]),
    lambda x: Frozen(x, y=x * x),
    lambda x: Checked(x),
    lambda x: (Frozen(x, x), x),
    lambda x: Pair(x, 1.0) + (x,),  # noqa: RUF005
    lambda x: Pair(x, 1.0)[:1],
    lambda x: Pair(x, 1.0) * 2,
    lambda x: list(Pair(x, 1.0)),
    lambda x: Pair(x, 1.0)._asdict(),
    lambda x: [],
    lambda x: (),
    lambda x: {},
    lambda x: (x,),
]
CHOSEN = [
    lambda x: Pair(x, 1.0) if x > 0 else Pair(2.0, x),
    lambda x: Box(x, 1.0) if x > 0 else Box(2.0, x),
]


def alike(got: Any, want: Any) -> None:
    assert type(got) is type(want) or isinstance(want, (float, int))
    if isinstance(want, dict):
        assert list(got) == list(want)
        for k in want:
            alike(got[k], want[k])
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            alike(a, b)
    elif isinstance(want, (Box, Frozen, Checked)):
        for k in type(want).__dataclass_fields__:
            alike(getattr(got, k), getattr(want, k))
    else:
        np.testing.assert_allclose(got, want, rtol=1e-14)


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
    f = symgrad(lambda x: Box(np.sum(x), Pair(x, np.max(x))))
    x = np.array([1.0, 3.0, 2.0])
    for _ in range(3):
        alike(f(x), Box(6.0, Pair(x, 3.0)))
    got = f.jacobian(x)
    alike(got, Box(np.ones(3), Pair(np.eye(3), np.array([0.0, 1.0, 0.0]))))


def test_derivatives() -> None:
    f = symgrad(lambda x, y: Pair(x * y, Box(x, [y * y])))
    alike(f.jacobian(2.0, 3.0), Pair((3.0, 2.0), Box((1.0, 0.0), [(0.0, 6.0)])))
    value = Pair(6.0, Box(2.0, [9.0]))
    alike(f.jvp((2.0, 3.0), (1.0, 0.0)), (value, Pair(3.0, Box(1.0, [0.0]))))
    alike(f.vjp((2.0, 3.0), Pair(1.0, Box(0.0, [1.0]))), (value, (3.0, 8.0)))
    alike(f.vjp((2.0, 3.0), (1.0, Box(0.0, [1.0]))), (value, (3.0, 8.0)))
    alike(f.diff("y")(2.0, 3.0), Pair(2.0, Box(0.0, [6.0])))
    with pytest.raises(SymdiffError, match="fields"):
        f.vjp((2.0, 3.0), Pair(1.0, 2.0))
    with pytest.raises(SymdiffError, match="jacobian"):
        f.grad(2.0, 3.0)


def test_out_and_map() -> None:
    f = symgrad(lambda x: Pair(x * x, Box(x, 2 * x)))
    x = np.array([1.0, 2.0])
    places = Pair(np.zeros(2), Box(np.zeros(2), np.zeros(2)))
    for _ in range(3):
        assert f(x, out=places) is places
        alike(places, Pair(x * x, Box(x, 2 * x)))
    alike(f.map(x), Pair(x * x, Box(x, 2 * x)))


def test_expressions() -> None:
    f = symgrad(lambda x: Box(x * x, Pair(x, 1.0)))
    assert str(f.expr) == "Box(size=x**2, parts=Pair(first=x, second=1))"
    assert str(f.jacobian.expr) == "Box(size=2*x, parts=Pair(first=1, second=0))"


def test_composition() -> None:
    inner = symgrad(lambda x: Pair(x, Box(x * x, 1.0)))
    outer = symgrad(lambda x: inner(x).second.size + inner(2 * x).first)
    assert outer(3.0) == 15.0
    assert outer.grad(3.0) == 8.0
    assert symgrad(lambda x: np.sum(inner(x).second.size))(np.array([1.0, 2.0])) == 5.0
    slopes = symgrad(lambda x: inner.jacobian(x).second.size * 2)
    assert slopes(3.0) == 12.0
    alike(symgrad(lambda x: inner(x))(2.0), Pair(2.0, Box(4.0, 1.0)))


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
    source = lambda x: Frozen(Pair(x, x * x), 1.0)
    for _ in range(2):  # the second is read
        alike(symgrad(source)(3.0), Frozen(Pair(3.0, 9.0), 1.0))
        alike(symgrad(source).jacobian(3.0), Frozen(Pair(1.0, 6.0), 0.0))


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
        q = Pair(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))
        alike(total.grad.map(q), Pair(q.second, q.first))
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
        g(Pair(np.ones(2), np.ones(2)))
        assert isinstance(g.grad.expr, Pair)
