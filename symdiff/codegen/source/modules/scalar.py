"""Standalone modules of functions of numbers: they import math, numpy and numba.

The text depends on what it computes only: the same functions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

import numpy as np

from symdiff.codegen.common.temporaries import WIDTH
from symdiff.codegen.source.modules import inside
from symdiff.codegen.source.modules.companion import helper_section
from symdiff.codegen.source.modules.cuda import cuda_name, cuda_parts
from symdiff.codegen.source.modules.face import (
    PLAIN,
    Face,
    all_names,
    check_name,
    check_targets,
    def_line,
    documented,
    fixed_checks,
    public_names,
)
from symdiff.codegen.source.modules.helpers import CACHED, closure
from symdiff.codegen.source.modules.inside import called
from symdiff.codegen.source.modules.kernels import Function, Kernel, kernel_source, pairs_source
from symdiff.codegen.source.python import (
    DTYPES,
    PythonWriter,
    docstring,
    function_body,
    local_names,
    rename,
)
from symdiff.errors import SymdiffError
from symdiff.ir import Expr
from symdiff.ir.program import Tree, tree_text
from symdiff.lowering.lower import lower

Demands = Sequence[tuple[Expr, str]]
"""Conditions on the arguments, and what is said where they do not hold."""


def module_source(
    name: str,
    params: Sequence[str],
    kernels: Sequence[Kernel],
    functions: Sequence[Function],
    *,
    facts: Mapping[str, Sequence[str]],
    version: str,
    dtype: str = "float64",
    targets: Sequence[str] = ("cpu",),
    demands: Demands = (),
    face: Face = PLAIN,
    companion: str | None = None,
) -> str:
    """The source of a module with the given functions of the same parameters.

    Each function takes scalars or arrays, which broadcast like a NumPy ufunc's, and
    uses all cores for large arrays. With dtype "float64", float32 arrays are computed
    in double and returned as float32; with "float32" everything is single precision.

    Parameters
    ----------
    name : a Python identifier; functions are called `name` and `name_suffix`.
    params : names of the real parameters.
    kernels, functions : what to compute.
    facts : headed lists for the docstring, such as {"Formula": ["h(x) = x + 2"]}.
    version : symdiff's version.
    dtype : "float64" or "float32".
    targets : "cpu", which is always there, and "cuda" for functions with `_cuda` at the
        end of their names, which compute on a device.
    demands : what arguments must satisfy; functions are flagged where they do not.
    face : the signature and docstring of the user's function.
    companion : the module from which to import the functions that kernels call; None
        if the text defines them.

    Raises
    ------
    TargetError : for a target that is not available.
    SymdiffError : if a name cannot be used in a module.
    """
    check_targets(targets)
    if dtype not in DTYPES:
        raise SymdiffError(f"unknown dtype '{dtype}'", hint=f"one of {', '.join(DTYPES)}")
    check_name(name)
    work = _Module(name, params, kernels, functions, dtype, demands, face)
    parts = work.parts()
    of_devices: list[str] = []
    if "cuda" in targets:
        more, of_devices = cuda_parts(work.names, params, kernels, functions, dtype, work.part_name)
        parts += more
        work.used["_again"] = None
    head, last = helper_section(work.used, companion)
    names = [*work.names, *(cuda_name(n) for n in work.names if "cuda" in targets)]
    repaired = any(k.repaired for k in kernels)
    return "\n".join(
        [
            _module_docstring(name, params, facts, version, dtype, of_devices, repaired),
            _imports(work.used, companion) + head,
            _all(names),
            f'__version__ = "{version}"\n',
            *("\n" + p for p in parts),
            *("\n" + p for p in last),
        ]
    )


class _Module:
    """The parts of a module, in the order in which they are read."""

    def __init__(
        self,
        name: str,
        params: Sequence[str],
        kernels: Sequence[Kernel],
        functions: Sequence[Function],
        dtype: str,
        demands: Demands,
        face: Face,
    ) -> None:
        self.name, self.params, self.kernels, self.functions = name, params, kernels, functions
        self.dtype, self.demands, self.face = dtype, demands if params else (), face
        self.names = [f"{name}_{f.suffix}" if f.suffix else name for f in functions]
        self.used: dict[str, None] = {}
        self.local = local_names(params, {"out", "flagged", "i", "k", "found", "slopes", "range", "len", "np"})  # fmt: skip

    def part_name(self, kernel: int, part: str) -> str:
        """The name of one of a kernel's functions."""
        suffix = self.kernels[kernel].suffix
        return f"_{self.name}_{suffix}_{part}" if suffix else f"_{self.name}_{part}"

    def parts(self) -> list[str]:
        """The kernels, the public functions, and what they call."""
        firsts, thens = [], []
        for k, kernel in enumerate(self.kernels):
            what = f"{self.name}_{kernel.suffix}" if kernel.suffix else self.name
            what += " and its slopes" if len(kernel.stages) > 1 else ""
            doc = f"{what} in double arithmetic, and whether to compute that again."
            text, used = kernel_source(
                self.part_name(k, "kernel"), self.params, kernel.stages, doc, self.dtype
            )
            self.used |= used
            firsts.append(text)
            thens += self._repair(k, kernel)
            thens.append(self._parts_of(k, kernel))
        public = [self._public(n, f) for n, f in zip(self.names, self.functions, strict=True)]
        demands = [self._demands()] if self.demands else []
        parts = [*firsts, *public, *demands, *thens]
        self.used["_evaluate"] = None
        if self.face.fixed:
            self.used["_check_fixed"] = None
        if any(_has_array(f.tree) for f in self.functions):
            self.used["_stack"] = None
        nested = [
            self._inside(n, f)
            for n, f in zip(self.names, self.functions, strict=True)
            if inside.nests(f.tree)
        ]
        if nested:
            self.used["_only_numbers"] = None
            parts += [inside.NUMBERS, *nested]
        return parts

    # ------------------------------------------------------------------- kernels
    def _repair(self, k: int, kernel: Kernel) -> list[str]:
        """What computes flagged elements again, and loops over elements."""
        local, parts = self.local, []
        given = ", ".join(local)
        name, repaired = self.part_name(k, "kernel"), self.part_name(k, "repaired")
        if kernel.repaired:
            text, used = pairs_source(
                self.part_name(k, "pairs"), self.params, kernel.stages,
                "The same formula in double-double arithmetic.",
            )  # fmt: skip
            self.used |= used
            parts.append(text)
        if kernel.repaired or self.demands:
            again = [f"raise ValueError({text!r})" for _, text in self.demands]
            body = []
            if self.demands:
                body.append(f"broken = _{self.name}_broken({given})")
                for number, line in enumerate(again, 1):
                    body += [f"if broken == {number}:", f"    {line}"]
            if kernel.repaired:
                doubles = ", ".join(f"np.float64({p})" for p in local)
                exact = given if self.dtype == "float64" else doubles
                body.append(f"return {self.part_name(k, 'pairs')}({exact}, slopes)")
            parts.append(
                f"{CACHED}\ndef {repaired}({given}, slopes):\n"
                '    """Results for numbers, of which flagged ones are computed again."""\n'
                f"    found, flagged = {name}({given}, slopes)\n    if flagged:\n"
                + indent("\n".join(body), " " * 8) + "\n    return found\n"
            )  # fmt: skip
        if not local:
            return parts
        items = [f"np.{self.dtype}({p}[i])" for p in local]
        store = self._stored(kernel)
        threads = CACHED[:-1] + ", nogil=True)"
        parts.append(
            f"{threads}\ndef {self.part_name(k, 'loop')}({given}, out, flagged, slopes):\n"
            f"    for i in range({local[0]}.size):\n"
            f"        {called('found, flagged[i] = ' + name, [*items, 'slopes'], 8)}\n{store}"
        )
        if kernel.repaired:
            parts.append(
                f"{threads}\ndef {self.part_name(k, 'again')}({given}, out, slopes):\n"
                f"    for i in range({local[0]}.size):\n"
                f"        {called('found = ' + repaired, [*(f'{p}[i]' for p in local), 'slopes'], 8)}\n"
                f"{store}"
            )
        return parts

    def _stored(self, kernel: Kernel) -> str:
        """The lines that put results into the rows of an array, by name, so that loops are SIMD."""
        counts = [len(s.outputs) for s in kernel.stages]
        ends = [sum(counts[: k + 1]) for k in range(len(counts))]
        rows = ["        " + _targets(n) + " = found\n" for n in ends]
        if len(rows) == 1:
            return rows[0]
        first, every = rows
        return f"        if len(slopes) == 0:\n    {first}        else:\n    {every}"

    def _parts_of(self, k: int, kernel: Kernel) -> str:
        """The tuple of a kernel's functions, which calls take."""
        loop = self.part_name(k, "loop") if self.params else "None"
        repaired = self.part_name(k, "repaired") if kernel.repaired else "None"
        again = self.part_name(k, "again") if kernel.repaired and self.params else "None"
        demands = f"_{self.name}_demands" if self.demands else "None"
        items = [self.part_name(k, "kernel"), loop, repaired, again, demands]
        line = f"{self.part_name(k, 'parts')} = {', '.join(items)}\n"
        if len(line) <= WIDTH + 12:
            return line
        head, tail = ", ".join(items[:2]), ", ".join(items[2:])
        return f"{self.part_name(k, 'parts')} = (\n    {head},\n    {tail},\n)\n"

    def _demands(self) -> str:
        """The function that says which demand arguments break, and the texts."""
        local = local_names(self.params)
        given = rename(self.params, local, [c for c, _ in self.demands])
        body, results = function_body(local, lower(given), PythonWriter())
        lines = list(body)
        for k, result in enumerate(results, 1):
            lines += [f"if not ({result}):", f"    return {k}"]
        names = ", ".join(f'"{p}"' for p in self.params) + ("," if len(local) == 1 else "")
        texts = "".join(f"        {text!r},\n" for _, text in self.demands)
        return (
            f"{CACHED}\ndef _{self.name}_broken({', '.join(local)}):\n"
            f'    """Which demand the arguments do not meet: its number, or 0."""\n'
            + indent("\n".join([*lines, "return 0"]), "    ")
            + f"\n\n\n_{self.name}_demands = (\n    _{self.name}_broken, ({names}),\n    (\n{texts}    ),\n)\n"
        )

    # ---------------------------------------------------------- public functions
    def _slopes(self, f: Function) -> bool:
        """Whether a function needs the second stage of its kernel."""
        stages = self.kernels[f.kernel].stages
        return len(stages) > 1 and max(f.columns, default=0) >= len(stages[0].outputs)

    def _count(self, f: Function) -> int:
        """How many results its kernel gives."""
        stages = self.kernels[f.kernel].stages
        return sum(len(s.outputs) for s in (stages if self._slopes(f) else stages[:1]))

    def _public(self, full: str, f: Function) -> str:
        parts = self.part_name(f.kernel, "parts")
        used = [parts, "_evaluate", "_stack", "_check_fixed"]
        shown = public_names(all_names(self.face, self.params), used)
        local, fixed = shown[: len(self.params)], shown[len(self.params) :]
        body = [
            documented(f.summary, f.suffix, self.face),
            *fixed_checks(self.name, fixed, self.face),
        ]
        slopes = ["slopes=(1,)"] if self._slopes(f) else []
        slopes += ["single=True"] if self.dtype == "float32" else []
        call = f"_evaluate({', '.join([parts, str(self._count(f)), *local, *slopes])})"
        if isinstance(f.tree, int):
            body.append(f"return {call}[{f.columns[f.tree]}]")
        else:
            (results,) = public_names(["r"], shown)
            body += [f"{results} = {call}", f"return {nested(f, results)}"]
        head = def_line(full, self.params, shown, self.face)
        return head + "\n" + indent("\n".join(body), "    ") + "\n"

    def _inside(self, full: str, f: Function) -> str:
        kernel = self.kernels[f.kernel]
        again = kernel.repaired or bool(self.demands)
        return inside.inside_source(
            full, self.params, f.columns, f.tree, self.face, self.name,
            self.part_name(f.kernel, "repaired" if again else "kernel"), again,
            self._slopes(f), self.dtype,
        )  # fmt: skip


