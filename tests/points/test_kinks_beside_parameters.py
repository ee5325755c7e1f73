"""Kinks in formulas that a parameter completes: slopes meet as they do without it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from symdiff import symgrad

L256 = math.log(256.0)

ODD: list[tuple[Callable[..., float], tuple[float, ...], float]] = [
    (lambda x, m: np.sign(x) * np.log1p(m * np.abs(x)) / np.log1p(m), (255.0,), 255.0 / L256),
    (lambda x, m: math.copysign(math.log1p(m * abs(x)) / math.log1p(m), x), (255.0,), 255 / L256),
    (lambda y, m: np.sign(y) * ((1 + m) ** np.abs(y) - 1) / m, (255.0,), L256 / 255),
    (lambda x, m: np.sign(x) * np.expm1(m * np.abs(x)) / m, (0.0,), 1.0),
    (lambda x, m: math.copysign(math.expm1(m * abs(x)), x), (-2.0,), 2.0),
    (lambda x, p: math.copysign(((1 + abs(x)) ** p - 1) / p, x), (0.0,), 1.0),
    (lambda x, p: np.sign(x) * (np.log1p(np.abs(x)) if p == 0 else ((1 + np.abs(x)) ** p - 1) / p), (0.0,), 1.0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "others", "slope"), ODD)
def test_odd_functions_have_the_slope_of_both_sides(
    f: Callable[..., float], others: tuple[float, ...], slope: float
) -> None:
    s = symgrad(f)
    assert s.grad(0.0, *others)[0] == pytest.approx(slope, rel=1e-14)
    assert s.grad(1e-12, *others)[0] == pytest.approx(slope, rel=1e-8)
    assert s.grad(-1e-12, *others)[0] == pytest.approx(slope, rel=1e-8)


BENT: list[tuple[Callable[..., float], float]] = [
    (lambda x, m: abs(x) * math.log1p(m * abs(x)) / m, 2.0),
    (lambda x, m: math.log1p(m * max(x, 0.0) ** 2) / m, 1.0),
    (lambda x, m: math.log1p(m * abs(x)) / m, -2.0),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "bend"), BENT)
def test_second_derivatives_are_means_of_both_sides(f: Callable[..., float], bend: float) -> None:
    assert symgrad(f).hessian(0.0, 2.0)[0][0] == pytest.approx(bend, rel=1e-14)
