"""Names that some paths do not assign: accepted where every path that reads one has
assigned it, refused in few words, in time linear in the program, where one may not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from symdiff.runtime.loops.call import ComputationError
from tests.work import at_most


def for_else(x: float) -> float:
    for i in range(6):
        if x < i:
            r = i * x
            break
    else:
        r = -1
    return r * x


def for_else_with_return(x: float) -> float:
    for i in range(4):
        if x < -i:
            return x
        if x < i:
            r = i
            break
    else:
        r = -x
    return r * x


def complementary(x: float) -> float:
    if x > 1:
        r = math.log(x)
    if x <= 1:
        r = x
    return r


def same_condition_again(x: float) -> float:
    if x > 0:
        r = math.sqrt(x)
    if x > 0:
        return r
    return 0.0


def implied_by_a_stronger_bound(x: float) -> float:
    if x > 0:
        r = math.sqrt(x)
    if x > 1:
        return r
    return 2.0


def by_an_assertion(x: float) -> float:
    assert x > 0
    for i in range(3):
        if x > -i:
            r = x + i
            break
    return r


def either_of_two(x: float, y: float = 0.5) -> float:
    if x > 0:
        r = x
    elif y > 0:
        r = y
    if x > 0 or y > 0:
        return r * r
    return 0.0


def nested(x: float, y: float = 0.5) -> float:
    if x > 0:
        if y > 0:
            r = x
        else:
            s = x - y
    if x > 0:
        return r if y > 0 else s
    return y


def returns_on_every_path(x: float) -> float:
    if x > 0:
        return x
    if not x > 0:
        return -2 * x


def continued(x: float) -> float:
    total = 0.0
    for i in range(4):
        if x < i:
            step = i * x
        else:
            if x > 2:
                continue
            step = x
        total += step
    return total


BOUND: list[Callable[..., float]] = [
    for_else, for_else_with_return, complementary, same_condition_again,
    implied_by_a_stronger_bound, by_an_assertion, either_of_two, nested, returns_on_every_path,
    continued,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("fun", BOUND, ids=lambda f: f.__name__)
def test_accepted_and_equal_to_python(fun: Callable[..., float]) -> None:
    traced = symgrad(fun)
    for x in (0.25, 0.5, 1.0, 1.5, 2.5, 3.5, 7.0, -0.5, -2.5):
        if fun is by_an_assertion and x <= 0:
            continue
        assert traced(x) == pytest.approx(fun(x), rel=1e-15)


def broken(x: float, n: int) -> float:
    for i in range(n):
        if x < i:
            r = i
            break
    return r * x


def chosen(x: float, n: int) -> float:
    for i in range(n):
        if x * x < i:
            g = math.sin
            break
    else:
        g = math.cos
    return g(x)


def unrolled(x: float, n: int) -> float:
    if x == 0:
        r = 1.0
    elif x == 1:
        r = 2.0
    elif x == 2:
        r = 3.0
    elif x == 3:
        r = 4.0
    elif x == 4 and x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x > 0:
        r = 5.0
    elif x == 5 and x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x > 0:
        r = 6.0
    return r


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "n"),
    [(f, n) for f in (broken, chosen, unrolled) for n in (3, 30, 300) if (f, n) != (broken, 300)],
    ids=lambda p: getattr(p, "__name__", str(p)),
)
def test_refused_in_few_words_and_soon(fun: Callable[..., float], n: int) -> None:
    with at_most(1_000_000), pytest.raises(UnsupportedError) as caught:
        capture(fun, {"n": n})
    assert len(caught.value.message) < 300


def test_what_a_loop_says_again_is_said_once() -> None:
    with pytest.raises(UnsupportedError) as caught:
        capture(broken, {"n": 20})
    assert caught.value.message == ("name 'r' may be unbound here: it is assigned only when x < i")


def test_a_long_condition_is_cut() -> None:
    with pytest.raises(UnsupportedError) as caught:
        capture(unrolled, {"n": 0})
    message = caught.value.message
    assert message.startswith(
        "name 'r' may be unbound here: it is assigned only when x == 0 or x == 1 or x == 2"
    )
    assert message.endswith("...")


def deleted(x: float) -> float:
    parts, named = [x, 2 * x, 3 * x], {"p": x, "q": 1.0}
    y = x * x
    del parts[0], named["q"]
    s = 0.0
    for k in range(3):
        t = k * x
        s += t
        del t
    del y
    return s * parts[0] * named["p"] + len(parts) + len(named)


def deleted_on_a_path(x: float) -> float:
    y = x * 3
    if x > 0:
        del y
        y = x
    return y


def test_names_and_elements_may_be_deleted() -> None:
    for f in (deleted, deleted_on_a_path):
        for x in (1.5, -2.0):
            assert symgrad(f)(x) == f(x)

    def f(x: float) -> float:
        y = x * 3
        if x > 0:
            del y
        return y

    with pytest.raises(UnsupportedError, match="may be unbound here"):
        symgrad(f)(-1.0)


def after_a_break(x: float, n: int) -> float:
    for i in range(n):
        if x * i > 3:
            break
        y = x + i
    return y


def in_some_iterations(x: float, n: int) -> float:
    for i in range(n):
        if x > i + 2:
            y = x * i
    return y


def found_or_not(x: float, n: int) -> float:
    for i in range(n):
        y = x * i
        if y > 3:
            z = y * y
            break
    else:
        z = 2 * x
    return z


def last_of_all(x: Any) -> Any:
    for v in x:
        last = v * v
    return last


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fun", [broken, after_a_break, in_some_iterations, found_or_not])
def test_names_that_a_long_loop_binds(fun: Callable[..., float]) -> None:
    f = symgrad(fun)
    for x in (0.13, 2.57, 3.73, 7.21, -1.09, 400.3):
        try:
            expected = fun(x, 200)
        except UnboundLocalError:
            with pytest.raises(ComputationError, match="is not assigned in any iteration"):
                f(x, 200)
            continue
        assert f(x, 200) == expected
        h = 1e-6
        slope = (fun(x + h, 200) - fun(x - h, 200)) / (2 * h)
        assert f.grad(x, 200) == pytest.approx(slope, rel=1e-6)


def test_a_name_of_a_loop_that_may_not_run() -> None:
    f = symgrad(last_of_all)
    assert f(np.array([1.0, 2.0, 3.0])) == 9.0
    assert list(f.grad(np.array([1.0, 2.0, 3.0]))) == [0.0, 0.0, 6.0]
    with pytest.raises(ComputationError, match="name 'last' is not assigned in any iteration"):
        f(np.zeros(0))
