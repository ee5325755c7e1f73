"""Operations as CUDA C++, for the kernels of numbers and those of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.codegen.cuda.trigonometry import SINGLE, single_functions
from symdiff.codegen.llvm.printer import constant
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, Op
from symdiff.ir.functions import CONSTANT_VALUES
from symdiff.ir.plain import real_op
from symdiff.lowering.double_double.arithmetic import EXPONENT, POWER_OF_TWO

FMA = ir.OPS["fma"]

_FORMATS: dict[Op, str] = {
    ir.ADD: "{0} + {1}",
    ir.SUB: "{0} - {1}",
    ir.MUL: "{0} * {1}",
    ir.DIV: "{0} / {1}",
    ir.NEG: "-{0}",
    ir.LT: "{0} < {1}",
    ir.LE: "{0} <= {1}",
    ir.EQ: "{0} == {1}",
    ir.AND: "{0} & {1}",
    ir.OR: "{0} | {1}",
    ir.NOT: "!{0}",
    ir.WHERE: "{0} ? {1} : {2}",
    POWER_OF_TWO: "ldexp(1.0, (int){0})",
    EXPONENT: "(double)ilogb({0})",
}


class Operations:
    """Prints operations on names, in one precision.

    Attributes
    ----------
    real : what a real number is called.
    own : functions of `symdiff.codegen.cuda.trigonometry` that are called.
    """

    def __init__(self, dtype: str) -> None:
        self.single = dtype == "float32"
        self.real = "float" if self.single else "double"
        self.own: dict[str, None] = {}

    def helpers(self) -> list[str]:
        """The functions that are called, which therefore stand before the callers."""
        return [single_functions(self.own)] if self.own else []

    def leaf(self, e: Expr) -> str:
        if e.op is ir.BOOL:
            return "true" if e.value else "false"
        value = e.value if e.op is ir.CONST else Fraction(CONSTANT_VALUES[e.op])
        return self.literal(constant(value, self.single))

    def literal(self, value: float) -> str:
        if math.isnan(value):
            text = "__int_as_float(0x7fc00000)" if self.single else _NAN
        elif math.isinf(value):
            text = "__int_as_float(0x7f800000)" if self.single else _INF
            text = text if value > 0 else f"(-{text})"
        else:
            text = value.hex() if self.single else repr(value)
            text = text + "f" if self.single else text
            text = text if value >= 0 else f"({text})"
        return text

    def operation(self, e: Expr, args: Sequence[str]) -> str:
        op = real_op(e.op)
        if op in _FORMATS:
            return _FORMATS[op].format(*args)
        suffix = "f" if self.single else ""
        if op is FMA:
            return f"fma{suffix}({', '.join(args)})"
        if op is ir.POW:
            root = e.args[1] is ir.HALF
            return f"sqrt{suffix}({args[0]})" if root else f"pow{suffix}({', '.join(args)})"
        if op.libm is None or op.edges is not None:
            raise UnsupportedError(f"{op.name} cannot be computed on CUDA: it has no formula")
        name = op.libm + suffix
        if self.single and name in SINGLE:
            self.own[name] = None
            name = f"symdiff_{name}"
        return f"{name}({', '.join(args)})"


_NAN = "__longlong_as_double(0x7ff8000000000000LL)"
_INF = "__longlong_as_double(0x7ff0000000000000LL)"
