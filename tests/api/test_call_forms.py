"""Calls in all forms: the compiled code that serves them returns what plain Python does, or leaves
them to the general path."""

from __future__ import annotations

import copy
import dataclasses
import random
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.collecting import collect


@dataclasses.dataclass
class Point:
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class Held:
    """An object that cannot be changed."""

    x: float
    y: float


class Doubled(Held):
    __repr__ = object.__repr__

    @property
    def x(self) -> float:  # type: ignore[override]
        return 2.0 * self.__dict__["x"]

    @x.setter
    def x(self, value: float) -> None:
        self.__dict__["x"] = value

    def __init__(self, x: float, y: float) -> None:
        self.__dict__.update(x=x, y=y)


class Pair(NamedTuple):
    x: float
    y: float


class Labelled(np.ndarray):
    """A subclass of arrays."""


def plain(x, y, scale=2.0):
    return scale * x * y + x


def named(x, *, y=3.0, n: int = 2):
    return x * y**n + y


def by_place(x, y, /, z=1.5):
    return x * y * z + x


def of_items(p, scale=2.0):
    return scale * p[0] * p[1] + p[0]


def of_keys(p, *, scale=2.0):
    return p["x"] * p["y"] * scale + p["x"]


def of_fields(p, scale=2.0):
    return scale * p.x * p.y + p.x


def nested(p, q):
    return p["w"][0] * q.x + p["w"][1] * q.y * p["b"]


def of_array(w, labels, scale=1.0):
    return scale * np.sum(np.exp(-w * labels) + labels * w)


def several(x, y=2.0):
    return x * y, {"sum": x + y, "parts": [x * y * y, x - y]}


FUNCTIONS = [plain, named, by_place, of_items, of_keys, of_fields, nested, of_array, several]


def number(r: random.Random) -> Any:
    """A number of any kind."""
    v = r.choice([1.5, -2.25, 0.5, 3.0, 7.0])
    made: list[Callable[[], Any]] = [
        lambda: v, lambda: v, lambda: v, lambda: r.randrange(1, 6), lambda: np.float64(v), lambda: np.array(v),
        lambda: np.float32(v), lambda: np.array(v, np.float32), lambda: r.choice([2**53, 2**53 + 1, -(2**60), 10**30]),
        lambda: np.int64(3), lambda: np.array([v, 1.0]), lambda: np.array([2, 3]), lambda: True, lambda: "text",
        lambda: None, lambda: np.array([v]).view(Labelled), lambda: np.array(3), lambda: [v],
    ]  # fmt: skip
    return r.choices(made, [40, 20, 10, 8, 6, 6, 2, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1])[0]()


def container(r: random.Random, kind: str) -> Any:
    """Two numbers in a container."""
    x, y = number(r), number(r)
    items: list[Callable[[], Any]]
    if kind == "items":
        items = [lambda: (x, y), lambda: [x, y], lambda: Pair(x, y), lambda: (x, y, 1.0), lambda: (x,), lambda: np.array([1.5, 2.5])]  # fmt: skip
    elif kind == "keys":
        items = [lambda: {"x": x, "y": y}, lambda: {"y": y, "x": x}, lambda: {"".join(["x"]): x, "".join(("y", "")): y},
                 lambda: {"x": x, "y": y, "z": 1.0}, lambda: OrderedDict(x=x, y=y), lambda: {"x": x}]  # fmt: skip
    else:
        items = [lambda: Point(x, y), lambda: Held(x, y), lambda: Doubled(x, y), lambda: Pair(x, y)]
    return r.choice(items)()


