"""A nan where the captured program has a proven value is a difference."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.errors import ValidationWarning, VerificationError
from symdiff.pipeline import scalar as pipeline

X = ir.var("x")


def _without_guard(outputs, *_, **__):
    """Each branch replaced by its other side."""

    def rule(n, args):
        return args[2] if n.op is ir.WHERE else ir.rebuild(n, args)

    return tuple(ir.transform(tuple(outputs), rule))


def _outside_of_a_domain(outputs, *_, **__):
    return tuple(ir.where(ir.lt(X, ir.const(-3)), ir.power(X, ir.HALF), o) for o in outputs)


LOST: list[tuple[str, Callable[..., object], Callable[[float], float], float]] = [
    ("cancel", _without_guard, lambda x: 0.5 if x == 0 else math.sin(1 / x), 0.0),
    ("cancel", _without_guard, lambda x: 7.0 if x == 2 else math.log(x) / (x - 2), 2.0),
    ("cancel", _without_guard, lambda x: 5.0 if x == 0 else math.sin(x) / x + x, 0.0),
    ("cancel", _without_guard, lambda x: 1.5 if x < -1 else math.sqrt(x + 1), -2.0),
    ("assume", _outside_of_a_domain, lambda x: x * math.cos(x) + math.exp(x), -4.0),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("stage", "wrong", "f", "at"), LOST)
def test_a_dropped_guard_is_found(stage, wrong, f, at, monkeypatch):
    monkeypatch.setattr(pipeline, stage, wrong)
    g = symgrad(f, cache=False, verify=False)
    with pytest.warns(ValidationWarning):
        assert g(at) == pytest.approx(f(at), rel=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda x: 0.0 if x == 0 else math.sin(1 / x) * x * x,
    lambda x: 0.0 if x <= 0 else math.exp(-1 / x),
    lambda x: math.sqrt(x) ** 2 / x,
    lambda x: math.log(x) if x > 0 else -math.inf,
    lambda x: math.inf if x == 1 else 1 / (x - 1),
    lambda x: x * math.log(x) if x > 0 else 0.0,
    lambda x: math.sqrt(x**4) / x,
    lambda x: math.nan if x < 0 else math.sqrt(x),
    lambda x: math.asin(x) if abs(x) <= 1 else math.pi / 2,
    lambda x: (x * x) ** 0.25 + abs(x) ** 1.5,
    lambda x, y: x**y if x > 0 else 0.0,
    lambda x, y: math.hypot(x, y) * math.atan2(y, x),
])  # fmt: skip
@pytest.mark.filterwarnings("error::symdiff.ValidationWarning")
def test_no_false_alarm(f):
    g = symgrad(f, cache=False, verify=False)
    args = (0.75,) * f.__code__.co_argcount
    g(*args), g.grad(*args), g.hessian(*args)


def test_a_lost_element_of_an_array() -> None:
    from symdiff.pipeline.validation import loops as validation

    want, got = np.array([1.0, 2.0]), np.array([1.0, math.nan])
    with pytest.raises(VerificationError, match="nan"):
        validation._same("f", [np.ones(2)], want, got, None, 1e-9, 0.0, lambda: 0.0)
    validation._same("f", [np.full(2, 1e200)], want, got, None, 1e-9, 0.0, lambda: 0.0)
