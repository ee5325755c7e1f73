"""The kernel of a function in double arithmetic with its error test, and the same formula in
double-double arithmetic.

Before:  outputs and an error test of them; the outputs in closed form
After:   def _f_kernel(x, slopes): ... return (t0,), t1 > 2.0
         def _f_pairs(x, slopes): ... return (_double(_mul(t0, t0)),)

Requires: an error test of outputs as arrays are computed first.
Ensures: the first is the lowered DAG of the decorator's kernels, bit by bit; three operations or more
that give the error of one are one call. Where `slopes` is (), Numba compiles what values need alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent, wrap

from symdiff.codegen.common.temporaries import (
    ATOM,
    CONJUNCTION,
    DISJUNCTION,
    WIDTH,
    Assignment,
    Text,
    statements,
)
from symdiff.codegen.source.modules.helpers import CACHED, CallWriter, with_errors
from symdiff.codegen.source.python import docstring, local_names, rename
from symdiff.ir import AND, FALSE, OR, Expr, topological
from symdiff.ir.program import Tree
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double import scaled
from symdiff.lowering.double_double.pair_formulas import in_pairs
from symdiff.lowering.lower import lower
from symdiff.lowering.target import ARRAY_CHAIN

LONG = 200
"""Statements up to which a kernel becomes part of the loops over arrays, so that these are SIMD."""
TAKEN = ("math", "np", "njit", "abs", "numba", "slopes", "flagged", "float", "bool")


@dataclass(frozen=True, slots=True)
class Stage:
    """Some results of a kernel.

    Attributes
    ----------
    outputs : in double arithmetic.
    flagged : where rounding, overflow or underflow may have spoilt them.
    closed : the outputs in closed form, as double-double arithmetic takes them.
    repaired : whether flagged elements are computed again by that.
    plain : the outputs for devices, in double arithmetic alone; nothing for the same.
    tested : the outputs before they are chosen at guards.
    """

    outputs: tuple[Expr, ...]
    flagged: Expr = FALSE
    closed: tuple[Expr, ...] = ()
    repaired: bool = False
    plain: tuple[Expr, ...] = ()
    tested: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """Values, and their slopes, which are computed together.

    Attributes
    ----------
    suffix : what is appended to the module's name in the names of its functions.
    stages : the values, and their slopes if there are any.
    """

    suffix: str
    stages: tuple[Stage, ...]

    @property
    def repaired(self) -> bool:
        """Whether flagged elements are computed again."""
        return any(s.repaired for s in self.stages)


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a module.

    Attributes
    ----------
    suffix : what is appended to the module's name: "", "grad", "value_and_grad", ...
    kernel : which of the module's kernels computes it.
    columns : which of the kernel's results it returns, flattened.
    tree : how they nest in what it returns.
    summary : first line of its docstring.
    """

    suffix: str
    kernel: int
    columns: tuple[int, ...]
    tree: Tree
    summary: str


_Returned = Callable[[Sequence[str], str], list[str]]
NAME = 12
"""Longer conditions have one."""
MAY_BE_WRONG = "# where rounding, overflow or underflow may have spoilt this:"


class _TestedWriter(CallWriter):
    """Python with `&` and `|`: conditions without branches, for SIMD code."""

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if e.op in (AND, OR):
            sign = " & " if e.op is AND else " | "
            texts = [
                t.text if a.op is e.op or t.level == ATOM else f"({t.text})"
                for t, a in zip(args, e.args, strict=True)
            ]
            return Text(sign.join(texts), CONJUNCTION if e.op is AND else DISJUNCTION)
        return super().compose(e, args)


def kernel_source(
    name: str, params: Sequence[str], stages: Sequence[Stage], doc: str, dtype: str
) -> tuple[str, dict[str, None]]:
    """The function `name` of double arithmetic, and the helpers that it uses.

    Parameters
    ----------
    stages : the values, and then their slopes if there are any.
    doc : its docstring.
    """
    local = _local(params)
    writer = _TestedWriter(dtype)
    roots = [rename(params, local, (*s.outputs, s.flagged)) for s in stages]
    flat = with_errors(
        lower(
            [e for r in roots for e in r], fuse=True, calls=True, chain=ARRAY_CHAIN,
            single=dtype == "float32",
        )
    )  # fmt: skip
    shape = [len(s.outputs) for s in stages]
    lines = _staged(flat, writer, [*local, *TAKEN], shape, _tested)
    head = CACHED[:-1] + ", forceinline=True)" if len(lines) < LONG else CACHED
    given = [*local, "slopes"]
    return _function(head, name, given, doc, lines), writer.used


