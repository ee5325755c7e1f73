"""`raise` under a condition on what is computed: the call raises what plain Python raises, and
elsewhere the condition is known not to hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import DomainError, symgrad


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


def each(x: Any) -> Any:
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


V = np.array([1.0, 4.0])
CASES: list[tuple[Any, list[tuple[Any, ...]], list[tuple[Any, ...]]]] = [
    (root, [(4.0,), (math.nan,)], [(-2.0,)]),
    (ratio, [(2.0, 1.0)], [(-2.0, 1.0), (2.0, 3.0), (2.0, 0.0), (math.nan, 1.0)]),
    (squares, [(2.0,)], [(6.0,)]),
    (entries, [(V,)], [(-V,)]),
    (each, [(V,)], [(-V,), (V[:1],)]),
    (powers, [(V, 2.0)], [(V, -2.0)]),
    (chain, [(2.0,), (0.0,)], [(-1.0,)]),
    (nested, [(1.0, 2.0), (-1.0, -2.0)], [(1.0, -2.0)]),
    (newton, [(1.0,)], [(0.0,)]),
    (helped, [(1.0,)], [(-1.0,), (11.0,)]),
    (validated, [(V,)], [(-V,)]),
]


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=[c[0].__name__ for c in CASES])
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
    assert f(V).tolist() == [1.0, 2.0]
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
