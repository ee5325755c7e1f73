"""Formulas on balls of python-flint, as readable Python.

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
MAX_TERMS = 2**53
"""Integers below this are written as they are."""


class NoBalls(Exception):  # noqa: N818
    """A function that cannot be evaluated in ball arithmetic."""


class BallWriter(Writer):
    """Expressions of numbers of the type `arb`."""

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
            return Text(f'flint.arb("{value!r}")', ATOM)
        if value.denominator == 1 and abs(value) < MAX_TERMS:
            return Text(f"flint.arb({value.numerator})", ATOM)
        if _is_double(value):
            return Text(f"flint.arb({float(value)!r})", ATOM)
        return self.call("_ball_ratio", [str(value.numerator), str(value.denominator)])

    def function(self, op: Op, args: Sequence[str]) -> Text:
        import flint

        name = f"_ball_{op.name}"
        if name in definitions():
            return self.call(name, args)
        if op.ball is None or len(args) != 1 or not hasattr(flint.arb, op.name):
            raise NoBalls(op.name)
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
    """The function of balls that gives a list of balls, and what it uses; "" if there is none."""
    writer = BallWriter()
    known = definitions()

    def direct(op: Op) -> bool:
        return op in _CALLS or op in _DIRECT or op.ball is not None or f"_ball_{op.name}" in known

    roots = in_calls(rename(params, local, outputs), direct)
    try:
        made, results = statements(roots, writer, {*local, *known, "flint", "decide"})
    except NoBalls:
        return "", set()
    lines = [f"{a.name} = {a.text}" for a in made]
    whole = f"return [{', '.join(results)}]"
    if len(whole) > 90:
        whole = "return [\n" + "".join(f"    {r},\n" for r in results) + "]"
    lines.append(whole)
    return f"def {name}({', '.join(['decide', *local])}):\n" + indent(
        "\n".join(lines), "    "
    ) + "\n", writer.used


__all__ = ["BallWriter", "balls_source"]
