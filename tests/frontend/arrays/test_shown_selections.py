"""Selections by a condition that are changed in place while something else shows them."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad

NONE, SOME = np.array([0.1, 0.2]), np.array([0.7, 2.0])


class Box:
    def __init__(self, held):
        self.held = held


def in_a_dict(a):
    chosen = a[a > 0.5]
    held = {"k": chosen}
    chosen += 1
    return np.sum(held["k"])


def in_an_object(a):
    chosen = a[a > 0.5]
    box = Box([chosen])
    chosen *= 3
    return np.sum(box.held[0])


def out_of_a_dict(a):
    held = {"k": a[a > 0.5]}
    chosen = held["k"]
    chosen += 1
    return np.sum(held["k"])


def element(a):
    held = [a[a > 0.5]]
    chosen = held[0]
    held[0] += 1
    return np.sum(chosen)


def attribute(a):
    box = Box(a[a > 0.5])
    chosen = box.held
    box.held += 1
    return np.sum(chosen)


def view(a):
    held = {"k": a[a > 0.5]}
    turned = held["k"].T
    turned += 1
    return np.sum(held["k"])


def shared(a):
    chosen = a[a > 0.5]

    def add():
        nonlocal chosen
        chosen += 1

    other = {"k": chosen}
    add()
    return np.sum(other["k"])


@pytest.mark.parametrize(
    "f", [in_a_dict, in_an_object, out_of_a_dict, element, attribute, view, shared]
)
def test_what_shows_a_selection_is_never_missed(f):
    """The first call selects nothing, so that no comparison with Python finds it: refused for arrays of
    any size, and where the sizes of the call are known."""
    for x in (NONE, np.full(3000, 0.1)):
        with pytest.raises(UnsupportedError, match="selection by a condition"):
            symgrad(f)(x)


def test_nor_one_of_a_small_array():
    def f(x, y):
        a = np.array([x, y])
        chosen = a[a > 0.5]
        same = chosen
        chosen += 1
        return np.sum(same)

    with pytest.raises(UnsupportedError, match="selection by a condition"):
        symgrad(f)(0.1, 0.2)


def one_name(a):
    held = {"k": a[a > 0.5]}
    same = held
    held["k"] += a[1]
    return np.sum(same["k"])


def one_shared(a):
    chosen = a[a > 0.5]

    def add():
        nonlocal chosen
        chosen += a[1]

    add()
    add()
    return np.sum(chosen)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [one_name, one_shared])
def test_what_nothing_else_shows_is_changed(f):
    assert symgrad(f)(SOME) == pytest.approx(f(SOME), rel=1e-15)
