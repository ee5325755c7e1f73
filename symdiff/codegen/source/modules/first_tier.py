"""Double arithmetic with its error test, as readable Numba Python.

Before:  rounded sums and products, and what gives their errors
After:   t0 = _fma(x, y, 1.0)
         t1 = _sum_error(a, b)

Requires: outputs and an error test of them, as arrays are computed first.
Ensures: the same lowered DAG as the kernels of the decorator have, bit by bit; three operations
or more that give the error of one are one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from symdiff.codegen.common.temporaries import (
    ATOM,
    CONJUNCTION,
    DISJUNCTION,
    WIDTH,
    Text,
    statements,
)
from symdiff.codegen.source.modules.helpers import CACHED, DECORATOR, INLINED, definitions
from symdiff.codegen.source.python import PythonWriter, function_body, rename
from symdiff.ir import (
    ADD,
    AND,
    FALSE,
    MUL,
    NEG,
    OR,
    SUB,
    Expr,
    Op,
    raw,
    topological,
    var,
)
from symdiff.lowering.compensated.evaluate import CALLED, CALLED_LIGHT
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.lower import lower
from symdiff.lowering.target import ARRAY_CHAIN, FMA

MAY_BE_WRONG = "# where rounding, overflow or underflow may have spoilt this:"
LONG = 200
"""Statements up to which a kernel becomes part of the loops over arrays, so that these are SIMD."""
SUM_ERROR = Op("sum_error", 2, python="_sum_error({0}, {1})")
DIFFERENCE_ERROR = Op("difference_error", 2, python="_difference_error({0}, {1})")
PRODUCT_ERROR = Op("product_error", 2, python="_product_error({0}, {1})")


class TestedWriter(PythonWriter):
    """Python with `&` and `|`: conditions without branches, for SIMD code.

    Attributes
    ----------
    used : the helpers that the text names.
    functions : the functions with their errors among them, and whether to fewer bits.
    """

    def __init__(self, dtype: str = "float64") -> None:
        super().__init__(dtype)
        self.used: set[str] = set()
        self.functions: dict[tuple[Op, bool], None] = {}

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if e.op in (AND, OR):
            sign = " & " if e.op is AND else " | "
            texts = [
                t.text if a.op is e.op or t.level == ATOM else f"({t.text})"
                for t, a in zip(args, e.args, strict=True)
            ]
            return Text(sign.join(texts), CONJUNCTION if e.op is AND else DISJUNCTION)
        return super().compose(e, args)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        if op in _PLAIN_OF:
            self.functions[_PLAIN_OF[op]] = None
        elif op is FMA or op in (SUM_ERROR, DIFFERENCE_ERROR, PRODUCT_ERROR):
            self.used.add(f"_{op.name}")
        return super().function(op, args)


_PLAIN_OF = {c: (op, False) for op, c in CALLED.items()} | {
    c: (op, True) for op, c in CALLED_LIGHT.items()
}


def with_errors(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """Lowered outputs in which the operations that give an error are one."""
    new: dict[Expr, Expr] = {}
    for e in topological(outputs):
        args = tuple(new[a] for a in e.args)
        found = _error(e)
        if found is not None:
            op, pair = found
            new[e] = raw(op, tuple(new[a] for a in pair))
        else:
            new[e] = e if args == e.args else raw(e.op, args, e.value)
    return tuple(new[o] for o in outputs)


def _error(e: Expr) -> tuple[Op, tuple[Expr, Expr]] | None:
    """Of which operation a node is the error."""
    if e.op is FMA:
        a, b, c = e.args
        if c.op is NEG and c.args[0].op is MUL and set(c.args[0].args) == {a, b}:
            return PRODUCT_ERROR, (a, b)
        return None
    if e.op not in (ADD, SUB) or e.args[0].op is not SUB:
        return None
    a, st = e.args[0].args
    rest = e.args[1]
    other = SUB if e.op is ADD else ADD
    if st.op is not SUB or rest.op is not other or len(st.args) != 2:
        return None
    s, t = st.args
    b = rest.args[0] if rest.args[1] is t else rest.args[1]
    if t.op is not SUB or t.args != (s, a) or s.op is not e.op or t not in rest.args:
        return None
    if s.args == (a, b) or (e.op is ADD and set(s.args) == {a, b}):
        return (SUM_ERROR if e.op is ADD else DIFFERENCE_ERROR), (a, b)
    return None


def tested_source(
    name: str,
    params: Sequence[str],
    local: Sequence[str],
    outputs: Sequence[Expr],
    flagged: Expr,
    dtype: str,
) -> tuple[str, TestedWriter]:
    """The function that returns outputs and whether they are flagged, and what it uses."""
    writer = TestedWriter(dtype)
    given = rename(params, local, (*outputs, flagged))
    roots = with_errors(
        lower(given, fuse=True, calls=True, chain=ARRAY_CHAIN, single=dtype == "float32")
    )
    taken = {*local, *definitions(), "flagged", *_TAKEN}
    made, results = statements(roots, writer, taken)
    values = set(topological(roots[:-1]))
    lines = [f"{a.name} = {a.text}" for a in made]
    first = [a.node in values for a in made]
    at = first.index(False) if False in first else len(lines)
    if flagged is not FALSE:
        lines.insert(at, MAY_BE_WRONG)
    names = {*taken, *(a.name for a in made)}
    for k, result in enumerate(results[:-1]):
        if " if " in result:  # Numba refuses branches inside a long tuple
            short = f"r{k}"
            while short in names:
                short += "_"
            names.add(short)
            lines.insert(at, f"{short} = {result}")
            at += 1
            results[k] = short
    lines.append(f"flagged = {results[-1]}")
    whole = f"return {', '.join([*results[:-1], 'flagged'])}"
    if len(whole) > WIDTH:
        whole = "return (\n" + "".join(f"    {r},\n" for r in [*results[:-1], "flagged"]) + ")"
    lines.append(whole)
    head = f"{INLINED if len(lines) < LONG else CACHED}\ndef {name}({', '.join(local)}):\n"
    return head + indent("\n".join(lines), "    ") + "\n", writer


_TAKEN = ("math", "np", "njit", "prange", "abs", "numba")


def corrected_helper(op: Op, light: bool) -> tuple[str, set[str]]:
    """The function of the table with its error, as text, and what it uses."""
    x = var("x")
    build = CORRECTED[op].build(x, light)
    writer = TestedWriter()
    body, results = function_body(["x"], with_errors(lower(tuple(build), fold=False)), writer)
    doc = f'"""{op.name}(x), its rounding error, and the slope there."""'
    lines = [doc, *body, f"return {', '.join(results)}"]
    name = ("_light_" if light else "_corrected_") + op.name
    head = f"{DECORATOR}\ndef {name}(x):\n"
    return head + indent("\n".join(lines), "    ") + "\n", writer.used


__all__ = ["TestedWriter", "corrected_helper", "tested_source"]
