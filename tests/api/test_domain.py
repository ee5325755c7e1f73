"""What `assert` and `domain=` say is checked in every call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import DomainError, SymdiffError, symgrad

Vector = np.ndarray


def log_of_square(x: float) -> Any:
    assert x > 0
    return math.log(x * x)


def root_of_square(x: float) -> Any:
    assert x >= 0
    return np.sqrt(x**2)


def one_side(x: float) -> Any:
    if x > 1:
        assert x < 2
        return x * 3
    return x * 2


def several(x: float, y: float) -> Any:
    assert 0 < x < y, "in order"
    return np.sqrt((x - y) ** 2) + abs(x)


def of_a_value(x: float) -> Any:
    r = x**2 - 1
    assert r > 0
    return np.log(r)


def repeated(x: float) -> Any:
    assert x > 0
    total = 1.0
    while total < 3:
        total = total + abs(x)
    return total


def whole(x: Vector) -> Any:
    assert np.all(x > 0)
    return np.sum(np.log(x))


def each(x: Vector) -> Any:
    total = 0.0
    for i in range(len(x)):
        assert x[i] > 0
        total += np.log(x[i] * x[i])
    return total


def of_a_sum(x: Vector) -> Any:
    assert np.sum(x) > 0
    return np.sqrt(np.sum(x) ** 2)


def first_and_last(x: Vector) -> Any:
    assert x[0] < x[-1]
    return abs(x[-1] - x[0]) + np.sum(x**2)


def of_matrix(x: Vector) -> Any:
    assert x[0, 0] * x[1, 1] > x[0, 1] * x[1, 0]
    return np.log(x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]) + np.sum(x)


def in_a_while(x: Vector) -> Any:
    k, total = 0, 0.0
    while k < len(x):
        assert abs(x[k]) < 10
        total += x[k] ** 2
        k += 1
    return total


V = np.array([1.0, 2.0, 3.0])
CASES: list[tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (log_of_square, {}, (2.0,), (-2.0,)),
    (log_of_square, {}, (2.0,), (0.0,)),
    (root_of_square, {}, (2.0,), (-1.0,)),
    (one_side, {}, (1.5,), (3.0,)),
    (several, {}, (1.0, 2.0), (2.0, 1.0)),
    (of_a_value, {}, (2.0,), (0.5,)),
    (repeated, {}, (1.0,), (-1.0,)),
    (lambda x: root_of_square(x - 1) + 1, {}, (2.0,), (0.5,)),
    (lambda x: abs(x), {"domain": {"x": (0, None)}}, (2.0,), (-1.0,)),
    (lambda x: abs(x), {"domain": "x > 0"}, (2.0,), (-1.0,)),
    (lambda x, y: abs(x) * y, {"domain": {"y": (-1, 1)}}, (-2.0, 0.5), (1.0, 1.5)),
    (log_of_square, {}, (V,), (-V,)),
    (log_of_square, {}, (np.ones(3000),), (np.linspace(-1e-3, 1, 3000),)),
    (log_of_square, {}, (V.astype(np.float32),), (-V.astype(np.float32),)),
    (repeated, {}, (V,), (V - 2,)),
    (several, {}, (V, 5.0), (V, 2.5)),
    (whole, {}, (V,), (V - 2,)),
    (each, {}, (V,), (V - 2,)),
    (of_a_sum, {}, (V,), (-V,)),
    (first_and_last, {}, (V,), (-V,)),
    (of_matrix, {}, (np.array([[2.0, 1.0], [1.0, 2.0]]),), (np.ones((2, 2)),)),
    (in_a_while, {}, (V,), (10 * V,)),
    (lambda x: np.sum(np.sqrt(x**2)), {"domain": {"x": (0, None)}}, (V,), (V - 2,)),
    (lambda x: np.sum(x @ x), {"domain": "x < 5"}, (np.ones((2, 2)),), (6 * np.ones((2, 2)),)),
    (lambda x, k: np.sum(x) * k, {"domain": {"k": (0, 1)}}, (V, 0.5), (V, 2.0)),
]


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_violation_is_refused(case: int) -> None:
    fun, options, good, bad = CASES[case]
    f = symgrad(fun, **options)
    off = symgrad(fun, check_domain=False, **options)
    for g in (f, f.grad):
        for _ in range(2):
            g(*good)
        for _ in range(3):
            with pytest.raises(DomainError):
                g(*bad)
        g(*good)
    assert f(*good) is not None
    assert np.allclose(off(*good), f(*good), equal_nan=True)
    if fun is not repeated:  # which would not end
        off(*bad)


def test_what_is_believed_is_no_fault_elsewhere() -> None:
    """What is returned where an unchecked domain is left is not compared with plain Python."""
    for fun in (abs, lambda x: np.sqrt(x**2), lambda x: np.sum(np.sqrt(x**2)), lambda x: x if x > 0 else -x):  # fmt: skip
        f = symgrad(lambda x, fun=fun: fun(x) * 2, static="fun", domain={"x": (0, None)}, check_domain=False)  # fmt: skip
        for x in (-2.0, np.float64(-1.0)):
            f(x)
        assert f(3.0) == 6.0
    elementwise = symgrad(lambda x: np.sqrt(x**2), domain="x > 0", check_domain=False)
    assert elementwise(np.array([2.0, -2.0]))[0] == 2.0


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", [
    {"x": 0}, {"x": None}, {"x": (0, 1, 2)}, {"x": ("a", 1)}, {"x": (1j, 2)}, {"x": {0, 1}}, {"x": True},
    {"x": (1, 0)}, {"x": (math.nan, 1)}, {"x": (math.inf, None)}, {"x": "positive"}, {"x": "> 0"}, {"x": ""},
    {"x": "(0, 1)"}, {"y": (0, 1)}, {"y": "y > 0"}, {0: (0, 1)}, [("x", (0, 1))], 0, "x >", "x + 1",
])  # fmt: skip
def test_what_is_no_domain(wrong: Any) -> None:
    for x in (0.5, V):
        with pytest.raises(
            SymdiffError, match=r"domain|param|expr|unexpected|condition|tuple"
        ) as e:
            symgrad(lambda x: np.sum(x * x), domain=wrong)(x)
        assert not isinstance(e.value, DomainError)


def test_an_unknown_name_is_refused_at_decoration() -> None:
    with pytest.raises(SymdiffError, match="domain names 'y', which f does not take") as e:

        @symgrad(domain={"y": (0, 1)})
        def f(x: Any) -> Any:
            return x

    assert "its parameters are x" in str(e.value)


@pytest.mark.sampled
@pytest.mark.parametrize("domain", [{"x": "x > 0"}, {"x": "0 < x and x < 5"}, {"x": [0, 5]}, {"x": np.array([0.0, 5])}])  # fmt: skip
def test_other_ways_to_say_it(domain: Any) -> None:
    for fun in (lambda x: np.log(x * x), lambda x: np.sum(np.log(x * x))):
        f = symgrad(fun, domain=domain)
        assert np.allclose(f(V), fun(V), rtol=1e-15)
        with pytest.raises(DomainError):
            f(V - 2.5)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "strict", "certified"])
def test_every_accuracy(accuracy: str) -> None:
    f = symgrad(log_of_square, accuracy=accuracy)
    for good, bad in ((2.0, -2.0), (V, -V)):
        f(good)
        f.grad(good)
        for g in (f, f.grad):
            with pytest.raises(DomainError, match="x > 0"):
                g(bad)


def test_it_names_the_line() -> None:
    with pytest.raises(DomainError) as raised:
        symgrad(log_of_square)(-2.0)
    assert isinstance(raised.value, (ValueError, SymdiffError))
    location = raised.value.location
    assert location is not None
    assert location.line == log_of_square.__code__.co_firstlineno + 1
    with pytest.raises(DomainError, match=r"x\[i\] > 0"):
        symgrad(each)(-V)


def test_nan_is_outside() -> None:
    f = symgrad(log_of_square)
    with pytest.raises(DomainError):
        f(math.nan)


def test_inlined_functions() -> None:
    inner = symgrad(log_of_square)
    f = symgrad(lambda y: inner(y - 1) * 2)
    g = symgrad(lambda y: inner.grad(y - 1) * 2)
    for h in (f, g, f.grad):
        h(3.0)
        with pytest.raises(DomainError):
            h(0.5)


def test_products_and_hessians() -> None:
    f = symgrad(log_of_square)
    for call in (
        lambda x: f.hessian(x),
        lambda x: f.jvp((x,), (1.0,)),
        lambda x: f.vjp((x,), 1.0),
        lambda x: f.value_and_grad(x),
    ):
        call(2.0)
        with pytest.raises(DomainError):
            call(-2.0)


def test_out_and_broadcasting() -> None:
    f = symgrad(several)
    out = np.empty(3)
    f(V, 5.0, out=out)
    with pytest.raises(DomainError):
        f(V, 2.0, out=out)
    with pytest.raises(DomainError):
        f(V[:, None], np.array([4.0, 0.5]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "others"),
    [
        (lambda x: math.sqrt(x) ** 2 / x, ()),
        (lambda x: math.exp(math.log(x)), ()),
        (lambda x: math.sqrt(x) * 0 + 1, ()),
        (lambda x: 1.0 if math.sqrt(x) > 1 else 0.0, ()),
        (lambda x: max(1.0, math.sqrt(x)), ()),
        (lambda x: 1.0 if math.isnan(math.sqrt(x)) else 2.0, ()),
        (lambda x, y: math.sqrt(x) ** 2 / x if y > 0 else 3.0, (1.0,)),
        (lambda x, y: math.sqrt(x) ** 2 / x if y > 0 else 3.0, (-1.0,)),
        (lambda x, y: math.sqrt(x) ** 2 / x if x < y else 3.0, (1.0,)),
        (lambda x, y: (y, math.sqrt(x) ** 2), (2.0,)),
    ],
)
def test_nan_is_inside_of_a_domain_as_in_python(function: Any, others: Any) -> None:
    args = (math.nan, *others)
    np.testing.assert_array_equal(symgrad(function)(*args), function(*args))


def positive(r: float) -> float:
    if r < 0:
        raise ValueError("negative")
    return r**3


def overlap(a: float, b: float, d: float) -> float:
    if d == 0:
        return positive(max(a, b)) + positive(min(a, b, math.floor(a)))
    return (a - b + d) * (a + b - d) / d - (a + b - d)


def test_domains_of_what_is_computed_again() -> None:
    """What lost digits is computed again under the same conditions, of maxima and floors too."""
    f = symgrad(overlap)
    for place in ((2.0, 2.0, 1.0), (2.0, 2.0, 5e-324), (2.5, 3.0, 0.0)):
        assert f(*place) == pytest.approx(overlap(*place), rel=1e-14)
    # where a - b + d is 0
    assert f(1e8, 1e8 + 2.0**-20, 2.0**-20) == -(2e8 + 2.0**-20 - 2.0**-20)
    for place in ((-1.0, -2.0, 0.0), (2.0, -2.0, 0.0)):
        with pytest.raises(ValueError, match="negative"):
            f(*place)
