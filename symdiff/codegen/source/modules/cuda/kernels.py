"""Kernels of programs with arrays as Numba-CUDA Python, which generated modules hold.

The same kernels as in CUDA C++, statement by statement; then what is used once stands where it
is used (`symdiff.codegen.source.readable`). A product that a sum takes is rounded by itself, as the
compiler would contract them.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from symdiff.codegen.common.temporaries import ATOM, Text
from symdiff.codegen.cuda.loops.language import Language
from symdiff.codegen.cuda.loops.steps import FULL, STATUS, THREADS
from symdiff.codegen.source.cuda import CudaWriter
from symdiff.codegen.source.readable import inlined, wrapped
from symdiff.ir import ABS, ADD, BOOL, CONST, MUL, NEG, OPS, POW, SUB, WHERE, Expr, Op
from symdiff.ir.functions import CONSTANT_VALUES
from symdiff.ir.loop_program import FLOORDIV, MOD

TIMES = "_times"
"""A product of real numbers, until it is known who takes it."""
TEMPORARY = re.compile(r"[cekopvwi]\d+$")
"""Names that the printers make up."""
_TAKEN = {
    "math", "np", "cuda", "libdevice", "config", "abs", "max", "min", "range",
    "shared_f", "shared_i", TIMES, *keyword.kwlist,
}  # fmt: skip


class NumbaPython(Language):
    """Python that Numba compiles for CUDA.

    Attributes
    ----------
    used : functions of libdevice that kernels call, with those that simulate them.
    """

    rank, block = "cuda.threadIdx.x", "cuda.blockIdx.x"
    turn, stride = "cuda.grid(1)", "cuda.gridsize(1)"
    barrier = "cuda.syncthreads()"
    leaves = warps = False
    by_kind = True
    _WHOLE: ClassVar[Mapping[Op, str]] = {
        ADD: "{0} + {1}", SUB: "{0} - {1}", MUL: "{0} * {1}", NEG: "-{0}", ABS: "abs({0})",
        WHERE: "{1} if {0} else {2}",
    }  # fmt: skip

    def __init__(self, dtype: str) -> None:
        self.real = f"np.{dtype}"
        self.writer = CudaWriter(dtype)

    @property
    def used(self) -> dict[str, str]:
        return self.writer.used

    def type(self, kind: str) -> str:
        """The dtype of a kind."""
        return {"f": self.real, "i": "np.int64", "b": "np.uint8"}[kind]

    # -------------------------------------------------------------- expressions
    def leaf(self, e: Expr) -> str:
        if e.op is BOOL:
            return str(e.value)
        if e.op is not CONST:
            assert e.op in CONSTANT_VALUES
            return self.writer.function(e.op, ()).text
        return self.writer.number(e).at(ATOM)

    def operation(self, e: Expr, args: Sequence[str]) -> str:
        if e.op is MUL:
            return f"{TIMES}({', '.join(args)})"
        if e.op is OPS["fma"]:
            return self.writer.device("fma", "lambda a, b, c: a*b + c", args).text
        return self.writer.compose(e, [Text(a, ATOM) for a in args]).text

    def integer(self, op: Op, args: Sequence[str]) -> str:
        if op is POW:
            return f"{args[0]} ** {args[1]}" if args[1].isdigit() else "1"
        if op in (FLOORDIV, MOD):
            found = f"{args[0]} {'//' if op is FLOORDIV else '%'} {args[1]}"
            known = args[1].isdigit() and int(args[1])
            return found if known else self.choice(f"{args[1]} != 0", found, "0")
        if op is ADD and args[1].startswith("(-"):
            return f"{args[0]} - {args[1][2:-1]}"
        return self._WHOLE[op].format(*args)

    def whole(self, k: int) -> str:
        return str(k) if k >= 0 else f"({k})"

    def cast(self, kind: str, text: str) -> str:
        return f"{self.type(kind)}({text})"

    def choice(self, test: str, a: str, b: str) -> str:
        return f"{a} if {test} else {b}"

    def at(self, i: str, n: str) -> str:
        return f"max(0, min({i}, {n} - 1))"

    def divide(self, a: str, b: str) -> str:
        return f"{a} // {b}"

    def past(self, memory: str, by: str) -> str:
        return f"{memory}[{by}:]"

    def word(self, words: str, slot: int, kind: str) -> str:
        return f"{words}[{slot}]"

    # --------------------------------------------------------------- statements
    def name(self, stem: str, taken: set[str]) -> str:
        name = re.sub(r"\W", "_", stem)
        while name in _TAKEN or name in taken or TEMPORARY.match(name):
            name += "_"
        return name

    def argument(self, kind: str, name: str, memory: bool = False, changed: bool = False) -> str:
        return name

    def constant(self, kind: str, name: str, text: str, memory: bool = False) -> str:
        return f"{name} = {text}"

    def variable(self, kind: str, name: str, text: str) -> str:
        literal = kind == "f" and not (text.isidentifier() or text.startswith(self.real))
        return f"{name} = {self.cast('f', text) if literal else text}"

    def assign(self, place: str, text: str) -> str:
        return f"{place} = {text}"

    def put(self, memory: str, end: str, step: str, text: str) -> list[str]:
        return [f"{memory}[{_times(end, step)}] = {text}", f"{end} += 1"]

    def take(self, kind: str, name: str, memory: str, end: str, step: str) -> list[str]:
        return [f"{end} -= 1", f"{name} = {memory}[{_times(end, step)}]"]

    def copy(self, i: str, size: str, target: str, source: str) -> list[str]:
        return [f"for {i} in range({size}):", f"    {target}[{i}] = {source}[{i}]"]

    def advance(self, variable: str, by: str, back: bool = False) -> str:
        return f"{variable} {'-=' if back else '+='} {by}"

    def counting(self, i: str, count: str, first: str = "", step: str = "") -> str:
        bounds = f"{first}, {count}, {step}" if first or step else count
        return f"for {i} in range({bounds}):"

    def repeating(self, i: str, count: str | None) -> str:
        return "while True:" if count is None else f"while {i} < {count}:"

    def halving(self, i: str, first: int) -> str:
        powers = [str(1 << k) for k in reversed(range(first.bit_length()))]
        return f"for {i} in ({', '.join(powers)}):"

    def when(self, tests: Sequence[str]) -> str:
        return f"if {' and '.join(tests)}:"

    def inside(self, head: str, lines: Sequence[str]) -> list[str]:
        return [head, *(f"    {line}" for line in lines or ["pass"])]

    def only(self, tests: Sequence[str], statement: str) -> list[str]:
        return self.inside(self.when(tests), [statement]) if tests else [statement]

    def unless(self, condition: str, lines: Sequence[str]) -> list[str]:
        return self.inside(f"if not ({condition}):", lines)

    def follow(self, i: str) -> list[str]:
        return [f"{i} += 1"]

    def stop(self, condition: str) -> list[str]:
        return self.unless(condition, ["break"])

    def leave(self) -> list[str]:
        return ["return"]

    def failed(self, words: str, number: int) -> str:
        return f"cuda.atomic.min({words}, {STATUS}, {number})"

    def full(self, words: str) -> str:
        return f"{words}[{FULL}] = 1"

    def shared(self, kind: str, name: str) -> str:
        return f"{name} = cuda.shared.array({THREADS}, {self.type(kind)})"

    def apart(self, lines: Sequence[str]) -> list[str]:
        return list(lines)

    def kernel(self, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        body = "".join(f"    {line}\n" for line in lines or ["pass"])
        made = ast.parse(f"def {name}({', '.join(arguments)}):\n{body}")
        function = made.body[0]
        assert isinstance(function, ast.FunctionDef)
        inlined(function, TEMPORARY)
        products = _Products(function, self)
        products.visit(function)
        return wrapped(f"@_kernel\n{ast.unparse(ast.fix_missing_locations(made))}\n")

    def unit(self, kernels: Sequence[str]) -> str:
        return "\n\n".join(kernels)

    def rounded(self, args: Sequence[str]) -> str:
        """The function that multiplies, and nothing else."""
        name = "fmul_rn" if self.writer.single else "dmul_rn"
        self.writer.used[name] = "np.multiply"
        return f"libdevice.{name}"


class _Products(ast.NodeTransformer):
    """Writes products: rounded by themselves where a sum takes them."""

    def __init__(self, function: ast.FunctionDef, language: NumbaPython) -> None:
        self.language = language
        self.exposed: set[ast.AST] = set()
        names: set[str] = set()
        nodes = list(ast.walk(function))
        before = -1
        while before != len(self.exposed) + len(names):
            before = len(self.exposed) + len(names)
            for n in nodes:
                sums = isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub))
                if sums or (isinstance(n, ast.UnaryOp) and n in self.exposed):
                    for a in (n.left, n.right) if isinstance(n, ast.BinOp) else (n.operand,):  # type: ignore[attr-defined]
                        self.expose(a, names)
                elif isinstance(n, ast.Assign) and {_name(t) for t in n.targets} & names:
                    self.expose(n.value, names)

    def expose(self, e: ast.AST, names: set[str]) -> None:
        """A sum takes an expression."""
        self.exposed.add(e)
        if isinstance(e, ast.Name):
            names.add(e.id)
        elif isinstance(e, ast.IfExp):
            self.expose(e.body, names)
            self.expose(e.orelse, names)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        exposed = node in self.exposed
        self.generic_visit(node)
        if _name(node.func) != TIMES:
            return node
        if exposed:
            node.func = ast.parse(self.language.rounded(()), mode="eval").body
            return node
        return ast.BinOp(node.args[0], ast.Mult(), node.args[1])


def _name(e: ast.AST) -> str:
    return e.id if isinstance(e, ast.Name) else ""


def _times(end: str, step: str) -> str:
    return f"{end} * {step}" if step else end


__all__ = ["TEMPORARY", "NumbaPython"]
