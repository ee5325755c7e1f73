"""What can be traced besides plain functions, and what may be called inside of one."""

from __future__ import annotations

import functools
import math
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.frontend import Parameters, capture


class Spring:
    """A callable object with methods."""

    def __init__(self, stiffness: float) -> None:
        self.stiffness = stiffness

    def __call__(self, x: float, power: float = 2.0) -> float:
        return self.stiffness * x**power

    def damped(self, x: float, rate: float = 0.5) -> float:
        return self(x) * math.exp(-rate * x)

    def scaled(self, x: float, n: int) -> float:
        return self.stiffness * x**n


SPRING = Spring(3.0)


def doubled(fun: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(fun)
    def wrapper(*args: Any, **kwargs: Any) -> float:
        return 2 * fun(*args, **kwargs)

    return wrapper


def injecting(fun: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(fun)
    def wrapper(*args: Any) -> float:
        return fun(1.0, *args)

    return wrapper


@doubled
def wave(x: float, k: float = 2.0) -> float:
    return math.sin(k * x)


@injecting
def misled(x: float) -> float:
    return x


@functools.lru_cache
def cached(x: float) -> float:
    return x * math.sin(x)


def product(x: float, y: float, *, n: int = 1) -> float:
    return x * y**n


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "args", "slopes"),
    [
        (SPRING, (0.7, 2.0), (6 * 0.7, 3 * 0.49 * math.log(0.7))),
        (SPRING.damped, (0.0, 1.0), (0.0, 0.0)),
        (functools.partial(SPRING.scaled, n=3), (0.5,), (9 * 0.25,)),
        (functools.partial(product, 2.0), (5.0,), (2.0,)),
        (functools.partial(product, y=2.0), (5.0,), (2.0, 5.0)),
        (functools.partial(functools.partial(product, 2.0), n=3), (5.0,), (150.0,)),
        (wave, (0.25, 2.0), (4 * math.cos(0.5), 0.5 * math.cos(0.5))),
        (functools.partial(wave, k=4.0), (0.25,), (8 * math.cos(1.0), 0.5 * math.cos(1.0))),
        (cached, (0.7,), (math.sin(0.7) + 0.7 * math.cos(0.7),)),
    ],
)
def test_traced(fun: Callable[..., float], args: tuple[float, ...], slopes: Any) -> None:
    traced = symgrad(fun, static="n" if "n" in Parameters(fun).names else None)
    assert traced(*args) == pytest.approx(fun(*args), rel=1e-15)
    found = traced.grad(*args)
    assert (found if isinstance(found, tuple) else (found,)) == pytest.approx(slopes, rel=1e-15)
    again = pickle.loads(pickle.dumps(symgrad(SPRING.damped)))
    assert again(0.5) == SPRING.damped(0.5)


def test_a_wrapper_that_changes_the_arguments_is_refused_where_it_calls() -> None:
    with pytest.raises(UnsupportedError) as caught:
        capture(misled)
    assert caught.value.message == "'misled' takes 1 positional argument, not 2"
    assert caught.value.location is not None
    assert caught.value.location.text.strip() == "return fun(1.0, *args)"


