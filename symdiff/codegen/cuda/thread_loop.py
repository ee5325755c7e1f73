"""The loop of a CUDA kernel: what a thread reads, computes and writes.

Threads take elements in a grid-stride loop. Where operands are dense they take `width`
neighbours at a time, as one vector; strided operands have the coordinates of an element
worked out. Every element type of arrays is read and written as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.ir import FALSE, Expr

THREADS = 256
"""Threads in a block."""

TYPES = {
    "f8": "double", "f4": "float", "i1": "signed char", "i2": "short", "i4": "int",
    "i8": "long long", "u1": "unsigned char", "u2": "unsigned short", "u4": "unsigned int",
    "u8": "unsigned long long", "b1": "unsigned char",
}  # fmt: skip
"""What the element types of arrays are called."""
_VECTORS = {
    "f8": "double", "f4": "float", "i1": "char", "i2": "short", "i4": "int", "i8": "longlong",
    "u1": "uchar", "u2": "ushort", "u4": "uint", "u8": "ulonglong", "b1": "uchar",
}  # fmt: skip
"""What CUDA's vectors of them are called, without their length."""
ELEMENTS = frozenset(TYPES)
"""The element types that a kernel reads and writes."""


@dataclass(frozen=True, slots=True)
class Operand:
    """How an operand lies in memory.

    Attributes
    ----------
    type : of its elements, such as "f8".
    how : "value" for one number, "dense", or "strided".
    """

    type: str
    how: str = "dense"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the operands of a call lie, which a kernel is compiled for.

    Attributes
    ----------
    inputs, outputs : the operands.
    width : elements that a thread takes at a time, 1 if any operand is strided.
    rank : dimensions of strided operands; 0 if none is.
    """

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    width: int = 1
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """Lowered outputs, and the condition under which they cannot be trusted."""

    outputs: tuple[Expr, ...]
    flagged: Expr = FALSE


@dataclass(frozen=True, slots=True)
class Part:
    """Some outputs of a function, which one kernel computes.

    Attributes
    ----------
    name : of the kernel.
    first : in the kernel's own precision.
    second : in double-double arithmetic, for elements where `first` is flagged; None
        to mark them only.
    complete : whether every function in `second` has a double-double version, so that
        also its flagged results are worth more than those of `first`.
    """

    name: str
    first: Tier
    second: Tier | None = None
    complete: bool = True

    @property
    def tested(self) -> bool:
        """Whether some elements may be flagged."""
        return self.first.flagged is not FALSE


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel to be printed.

    Attributes
    ----------
    part, layout : what it computes, on operands that lie how.
    blocks : how many blocks a multiprocessor should be able to hold at once, which bounds
        the registers; 0 for no bound.
    repair : whether it computes only the elements that another kernel has marked.
    """

    part: Part
    layout: Layout
    blocks: int = 0
    repair: bool = False

    @property
    def name(self) -> str:
        return f"{self.part.name}_repair" if self.repair else self.part.name

    @property
    def marks(self) -> bool:
        """Whether it takes a byte of marks for each group of elements."""
        return self.repair or (self.part.tested and self.part.second is None)


def print_loop(entry: Entry, dtype: str) -> str:
    """The kernel, which calls the functions `symdiff_0_point` and `symdiff_0_again`."""
    return _Kernel(entry, dtype).text()


