"""LLVM IR of functions of one number that share most of their work: sin and cos, exp and expm1.

Both are computed in registers of doubles, to about a unit in the last place, from Taylor
polynomials (their terms are below half a unit of the sum where they end) of an argument
brought near 0 by a multiple of pi/2 or log 2 in parts (Cody and Waite, 1980). Where an
element is too large for that, or is no number, the library's functions compute the register.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdiff.ir import Op
from symdiff.ir.functions import COS, EXP, EXPM1, SIN
from symdiff.lowering.target import nearest, nearest_parts

RARE = '!2 = !{!"branch_weights", i32 1, i32 1000000}\n'
"""The metadata that the text refers to."""
_MAGIC = 1.5 * 2.0**52
"""Added to a double below 2**50, it leaves the nearest integer in the lowest bits."""


HALF_PI = Fraction(0x1921FB54442D18469898CC51701B839A252049C1114CF98E804, 2**200)
LOG_2 = Fraction(0xB17217F7D1CF79ABC9E3B39803F2F6AF40F343267298B62D8A, 2**200)
"""Within 2**-200 of pi/2 and log 2."""
_HALF_PI_PARTS = (
    math.floor(HALF_PI * 2**35) / 2.0**35,
    *nearest_parts(HALF_PI - Fraction(math.floor(HALF_PI * 2**35), 2**35), 2),
)
"""The first of 36 bits, of which multiples by integers up to 2**17 are exact."""


@dataclass
class Printer:
    """Instructions on registers of `width` doubles, named after `name`."""

    name: str
    width: int

    def __post_init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.kind, self.bits = f"<{self.width} x double>", f"<{self.width} x i64>"

    def splat(self, element: str, text: str) -> str:
        return "<" + ", ".join([f"{element} {text}"] * self.width) + ">"

    def number(self, value: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return self.splat("double", f"0x{bits:016X}")

    def integer(self, value: int) -> str:
        return self.splat("i64", str(value))

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%{self.name}.{self.count} = {text}")
        return f"%{self.name}.{self.count}"

    def real(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.kind} {a}, {b}")

    def whole(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.bits} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        k = self.kind
        return self.put(f"call {k} @llvm.fma.v{self.width}f64({k} {a}, {k} {b}, {k} {c}) #1")

    def negative(self, a: str) -> str:
        return self.put(f"fneg {self.kind} {a}")

    def as_bits(self, a: str) -> str:
        return self.put(f"bitcast {self.kind} {a} to {self.bits}")

    def as_real(self, a: str) -> str:
        return self.put(f"bitcast {self.bits} {a} to {self.kind}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """By Horner's scheme, lowest coefficient first."""
        *rest, last = coefficients
        value = self.number(last)
        for c in reversed(rest):
            value = self.fma(value, x, self.number(c))
        return value

    def reduced(self, x: str, per: float, parts: Sequence[float]) -> tuple[str, str]:
        """The nearest multiple of a number as an integer, and the rest."""
        shifted = self.fma(x, self.number(per), self.number(_MAGIC))
        k = self.real("fsub", shifted, self.number(_MAGIC))
        for part in parts:
            x = self.fma(k, self.number(-part), x)
        return self.as_bits(shifted), x


def _angle(p: Printer, x: str) -> tuple[str, str, str]:
    """The nearest multiple of pi/2 as an integer, and the rest as a sum: its first part is
    exact up to a rounding, as the multiple has few bits."""
    head, middle, low = _HALF_PI_PARTS
    shifted = p.fma(x, p.number(1 / nearest(HALF_PI)), p.number(_MAGIC))
    n = p.real("fsub", shifted, p.number(_MAGIC))
    rest = p.fma(n, p.number(-head), x)
    off = p.real("fmul", n, p.number(middle))
    lost = p.fma(n, p.number(middle), p.negative(off))
    lost = p.fma(n, p.number(low), lost)
    high = p.real("fsub", rest, off)
    under = p.real("fsub", p.real("fsub", p.real("fsub", rest, high), off), lost)
    return p.as_bits(shifted), high, under


def _sine_and_cosine(p: Printer, x: str) -> tuple[str, str]:
    q, r, under = _angle(p, x)
    r2 = p.real("fmul", r, r)
    odd = [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 9)]
    even = [(-1) ** n / math.factorial(2 * n) for n in range(2, 9)]
    bent = p.fma(p.polynomial(r2, odd), p.real("fmul", r2, r), under)
    sine = p.real("fadd", r, bent)
    half = p.real("fmul", r2, p.number(0.5))
    first = p.real("fsub", p.number(1.0), half)
    lost = p.real("fsub", p.real("fsub", p.number(1.0), first), half)
    tail = p.real("fmul", p.polynomial(r2, even), r2)
    cosine = p.fma(p.negative(r), under, p.fma(tail, r2, lost))
    cosine = p.real("fadd", first, cosine)
    lowest = p.whole("and", q, p.integer(1))
    swap = p.put(f"icmp ne {p.bits} {lowest}, zeroinitializer")
    truth = f"<{p.width} x i1>"
    results = []
    for turns, a, b in ((0, cosine, sine), (1, sine, cosine)):
        picked = p.put(f"select {truth} {swap}, {p.kind} {a}, {p.kind} {b}")
        n = p.whole("add", q, p.integer(turns)) if turns else q
        sign = p.whole("and", p.whole("shl", n, p.integer(62)), p.integer(-(2**63)))
        results.append(p.as_real(p.whole("xor", p.as_bits(picked), sign)))
    return results[0], results[1]


