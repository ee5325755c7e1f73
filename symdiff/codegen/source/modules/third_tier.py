"""Formulas on balls, as readable Python.

Before:  sqrt(x) < 2*y
After:   decide(_ball_less(_ball_sqrt(x), 2*y))

Requires: outputs in closed form.
Ensures: the same values as `interpret.flat`: `decide` is given each comparison, constants are exact, untaken branches are evaluated
too and dropped. Nothing at all for a formula with a function that has no balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import indent

from symdiff import ir
from symdiff.codegen.common.temporaries import ATOM, PRODUCT, Text, Writer, statements
from symdiff.codegen.source.modules.helpers import definitions
from symdiff.codegen.source.python import rename
from symdiff.ir import Expr, Op, rational
from symdiff.lowering.lower import in_calls

_CALLS: dict[Op, str] = {
    ir.LT: "_ball_less", ir.LE: "_ball_at_most", ir.EQ: "_ball_equal", ir.NOT: "_ball_not",
    ir.AND: "_ball_and", ir.OR: "_ball_or", ir.WHERE: "_ball_where",
}  # fmt: skip
_PLAIN = (ir.ADD, ir.SUB, ir.MUL, ir.DIV)
_DIRECT = (*_PLAIN, ir.NEG, ir.ABS, ir.POW, ir.VAR, ir.CONST, ir.BOOL)
MOST_DIVISORS = 8
MAX_TERMS = 2**53
"""Integers below this are written as they are."""


class NoBalls(Exception):  # noqa: N818
    """A function that cannot be evaluated in ball arithmetic."""


class BallWriter(Writer):
    """Expressions of balls: python-flint's, or those of `integer_balls`."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def call(self, name: str, args: Sequence[str]) -> Text:
        self.used.add(name)
        return Text(f"{name}({', '.join(args)})", ATOM)

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if not e.args:
            return super().compose(e, args)
        if e.op in _PLAIN and sum(a.op is ir.CONST for a in e.args) < 2:
            args = [_bare(a) or t for a, t in zip(e.args, args, strict=True)]
            return super().compose(e, args)
        texts = [t.text for t in args]
        if e.op in _PLAIN or e.op is ir.NEG:
            return super().compose(e, args)
        if e.op is ir.ABS:
            return Text(f"abs({texts[0]})", ATOM)
        if e.op in ir.COMPARISONS:
            if any(ir.is_infinite(a) for a in e.args):
                texts = [self.call("_ball_double", [t]).text for t in texts]
            return Text(f"decide({self.call(_CALLS[e.op], texts).text})", ATOM)
        if e.op in _CALLS:
            return self.call(_CALLS[e.op], texts)
        if e.op is ir.POW:
            return self._power(e.args[1], args)
        return self.function(e.op, texts)

    def _power(self, exponent: Expr, args: Sequence[Text]) -> Text:
        q = rational(exponent)
        if q is None:
            return self.call("_ball_pow", [a.text for a in args])
        if q == Fraction(1, 2):
            return self.call("_ball_sqrt", [args[0].text])
        if q.denominator == 1 and abs(q) < 1 << 20:
            n = int(q)
            return Text(f"{args[0].at(ATOM)}**{n if n > 0 else f'({n})'}", PRODUCT)
        return self.call("_ball_power", [args[0].text, str(q.numerator), str(q.denominator)])

    def number(self, e: Expr) -> Text:
        value = e.value
        if not isinstance(value, Fraction):
            return self.call("_ball", [f'"{value!r}"'])
        if value.denominator == 1 and abs(value) < MAX_TERMS:
            return self.call("_ball", [str(value.numerator)])
        if _is_double(value):
            return self.call("_ball", [repr(float(value))])
        return self.call("_ball_ratio", [str(value.numerator), str(value.denominator)])

    def function(self, op: Op, args: Sequence[str]) -> Text:
        name = f"_ball_{op.name}"
        if name in definitions():
            return self.call(name, args)
        if not _is_method(op):
            raise NoBalls(op.name)
        self.used.add(f"_integer_{op.name}")
        return Text(f"{_receiver(args[0])}.{op.name}()", ATOM)

    def sqrt(self, a: Text) -> Text:
        raise NotImplementedError

    def power(self, a: Text, b: Text) -> Text:
        raise NotImplementedError

    def negation(self, a: Text) -> Text:
        raise NotImplementedError

    def conditional(self, condition: Text, a: Text, b: Text) -> Text:
        raise NotImplementedError

    def truth(self, value: bool) -> Text:
        return Text(str(value), ATOM)


def has_balls(op: Op) -> bool:
    """Whether an operation on balls is one of Python's, or one call."""
    known = op in _CALLS or op in _DIRECT or f"_ball_{op.name}" in definitions()
    return known or _is_method(op)


def _divisors(roots: Sequence[Expr]) -> list[Expr]:
    """What is divided by, and bases of negative powers, where a formula may be undefined."""
    found: dict[Expr, None] = {}
    for e in ir.topological(roots):
        q = rational(e.args[1]) if e.op is ir.POW else None
        if e.op is ir.DIV or (q is not None and q < 0):
            divisor = e.args[1] if e.op is ir.DIV else e.args[0]
            if divisor.op not in (ir.CONST, ir.VAR):
                found[divisor] = None
    return list(found)[:MOST_DIVISORS]


def _is_method(op: Op) -> bool:
    """Whether balls have a method of that name."""
    import flint

    return op.ball is not None and op.arity == 1 and hasattr(flint.arb, op.name)


def _receiver(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _is_double(q: Fraction) -> bool:
    try:
        return Fraction(float(q)) == q
    except OverflowError:
        return False


def _bare(e: Expr) -> Text | None:
    """An integer beside a ball."""
    q = rational(e) if e.op is ir.CONST else None
    if q is None or q.denominator != 1 or abs(q) >= MAX_TERMS:
        return None
    return Text(str(q), ATOM if q >= 0 else PRODUCT)


def balls_source(
    name: str,
    params: Sequence[str],
    local: Sequence[str],
    outputs: Sequence[Expr],
) -> tuple[str, set[str]]:
    """The function of balls that gives the outputs and what they divide by, and what it uses; ""
    if there is none."""
    writer = BallWriter()
    roots = in_calls(rename(params, local, outputs), has_balls)
    taken = {*local, *definitions(), "flint", "decide", "results", "divisors"}
    try:
        made, results = statements((*roots, *_divisors(roots)), writer, taken)
    except NoBalls:
        return "", set()
    lines = [f"{a.name} = {a.text}" for a in made]
    count = len(outputs)
    for part, items in (("results", results[:count]), ("divisors", results[count:])):
        whole = f"{part} = [{', '.join(items)}]"
        if len(whole) > 90:
            whole = f"{part} = [\n" + "".join(f"    {r},\n" for r in items) + "]"
        lines.append(whole)
    lines.append("return results, divisors")
    return f"def {name}({', '.join(['decide', *local])}):\n" + indent(
        "\n".join(lines), "    "
    ) + "\n", writer.used


__all__ = ["BallWriter", "NoBalls", "balls_source", "has_balls"]
