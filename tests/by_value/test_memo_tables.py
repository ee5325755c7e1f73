"""Dicts of a module, of a closure or of a default in which recursive functions keep results: gradients are those of
differences, also where plain Python has filled the table before, and no scalar of a run stays in it."""

from __future__ import annotations

import math

import pytest

from symdiff import UnsupportedError, symgrad

KNOWN = {}
BASE = {0: 1.0}
CLEARED = {}


def global_table(x, n=9):
    if n < 2:
        return x**n
    if (n, x) not in KNOWN:
        KNOWN[n, x] = global_table(x, n - 1) + math.sin(x) * global_table(x, n - 2)
    return KNOWN[n, x]


def with_base(x, n=6):
    if n in BASE:
        return BASE[n]
    key = (n, x)
    if key not in BASE:
        BASE[key] = with_base(x, n - 1) * x + 1
    return BASE[key]


def default_table(x, n=7, known={}):  # noqa: B006
    if n < 2:
        return x
    if (x, n) not in known:
        known[x, n] = default_table(x, n - 1) * x + default_table(x, n - 2)
    return known[x, n]


def filled(x, n):
    if n < 2:
        return x
    if n not in CLEARED:
        CLEARED[n] = filled(x, n - 1) * x + filled(x, n - 2)
    return CLEARED[n]


def cleared_table(x):
    CLEARED.clear()
    return filled(x, 6)


def of_a_closure():
    known = {}

    def closure_table(x, n=6):
        if n < 1:
            return math.exp(x)
        return (
            known.setdefault((n, x), None)
            or known.update({(n, x): closure_table(x, n - 1) * x})
            or known[n, x]
        )

    return closure_table


@pytest.mark.parametrize(
    "f", [global_table, with_base, default_table, cleared_table, of_a_closure()],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_gradients_of_functions_with_memo_tables(f):
    run = symgrad(f, by_value=True, wrt="x")
    for x in (1.3, 0.7, 1.3):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert run.grad(x) == pytest.approx(slope, rel=1e-7)
        assert f(x) == run(x)
    for table in (KNOWN, BASE, CLEARED):
        assert all(type(v) is float for v in table.values())


def test_a_table_whose_keys_do_not_say_of_which_numbers_they_are_is_refused():
    CLEARED.clear()
    with pytest.raises(UnsupportedError, match="outlives the call"):
        symgrad(lambda x: filled(x, 6), by_value=True).grad(1.3)
    assert CLEARED == {}
