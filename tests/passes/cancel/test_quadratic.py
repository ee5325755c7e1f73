"""Quadratic forms as sums of squares: what is one, and where it vanishes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.ir.functions import SIN
from symdiff.passes.analysis.quadratic import squared_in
from tests.law.alike import differences

X, Y, Z = map(ir.var, "xyz")


@pytest.mark.parametrize(("u", "count"), [
    (X * X + X * Y + Y * Y, 2),
    (X * (X + Y) + Y**2, 2),
    (X**2 - 2 * X * Y + Y**2, 1),
    (2 * (X - Y) ** 2 / 3 + (X - Y) * SIN(Y) + SIN(Y) ** 2, 3),
    (X * X + X * Y - Y * Y, 0),
    (X * Y, 0),
    (X * X + Y, 0),
    (X * X + Y * Y + 1, 0),
    (X**4 + Y**2, 0),
    (Z * X * X + Y * Y, 0),
    (-X * X, 0),
])  # fmt: skip
def test_forms(u: ir.Expr, count: int) -> None:
    found = squared_in(u)
    if count < 3:
        assert len(found or []) == count
    else:
        assert found


integers = st.integers(-3, 3)


@given(st.tuples(*[integers] * 6))
def test_against_the_eigenvalues(c: tuple[int, ...]) -> None:
    a, b, d, p, q, r = c
    u = a * X * X + b * Y * Y + d * Z * Z + p * X * Y + q * Y * Z + r * X * Z
    m = np.array([[2 * a, p, r], [p, 2 * b, q], [r, q, 2 * d]], float)
    least, rank = np.linalg.eigvalsh(m)[0], np.linalg.matrix_rank(m)
    found = squared_in(u)
    if least < -1e-9 or rank == 0:
        assert found is None
    else:
        assert found is not None and len(found) == rank
        assert Fraction(a) >= 0


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "smooth"), [
    (lambda x, y: math.sqrt(x * x + x * y + y * y), (0.0, 0.0)),
    (lambda x, y: math.sqrt(x * x - 2 * x * y + y * y), (0.0, 0.0)),
    (lambda x, y: math.sqrt(2 * x * x - x * y + y * y / 3) + x, (1.0, 0.0)),
    (lambda x, y: math.sqrt((x - y) ** 2 + (x - y) * math.sin(y) + math.sin(y) ** 2), (0.0, 0.0)),
])  # fmt: skip
def test_their_roots_are_norms(f: Callable[..., float], smooth: tuple[float, float]) -> None:
    g = symgrad(f)
    assert g.grad(0.0, 0.0) == smooth
    slopes = [float(differences(f, (2.0, 1.0), k)) for k in range(2)]
    assert g.grad(2.0, 1.0) == pytest.approx(slopes, rel=1e-8)


def test_what_is_negative_somewhere_has_the_slopes_of_its_axes() -> None:
    """A partial derivative is that along its axis, wherever else the function is not defined."""
    by_x, by_y = symgrad(lambda x, y: math.sqrt(x * x - x * y - y * y)).grad(0.0, 0.0)
    assert by_x == 0.0 and math.isnan(by_y)
    assert symgrad(lambda x, y: math.sqrt(x * y)).grad(0.0, 0.0) == (0.0, 0.0)
