"""Building blocks of distributions: functions whose constants are exact, named for plain Python that is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.library.primitives import exact
from symdiff.ir import const, sqrt
from symdiff.ir.functions import (
    ATAN,
    BETAINC,
    COSH,
    EXP,
    GAMMAINC,
    GAMMAINCC,
    HYP2F1,
    IVE,
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
density = exact(lambda z: EXP(-(z**2) / const(2)) / sqrt(const(2) * PI()))
"""The normal density."""
below = exact(normal_below)
"""The normal distribution function."""
log_pi = exact(lambda v: LOG(PI() * v))
"""log(pi*v)."""
bell = exact(lambda z: ir.ONE / (const(4) * COSH(z / const(2)) ** 2))
"""The logistic density."""
xlogy = exact(lambda x, y: XLOGY(x, y))
"""x*log(y), 0 for x = 0."""
xlog1py = exact(lambda x, y: XLOG1PY(x, y))
"""x*log(1 + y), 0 for x = 0."""
log_gamma = exact(LGAMMA)
"""The logarithm of the gamma function."""
gamma_share = exact(lambda a, z: GAMMAINC(a, z))
"""The share of the gamma function below z."""
gamma_rest = exact(lambda a, z: GAMMAINCC(a, z))
"""The share above z."""
beta_share = exact(lambda a, b, z: BETAINC(a, b, z))
"""The share of the beta function below z."""
student_share = exact(lambda df, z: STUDENT(df, z))
"""The share of Student's distribution below z."""
owen = exact(lambda h, a: OWENS_T(h, a))
"""Owen's T function."""
rice_share = exact(lambda b, z: MARCUM_BELOW(b, z))
"""The share of the distribution of Rice below z."""
rice_rest = exact(lambda b, z: MARCUM_ABOVE(b, z))
"""The share above z."""
arc_share = exact(von_mises_share)
"""The share of von Mises's distribution between -pi and z."""
hypergeometric = exact(lambda a, b, c, z: HYP2F1(a, b, c, z))
"""2F1(a, b; c; z)."""
i0e = exact(lambda z: IVE(const(0), z))
"""exp(-abs(z))*I0(z)."""
quantile = exact(normal_quantile)
"""The quantile function of the normal distribution."""
turns = exact(lambda z: ATAN(z) / PI())
"""atan(z)/pi."""
tangent = exact(lambda p: TAN(PI() * p))
"""tan(pi*p)."""
principal_branch = exact(LAMBERTW)
"""Lambert's W from -1/e on, at least -1."""
lower_branch = exact(LAMBERTW_LOWER)
"""The other real branch, at most -1."""


def positive(value: Number, *numbers: Number) -> Number:
    """A value if no scale or shape is negative, else nan."""
    for v in numbers:
        value = value + 0.0 * np.sqrt(v)
    return value
