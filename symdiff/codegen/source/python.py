"""Readable Numba Python from the DAG, for generated modules and `.source`."""

from __future__ import annotations

import keyword
import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from textwrap import indent
from typing import TYPE_CHECKING

from symdiff.codegen.common.temporaries import (
    ATOM,
    CONDITIONAL,
    DISJUNCTION,
    NEGATION,
    PRODUCT,
    RELATION,
    WIDTH,
    Text,
    Writer,
    statements,
)
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, Op, var
from symdiff.ir.loop_program import exchanged
from symdiff.ir.names import untaken
from symdiff.lowering.lower import lower
from symdiff.lowering.target import nearest
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

DTYPES = ("float64", "float32")
IMPORTS = """import math

import numpy as np
from numba import njit
"""
_TAKEN = {"math", "np", "njit", "prange", "abs", "numba", *keyword.kwlist}


class PythonWriter(Writer):
    """Python that Numba compiles; with float32, every constant is a `np.float32`."""

    def __init__(self, dtype: str = "float64") -> None:
        if dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
        self.single = dtype == "float32"

    def number(self, e: Expr) -> Text:
        value = nearest(e.value) if isinstance(e.value, Fraction) else e.value
        if self.single:
            with np.errstate(over="ignore"):
                single = np.float32(value)
            value = float(str(single))  # the shortest text that denotes it
        if math.isfinite(value):
            text, level = repr(value), PRODUCT if value < 0 else ATOM
        else:
            text, level = (
                {math.inf: "math.inf", -math.inf: "-math.inf"}.get(value, "math.nan"),
                PRODUCT,
            )
        return Text(f"np.float32({text})", ATOM) if self.single else Text(text, level)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        if op.python is None:
            raise UnsupportedError(
                f"{op.name} cannot be written as Python: it has no `python` form"
            )
        text = op.python.format(*args)
        return Text(f"np.float32({text})" if self.single and not args else text, ATOM)

    def sqrt(self, a: Text) -> Text:
        return Text(f"math.sqrt({a.text})", ATOM)

    def power(self, a: Text, b: Text) -> Text:
        return Text(f"math.pow({a.text}, {b.text})", ATOM)

    def negation(self, a: Text) -> Text:
        return Text("not " + a.at(RELATION), NEGATION)

    def conditional(self, condition: Text, a: Text, b: Text) -> Text:
        text = f"{a.at(DISJUNCTION)} if {condition.at(DISJUNCTION)} else {b.at(CONDITIONAL)}"
        return Text(text, CONDITIONAL)

    def truth(self, value: bool) -> Text:
        return Text(str(value), ATOM)


def function_source(
    name: str,
    params: Sequence[str],
    outputs: Sequence[Expr],
    *,
    dtype: str = "float64",
    doc: str = "",
    decorator: str = '@njit(error_model="numpy")',
) -> str:
    """The source of one scalar function that Numba compiles.

    Parameters
    ----------
    name : the function's name.
    params : names of its parameters; a name that the text needs itself, such as
        `np`, gets an underscore at its end.
    outputs : what it returns; several as a tuple. They are lowered here.
    dtype : "float64" or "float32"; in which constants are given.
    doc : docstring, if any.
    decorator : the line above it; "" for none.

    Returns
    -------
    str
        Uses `math`, `np` and `njit`; see `IMPORTS`.

    Examples
    --------
    >>> from symdiff.ir import var
    >>> print(function_source("f", ["x"], [var("x") ** 3], decorator=""))
    def f(x):
        return x*x*x
    <BLANKLINE>
    """
    local = local_names(params)
    body, results = function_body(local, lower(rename(params, local, outputs)), PythonWriter(dtype))
    if len(results) > 1:  # Numba refuses branches inside a long tuple
        taken = {*local, *(line.partition(" = ")[0] for line in body)}
        for k, result in enumerate(results):
            if " if " in result:
                name_k = untaken(f"r{k}", taken)
                body.append(f"{name_k} = {result}")
                results[k] = name_k
    body.append(_return(results))
    lines = [decorator] if decorator else []
    lines.append(f"def {name}({', '.join(local)}):")
    if doc:
        lines.append(indent(docstring(doc), "    "))
    lines.append(indent("\n".join(body), "    "))
    return "\n".join(lines) + "\n"


def rename(params: Sequence[str], local: Sequence[str], outputs: Sequence[Expr]) -> Sequence[Expr]:
    """The outputs over parameters of other names; operations stay as they are, as sums whose rounding
    errors are taken must not be simplified."""
    renamed = {var(p): var(q) for p, q in zip(params, local, strict=True) if p != q}
    return exchanged(outputs, renamed) if renamed else outputs


def function_body(
    local: Sequence[str], roots: Sequence[Expr], writer: PythonWriter
) -> tuple[list[str], list[str]]:
    """The assignments and the results of lowered outputs over variables of these names."""
    assignments, results = statements(roots, writer, {*_TAKEN, *local})
    return [f"{a.name} = {a.text}" for a in assignments], results


def local_names(params: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """The parameters' names, with underscores appended to those that are taken."""
    names: list[str] = []
    for p in params:
        name = p
        while name in _TAKEN or name in taken or name in names or (name != p and name in params):
            name += "_"
        names.append(name)
    return names


def docstring(text: str) -> str:
    """A text as a docstring literal."""
    text = text.rstrip().replace("\\", "\\\\").replace('"""', r"\"\"\"")
    if text.endswith('"'):
        text = text[:-1] + r"\""
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def _return(results: Sequence[str]) -> str:
    if len(results) == 1:
        return f"return {results[0]}"
    line = f"return {', '.join(results)}"
    if len(line) <= WIDTH:
        return line if results else "return ()"
    return "return (\n" + "".join(f"    {r},\n" for r in results) + ")"
