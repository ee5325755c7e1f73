"""Which parameters are real or static, and how calls are bound to them."""

# ruff: noqa: UP037, F821

from __future__ import annotations

import inspect
import re
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import symgrad
from symdiff.frontend import Array, Parameters


def plain(x, y):
    return x + y


def mixed(a, n: int, b=2, mode="fast", /, c=1.5, *, flag: bool, d=3, w=None, s: "str" = "q"):
    return a


def test_real_and_static() -> None:
    p = Parameters(mixed)
    assert p.names == ("a", "n", "b", "mode", "c", "flag", "d", "w", "s")
    assert p.real == ("a", "b", "c", "d")
    assert p.static == ("n", "mode", "flag", "w", "s")
    assert p.defaults == {"b": 2, "mode": "fast", "c": 1.5, "d": 3, "w": None, "s": "q"}


def counted(z, k=2, n=64, m=3, j=4):
    m = m + 1
    total = k * z
    for i in range(1, 2 * n):
        total = total + i * z
    for _ in range(int(j), m):
        total = total + z
    return total


def test_whole_numbers_that_count_iterations_are_static() -> None:
    p = Parameters(counted)
    assert p.real == ("z", "k", "m", "j")
    assert p.static == ("n",)


def test_defaults_may_be_containers_of_numbers() -> None:
    def polynomial(x, c=(1.0, 0.5), d={"a": [2.0]}):  # noqa: B006
        return c[0] + c[1] * x + d["a"][0] * x * x

    f = symgrad(polynomial)
    assert f(3.0) == polynomial(3.0)
    assert f.grad(3.0) == (12.5, (1.0, 3.0), {"a": [9.0]})
    assert f.grad(3.0, (0.0, 1.0))[0] == 13.0


def test_listed_static() -> None:
    assert Parameters(plain, ["y"]).static == ("y",)
    assert Parameters(plain, "y").real == ("x",)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((1.0, 2), {"flag": True}),
        ((1.0, 2, 7.0, "slow", 0.5), {"flag": False, "d": 1.0, "w": 4, "s": "z"}),
        ((1.0, 2, 7.0), {"c": 9.0, "flag": True}),
    ],
)
def test_bind_as_python_does(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    p = Parameters(mixed)
    bound = inspect.signature(mixed).bind(*args, **kwargs)
    bound.apply_defaults()
    real, static = p.bind(args, kwargs)
    assert real == tuple(bound.arguments[n] for n in p.real)
    assert static == {n: bound.arguments[n] for n in p.static}


def with_defaults(x, n: int = 2, y=1.5):
    return x * y**n


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_fast_path_equals_signature(values: list[float]) -> None:
    p = Parameters(with_defaults)
    bound = inspect.signature(with_defaults).bind(*values)
    bound.apply_defaults()
    real, static = p.bind(tuple(values), {})
    assert real == (bound.arguments["x"], bound.arguments["y"])
    assert static == {"n": bound.arguments["n"]}


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1.0,), {}, "plain() missing 1 required positional argument: 'y'"),
        ((1.0, 2.0, 3.0), {}, "plain() takes 2 positional arguments but 3 were given"),
        ((1.0, 2.0), {"z": 1}, "plain() got an unexpected keyword argument 'z'"),
        ((1.0, 2.0), {"x": 1}, "plain() got multiple values for argument 'x'"),
    ],
)
def test_wrong_calls(args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        Parameters(plain).bind(args, kwargs)


def test_array_annotations() -> None:
    def f(x: Array["n", 3], y: Array["n"]):
        return x

    def g(x: "Array"):
        return x

    def h(x: Array, n: int):
        return x

    def k(x: "Array['n', 3]", y: 'symdiff.Array["m"]'):
        return x

    assert Parameters(f).arrays == {"x": ("n", 3), "y": ("n",)}
    assert Parameters(g).arrays == {"x": ()} == Parameters(h).arrays
    assert Parameters(h).real == ("x",) and Parameters(h).static == ("n",)
    assert Parameters(k).arrays == {"x": ("n", 3), "y": ("m",)}


def test_binding_is_cheap() -> None:
    """Positional arguments run one frame of Python, and names one more; `inspect` runs many."""
    p, entered = Parameters(plain), []

    def profile(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    for args, kwargs, names in (
        ((1.0, 2.0), {}, {"bind"}),
        ((1.0,), {"y": 2.0}, {"bind", "_named"}),
    ):
        entered.clear()
        sys.setprofile(profile)
        try:
            p.bind(args, kwargs)
        finally:
            sys.setprofile(None)
        assert {n for n in entered if not n.startswith("<")} == names
