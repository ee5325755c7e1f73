"""Double-double arithmetic with error bounds, as readable Numba Python.

Before:  x*y - 1
After:   x, y = _number(x), _number(y)
         t0 = _sub(_mul(x, y), (1.0, 0.0, 0.0, 0.0))
         return (_double(t0),), (_decided(t0),)

Requires: outputs in closed form.
Ensures: the values and flags of `passes.accuracy.widen`, by the functions of
`codegen.source.modules.copied.wide_numbers`; a function of the table is the one of
`pair_functions` with the slope, room and domain that the tables say.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import indent

from symdiff import ir
from symdiff.codegen.common.temporaries import ATOM, SUM, WIDTH, Text, Writer, statements
from symdiff.codegen.source.modules.helpers import CACHED, DECORATOR, definitions
from symdiff.codegen.source.python import PythonWriter, rename
from symdiff.ir import Expr, Op
from symdiff.ir import functions as f
from symdiff.ir.plain import is_plain
from symdiff.lowering.double_double.arithmetic import expansion
from symdiff.lowering.double_double.functions import RULES, named
from symdiff.lowering.lower import in_calls, lower, numbered

LARGEST_POWER = 64
"""Integer powers up to this are multiplied out."""
FAR = 300
"""Binary exponents of constants up to this are 0."""

_OPERATIONS: dict[Op, str] = {
    ir.ADD: "_add", ir.SUB: "_sub", ir.MUL: "_mul", ir.DIV: "_div", ir.NEG: "_neg",
    ir.ABS: "_abs", ir.LT: "_less", ir.LE: "_at_most", ir.EQ: "_equal", ir.WHERE: "_choose",
    ir.AND: "min", ir.OR: "max", f.MAXIMUM: "_maximum", f.MINIMUM: "_minimum", f.LARGER: "_larger", f.SMALLER: "_smaller", f.FLOOR: "_floor",
    f.CEIL: "_ceil", f.TRUNC: "_trunc", f.ROUND: "_round", f.FMOD: "_fmod",
}  # fmt: skip


def direct(op: Op) -> bool:
    """Whether an operation is one call."""
    return op in _OPERATIONS or op in (ir.VAR, ir.CONST, ir.BOOL, ir.NOT, ir.POW) or op in RULES


class WideWriter(Writer):
    """Calls of functions of numbers with error bounds.

    Attributes
    ----------
    used : the helpers that the text names.
    functions : the functions of the table among them.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.functions: dict[Op, None] = {}

    def call(self, name: str, args: Sequence[str]) -> Text:
        self.used.add(name)
        return Text(f"{name}({', '.join(args)})", ATOM)

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if e.op is ir.CONST or e.op is ir.VAR or e.op is ir.BOOL:
            return super().compose(e, args)
        texts = [a.text for a in args]
        if is_plain(e):
            doubles = [self.call("_double", [t]) for t in texts]
            return self.call("_deciding", [PythonWriter().compose(e, doubles).text])
        if e.op in _OPERATIONS:
            return self.call(_OPERATIONS[e.op], texts)
        if e.op is ir.NOT:
            return Text(f"1.0 - {texts[0]}", SUM)
        if e.op is ir.POW:
            return self.sqrt(args[0]) if e.args[1] is ir.HALF else self.power(*args)
        return self.function(e.op, texts)

    def number(self, e: Expr) -> Text:
        if not isinstance(e.value, Fraction):
            return self.call("_number", [PythonWriter().number(e).text])
        return Text(_constant(e.value), ATOM)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        if not op.arity:
            return Text(_constant(named(op)), ATOM)
        if op not in RULES:
            return self.call("_unknown", args[:1])
        if f"_{op.name}" not in definitions():
            self.functions[op] = None
        return self.call(f"_{op.name}", args)

    def sqrt(self, a: Text) -> Text:
        return self.call("_sqrt", [a.text])

    def power(self, a: Text, b: Text) -> Text:
        return self.call("_power", [a.text, b.text])

    def negation(self, a: Text) -> Text:
        raise NotImplementedError

    def conditional(self, condition: Text, a: Text, b: Text) -> Text:
        raise NotImplementedError

    def truth(self, value: bool) -> Text:
        return Text("1.0" if value else "0.0", ATOM)


def _constant(q: Fraction) -> str:
    """A constant as a number with its error."""
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length() if q else 0
    exponent = exponent if abs(exponent) >= FAR else 0
    q /= Fraction(2) ** exponent
    hi, lo, rest = (float(p.value) for p in expansion(q, 3))
    return f"({hi!r}, {lo!r}, {abs(hi) if rest else 0.0!r}, {float(exponent)!r})"


