"""What `assert`, `domain=` and `raise` under a condition say is checked in every call."""

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
    (log_of_square, {}, (2.0,), (math.nan,)),
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


# --- calls raise what plain Python raises
class OwnError(Exception):
    pass


def root(x: Any) -> Any:
    if x < 0:
        raise ValueError(f"bad {x}")
    return math.sqrt(x)


def ratio(x: Any, y: Any) -> Any:
    if not x > 0:
        raise OwnError("x must be positive", x)
    if y <= 0 or y > x:
        raise OwnError(f"y is {y:.3f}")
    return math.log(x) / y


def square(x: Any) -> Any:
    if x > 10:
        raise OverflowError
    return x * x


def squares(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        total += square(x * k)
    return total


def entries(x: Any) -> Any:
    if np.any(x < 0):
        raise ValueError("negative entries")
    return np.sum(np.sqrt(x))


def one_by_one(x: Any) -> Any:
    if x.shape[0] < 2:
        raise IndexError("short")
    total = 0.0
    for v in x:
        if v < 0:
            raise OwnError("negative")
        total += math.sqrt(v)
    return total


def powers(x: Any, a: Any) -> Any:
    if a < 0:
        raise OwnError(a)
    total = 0.0
    for v in x:
        total += v**a
    return total


def chain(x: Any) -> Any:
    if x > 0:
        return math.log(x)
    elif x == 0:
        return 0.0
    else:
        raise ValueError("negative")


def nested(x: Any, y: Any) -> Any:
    if x > 0:
        if y > 0:
            z = x * y
        else:
            raise OwnError("y")
    else:
        z = -x
    return z + 1


def newton(x: Any) -> Any:
    for _ in range(100):
        slope = 2 * x
        if abs(slope) < 1e-12:
            raise ZeroDivisionError("flat")
        new = x - (x * x - 2) / slope
        if abs(new - x) < 1e-12:
            return new
        x = new
    raise RuntimeError("no convergence")


def fail(message: str) -> Any:
    raise OwnError(message)


def helped(x: Any) -> Any:
    if x < 0:
        fail("low")
    if x > 10:
        return fail("high")
    return x * 2


def validated(x: Any) -> Any:
    for v in x:
        if v < 0:
            fail("negative")
    return x.sum() ** 2


PAIR = np.array([1.0, 4.0])
RAISING: list[tuple[Any, list[tuple[Any, ...]], list[tuple[Any, ...]]]] = [
    (root, [(4.0,), (math.nan,)], [(-2.0,)]),
    (ratio, [(2.0, 1.0)], [(-2.0, 1.0), (2.0, 3.0), (2.0, 0.0), (math.nan, 1.0)]),
    (squares, [(2.0,)], [(6.0,)]),
    (entries, [(PAIR,)], [(-PAIR,)]),
    (one_by_one, [(PAIR,)], [(-PAIR,), (PAIR[:1],)]),
    (powers, [(PAIR, 2.0)], [(PAIR, -2.0)]),
    (chain, [(2.0,), (0.0,)], [(-1.0,)]),
    (nested, [(1.0, 2.0), (-1.0, -2.0)], [(1.0, -2.0)]),
    (newton, [(1.0,)], [(0.0,)]),
    (helped, [(1.0,)], [(-1.0,), (11.0,)]),
    (validated, [(PAIR,)], [(-PAIR,)]),
]


@pytest.mark.sampled
@pytest.mark.parametrize("case", RAISING, ids=[c[0].__name__ for c in RAISING])
def test_calls_raise_what_python_raises(case: Any) -> None:
    function, fine, wrong = case
    f = symgrad(function)
    for args in fine * 3:
        np.testing.assert_allclose(f(*args), function(*args), rtol=1e-14)
        f.grad(*args)
    for args in wrong:
        with pytest.raises(Exception) as plain:
            function(*args)
        for call in (f, f.grad, f.value_and_grad):
            with pytest.raises(plain.type) as caught:
                call(*args)
            assert caught.value.args == plain.value.args or isinstance(plain.value.args[0], float)
            assert caught.traceback[-1].lineno == plain.traceback[-1].lineno


@pytest.mark.slow
def test_products_and_hessians_raise_it_too() -> None:
    f = symgrad(root)
    for call, args in (
        (f.hessian, (-1.0,)),
        (f.jvp, ((-1.0,), (1.0,))),
        (f.vjp, ((-1.0,), 1.0)),
        (f.hvp, ((-1.0,), (1.0,))),
    ):
        with pytest.raises(ValueError, match=r"^bad -1\.0$"):
            call(*args)


def test_arrays_of_numbers_raise_what_their_first_wrong_element_raises() -> None:
    f = symgrad(root)
    assert f(PAIR).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"^bad -4\.0$"):
        f(np.array([1.0, -4.0, -5.0]))


def test_what_is_raised_otherwise_is_known_not_to_hold() -> None:
    def size(x: Any) -> Any:
        if x < 0:
            raise ValueError
        return math.sqrt(x * x)

    assert str(symgrad(size).expr) == "x"


def test_decorated_functions_inside_of_others() -> None:
    inner = symgrad(root)
    outer = symgrad(lambda x: inner(x) + 1)
    assert outer(4.0) == 3.0
    with pytest.raises(ValueError, match=r"^bad -4\.0$"):
        outer(-4.0)


def test_the_check_can_be_switched_off() -> None:
    assert math.isnan(symgrad(root, check_domain=False)(-1.0))


def test_an_assertion_stays_a_domain_error() -> None:
    def asserted(x: Any) -> Any:
        assert x > 0
        return math.log(x)

    with pytest.raises(DomainError):
        symgrad(asserted)(-1.0)


def test_a_condition_in_the_line_of_its_raise() -> None:
    def rooted(x: Any) -> Any:
        if x < 0: raise ValueError("neg")  # fmt: skip # noqa: E701
        return x**0.5

    f = symgrad(rooted)
    for call in (f, f.grad):
        call(4.0)  # which shares its program with arrays
        with pytest.raises(ValueError, match=r"^neg$"):
            call(np.array([4.0, -1.0]))
