"""Numbers with names."""

from __future__ import annotations

import math

from symdiff.ir import Op
from symdiff.ir.functions.columns import flint

PI: Op = Op(
    "pi", 0, sign="positive",
    sympy=lambda sp: sp.pi, python="math.pi",
    ball=lambda: flint().arb.pi(), flint="arb_const_pi",
)  # fmt: skip
LN2: Op = Op(
    "ln2", 0, sign="positive",
    sympy=lambda sp: sp.log(2), python="0.6931471805599453",
    ball=lambda: flint().arb.const_log2(), flint="arb_const_log2",
)  # fmt: skip
LN10: Op = Op(
    "ln10", 0, sign="positive",
    sympy=lambda sp: sp.log(10), python="2.302585092994046",
    ball=lambda: flint().arb.const_log10(), flint="arb_const_log10",
)  # fmt: skip
CONSTANT_VALUES: dict[Op, float] = {PI: math.pi, LN2: math.log(2), LN10: math.log(10)}
"""The doubles nearest to the named constants."""

ENTRIES: tuple[Op, ...] = (
    PI, LN2, LN10,
)  # fmt: skip