def nested(f: Function, r: str = "r", stack: str = "_stack") -> str:
    """The expression that nests the flat results, called `r`, as the function returns them."""

    def array(t: Any) -> str:
        items = ", ".join(f"{r}[{f.columns[int(i)]}]" for i in t.ravel())
        return f"{stack}([{items}], {t.shape})"

    return tree_text(f.tree, lambda i: f"{r}[{f.columns[i]}]", array)


def _targets(count: int) -> str:
    """Rows of an array, as what a tuple is unpacked to."""
    items = [f"out[{k}][i]" for k in range(count)]
    if count == 1:
        return f"({items[0]},)"
    return called("", items, 8).lstrip() if count > 6 else ", ".join(items)


def _has_array(tree: Tree) -> bool:
    if isinstance(tree, dict):
        return any(_has_array(t) for t in tree.values())
    if isinstance(tree, (tuple, list)):
        return any(_has_array(t) for t in tree)
    return isinstance(tree, np.ndarray)


def _all(names: Sequence[str]) -> str:
    line = "__all__ = [" + ", ".join(f'"{n}"' for n in names) + "]"
    if len(line) <= WIDTH + 12:
        return line
    return "__all__ = [\n" + "".join(f'    "{n}",\n' for n in names) + "]"


def _imports(used: Mapping[str, None], companion: str | None) -> str:
    names = [] if companion is not None else list(closure(used))
    lines = ["import math"]
    if "_in_threads" in names:
        lines += ["from concurrent.futures import ThreadPoolExecutor", "", "import numpy as np"]
        lines.append("from numba import get_num_threads, njit")
    else:
        lines += ["", "import numpy as np", "from numba import njit"]
    if "_only_numbers" in names:
        lines.append("from numba.core.errors import TypingError")
    extending = [*(["intrinsic"] if "_fma" in names else []), "overload"]
    return "\n".join([*lines, f"from numba.extending import {', '.join(extending)}", ""])


def _module_docstring(
    name: str,
    params: Sequence[str],
    facts: Mapping[str, Sequence[str]],
    version: str,
    dtype: str,
    of_devices: Sequence[str],
    repaired: bool,
) -> str:
    precision = (
        "Everything is computed and returned in single precision."
        if dtype == "float32"
        else "float32 arrays are computed in double precision and returned as float32."
    )
    lines = [
        f"{name}({', '.join(params)}) and its derivatives, generated by symdiff {version}.",
        "",
    ]
    for heading, items in facts.items():
        if items:
            lines += [f"{heading}:", *(f"    {item}" for item in items), ""]
    lines += ["Scalars or arrays; arrays broadcast and give arrays.", precision]
    if repaired:
        lines += [
            "Where rounding may have spoilt a result, it is computed again in double-double arithmetic;",
            "digits that are lost beyond its 32 stay lost.",
        ]
    lines.append("Functions that Numba compiles call those of this module with numbers.")
    lines += of_devices
    return docstring("\n".join(lines)) + "\n"


__all__ = ["Demands", "Function", "Kernel", "module_source"]
