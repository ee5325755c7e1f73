"""Arrays that several names show when a loop begins: as Python, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from tests.frontend.tracing import agrees_on_sizes


def swapped_buffers(x, y):
    now, new = x, np.empty_like(x)
    for _ in range(3):
        new[:] = 0.5 * now
        new[:1] += y[:1]
        now, new = new, now
    return now.sum()


def replaced_in_every_iteration(x, y):
    now = x
    for v in y:
        now = now + v
        now[:1] = 0.0
    return now @ x


def copied_before(x, y):
    start, now = x.copy(), x
    other = y
    for _ in range(4):
        now[1:] *= other[:-1]
        now, other = other, now
    return now @ start + other.sum()


def changed_under_one_name(x, y):
    now = y * 2.0
    same = now
    for i in range(len(x)):
        now[i] += x[i]
    return same @ x


def view_of_what_changes(x, y):
    v = y * 1.0
    u = v[::-1]
    for _ in range(len(x)):
        u = u[::-1]
        v[::2] = 2.0
    return u @ x


def swapped_and_changed_then(x, y):
    w = np.ones(len(x))
    v, u = w, x * 1.0
    for _ in range(len(x)):
        w, u = u, w
    u[1:] += u[:-1]
    return u @ x + v.sum()


def swapped_and_changed(x, y):
    v, u = y * 1.0, x * 1.0
    w = v
    for _ in range(len(x)):
        u, w = w, u
        u[1:] *= w[:-1]
    return v @ x


def read_in_the_loop(x, y):
    v, u = y * 1.0, x * 1.0
    w, s = v, 0.0
    for _ in range(len(x)):
        s += v.sum()
        u, w = w, u
        u[1:] *= w[:-1]
    return s


def two_names_for_one(x, y):
    u = x * 1.0
    w = u
    for _ in range(len(x)):
        u, w = w, u
        u[1:] += y[:-1]
    return w @ x


def changed_through_the_first_name(x, y):
    v, u = y * 1.0, x * 1.0
    w = v
    for _ in range(len(x)):
        u, w = w, u
    v[:] = 0.0
    return w @ x


FOLLOWED = [
    swapped_buffers,
    replaced_in_every_iteration,
    copied_before,
    changed_under_one_name,
    two_names_for_one,
]
REFUSED = [
    view_of_what_changes,
    swapped_and_changed_then,
    swapped_and_changed,
    read_in_the_loop,
    changed_through_the_first_name,
]


@pytest.mark.sampled
@pytest.mark.parametrize("fun", FOLLOWED)
def test_as_python(fun: Any) -> None:
    agrees_on_sizes(fun, {"x": "n", "y": "n"})


@pytest.mark.parametrize("fun", REFUSED)
def test_refused(fun: Any) -> None:
    with pytest.raises(UnsupportedError, match="another name"):
        capture(fun, {}, {"x": (1, "f"), "y": (1, "f")})
