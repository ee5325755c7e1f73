"""What distributions are made of: functions whose constants are exact, named for plain Python that is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import Expr, const, sqrt
from symdiff.ir.functions import (
    ATAN,
    BETAINC,
    COSH,
    EXP,
    GAMMAINC,
    GAMMAINCC,
    HYP2F1,
    LAMBERTW,
    LAMBERTW_LOWER,
    LGAMMA,
    LOG,
    MARCUM_ABOVE,
    MARCUM_BELOW,
    OWENS_T,
    PI,
    STUDENT,
    TAN,
    XLOG1PY,
    XLOGY,
    normal_below,
    normal_quantile,
    von_mises_share,
)

Number = Any


# ----------------------------------------------------------- with constants that are exact
def density(z: Number) -> Number:
    """The normal density."""
    raise NotImplementedError


def below(z: Number) -> Number:
    """The normal distribution function."""
    raise NotImplementedError


def log_pi(v: Number) -> Number:
    """log(pi*v)."""
    raise NotImplementedError


def bell(z: Number) -> Number:
    """The logistic density."""
    raise NotImplementedError


def xlogy(x: Number, y: Number) -> Number:
    """x*log(y), 0 for x = 0."""
    raise NotImplementedError


def xlog1py(x: Number, y: Number) -> Number:
    """x*log(1 + y), 0 for x = 0."""
    raise NotImplementedError


def log_gamma(x: Number) -> Number:
    """The logarithm of the gamma function."""
    raise NotImplementedError


def gamma_share(a: Number, z: Number) -> Number:
    """The share of the gamma function below z."""
    raise NotImplementedError


def gamma_rest(a: Number, z: Number) -> Number:
    """The share above z."""
    raise NotImplementedError


def beta_share(a: Number, b: Number, z: Number) -> Number:
    """The share of the beta function below z."""
    raise NotImplementedError


def student_share(df: Number, z: Number) -> Number:
    """The share of Student's distribution below z."""
    raise NotImplementedError


def owen(h: Number, a: Number) -> Number:
    """Owen's T function."""
    raise NotImplementedError


def rice_share(b: Number, z: Number) -> Number:
    """The share of the distribution of Rice below z."""
    raise NotImplementedError


def rice_rest(b: Number, z: Number) -> Number:
    """The share above z."""
    raise NotImplementedError


def arc_share(kappa: Number, z: Number) -> Number:
    """The share of von Mises's distribution between -pi and z."""
    raise NotImplementedError


def hypergeometric(a: Number, b: Number, c: Number, z: Number) -> Number:
    """2F1(a, b; c; z)."""
    raise NotImplementedError


def quantile(p: Number) -> Number:
    """Of the normal distribution."""
    raise NotImplementedError


def turns(z: Number) -> Number:
    """atan(z)/pi."""
    raise NotImplementedError


def tangent(p: Number) -> Number:
    """tan(pi*p)."""
    raise NotImplementedError


def principal_branch(z: Number) -> Number:
    """Lambert's W from -1/e on, at least -1."""
    raise NotImplementedError


def lower_branch(z: Number) -> Number:
    """The other real branch, at most -1."""
    raise NotImplementedError


EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {
    density: lambda z: EXP(-(z**2) / const(2)) / sqrt(const(2) * PI()),
    below: normal_below,
    log_pi: lambda v: LOG(PI() * v),
    bell: lambda z: ir.ONE / (const(4) * COSH(z / const(2)) ** 2),
    xlogy: lambda x, y: XLOGY(x, y),
    xlog1py: lambda x, y: XLOG1PY(x, y),
    log_gamma: lambda x: LGAMMA(x),
    gamma_share: lambda a, z: GAMMAINC(a, z),
    gamma_rest: lambda a, z: GAMMAINCC(a, z),
    beta_share: lambda a, b, z: BETAINC(a, b, z),
    student_share: lambda df, z: STUDENT(df, z),
    owen: lambda h, a: OWENS_T(h, a),
    rice_share: lambda b, z: MARCUM_BELOW(b, z),
    rice_rest: lambda b, z: MARCUM_ABOVE(b, z),
    arc_share: von_mises_share,
    hypergeometric: lambda a, b, c, z: HYP2F1(a, b, c, z),
    quantile: normal_quantile,
    turns: lambda z: ATAN(z) / PI(),
    tangent: lambda p: TAN(PI() * p),
    principal_branch: lambda z: LAMBERTW(z),
    lower_branch: lambda z: LAMBERTW_LOWER(z),
}
"""What these functions are, as formulas."""


def positive(value: Number, *numbers: Number) -> Number:
    """A value where no scale or shape is negative, else nan."""
    for v in numbers:
        value = value + 0.0 * np.sqrt(v)
    return value
