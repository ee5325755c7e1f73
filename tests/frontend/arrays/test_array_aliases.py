"""Arrays that several names show when a loop begins: as Python, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from tests.frontend.tracing import agrees_on_sizes

FOLLOWED: list[Any] = []
REFUSED: list[Any] = []


def into(cases: list[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function of two vectors."""

    def register(fun: Callable[..., Any]) -> Callable[..., Any]:
        cases.append(pytest.param(fun, id=fun.__name__))
        return fun

    return register


@into(FOLLOWED)
def swapped_buffers(x, y):
    now, new = x, np.empty_like(x)
    for _ in range(3):
        new[:] = 0.5 * now
        new[:1] += y[:1]
        now, new = new, now
    return now.sum()


@into(FOLLOWED)
def replaced_in_every_iteration(x, y):
    now = x
    for v in y:
        now = now + v
        now[:1] = 0.0
    return now @ x


@into(FOLLOWED)
def copied_before(x, y):
    start, now = x.copy(), x
    other = y
    for _ in range(4):
        now[1:] *= other[:-1]
        now, other = other, now
    return now @ start + other.sum()


@into(FOLLOWED)
def changed_under_one_name(x, y):
    now = y * 2.0
    same = now
    for i in range(len(x)):
        now[i] += x[i]
    return same @ x


@into(REFUSED)
def view_of_what_changes(x, y):
    v = y * 1.0
    u = v[::-1]
    for _ in range(len(x)):
        u = u[::-1]
        v[::2] = 2.0
    return u @ x


@into(REFUSED)
def swapped_and_changed_then(x, y):
    w = np.ones(len(x))
    v, u = w, x * 1.0
    for _ in range(len(x)):
        w, u = u, w
    u[1:] += u[:-1]
    return u @ x + v.sum()


@into(REFUSED)
def swapped_and_changed(x, y):
    v, u = y * 1.0, x * 1.0
    w = v
    for _ in range(len(x)):
        u, w = w, u
        u[1:] *= w[:-1]
    return v @ x


@into(REFUSED)
def read_in_the_loop(x, y):
    v, u = y * 1.0, x * 1.0
    w, s = v, 0.0
    for _ in range(len(x)):
        s += v.sum()
        u, w = w, u
        u[1:] *= w[:-1]
    return s


@into(FOLLOWED)
def two_names_for_one(x, y):
    u = x * 1.0
    w = u
    for _ in range(len(x)):
        u, w = w, u
        u[1:] += y[:-1]
    return w @ x


@into(REFUSED)
def changed_through_the_first_name(x, y):
    v, u = y * 1.0, x * 1.0
    w = v
    for _ in range(len(x)):
        u, w = w, u
    v[:] = 0.0
    return w @ x


@pytest.mark.sampled
@pytest.mark.parametrize("fun", FOLLOWED)
def test_as_python(fun: Any) -> None:
    agrees_on_sizes(fun, {"x": "n", "y": "n"})


@pytest.mark.parametrize("fun", REFUSED)
def test_refused(fun: Any) -> None:
    with pytest.raises(UnsupportedError, match="another name"):
        capture(fun, {}, {"x": (1, "f"), "y": (1, "f")})