def _exponentials(p: Printer, x: str) -> tuple[str, str]:
    q, r = p.reduced(x, 1 / nearest(LOG_2), tuple(nearest_parts(LOG_2, 2)))
    tail = p.polynomial(r, [1 / math.factorial(n) for n in range(2, 14)])
    less = p.fma(p.real("fmul", r, r), tail, r)
    biased = p.whole("add", q, p.integer(1023))
    scale = p.as_real(p.whole("shl", biased, p.integer(52)))
    below = p.real("fsub", scale, p.number(1.0))
    return p.fma(scale, less, scale), p.fma(scale, less, below)


Builder = Callable[[Printer, str], tuple[str, str]]
PAIRS: dict[tuple[Op, Op], tuple[Builder, float]] = {
    (SIN, COS): (_sine_and_cosine, 2.0**16),
    (EXP, EXPM1): (_exponentials, 708.0),
}
"""What is computed together, how, and up to which magnitude of the argument."""
PARTNER = {op: pair for pair in PAIRS for op in pair}


def both(name: str, x: str, width: int, pair: tuple[Op, Op], slow: Sequence[str]) -> list[str]:
    """Text that leaves the values of a pair of functions in `%name.v0` and `%name.v1`; `slow`
    are the calls that compute them for any argument, which count where it is large or nan."""
    build, most = PAIRS[pair]
    p = Printer(name, width)
    first, second = build(p, x)
    kind, limit, truth = p.kind, p.number(most), f"<{width} x i1>"
    size = f"v{width}"
    picked = [
        f"%{name}.pick.{k} = select {truth} %{name}.far, {kind} %{name}.slow.{k}, {kind} {v}"
        for k, v in enumerate((first, second))
    ]
    return [
        *p.lines,
        f"%{name}.size = call {kind} @llvm.fabs.{size}f64({kind} {x}) #1",
        f"%{name}.far = fcmp ugt {kind} %{name}.size, {limit}",
        f"%{name}.any = call i1 @llvm.vector.reduce.or.{size}i1({truth} %{name}.far) #1",
        f"br label %{name}.near",
        f"{name}.near:",
        f"br i1 %{name}.any, label %{name}.slow, label %{name}.end, !prof !2",
        f"{name}.slow:",
        *(f"%{name}.slow.{k} = {call}" for k, call in enumerate(slow)),
        *picked,
        f"br label %{name}.end",
        f"{name}.end:",
        *(
            f"%{name}.v{k} = phi {kind} [ %{name}.pick.{k}, %{name}.slow ], [ {v}, %{name}.near ]"
            for k, v in enumerate((first, second))
        ),
    ]


def function(name: str, width: int, pair: tuple[Op, Op], slow: Sequence[str]) -> str:
    """The same as a function of a register, `slow` being calls for `%x`."""
    kind = f"<{width} x double>"
    return "\n".join(
        [
            f"define internal {{{kind}, {kind}}} @{name}({kind} %x) noinline nounwind {{",
            *both("b", "%x", width, pair, slow),
            f"%r0 = insertvalue {{{kind}, {kind}}} poison, {kind} %b.v0, 0",
            f"%r1 = insertvalue {{{kind}, {kind}}} %r0, {kind} %b.v1, 1",
            f"ret {{{kind}, {kind}}} %r1",
            "}",
        ]
    )


def called(name: str, function: str, x: str, width: int) -> list[str]:
    """A call of it, with what `both` leaves."""
    kind = f"<{width} x double>"
    return [
        f"%{name} = call {{{kind}, {kind}}} @{function}({kind} {x})",
        f"%{name}.v0 = extractvalue {{{kind}, {kind}}} %{name}, 0",
        f"%{name}.v1 = extractvalue {{{kind}, {kind}}} %{name}, 1",
    ]


def declared(width: int) -> dict[str, str]:
    """Declarations by name."""
    kind, size = f"<{width} x double>", f"v{width}"
    fma, fabs, any_of = (
        f"llvm.fma.{size}f64", f"llvm.fabs.{size}f64", f"llvm.vector.reduce.or.{size}i1"
    )  # fmt: skip
    return {
        fma: f"declare {kind} @{fma}({kind}, {kind}, {kind}) #1",
        fabs: f"declare {kind} @{fabs}({kind}) #1",
        any_of: f"declare i1 @{any_of}(<{width} x i1>) #1",
    }
