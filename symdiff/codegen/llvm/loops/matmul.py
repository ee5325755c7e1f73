"""Products of matrices in a kernel: calls of `gemm` instead of a library.

    matmul      A B
    matmul.tn   A' B, matmul.nt  A B', matmul.tt  A' B'

where an argument may be a vector. The last three come from `nestmatrices`.
"""

from __future__ import annotations

from dataclasses import dataclass

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.gemm import FRAME, Gemm
from symdiff.codegen.llvm.loops.parallel import Parts
from symdiff.codegen.llvm.loops.scoped import Stored
from symdiff.ir import ONE, Expr
from symdiff.ir.loop_program import Call, name_of
from symdiff.lowering.loops.matmul import TURNED


@dataclass(frozen=True, slots=True)
class Matrix:
    """The sizes of a matrix, and how many elements lie from row to row (`down`) and from
    column to column (`across`)."""

    address: str
    rows: Expr
    columns: Expr
    down: str
    across: str

    def turned(self) -> Matrix:
        """The transposed matrix."""
        return Matrix(self.address, self.columns, self.rows, self.across, self.down)


class Products(Parts):
    """Prints products of matrices."""

    def call(self, s: Call) -> None:
        if s.routine in TURNED:
            self.product(s)
        else:
            super().call(s)

    def product(self, s: Call) -> None:
        """Print a product: a frame for `gemm`, whose rows threads may share."""
        left, right = (self.stored(name_of(e)) for e in s.args)
        (name, t), (of_left, of_right) = s.results[0], TURNED[s.routine]
        made = self.made(name, t)
        a, b = self.matrix(left, of_left), self.matrix(right, of_right)
        if len(left.shape) == 1:  # a row times a matrix: the transposed one times a column
            a, b = b.turned(), a
        count, n, depth = map(self.at_least_zero, (a.rows, b.columns, a.columns))
        values = (
            made.address, n, a.address, a.down, a.across, b.address, b.down, b.across, n, depth,
        )  # fmt: skip
        frame = self.variable(f"[{len(FRAME)} x i64]")
        for k, value in enumerate(values):
            kind = "ptr" if k in (0, 2, 5) else "i64"
            place = self.emit("ptr", f"getelementptr i64, ptr {frame}, i64 {k}")
            self.scope.lines.append(f"store {kind} {value}, ptr {place}")
        self.printed()
        terms = f"fmul double {self.as_double(n)}, {self.as_double(depth)}"
        nanoseconds = 0.2 / self.width
        work = self.emit("double", f"fmul double {self.emit('double', terms)}, {nanoseconds:.6e}")
        self.divided("gemm", "gemm", frame, count, work)
        self.scope.names[name] = made

    def matrix(self, a: Stored, turned: bool) -> Matrix:
        """An argument as a matrix; a vector is a column."""
        if len(a.shape) == 1:
            return Matrix(a.address, a.shape[0], ONE, "1", "1")
        stride = self.at_least_zero(a.shape[1])
        found = Matrix(a.address, a.shape[0], a.shape[1], stride, "1")
        return found.turned() if turned else found

    def printed(self) -> None:
        """Print the functions, once."""
        if "gemm" in self.once:
            return
        self.once.add("gemm")
        host = jit.host()
        arm = "neon" in host.features
        gemm = Gemm(self.real, self.packed.lanes, arm or "+fma" in host.features,
                    arm or host.bits == 512)  # fmt: skip
        self.scalars.declared.update(gemm.declarations())
        self.functions += gemm.functions()
