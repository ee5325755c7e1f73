"""What values beside a point tend to is not made up of a few of them: of slow, turning and ending movements."""

from collections.abc import Callable
from typing import Any

import pytest
from flint import arb, ctx

from symdiff.interpret.limits import Limit, tendency

PRECISION = 8000


def limit_of(f: Callable[[Any, Any], Any]) -> Limit:
    """Of f(t, -log t) for t = 2**-k."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        return tendency(lambda k: f(arb(2) ** -k, arb(2).log() * k), 300)
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    "f",
    [
        lambda t, n: arb(10) ** 30 + n.sin(),
        lambda t, n: 1 + n.sin() * arb(10) ** -30,
        lambda t, n: 1 + n.log().sin() * arb(10) ** -25,
        lambda t, n: 1 + (n / 100).sin() * arb(10) ** -25,
        lambda t, n: n.sqrt().sin(),
        lambda t, n: n.sin() / t,
        lambda t, n: n.log().sin() / t,
    ],
)
def test_nothing_is_proved_of_what_turns_or_ends(f: Callable[[Any, Any], Any]) -> None:
    assert limit_of(f).kind == "none"


@pytest.mark.parametrize(
    ("f", "sign"),
    [
        (lambda t, n: 1 / t, 1),
        (lambda t, n: -n, -1),
        (lambda t, n: n**2, 1),
        (lambda t, n: arb(10) ** 60 + n, 1),
        (lambda t, n: 1 - arb(2) ** -1000 / t, -1),
        (lambda t, n: arb(10) ** 30 - n, -1),
    ],
)
def test_what_grows_is_infinite(f: Callable[[Any, Any], Any], sign: int) -> None:
    assert limit_of(f) == Limit("infinite", sign)


@pytest.mark.parametrize("limit", [0, -2])
def test_small_powers_are_found(limit: int) -> None:
    """They are as 1 - log for long."""
    found = limit_of(lambda t, n: t ** (arb(1) / 10000) + limit)
    assert found.kind == "finite"
    assert abs(found.value - limit) < 1e-18


def test_slow_limits_are_found() -> None:
    assert limit_of(lambda t, n: 1 / n) == Limit("finite", arb(0))
    found = limit_of(lambda t, n: 3 + 1 / n)
    assert found.kind == "finite"
    assert abs(found.value - 3) < 1e-18