def arguments(r: random.Random, f: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call in some form, which may be wrong."""
    scale = number(r)
    more = r.choice([{}, {}, {"scale": scale}])
    if f is plain:
        x, y = number(r), number(r)
        return r.choice([
            ((x, y), {}), ((x, y, scale), {}), ((x,), {"y": y}), ((x, y), {"scale": scale}), ((), {"y": y, "x": x}),
            ((x,), {"scale": scale, "y": y}), ((x,), {}), ((x, y), {"x": x}), ((x, y), {"other": 1.0}),
        ])  # fmt: skip
    if f is named:
        x, y, n = number(r), number(r), r.choice([2, 3, 2, True, 2.0, "2"])
        return r.choice([((x,), {}), ((x,), {"y": y}), ((x,), {"n": n}), ((x,), {"n": n, "y": y}), ((x, y), {}), ((), {"x": x})])  # fmt: skip
    if f is by_place:
        x, y = number(r), number(r)
        return r.choice([((x, y), {}), ((x, y, scale), {}), ((x, y), {"z": scale}), ((x,), {"y": y})])  # fmt: skip
    if f is several:
        x, y = number(r), number(r)
        return r.choice([((x,), {}), ((x, y), {}), ((), {"x": x}), ((x,), {"y": y})])
    if f is nested:
        weights = r.choice([[number(r), number(r)], (number(r), number(r))])
        p = {"w": weights, "b": number(r)}
        return r.choice([((p, Point(1.5, number(r))), {}), ((p,), {"q": Pair(number(r), 2.5)})])
    if f is of_array:
        labels = r.choice([np.array([0, 1, 1, 0]), np.array([0.0, 1, 1, 0]), np.array([[1, 0, 2]]), np.array([2**53 + 1, 2]),
                           np.array([1, 0, 1], np.int32), np.arange(8)[::2], np.array([], np.int64), np.array([1.0, 2], np.float32)])  # fmt: skip
        return (r.choice([0.3, 0.3, 1, np.array(0.5)]), labels), more
    return (container(r, {of_items: "items", of_keys: "keys"}.get(f, "fields")),), more


def outcome(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a call returns, or what it raises."""
    try:
        with np.errstate(all="ignore"):
            return f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception as error:
        return error


def assert_alike(one: Any, other: Any, exact: bool = True) -> None:
    """The same classes, shapes, and values but for some last digits; `exact`: NumPy's doubles are no
    Python floats."""
    floats = {float, np.float64}
    assert type(one) is type(other) or (not exact and {type(one), type(other)} <= floats)
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    elif dataclasses.is_dataclass(one):
        one, other = (list(vars(v).values()) for v in (one, other))
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_alike(a, b, exact)
    elif isinstance(one, Exception):
        assert str(one) == str(other)
    elif isinstance(one, (str, type(None))):
        assert one == other
    else:
        a, b = np.asarray(one), np.asarray(other)
        assert a.dtype == b.dtype
        if a.dtype == object:  # integers beyond 64 bits
            assert one == other
            return
        np.testing.assert_allclose(one, other, 1e-6 if a.dtype == np.float32 else 1e-12)


def check(fun: Callable[..., Any], seed: int, calls: int) -> None:
    """Calls in turn of a function that learns forms, of one that learns none, and of plain Python."""
    r = random.Random(seed)
    f, general = symgrad(fun), symgrad(fun)
    pairs = [(f, general)] if fun is several else [(f, general)] * 2 + [(f.grad, general.grad)]
    for _, never in pairs:
        never._served.learn = lambda form: None
    recent: list[Any] = []
    for k in range(calls):
        if not recent or r.random() < 0.4:
            recent = [*recent[-5:], arguments(r, fun)]
        args, kwargs = r.choice(recent)
        learns, never = r.choice(pairs)
        ours, theirs = outcome(learns, args, kwargs), outcome(never, args, kwargs)
        about = f"call {k}: {args}, {kwargs}: {ours!r}, {theirs!r}"
        try:
            assert_alike(ours, theirs)
            if learns is f and not isinstance(ours, Exception):
                theirs = outcome(fun, args, kwargs)
                if not isinstance(theirs, (ArithmeticError, TypeError)):  # some are lists
                    assert_alike(ours, theirs, exact=False)
        except AssertionError as error:
            raise AssertionError(about) from error


@pytest.mark.sampled(10)
@pytest.mark.parametrize("fun", FUNCTIONS)
def test_forms_of_calls(fun: Callable[..., Any]) -> None:
    check(fun, 1, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("fun", FUNCTIONS)
def test_more_forms_of_calls(fun: Callable[..., Any], seed: int) -> None:
    check(fun, seed, 400)


def settled(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call, after some like it."""
    for _ in range(9):
        result = f(*args, **kwargs)
    return result


def general_calls(f: Any, *args: Any, **kwargs: Any) -> int:
    """How many of three calls take the general path, after some like them."""
    settled(f, *args, **kwargs)
    made, whole = [], f._call
    f._call = lambda *a, **k: made.append(a) or whole(*a, **k)
    for _ in range(3):
        f(*args, **kwargs)
    del f._call
    return len(made)


FORMS = [
    (plain, (1.5, 2.5), {}), (plain, (1.5,), {"scale": 2.0, "y": 2.5}), (plain, (1, 2, 2), {}), (plain, (1.5, 2, 2.0), {}),
    (plain, (np.array(1.5), np.array(2.5), 2.0), {}), (named, (1.5,), {"n": 3}), (by_place, (1.5, 2), {}),
    (of_items, ((1.5, 2.5),), {}), (of_items, ([1.5, 2],), {"scale": 1.0}), (of_items, (Pair(1.5, 2.5),), {}),
    (of_keys, ({"x": 1.5, "y": 2.5},), {}), (of_fields, (Point(1.5, 2.5),), {}), (of_fields, (Held(1.5, 2.5),), {}),
    (nested, ({"w": [1.5, 2.5], "b": 2.0}, Point(1.0, 2.0)), {}), (of_array, (0.3, np.array([0, 1, 1, 0])), {}),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("fun", "args", "kwargs"), FORMS)
def test_they_run_no_python(fun: Callable[..., Any], args: Any, kwargs: Any) -> None:
    f = symgrad(fun)
    assert general_calls(f, *args, **kwargs) == 0
    assert_alike(f(*args, **kwargs), fun(*args, **kwargs), exact=False)
    assert general_calls(f.grad, *args, **kwargs) == 0
    assert general_calls(f.value_and_grad, *args, **kwargs) == 0


def test_gradients_nest_as_arguments_do() -> None:
    slopes = settled(symgrad(nested).grad, {"w": [1.5, 2.5], "b": 2.0}, Point(1.0, 3.0))
    assert slopes == ({"w": [1.0, 6.0], "b": 7.5}, Point(1.5, 5.0))
    assert settled(symgrad(of_items, wrt="p").hessian, (1.5, 2.5)) == ((0.0, 2.0), (2.0, 0.0))
    value, slope = settled(symgrad(of_fields, wrt="p").value_and_grad, Point(1.5, 2.5))
    assert (value, slope) == (9.0, Point(6.0, 3.0))


def test_integers_keep_their_kind() -> None:
    f, g = symgrad(plain), symgrad(lambda x, n: x**n)
    for x in (1, 2**53 + 1, -(10**30)):
        assert settled(f, x, 2, 2) == plain(x, 2, 2)
        assert type(f(x, 2, 2)) is int
    assert [settled(g, 2, n) for n in (3, -1, 2)] == [8, 0.5, 4]
    assert type(g(2, 3)) is int


def test_large_integers_in_arrays() -> None:
    f, many = symgrad(lambda w, k: np.sum(w * k)), np.array([2**53 + 1, 1])
    assert settled(f, 1.0, np.array([1, 2])) == 3.0
    with pytest.raises(SymdiffError, match="beyond 2"):
        f(0.5, many)
    k = np.arange(12)
    assert settled(f, 1.0, k) == 66.0
    assert f(1.0, k[::2]) == 30.0
    np.testing.assert_array_equal(k, np.arange(12))


def test_defaults_that_change() -> None:
    def f(x, y=2.0, *, z=3.0):
        return x * y * z

    def g(p, scale=2.0):
        return scale * p[0]

    s, t = symgrad(f), symgrad(g)
    for y, z in ((2.0, 3.0), (5.0, 3.0), (5, 7.0), (np.float64(4.0), 1)):
        f.__defaults__ = (y,)
        f.__kwdefaults__["z"] = z
        g.__defaults__ = (y,)
        for _ in range(9):
            assert s(1.5) == f(1.5)
            assert s.grad(1.5) == (y * z, 1.5 * z, 1.5 * y)
            assert t((1.5,)) == g((1.5,))
            assert t.grad((1.5,))[0] == (y,)
        f.__kwdefaults__ = {"z": z + 1.0}
        assert settled(s, 1.5) == f(1.5)


def test_classes_and_dicts_that_are_others() -> None:
    f, g = symgrad(of_fields), symgrad(of_keys, wrt="p")
    assert settled(f, Held(1.5, 2.5)) == 9.0
    with pytest.raises(SymdiffError, match="Doubled"):
        f(Doubled(1.5, 2.5))
    assert f(Point(1.5, 2.5), 1.0) == 5.25
    first = settled(g.grad, {"x": 1.5, "y": 2.5})
    assert list(first) == ["x", "y"]
    assert list(g.grad({"y": 2.5, "x": 1.5})) == ["y", "x"]
    assert g.grad({"".join(["x", ""]): 1.5, "y": 2.5}) == first


def test_what_a_property_raises() -> None:
    @dataclasses.dataclass
    class Broken:
        x: float
        y: float

    f, point = symgrad(of_fields), Broken(1.5, 2.5)
    assert settled(f, point) == 9.0
    del point.y
    with pytest.raises(AttributeError):
        f(point)
    point.y = 2.0
    assert f(point) == 7.5


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("fun", "args", "kwargs"), FORMS)
def test_they_hold_no_references(fun: Callable[..., Any], args: Any, kwargs: Any) -> None:
    f = symgrad(fun)
    calls = [f, f.grad, f.value_and_grad]
    for call in calls:
        settled(call, *args, **kwargs)
        settled(call, *args, **kwargs)
    watched = [fun, fun.__defaults__, fun.__kwdefaults__, Point, Pair, *args, *kwargs.values()]
    watched += [v for a in args if dataclasses.is_dataclass(a) for v in vars(a).values()]
    watched = [v for v in watched if v is not None]
    bad = [(*args[:-1], "text"), (*args, 1.0, 2.0, 3.0)]
    collect()
    counts = [sys.getrefcount(v) for v in watched]
    for _ in range(300):
        for call in calls:
            call(*args, **kwargs)
    for call in calls[:1]:
        for wrong in bad:
            outcome(call, wrong, kwargs)
    collect()
    more = [sys.getrefcount(v) for v in watched]
    assert all(abs(a - b) < 200 for a, b in zip(more, counts, strict=True)), (counts, more)


def test_functions_are_freed_with_their_forms() -> None:
    def scaled(p, scale=2.0):
        return scale * p[0] * p[1]

    f = symgrad(scaled)
    assert settled(f.grad, (1.5, 2.5)) == ((5.0, 3.0), 3.75)
    assert settled(f, (1, 2)) == 4.0
    gone = weakref.ref(f)
    del f, scaled
    collect()
    assert gone() is None


def test_first_calls_in_several_threads() -> None:
    for fun, args, kwargs in FORMS[::3]:
        f, wanted = symgrad(fun), fun(*args, **kwargs)
        wrong: list[Any] = []
        start = threading.Barrier(4)

        def run(f: Any = f, args: Any = args, kwargs: Any = kwargs, wanted: Any = wanted, wrong: Any = wrong, start: Any = start) -> None:  # fmt: skip
            start.wait()
            for _ in range(20):
                found = outcome(f, args, kwargs)
                if isinstance(found, Exception) or abs(found - wanted) > 1e-9:
                    wrong.append(found)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert wrong == []