def define(head: str, params: Sequence[str], lines: Sequence[str]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{head}({', '.join(params)})\n{{\n{body}}}\n"


class _Kernel:
    """The loop around a point: what is read, computed and written."""

    def __init__(self, entry: Entry, dtype: str) -> None:
        self.part, self.layout, self.entry = entry.part, entry.layout, entry
        self.real = "float" if dtype == "float32" else "double"
        self.marks, self.repair = entry.marks, entry.repair
        self.inputs = range(len(entry.layout.inputs))
        self.outputs = range(len(entry.layout.outputs))

    def text(self) -> str:
        blocks = f", {self.entry.blocks}" if self.entry.blocks else ""
        width = self.layout.width
        whole = f"(n + {width - 1}) / {width}" if self.repair else f"n / {width}"
        lines = [
            f"const long long step = (long long)gridDim.x * {THREADS};",
            f"const long long first = (long long)blockIdx.x * {THREADS} + threadIdx.x;",
            f"for (long long g = first; g < {whole}; g += step) {{",
            *_indented(self.marked() if self.repair else self.group()),
            "}",
        ]
        if width > 1 and not self.repair:
            start = f"n / {width} * {width}"
            lines += [
                f"if (first == 0 && {start} < n) {{",
                *(["    unsigned bits = 0;"] if self.marks else []),
                f"    for (long long i = {start}; i < n; i++) {{",
                *_indented(_indented(self.element("i", f"i - {start}"))),
                "    }",
                *([f"    mask[n / {width}] = (unsigned char)bits;"] if self.marks else []),
                "}",
            ]
        bounds = f"__launch_bounds__({THREADS}{blocks})"
        head = f'extern "C" __global__ void {bounds} {self.entry.name}'
        return define(head, self.params(), lines)

    def params(self) -> list[str]:
        found = []
        for k, operand in enumerate(self.layout.inputs):
            if operand.how == "value":
                found.append(f"const {self.real} p{k}")
            else:
                found.append(f"const {TYPES[operand.type]}* __restrict__ p{k}")
        for k, operand in enumerate(self.layout.outputs):
            found.append(f"{TYPES[operand.type]}* __restrict__ q{k}")
        if self.marks:
            const = "const " if self.repair else ""
            found.append(f"{const}unsigned char* __restrict__ mask")
        found.append("const long long n")
        rank = self.layout.rank
        found += [f"const long long d{j}" for j in range(rank)]
        for name, operand in self.operands():
            if operand.how != "value":
                found += [f"const long long {name}s{j}" for j in range(rank)]
        return found

    def operands(self) -> list[tuple[str, Operand]]:
        found = [(f"p{k}", o) for k, o in enumerate(self.layout.inputs)]
        return found + [(f"q{k}", o) for k, o in enumerate(self.layout.outputs)]

    # ------------------------------------------------------------------- elements
    def marked(self) -> list[str]:
        """The elements of a group that are marked."""
        width = self.layout.width
        return [
            "const unsigned bits = mask[g];",
            "if (bits == 0) continue;",
            f"for (int lane = 0; lane < {width}; lane++) {{",
            "    if (bits >> lane & 1) {",
            f"        const long long i = g * {width} + lane;",
            *_indented(_indented(self.element("i", "0"))),
            "    }",
            "}",
        ]

    def group(self) -> list[str]:
        """A group of `width` elements, read and written as vectors."""
        width = self.layout.width
        marks = self.marks
        if width == 1:
            start = ["unsigned bits = 0;"] if marks else []
            end = ["mask[g] = (unsigned char)bits;"] if marks else []
            return [*start, *self.element("g", "0"), *end]
        lines = ["unsigned bits = 0;"] if marks else []
        for k, operand in enumerate(self.layout.inputs):
            if operand.how == "dense":
                kind = f"{_VECTORS[operand.type]}{width}"
                lines.append(f"const {kind} a{k} = ((const {kind}*)p{k})[g];")
        for k, operand in enumerate(self.layout.outputs):
            lines.append(f"{_VECTORS[operand.type]}{width} b{k};")
        for lane, part in zip(range(width), "xyzw", strict=False):
            given = [
                f"p{k}" if self.layout.inputs[k].how == "value" else f"a{k}.{part}"
                for k in self.inputs
            ]
            lines += ["{", *_indented(self.compute(given, str(lane)))]
            for k in self.outputs:
                kind = TYPES[self.layout.outputs[k].type]
                lines.append(f"    b{k}.{part} = ({kind})r{k};")
            lines.append("}")
        for k, operand in enumerate(self.layout.outputs):
            lines.append(f"(({_VECTORS[operand.type]}{width}*)q{k})[g] = b{k};")
        return [*lines, *(["mask[g] = (unsigned char)bits;"] if marks else [])]

    def element(self, index: str, lane: str) -> list[str]:
        """One element, read and written by itself."""
        layout = self.layout
        lines = self.offsets(index) if layout.rank else []
        given = []
        for k, operand in enumerate(layout.inputs):
            where = self.place(f"p{k}", operand, index, "const ")
            given.append(f"p{k}" if operand.how == "value" else where)
        lines += self.compute(given, lane)
        for k, operand in enumerate(layout.outputs):
            where = self.place(f"q{k}", operand, index, "")
            lines.append(f"{where} = ({TYPES[operand.type]})r{k};")
        return lines

    def offsets(self, index: str) -> list[str]:
        """The coordinates of an element; the last dimension is the fastest."""
        rank = self.layout.rank
        lines = [f"long long rest = {index};"]
        for j in range(rank - 1, 0, -1):
            lines += [f"const long long i{j} = rest % d{j};", f"rest /= d{j};"]
        return [*lines, "const long long i0 = rest;"]

    def place(self, name: str, operand: Operand, index: str, const: str) -> str:
        if not self.layout.rank:
            return f"{name}[{index}]"
        offset = " + ".join(f"i{j} * {name}s{j}" for j in range(self.layout.rank))
        return f"*({const}{TYPES[operand.type]}*)(({const}char*){name} + ({offset}))"

    def compute(self, given: Sequence[str], lane: str) -> list[str]:
        """Declare the results and compute them, again where they are flagged."""
        part = self.part
        results = [f"r{k}" for k in self.outputs]
        inputs = [f"({self.real}){text}" for text in given]
        lines = [f"const {self.real} x{k} = {text};" for k, text in enumerate(inputs)]
        xs = [f"x{k}" for k in self.inputs]
        lines.append(f"{self.real} {', '.join(results)};")
        call = f"{part.name}_point({', '.join([*xs, *results])})"
        if not part.tested:
            return [*lines, f"{call};"]
        if part.second is None:
            shift = f" << ({lane})" if lane != "0" else ""
            return [*lines, f"bits |= (unsigned){call}{shift};"]
        return [
            *lines,
            f"if ({call}) {{",
            f"    double w[{len(results)}] = {{{', '.join(results)}}};",
            f"    {part.name}_again({', '.join([*xs, 'w'])});",
            *(f"    {r} = w[{k}];" for k, r in enumerate(results)),
            "}",
        ]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