def wide_source(
    name: str, params: Sequence[str], local: Sequence[str], outputs: Sequence[Expr]
) -> tuple[str, WideWriter]:
    """The function that computes outputs in double-double arithmetic and says which of them
    are known well enough, and what it uses.

    Parameters
    ----------
    local : what the parameters are called in its text.
    outputs : in closed form, prepared by `passes.accuracy`.
    """
    writer = WideWriter()
    outputs = tuple(rename(params, local, outputs))
    roots = numbered(in_calls(outputs, direct), LARGEST_POWER)
    made, results = statements(roots, writer, {*local, *definitions()})
    used = ir.variables(roots)
    names = [p for p in local if ir.var(p) in used]
    lines = []
    if names:
        writer.used.add("_argument")
        calls = ", ".join(f"_argument({p})" for p in names)
        lines.append(f"{', '.join(names)} = {calls}")
    lines += [f"{a.name} = {a.text}" for a in made]
    taken = {*local, *(a.name for a in made)}
    values, sure = [], []
    for k, (result, root) in enumerate(zip(results, roots, strict=True)):
        if not result.isidentifier():
            short = f"r{k}"
            while short in taken:
                short += "_"
            taken.add(short)
            lines.append(f"{short} = {result}")
            result = short
        if root.op.boolean:
            values.append(f"float({result} == 1.0)")
            sure.append(f"{result} != 0.5")
        else:
            writer.used |= {"_decided", "_double"}
            values.append(f"_double({result})")
            sure.append(f"_decided({result})")
    lines.append("return " + _tuples(values, sure))
    head = f"{CACHED}\ndef {name}({', '.join(local)}):\n"
    return head + indent("\n".join(lines), "    ") + "\n", writer


def _tuples(values: Sequence[str], sure: Sequence[str]) -> str:
    one, two = (f"({', '.join(items)}{',' * (len(items) == 1)})" for items in (values, sure))
    if len(one) + len(two) < WIDTH:
        return f"{one}, {two}"
    both = ("(\n" + "".join(f"    {i},\n" for i in items) + ")" for items in (values, sure))
    return ", ".join(both)


# --------------------------------------------------------------- functions of the table
def function_helper(op: Op) -> tuple[str, set[str]]:
    """The function of the table on numbers with error bounds, as text, and what it uses."""
    rule = RULES[op]
    names = ("x", "y", "z")[: op.arity]
    args = tuple(ir.var(n) for n in names)
    used = {"_NOWHERE", "_FLOOR", "_usual", "_scaled", f"_pair_{op.name}"}
    negative = " or ".join(f"{n}[2] < 0.0" for n in names)
    lines = [f"if {negative}:", "    return _NOWHERE"]
    condition = f.domain(op, args)
    if condition is not ir.TRUE:
        writer = WideWriter()
        made, (text,) = statements(in_calls((condition,), direct), writer, definitions())
        lines += [f"{a.name} = {a.text}" for a in made]
        lines += [f"if {text} == 0.0:", "    return _NOWHERE"]
        used |= writer.used
    if _is_like_its_argument(op):
        lines += ["if x[3] < 0.0:  # tiny", "    return _like_argument(x)"]
        used.add("_like_argument")
    lines += [f"{n} = _usual({n})" for n in names]
    if op.arity == 1 and op.fold is not None:
        for point in (0, 1):
            value = op.fold(Fraction(point))
            if value is not None:
                lines += [
                    f"if x[0] == {float(point)!r} and x[1] == 0.0 and x[2] == 0.0:",
                    f"    return {float(value)!r}, 0.0, 0.0, 0.0",
                ]
    slopes = op.slope(*args) if op.slope else tuple(
        ir.ZERO if p is None else ir.abs_(p) for p in op.partials(*args)  # type: ignore[misc]
    )  # fmt: skip
    room = ir.INF if rule.room is None else rule.room(*args)
    lines.append(f"hi, lo = _pair_{op.name}({', '.join(f'{n}[:2]' for n in names)})")
    lines.append(f"error = {float(rule.units)!r}*abs(hi) + _FLOOR")
    heads = {ir.var(n): ir.var(f"{n}[0]") for n in names}
    below = ir.substitute((*slopes, room), heads)
    made, texts = statements(lower(below), PythonWriter(), {*names, "hi", "lo", "error"})
    if made:
        inexact = " or ".join(f"{n}[2] > 0.0" for n in names)
        lines += [f"if {inexact}:"]
        step = "    "
    else:
        step = ""
    lines += [f"{step}{a.name} = {a.text}" for a in made]
    for n, slope in zip(names, texts[:-1], strict=True):
        if slope != "0.0":
            lines.append(f"{step}error += _carried({n}, {slope}, {texts[-1]})")
            used.add("_carried")
    lines.append("return _scaled(hi, lo, error, 0.0)")
    body = "\n".join([f'"""{op.name}({", ".join(names)})."""', *lines])
    head = f"{DECORATOR}\ndef _{op.name}({', '.join(names)}):\n"
    return head + indent(body, "    ") + "\n", used


def _is_like_its_argument(op: Op) -> bool:
    """Whether a function is x near 0, but for terms of at least the second order."""
    if op.arity != 1 or op.fold is None or op.fold(Fraction(0)) != 0 or op.partials is None:
        return False
    return op.partials(ir.ZERO)[0] is ir.ONE


__all__ = ["WideWriter", "function_helper", "wide_source"]