def test_a_wrapper_without_a_signature_takes_what_it_is_given() -> None:
    def wrapper(*args: float) -> float:
        return args[0] * args[1]

    assert symgrad(wrapper).grad(2.0, 3.0) == (3.0, 2.0)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}), ((1.0,), {}), ((1.0, 2.0, 3.0), {}), ((1.0, 2.0), {"z": 1}),
        ((1.0, 2.0), {"x": 1}), ((), {"y": 2.0}),
    ],
)  # fmt: skip
def test_wrong_calls_say_what_python_says(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as python:
        product(*args, **kwargs)
    with pytest.raises(TypeError) as ours:
        symgrad(product)(*args, **kwargs)
    assert str(ours.value) == str(python.value)


def test_wrong_calls_when_traced() -> None:
    inner = symgrad(product)

    def f(x: float) -> float:
        return inner(x)

    with pytest.raises(UnsupportedError) as caught:
        capture(f)
    assert caught.value.message == "product() missing 1 required positional argument: 'y'"
    assert caught.value.location is not None
    assert caught.value.location.text.strip() == "return inner(x)"


# ---------------------------------------------------- derivatives inside of functions
@symgrad
def base(x: float, y: float) -> float:
    return math.sin(x) * y**2 + x / y


@symgrad
def named(x: float, y: float) -> dict[str, float]:
    return {"p": x * x, "q": y * y * y}


@symgrad
def vector(x: float, y: float) -> Any:
    return np.array([x * x * y, y * y * y])


def cube(x: float) -> float:
    return x**3


SIN, COS = math.sin(0.7), math.cos(0.7)

INSIDE: list[tuple[Callable[[float], Any], float]] = [
    (lambda x: base.jvp((x, 2.0), (1.0, x))[1], COS * 4 + 0.5 + 0.7 * (4 * SIN - 0.7 / 4)),
    (lambda x: base.jvp([x, 2.0], np.array([1.0, x]))[0], SIN * 4 + 0.35),
    (lambda x: base.vjp((x, 2.0), 3.0)[1][0], 3 * (COS * 4 + 0.5)),
    (lambda x: base.hvp((x, 2.0), (3.0, x))[0], -12 * SIN + 0.7 * (4 * COS - 0.25)),
    (lambda x: named.vjp((x, 2.0), {"q": 3.0, "p": x})[1][0], 2 * 0.49),
    (lambda x: named.jvp((x, x), (x, 2))[1]["q"], 6 * 0.49),
    (lambda x: vector.vjp((x, 2.0), np.array([x, 2]))[1][1], 0.343 + 24.0),
    (lambda x: base.diff("x", "y")(x, x), 2 * 0.7 * COS - 1 / 0.49),
    (lambda x: base.diff(0)(x, 1), COS + 1),
    (lambda x: symdiff.grad(cube)(x), 3 * 0.49),
    (lambda x: symdiff.hessian(base, wrt="x")(x, 3.0), -9 * SIN),
    (lambda x: symdiff.value_and_grad(cube)(x)[0], 0.343),
    (lambda x: symdiff.jacobian(vector)(x, 1.0)[0][0], 1.4),
    (lambda x: symdiff.jvp(cube, (x,), (2.0,))[1], 6 * 0.49),
    (lambda x: symdiff.vjp(cube, (x,), 2.0)[1], 6 * 0.49),
    (lambda x: symgrad(cube).grad.grad(x), 4.2),
    (lambda x: SPRING(x) * SPRING.damped(x, 0.0), 9 * 0.7**4),
    (lambda x: wave(x, 3.0), 2 * math.sin(0.7 * 3)),
    (lambda x: np.float64(x) * np.float32(0.3), 0.7 * float(np.float32(0.3))),
    (lambda x: x * np.float16(0.1) + np.int64(2), 0.7 * float(np.float16(0.1)) + 2),
]


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(len(INSIDE)))
def test_called_inside(case: int) -> None:
    fun, expected = INSIDE[case]
    assert symgrad(fun)(0.7) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("fun", "message", "hint"),
    [
        (
            lambda x: symdiff.grad(lambda t: x * t)(x),
            "grad() of '<lambda>', which is defined inside of '<lambda>'",
            "define it outside of the function, and pass what it reads as arguments",
        ),
        (
            lambda x: base.diff("z")(x, x),
            "cannot differentiate base by the unknown parameter 'z'",
            "its real parameters are x, y",
        ),
        (lambda x: base.jvp(x), "base_jvp takes primals and a vector", ""),
        (lambda x: base.report(), "'base.report' cannot be traced", None),
        (lambda x: os.environ.get("HOME"), "'os.environ.get' cannot be traced", None),
        (
            lambda x: np.float32(x),
            "a real number that is not known when traced is rounded to float32",
            "leave the conversion out; the arguments decide the precision of a call",
        ),
        (lambda x: x * np.int8(300), "300 does not fit into int8", ""),
    ],
)
def test_refused_inside(fun: Callable[..., Any], message: str, hint: str | None) -> None:
    with pytest.raises(SymdiffError) as caught:
        capture(fun)
    place = caught.value.location
    assert caught.value.message == message
    assert place is not None and place.path == __file__ and "lambda x:" in place.text
    assert hint is None or caught.value.hint == hint


def test_an_error_in_an_installed_package_names_the_users_call(tmp_path: Any) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    file = folder / "installed.py"
    file.write_text("def helper(v):\n    input(v)\n    return v\n")
    scope: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    helper = scope["helper"]

    def f(x: float) -> float:
        return helper(x)

    with pytest.raises(UnsupportedError) as caught:
        capture(f)
    place = caught.value.location
    assert caught.value.message == f"'input' cannot be traced ({file}:2:5)"
    assert place is not None and place.text.strip() == "return helper(x)"
    with pytest.raises(UnsupportedError) as direct:
        capture(helper)
    assert str(direct.value).startswith(f"{file}:2:5: 'input' cannot be traced\n")


# ------------------------------------------------------------- several lambdas on a line
def test_lambdas_on_one_line() -> None:
    # fmt: off
    pairs = [("a", lambda x: x * 2), ("b", lambda x: 0.0 if x == 0 else x * 3), ("c", lambda x: x or 1.0)]
    nested = [lambda x: [lambda x: x + 1][0](x) * 2, lambda x: [lambda x: x * 5][0](x)]
    # fmt: on
    assert [symgrad(f)(2.0) for _, f in pairs] == [4.0, 6.0, 2.0]
    assert [symgrad(f)(2.0) for f in nested] == [6.0, 10.0]


def test_infinite_constants_are_those_of_ieee() -> None:
    assert math.isnan(symgrad(lambda x: x + float("inf") * 0)(1.0))
    assert symgrad(lambda x: x + np.float64("inf"))(1.0) == math.inf


@symgrad
def _pair(x):
    return np.array([x[0] ** 2 + x[1], x[0] - x[1]])


@symgrad
def _powers(x):
    return np.array([x, x**2])


ARRAYS_OF_RESULTS = {
    "matmul": lambda x: _pair(x) @ x,
    "sum": lambda x: _pair(x).sum(),
    "element": lambda x: _pair(x)[1] * x[0],
    "shape": lambda x: _pair(x).reshape(2, 1) + 1,
    "stack": lambda x: np.stack([_pair(x), x]),
    "rows": lambda x: np.sum(_powers(x) * x, axis=0),
    "jacobian": lambda x: _pair.jacobian(x) @ x,
}


@pytest.mark.sampled
@pytest.mark.parametrize("fun", ARRAYS_OF_RESULTS.values(), ids=ARRAYS_OF_RESULTS)
def test_an_array_that_a_decorated_function_returns_is_an_array(fun):
    x = np.array([1.5, 2.0])
    np.testing.assert_allclose(symgrad(fun)(x), fun(x), rtol=1e-15)
