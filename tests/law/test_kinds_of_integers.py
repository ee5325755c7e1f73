"""Integers and truth values among the arguments: what is an integer in Python is that integer,
whatever its size, and of the same type; everything else is the float that it was."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import DomainError, SymdiffError
from tests.law.alike import alike


def rising(x: Any) -> Any:
    found = 1
    for k in range(30):
        found *= x + k
    return found


def halved(x: Any) -> Any:
    found = 1
    for _ in range(40):
        found = found / 2 + x
    return found


def chosen(x: Any) -> Any:
    if x > 2:
        return x * x
    return 0.5 * x


def steps(x: Any) -> Any:
    count = 0
    while count < x:
        count += 2
    return count


def stored(x: Any) -> Any:
    a = np.array([x, 3])
    a[0] = x / 2
    return a[0] + 0.5


NUMBERS = [
    lambda x: x * x + 1,
    lambda x: x,
    lambda x: x**40,
    lambda x: 2**x,
    lambda x: x**x,
    lambda x: divmod(x, 2),
    lambda x: x / 2,
    lambda x: x * 1.0,
    lambda x: x**-1 if x else x,
    lambda x: x**0.5,
    lambda x: max(x, 2),
    lambda x: max(x, 0.5),
    lambda x: x if x > 1 else 0,
    lambda x: x if x > 1 else 0.5,
    lambda x: round(x, -1),
    lambda x: bool(x),
    lambda x: x > 1,
    lambda x: np.array([x, 2 * x]),
    lambda x: np.where(x > 1, x, 0),
    lambda x: np.clip(x, 0, 2),
    lambda x: np.sqrt(x),
    lambda x: np.sign(x),
    lambda x: np.negative(x),
    lambda x: (-x, +x),
    lambda x: (abs(x - 5), x**7, x // 2, x % 3, 7 // (x + 5)),
    lambda x: [x + 0.0, x * 2 / 2, math.sin(x), math.sqrt(x) * x, min(x, 2.5, 7)],
    lambda x: (round(x), round(x, 1)),
    lambda x: math.trunc(x),
    lambda x: (round(x / 3), int(x), float(x), math.fabs(x)),
    lambda x: (pow(x, 3), sum([x, x, 1]), math.prod([x, x]), math.floor(x / 2), math.pow(x, 2)),
    lambda x: {"rest": math.fmod(x, 2), "sign": math.copysign(x, -1), "product": (x > 1) * x},
    lambda x: (x, x * 0.5, x > 0, [x, [x + 1, 0.5]], {"whole": x * x, "real": x / 4}),
    lambda x: (np.array([x, 0.5]), np.array([x, 2 * x])[1], np.array([[x, 1], [1, x]]).T),
    lambda x: (np.array([x, 1]) @ np.array([2, x]), np.sum(np.array([x, 1])), np.full(2, x)),
    lambda x: (np.abs(x), np.square(x), np.multiply(x, x), np.power(x, 2), np.floor(x)),
    lambda x: (np.add(x, 1), np.add(x, 1.0), np.maximum(x, 1), np.maximum(x, 1.0)),
    lambda x: (np.mod(x, 2), np.floor_divide(x, 2), np.where(x > 1, x, 0.0), np.heaviside(x, 1)),
    rising,
    halved,
    chosen,
    steps,
    stored,
]


def running(x: Any) -> Any:
    total = 0
    for v in x:
        total += v * v
    return total


def smoothed(x: Any) -> Any:
    e = np.zeros(len(x))
    for k in range(1, len(x)):
        e[k] = (e[k - 1] + x[k]) / 2
    return e


def truncated(x: Any) -> Any:
    e = np.zeros_like(x)
    for k in range(len(x)):
        e[k] = x[k] / 2
    return e


def overwritten(x: Any) -> Any:
    x[0] = x[0] / 2
    return x[0] + 0.25


ARRAYS = [
    lambda x: x * x + 1,
    lambda x: x,
    lambda x: x[0],
    lambda x: x / 2,
    lambda x: x * 0.5,
    lambda x: x // 2,
    lambda x: np.sum(x),
    lambda x: np.mean(x),
    lambda x: np.argmax(x),
    lambda x: np.where(x > 1, x, 0),
    lambda x: np.sort(x),
    lambda x: x.astype(float),
    lambda x: [v * 2 for v in x],
    lambda x: x > 1,
    lambda x: x if x[0] > 1 else x / 2,
    lambda x: (x[::-1], x[0] * x[-1], x * 1.0, x % 2, x**2, x**0.5, -x, abs(x)),
    lambda x: (x, np.sum(x), np.sum(x) / 2, np.sum(x * x) * 2, x.sum() / 2, np.prod(x)),
    lambda x: [np.max(x) - np.min(x), np.median(x), np.std(x), np.cumsum(x), np.diff(x)],
    lambda x: (np.dot(x, x), x @ x, np.outer(x, x), np.linalg.norm(x), np.trapezoid(x)),
    lambda x: (np.where(x > 1, x, 0.0), np.maximum(x, 1), np.maximum(x, 1.5), np.clip(x, 0, 2)),
    lambda x: (np.square(x), np.sign(x), np.sqrt(np.sum(x)), np.exp(-x), np.polyval([1, 2, 3], x)),
    lambda x: (np.concatenate([x, x]), np.concatenate([x, [0.5]]), np.stack([x, 2 * x])),
    lambda x: [np.tile(x, 2), np.roll(x, 1), np.reshape(x, (-1, 1)), np.zeros_like(x)],
    lambda x: (np.ones(3) * x[0], np.interp(0.5, np.arange(len(x)), x), np.convolve(x, [1, 2])),
    running,
    smoothed,
    truncated,
    overwritten,
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", NUMBERS)
def test_numbers(f: Any) -> None:
    s = symgrad(f)
    for x in (3, 2.0, 3, 1, 0, True, np.int64(3), np.int32(2), np.bool_(True), 2.0, 3, 3):
        if isinstance(x, np.generic) and f in (rising,):
            continue
        if isinstance(x, float):
            s(x)
            continue
        with np.errstate(all="ignore"):
            try:
                want = f(x)
            except (ArithmeticError, TypeError, ValueError):
                continue
        alike(s(x), want)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", ARRAYS)
def test_arrays(f: Any) -> None:
    s = symgrad(f)
    for x in (np.array([3, 1, 2]), np.array([0, 1, 4, 5]), np.array([2, 1, 7], np.int32)):
        s(x.astype(float))
        try:
            want = f(x.copy())
        except (TypeError, ValueError):
            continue
        if np.asarray(x).dtype == np.int32 and np.asarray(want, object).dtype == np.float32:
            continue
        for _ in range(2):
            alike(s(x.copy()), want)


def test_integers_of_any_size_are_exact() -> None:
    square = symgrad(lambda x: x * x)
    big = 2**53 + 1
    assert square(big) == big * big
    assert square(10**40) == 10**80
    assert square(np.int64(2**31 + 1)) == (2**31 + 1) ** 2
    with pytest.raises(SymdiffError, match="2\\*\\*53"):
        square.grad(big)


def test_derivatives_at_integers_are_those_of_real_numbers() -> None:
    f = symgrad(lambda x: x**3)
    for x in (2, True, np.int64(2), np.bool_(True)):
        got = f.grad(x)
        assert isinstance(got, float)
        assert got == 3 * float(x) ** 2
    assert f.grad(np.array([1, 2])).tolist() == [3.0, 12.0]
    assert isinstance(f.grad(2), float)
    assert isinstance(f.hessian(2), float)
    assert symgrad(lambda x: np.sum(x * x)).grad(np.array([1, 2])).dtype == np.float64


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: x * n,
        lambda x, n: n * n,
        lambda x, n: (np.sin(x), n * n),
        lambda x, n: np.where(x > 1, n, 0),
        lambda x, n: np.sum(x) * n,
        lambda x, n: (np.sum(x), n // 2, n / 2),
        lambda x, n: np.maximum(x, n),
        lambda x, n: x[0] if n > 2 else n,
    ],
)
def test_integers_beside_others(f: Any) -> None:
    s = symgrad(f)
    floats, whole = np.array([0.5, 2.0, 3.0]), np.array([1, 2, 5])
    for _ in range(2):
        for x in (floats, whole):
            for n in (3, 2.0, 2, 3.5, True):
                alike(s(x, n), f(x, n))


def test_two_numbers() -> None:
    f = symgrad(lambda x, y: x * x + y)
    g = symgrad(lambda x, y: (x * x, y))
    for _ in range(3):
        for x, y in ((2, 3), (2.0, 3), (2, 3.0), (2.0, 3.0), (True, 2)):
            alike(f(x, y), x * x + y)
            alike(g(x, y), (x * x, y))


class Point(NamedTuple):
    x: Any
    y: Any


def test_in_containers() -> None:
    for f, given in (
        (lambda p: p["a"] * p["b"], {"a": 3, "b": 4}),
        (lambda p: p["a"] / p["b"], {"a": 3, "b": 4}),
        (lambda p: [v * v for v in p], [1, 2.5, True]),
        (lambda p: Point(p.y, p.x / 2), Point(3, 5)),
        (lambda p: np.sum(p[0]) * p[1], (np.array([1, 2]), 3)),
    ):
        for _ in range(2):
            alike(symgrad(f)(given), f(given))


def test_elements_that_python_takes_one_by_one() -> None:
    f = symgrad(lambda x: x * x if x > 0 else 0)
    got = f(np.array([3, -1, 2]))
    assert got.dtype == np.int64
    assert got.tolist() == [9, 0, 4]
    g = symgrad(lambda x: x * x if x > 0 else 0.5)
    assert g(np.array([3, -1])).tolist() == [9.0, 0.5]


def test_domains_are_checked() -> None:
    def whole(x: Any) -> Any:
        assert x > 0
        return x * x

    f = symgrad(whole)
    assert f(3) == 9
    assert type(f(3)) is int
    with pytest.raises(DomainError):
        f(-3)
    g = symgrad(lambda x: x * x, domain={"x": (0, 5)})
    assert type(g(2)) is int
    with pytest.raises(DomainError):
        g(7)


def test_the_arguments_stay_as_they_are() -> None:
    x = np.array([4, 1])
    assert symgrad(overwritten)(x) == 2.25
    assert x.tolist() == [4, 1]


def test_a_dtype_that_is_asked_for_stays() -> None:
    assert isinstance(symgrad(lambda x: x * x, dtype="float64")(3), float)


def test_changed_globals_are_seen() -> None:
    global FACTOR
    FACTOR = 2
    f = symgrad(lambda x: FACTOR * x)
    assert type(f(3)) is int
    FACTOR = 0.5
    assert f(3) == 1.5
    assert f(3) == 1.5
    FACTOR = 4
    assert f(3) == 12
    assert type(f(3)) is int


FACTOR: Any = 2
