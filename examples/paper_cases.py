"""The functions of "Software-based Automatic Differentiation is Flawed" (Johnson,
Maxfield, Jin, Fedkiw), each three times:

- `fun`: plain Python, as a user writes it, for `symgrad`;
- `naive`: value and slope in NumPy, with the slope as backpropagation evaluates the
  paper's equation 5b, `(1/g) df + (-f/g**2) dg`, term by term;
- `exact`: value and slope in rational arithmetic on the doubles themselves, so that
  the truth is proven; None where the function has a true pole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

EPS1, DELTA1 = 1e-8, 1e-4
"""The paper's constants for h1."""
EPS2 = 1e-4
"""The paper's constant for h2, and for the two continuous forms."""

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Case:
    """One function near x = 2."""

    name: str
    fun: Callable[[float], float]
    naive: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    exact: Callable[[Fraction], Pair | None]


def sign(v):
    """The paper's S, with S(0) = 1."""
    return 1.0 if v >= 0 else -1.0


# ------------------------------------------------------------- as a user writes them
def h(x):
    return (x**2 - 4) / (x - 2)


def h_cubic(x):
    return (x**3 - 8) / (x - 2)


def h1(x):
    f, g = x**2 - 4, x - 2
    if 2 - DELTA1 < x < 2 + DELTA1:
        return f / (g + sign(g) * EPS1)
    return f / g


def h1_continuous(x):
    f, g = x**2 - 4, x - 2
    if 2 - EPS2 < x < 2 + EPS2:
        return f / (sign(g) * EPS2)
    return f / g


def h2(x):
    f, g = x**2 - 4, x - 2
    if abs(g) < EPS2:
        return f / (sign(g) * EPS2)
    return f / g


def h2_continuous(x):
    f, g = x**2 - 4, x - 2
    if -EPS2 < g < 0:
        return f / -EPS2
    if 0 <= g < EPS2:
        return f / EPS2
    return f / g


def power_quotient(n: int, k: int) -> Callable[[float], float]:
    """(x**n - 2**n)/(x - 2)**k: Remark 2.1."""

    def quotient(x):
        return (x**n - 2**n) / (x - 2) ** k

    return quotient


def square_quotient(k: int) -> Callable[[float], float]:
    """((x**2 - 4)/(x - 2))**k with both powers written separately."""

    def quotient(x):
        return (x**2 - 4) ** k / (x - 2) ** k

    return quotient


# --------------------------------------------------------------- as backpropagation does
def backprop(f, df, g, dg):
    """Value and slope of f/g, from those of f and g: equation 5b."""
    with np.errstate(all="ignore"):
        return f / g, (1 / g) * df + (-f / g**2) * dg


def _naive_power(n: int, k: int):
    def naive(x):
        return backprop(x**n - 2.0**n, n * x ** (n - 1), (x - 2) ** k, k * (x - 2) ** (k - 1))

    return naive


def _naive_square(k: int):
    def naive(x):
        f, g = x**2 - 4, x - 2
        return backprop(f**k, k * f ** (k - 1) * (2 * x), g**k, k * g ** (k - 1))

    return naive


def _naive_guarded(inside, guarded):
    """Where `inside(x, g)`, divide by `guarded(g, S(g))`, which returns g1 and dg1."""

    def naive(x):
        f, g = x**2 - 4, x - 2
        near = inside(x, g)
        g1, dg1 = guarded(g, np.where(g >= 0, 1.0, -1.0))
        return backprop(f, 2 * x, np.where(near, g1, g), np.where(near, dg1, 1.0))

    return naive


# ------------------------------------------------------------------------ the truth
def _exact_power(n: int, k: int):
    def exact(x):
        if k == 1:  # the quotient is a polynomial
            value = sum(x ** (n - 1 - i) * 2**i for i in range(n))
            slope = sum((n - 1 - i) * x ** (n - 2 - i) * 2**i for i in range(n - 1))
            return Fraction(value), Fraction(slope)
        if x == 2:
            return None
        f, g = x**n - 2**n, x - 2
        return f / g**k, n * x ** (n - 1) / g**k - k * f / g ** (k + 1)

    return exact


def _exact_square(k: int):
    return lambda x: ((x + 2) ** k, k * (x + 2) ** (k - 1))


def _exact_guarded(inside, guarded):
    def exact(x):
        f, g = x**2 - 4, x - 2
        if not inside(x, g):
            return x + 2, Fraction(1)
        g1, dg1 = guarded(g, 1 if g >= 0 else -1)
        return f / g1, 2 * x / g1 - f * dg1 / g1**2

    return exact


def _guarded(name, fun, inside, guarded, constants) -> Case:
    """A case whose guard is the same formula in floats and in rationals."""
    exact_constants = [Fraction(c) for c in constants]
    return Case(
        name,
        fun,
        _naive_guarded(
            lambda x, g: inside(x, g, *constants), lambda g, s: guarded(g, s, *constants)
        ),
        _exact_guarded(
            lambda x, g: inside(x, g, *exact_constants),
            lambda g, s: guarded(g, s, *exact_constants),
        ),
    )


QUOTIENTS = (
    Case("(x^2-4)/(x-2)", h, _naive_power(2, 1), _exact_power(2, 1)),
    Case("(x^3-8)/(x-2)", h_cubic, _naive_power(3, 1), _exact_power(3, 1)),
)
GUARDED = (
    _guarded(
        "h1, eps 1e-8, delta 1e-4",
        h1,
        lambda x, g, eps, delta: (2 - delta < x) & (x < 2 + delta),
        lambda g, s, eps, delta: (g + s * eps, 1),
        (EPS1, DELTA1),
    ),
    _guarded(
        "h1 continuous, eps 1e-4",
        h1_continuous,
        lambda x, g, eps: (2 - eps < x) & (x < 2 + eps),
        lambda g, s, eps: (s * eps, 0),
        (EPS2,),
    ),
    _guarded(
        "h2, eps 1e-4",
        h2,
        lambda x, g, eps: abs(g) < eps,
        lambda g, s, eps: (s * eps, 0),
        (EPS2,),
    ),
    _guarded(
        "h2 continuous, eps 1e-4",
        h2_continuous,
        lambda x, g, eps: (-eps < g) & (g < eps),
        lambda g, s, eps: (s * eps, 0),
        (EPS2,),
    ),
)
REMARK = (
    *(
        Case(f"(x^{n}-2^{n})/(x-2)", power_quotient(n, 1), _naive_power(n, 1), _exact_power(n, 1))
        for n in range(2, 21)
    ),
    *(
        Case(f"(x^2-4)^{k}/(x-2)^{k}", square_quotient(k), _naive_square(k), _exact_square(k))
        for k in (2, 3)
    ),
    *(
        Case(
            f"(x^{n}-2^{n})/(x-2)^{k}", power_quotient(n, k), _naive_power(n, k), _exact_power(n, k)
        )
        for n in (2, 3)
        for k in (2, 3)
    ),
)