def pairs_source(
    name: str, params: Sequence[str], stages: Sequence[Stage], doc: str
) -> tuple[str, dict[str, None]]:
    """The function `name` of double-double arithmetic, and the helpers that it uses."""
    local, writer = _local(params), CallWriter()
    closed = [e for s in stages for e in rename(params, local, s.closed)]
    with dd.as_calls():
        flat = [p if isinstance(p, Expr) else scaled.double(p) for p in in_pairs(closed)]
    shape = [len(s.outputs) for s in stages]
    lines = _staged(
        flat, writer, [*local, *TAKEN], shape, lambda found, _: _tuple("return ", found, "")
    )
    return _function(CACHED, name, [*local, "slopes"], doc, lines), writer.used


def _local(params: Sequence[str]) -> list[str]:
    """The parameters' names, with underscores where the text needs them itself."""
    return local_names(params, TAKEN)


# ------------------------------------------------------------------------- stages
def _staged(
    roots: Sequence[Expr],
    writer: CallWriter,
    taken: Sequence[str],
    shape: Sequence[int],
    returned: _Returned,
) -> list[str]:
    """The statements of stages; each returns the results so far if no more are needed."""
    made, texts = statements(roots, writer, taken)
    names = {*taken, *(a.name for a in made)}
    tests = len(roots) - sum(shape)  # one for each stage, or none
    lines: list[str] = []
    found: list[str] = []
    known: set[Expr] = set()
    start = 0
    for k, count in enumerate(shape):
        end = start + count + bool(tests)
        mine = topological(roots[start : start + count])
        lines += _assigned(made, set(mine) - known)
        known |= set(mine)
        for text in texts[start : start + count]:
            if " if " in text:  # Numba refuses branches inside a long tuple
                name = f"r{len(found)}"
                while name in names:
                    name += "_"
                names.add(name)
                lines.append(f"{name} = {text}")
                text = name
            found.append(text)
        ends = topological(roots[start + count : end])
        if tests and texts[end - 1] != "False" and not k:
            lines.append(MAY_BE_WRONG)
        lines += _assigned(made, set(ends) - known)
        known |= set(ends)
        result = returned(found, texts[end - 1])
        if k + 1 < len(shape):
            lines += ["if len(slopes) == 0:", *("    " + line for line in result)]
        else:
            lines += result
        start = end
    return lines


def _assigned(made: Sequence[Assignment], nodes: set[Expr]) -> list[str]:
    return [f"{a.name} = {a.text}" for a in made if a.node in nodes]


def _tested(found: Sequence[str], flagged: str) -> list[str]:
    """The line that returns results, and whether they are flagged."""
    line = _tuple("return ", found, f", {flagged}")
    if len(line) == 1 or len(flagged) < NAME:
        return line
    return [f"flagged = {flagged}", *_tuple("return ", found, ", flagged")]


def _tuple(head: str, items: Sequence[str], tail: str) -> list[str]:
    line = f"{head}({', '.join(items)}{',' * (len(items) == 1)}){tail}"
    if len(line) <= WIDTH:
        return [line]
    whole = ", ".join(i.replace(" ", "\0") for i in items) + ","
    lines = wrap(whole, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"{head}(", *("    " + t.replace("\0", " ") for t in lines), f"){tail}"]


def _function(head: str, name: str, given: Sequence[str], doc: str, lines: Sequence[str]) -> str:
    body = "\n".join([docstring(doc), *lines])
    return f"{head}\ndef {name}({', '.join(given)}):\n{indent(body, '    ')}\n"


__all__ = ["Function", "Kernel", "Stage", "kernel_source", "pairs_source"]
