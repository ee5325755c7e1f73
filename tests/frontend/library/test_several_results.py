"""Special functions with several results, or of static orders: values and second derivatives against mpmath."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest
import scipy.special as sc
from mpmath import mp

from symdiff import symgrad

CASES: dict[str, tuple[Any, Any]] = {
    "si": (lambda x: sc.sici(x)[0], mpmath.si),
    "chi": (lambda x: sc.shichi(x)[1], mpmath.chi),
    "bi": (lambda x: sc.airy(x)[2], mpmath.airybi),
    "lpmv": (
        lambda x: sc.lpmv(2, 5, x - 1.0),
        lambda x: (1 - (x - 1) ** 2) * (315 * (x - 1) ** 3 - 105 * (x - 1)) / 2,
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name: str) -> None:
    plain, exact = CASES[name]
    f = symgrad(lambda x: plain(x))
    for x in (0.25, 1.5):
        with mp.workdps(40):
            found, wanted = (
                (f(x), f.grad(x), f.hessian(x)),
                [mpmath.diff(exact, x, k) for k in range(3)],
            )
            for got, want in zip(found, wanted, strict=True):
                assert abs(got - want) <= 4 * math.ulp(float(want))


def test_associated_legendre_functions_of_negative_orders() -> None:
    f = symgrad(lambda x: (sc.lpmv(-3, 4, x), sc.lpmv(1, -3, x), sc.lpmv(3, 2, x)))
    with mp.workdps(40):
        want = mpmath.legenp(4, -3, mpmath.mpf(0.3)), mpmath.legenp(2, 1, mpmath.mpf(0.3)), 0
    assert f(0.3) == pytest.approx([float(v) for v in want], rel=1e-15)
