"""The builtin in front of entries: who is asked, in which order, and what is kept alive."""

from __future__ import annotations

import copy
import ctypes
import functools
import gc
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime import builtin
from symdiff.runtime.dispatch import CompiledEntry, DispatchStub, refusing
from tests.collecting import collect


class Asked:
    """Entries that record who was asked."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def entry(self, name: str, kind: type, result: Any) -> Callable[..., Any]:
        def ask(*args: Any) -> Any:
            self.names.append(name)
            return result if all(type(a) is kind for a in args) else NotImplemented

        return ask


def general(*args: Any, **kwargs: Any) -> Any:
    return "general", args, kwargs


@pytest.fixture(params=["builtin", "Python"])
def stub(request: Any, monkeypatch: pytest.MonkeyPatch) -> DispatchStub:
    """One of each kind; the second is for Pythons whose objects we do not know."""
    if request.param == "Python":
        monkeypatch.setattr(builtin, "float_layout", lambda: None)
    elif builtin.float_layout() is None:
        pytest.skip("another Python")
    return DispatchStub(general, 2, keep=False)


def test_the_other_and_then_the_general_path(stub: DispatchStub) -> None:
    asked = Asked()
    stub.add(CompiledEntry(asked.entry("texts", str, "t")))
    stub.add(CompiledEntry(asked.entry("floats", float, 1.0)))
    assert stub.call(1.0, 2.0) == 1.0
    assert stub.call("a") == "t"
    assert stub.call(b"") == ("general", (b"",), {})
    assert stub.call(1.0, k=2) == ("general", (1.0,), {"k": 2})
    assert stub.call() == 1.0 or stub.call() == "t"
    assert sorted(asked.names[1:3]) == ["floats", "texts"]


def test_what_served_last_is_asked_first() -> None:
    if builtin.float_layout() is None:
        pytest.skip("another Python")
    stub, asked = DispatchStub(general, 1, keep=False), Asked()
    floats, texts = asked.entry("floats", float, (1, 2, 3)), asked.entry("texts", str, (4, 5, 6))
    stub.add(CompiledEntry(texts))
    stub.add(CompiledEntry(floats, True))
    assert [stub.call(v) for v in (1.0, "a", "b", 2.0, 3.0)] == [
        (1, (2, 3)), (4, 5, 6), (4, 5, 6), (1, (2, 3)), (1, (2, 3)),
    ]  # fmt: skip
    assert asked.names == ["floats", "floats", "texts", "texts", "texts", "floats", "floats"]


def test_pairs_and_places(stub: DispatchStub) -> None:
    places = []

    def placed(*given: Any) -> Any:
        places.append(given)
        return NotImplemented if given[-1] is None else 5

    stub.add(CompiledEntry(lambda *a: (1, 2, 3), True, placed))
    out = [0]
    assert stub.call(1) == (1, (2, 3))
    assert stub.call(7, 8, out=out) is out
    assert places == [(7, 8, out)]
    assert stub.call(7, out=out) == ("general", (7,), {"out": out})
    assert stub.call(7, 8, out=None) == ("general", (7, 8), {"out": None})
    assert stub.call(7, 8, out=out, k=1) == ("general", (7, 8), {"out": out, "k": 1})


def test_three_ways(stub: DispatchStub) -> None:
    def served(kind: type) -> Callable[..., Any]:
        return lambda *a: (kind, 0) if type(a[-1]) is kind else NotImplemented

    for k, kind in enumerate((int, str, bytes)):
        stub.add(CompiledEntry(served(kind), k == 1, served(kind)))
    for value in (1, "a", b"", "a", 1, b"", b"", 2):
        pair = type(value) is str
        assert stub.call(value) == (type(value), (0,) if pair else 0)
        assert stub.call(0, 0, out=value) is value
    assert stub.call(1.0) == ("general", (1.0,), {})
    assert stub.call(0, 0, out=1.0) == ("general", (0, 0), {"out": 1.0})


def test_a_pair_of_one(stub: DispatchStub) -> None:
    stub.add(CompiledEntry(lambda *a: (1,), True))
    assert stub.call() == (1, ())


@pytest.mark.parametrize("keywords", [{}, {"out": 1}, {"k": 1}])
def test_errors_go_through(stub: DispatchStub, keywords: dict[str, int]) -> None:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("wrong")

    stub.add(CompiledEntry(wrong, True, wrong))
    failing = DispatchStub(wrong, 2, keep=False)
    failing.add(CompiledEntry(refusing))
    for one in (stub if "k" not in keywords else failing, failing):
        with pytest.raises(ValueError, match="wrong"):
            one.call(1, 2, **keywords)


@pytest.mark.slow
@pytest.mark.skipif(builtin.float_layout() is None, reason="no builtins")
def test_python_frees_builtins_whose_owner_the_collector_cleared() -> None:
    stub = DispatchStub(general, 2, keep=False)

    def flags() -> int:
        definition = ctypes.c_void_p.from_address(id(stub.call) + object.__basicsize__).value
        return ctypes.c_int.from_address((definition or 0) + 16).value

    known = flags()
    vars(stub.call.__module__).clear()
    for one in [b"\xff" * 256 for _ in range(1000)]:  # in its place, if it was freed
        assert len(one) == 256
    collect()
    assert flags() == known


@pytest.mark.slow
def test_references_are_counted(stub: DispatchStub) -> None:
    first, second, out = object(), object(), [object()]
    results = (first, second)
    stub.add(CompiledEntry(lambda *a: results, True, lambda *a: None))

    def count() -> list[int]:
        return [sys.getrefcount(v) for v in (first, second, results, out, NotImplemented, None)]

    def calls(n: int) -> None:
        for _ in range(n):
            stub.call(1, 2)
            stub.call(1, 2, out=out)
            stub.call(1, k=2)

    calls(1)
    collect()  # what other tests left holds None, too
    gc.disable()
    try:
        before = count()
        calls(1000)
        after = count()
    finally:
        gc.enable()
    assert all(abs(a - b) < 100 for a, b in zip(before, after, strict=True))


@symgrad
def well(x: float, y: float = 2.0) -> float:
    return (x**2 - 4) / (x - 2) * y


@pytest.mark.slow
def test_functions_are_called_through_it() -> None:
    f = symgrad(well.__wrapped__)
    points = np.array([2.0, 3.0])
    for _ in range(3):
        assert f(2.0, 2.0) == f(2.0) == f(2) == f(x=2.0) == 8.0
        assert f.value_and_grad(2.0, 2.0) == (8.0, (2.0, 4.0))
        assert np.array_equal(f(points, points), (points + 2) * points)
        value, (dx, dy) = f.value_and_grad(points, points)
        assert np.array_equal(value, (points + 2) * points)
        assert np.array_equal(dx, points) and np.array_equal(dy, points + 2)
        out = np.empty(2), (np.empty(2), np.empty(2))
        single = points.astype("f4")
        assert f(single, single).dtype == np.float32 and f.grad(single, 1)[0].dtype == np.float32
        assert f.value_and_grad(points, points, out=out) is out
        assert np.array_equal(out[0], value) and np.array_equal(out[1][0], dx)
    with pytest.raises(TypeError, match="takes"):
        f(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="nothing"):
        f(1.0, nothing=3.0)


def test_they_look_like_functions() -> None:
    assert str(inspect.signature(well)) == "(x: 'float', y: 'float' = 2.0) -> 'float'"
    assert repr(well) == "<symdiff function well(x, y)>"
    assert functools.partial(well, y=1.0)(2.0) == 4.0
    assert functools.partial(well, 2.0)(1.0) == 4.0
    assert symgrad(functools.partial(well, y=3.0)).grad(2.0)[0] == 3.0
    assert symgrad(functools.partial(well.grad, 5.0))(4.0) == (4.0, 7.0)
    assert pickle.loads(pickle.dumps(well.grad)) is well.grad is copy.deepcopy(well.grad)


@pytest.mark.slow
def test_functions_are_collected() -> None:
    f = symgrad(lambda x: x * x)
    f.grad(2.0)
    f.grad(np.ones(3))
    gone = weakref.ref(f.grad), weakref.ref(f)
    del f
    collect()
    assert [r() for r in gone] == [None, None]


def test_entries_change_while_others_run() -> None:
    """The first call with numbers, in one thread, replaces what arrays go through in others."""
    many = np.linspace(3.0, 4.0, 200_000)
    errors = []

    def arrays(f: Any) -> None:
        for _ in range(30):
            if not np.array_equal(f(many, many), (many + 2) * many):
                errors.append("arrays")

    for _ in range(5):
        f = symgrad(well.__wrapped__, parallel=False)
        f(many[:4], many[:4])
        threads = [threading.Thread(target=arrays, args=(f,)) for _ in range(2)]
        for t in threads:
            t.start()
        for _ in range(200):
            if f(2.0, 2.0) != 8.0:
                errors.append("numbers")
        for t in threads:
            t.join()
    assert errors == []
