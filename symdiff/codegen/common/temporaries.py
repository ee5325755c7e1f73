"""Write a DAG as statements: a temporary for each shared node, the rest inlined.

Before : outputs over a DAG, such as `a = sin(x); (a*a + y, a - y)`.
After  : `t0 = sin(x)` and the texts `t0*t0 + y` and `t0 - y`.
Ensures: every operation is written once and in the order and grouping of the DAG, so
         that floating-point results are those of the DAG; parentheses only where the
         grammar needs them; the text depends on the structure of the DAG only.

One walk serves every language; a `Writer` says how it spells numbers, functions and
conditions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from symdiff import ir
from symdiff.ir import Expr, Op
from symdiff.ir.plain import real_op

WIDTH = 88
"""Longer right-hand sides are cut at their longest operand, which gets a name."""

CONDITIONAL, DISJUNCTION, CONJUNCTION, NEGATION, RELATION, SUM, PRODUCT, ATOM = range(8)
"""How tightly a text binds; `-a` counts as a sum."""

_BINARY: dict[Op, tuple[str, int, int, int]] = {  # text, level, least levels of operands
    ir.ADD: (" + ", SUM, SUM, PRODUCT),
    ir.SUB: (" - ", SUM, SUM, PRODUCT),
    ir.MUL: ("*", PRODUCT, PRODUCT, ATOM),
    ir.DIV: ("/", PRODUCT, PRODUCT, ATOM),
    ir.LT: (" < ", RELATION, SUM, SUM),
    ir.LE: (" <= ", RELATION, SUM, SUM),
    ir.EQ: (" == ", RELATION, SUM, SUM),
}
_FLIPPED = {ir.ADD: " - ", ir.SUB: " + "}
_MIRRORED = {ir.LT: " > ", ir.LE: " >= ", ir.EQ: " == "}


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a node and how tightly it binds."""

    text: str
    level: int

    def at(self, level: int) -> str:
        """The text as an operand that must bind at least this tightly."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name = text`; the node says whether it is a truth value."""

    name: str
    text: str
    node: Expr


class Writer(ABC):
    """How one language spells the leaves, functions and conditions of a DAG."""

    and_text = " and "
    or_text = " or "

    @abstractmethod
    def number(self, e: Expr) -> Text:
        """A constant."""

    @abstractmethod
    def function(self, op: Op, args: Sequence[str]) -> Text:
        """A call of an elementary function, or a named constant."""

    @abstractmethod
    def sqrt(self, a: Text) -> Text:
        """A square root."""

    @abstractmethod
    def power(self, a: Text, b: Text) -> Text:
        """Any other power."""

    @abstractmethod
    def negation(self, a: Text) -> Text:
        """The opposite of a truth value."""

    @abstractmethod
    def conditional(self, condition: Text, a: Text, b: Text) -> Text:
        """`a` where the condition holds, else `b`."""

    @abstractmethod
    def truth(self, value: bool) -> Text:
        """A constant truth value."""

    def stays(self, e: Expr, text: Text) -> bool:
        """Whether a node that is used several times is written as often, without a name."""
        return e.op is ir.NEG and not e.args[0].args

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        """The text of a node from those of its children."""
        op = real_op(e.op)
        if op is ir.CONST:
            return self.number(e)
        if op is ir.VAR:
            return Text(e.value, ATOM)
        if op is ir.BOOL:
            return self.truth(e.value)
        if op in _BINARY:
            sign, level, left, right = _BINARY[op]
            if op in _MIRRORED and e.args[0].op is ir.CONST:  # `x > 0` rather than `0 < x`
                return Text(args[1].at(right) + _MIRRORED[op] + args[0].at(left), level)
            text = args[1].at(right)
            if op in _FLIPPED and text.startswith("-"):  # `a - 2*b` rather than `a + -2*b`
                sign, text = _FLIPPED[op], text[1:]
            return Text(args[0].at(left) + sign + text, level)
        if op is ir.NEG:
            operand = args[0].at(PRODUCT)
            return Text(f"-({operand})" if operand.startswith("-") else f"-{operand}", SUM)
        if op is ir.POW:
            return self.sqrt(args[0]) if e.args[1] is ir.HALF else self.power(*args)
        if op is ir.AND:
            return Text(self.and_text.join(a.at(CONJUNCTION) for a in args), CONJUNCTION)
        if op is ir.OR:
            return Text(self.or_text.join(a.at(DISJUNCTION) for a in args), DISJUNCTION)
        if op is ir.NOT:
            return self.negation(args[0])
        if op is ir.WHERE:
            return self.conditional(*args)
        return self.function(op, [a.text for a in args])


def statements(
    outputs: Sequence[Expr], writer: Writer, taken: Collection[str] = ()
) -> tuple[list[Assignment], list[str]]:
    """The assignments of temporaries `t0`, `t1`, ... and the text of each output.

    Parameters
    ----------
    outputs : nodes of the DAG.
    writer : the language.
    taken : names that temporaries must not have.
    """
    order = ir.topological(outputs)
    uses = Counter(a for e in order for a in e.args)
    uses.update(outputs)
    reserved = {*taken, *(e.value for e in order if e.op is ir.VAR)}
    assignments: list[Assignment] = []
    text: dict[Expr, Text] = {}
    count = 0

    def name(e: Expr) -> None:
        nonlocal count
        while f"t{count}" in reserved:
            count += 1
        assignments.append(Assignment(f"t{count}", text[e].text, e))
        text[e] = Text(f"t{count}", ATOM)
        count += 1

    for e in order:
        made = writer.compose(e, [text[a] for a in e.args])
        while e.args and len(made.text) > WIDTH:
            longest = max(e.args, key=lambda a: (not _is_plain(text[a]), len(text[a].text)))
            if _is_plain(text[longest]):
                break
            name(longest)
            made = writer.compose(e, [text[a] for a in e.args])
        text[e] = made
        if uses[e] > 1 and e.args and not writer.stays(e, made):
            name(e)
    return assignments, [text[e].text for e in outputs]


def _is_plain(t: Text) -> bool:
    """Whether a text is a name or a number, which a temporary would not shorten."""
    return t.level == ATOM and len(t.text) < 30 and not t.text.endswith(")")
