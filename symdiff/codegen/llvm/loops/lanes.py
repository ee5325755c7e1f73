"""Vectors of array elements in LLVM IR: what lies in the lanes of a register.

Elements that lie side by side are loaded and stored at once, backwards too; others are
gathered one by one, each index moved into its axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.llvm.loops.body import Statements
from symdiff.codegen.llvm.loops.cost import Choice
from symdiff.codegen.llvm.loops.scoped import Scope, Stored
from symdiff.ir import Expr
from symdiff.ir.loop_program import Carried, leaves, name_of, scalar


class Vectors(Statements, Choice):
    """Prints loads and stores of vectors: of all lanes, or of those of a mask; then the others are as the
    first lane."""

    def lane_index(self, at: Expr) -> str:
        """The index in an expression whose values the lanes have; "" if there is none."""
        for e in leaves((at,)):
            scope, _ = self.find(name_of(e))
            if name_of(e) in scope.varying and name_of(e) in scope.ranges:
                return name_of(e)
        return ""

    def lane_type_of(self, kind: str) -> str:
        return f"<{self.width} x {self.element_type(kind)}>"

    def lane_type(self, c: Carried) -> str:
        return self.lane_type_of(c.type.kind)

    def name_lanes(self, name: str, kind: str, value: str) -> None:
        """Let a name mean a vector."""
        self.scope.names[name] = value
        self.scope.varying.add(name)
        self.scope.vectors[scalar(name, kind)] = value
        self.scope.restored.add(scalar(name, kind))

    def load_lanes(
        self, kind: str, address: str, scope: Scope | None = None, backwards: bool = False
    ) -> str:
        """Elements that lie side by side, from an address on; `backwards` if that is of the last lane."""
        of, align = self.lane_type_of(kind), self.element_bytes(kind)
        if not self.mask:
            return self.emit(of, f"load {of}, ptr {address}, align {align}", scope)
        element, first = self.element_type(kind), address
        if backwards:
            first = self.emit(
                "ptr", f"getelementptr {element}, ptr {address}, i64 {self.width - 1}"
            )
        one = self.emit(element, f"load {element}, ptr {first}, align {align}", scope)
        others = self.spread(element, one, scope or self.scope)
        name, which, mask = self.masked("load", kind, backwards)
        self.packed.declared[name] = f"declare {of} @{name}(ptr, i32, {which}, {of})"
        call = f"call {of} @{name}(ptr {address}, i32 {align}, {which} {mask}, {of} {others})"
        return self.emit(of, call, scope)

    def store_lanes(self, kind: str, value: str, address: str, backwards: bool = False) -> None:
        """Store the lanes from an address on; `backwards` if that is of the last one."""
        of, align = self.lane_type_of(kind), self.element_bytes(kind)
        if not self.mask:
            self.scope.lines.append(f"store {of} {value}, ptr {address}, align {align}")
            return
        name, which, mask = self.masked("store", kind, backwards)
        self.packed.declared[name] = f"declare void @{name}({of}, ptr, i32, {which})"
        self.scope.lines.append(
            f"call void @{name}({of} {value}, ptr {address}, i32 {align}, {which} {mask})"
        )

    def masked(self, what: str, kind: str, backwards: bool) -> tuple[str, str, str]:
        """The name of an intrinsic function for some of the lanes, the type of its mask, and that."""
        element = self.element_type(kind)
        element = {"double": "f64", "float": "f32"}.get(element, element)
        which = f"<{self.width} x i1>"
        mask = self.reversed_lanes(self.mask, which) if backwards else self.mask
        return f"llvm.masked.{what}.v{self.width}{element}.p0", which, mask

    def reversed_lanes(self, value: str, of: str, scope: Scope | None = None) -> str:
        order = ", ".join(f"i32 {k}" for k in reversed(range(self.width)))
        mask = f"<{self.width} x i32> <{order}>"
        return self.emit(of, f"shufflevector {of} {value}, {of} poison, {mask}", scope)

    def first_of(self, a: Stored, indices: Sequence[Expr], scope: Scope | None = None) -> str:
        """The address of the element that lies first among those of the lanes."""
        address = self.place(a, indices, scope)
        if self.step(indices[-1], self.lane_index(indices[-1])) == 1:
            return address
        back = f"getelementptr {self.element_type(a.kind)}, ptr {address}, i64 {1 - self.width}"
        return self.emit("ptr", back, scope)

    def elements(self, n: Expr, scope: Scope) -> str:
        a, indices = self.stored(name_of(n.args[0])), n.args[1:]
        last = indices[-1]
        v = self.lane_index(last)
        step = None if any(self.varies(i) for i in indices[:-1]) else self.step(last, v)
        of = self.lane_type_of(a.kind)
        beside = step == 1 or (step == -1 and not self.mask)
        if beside and self.in_range(last, a.shape[-1]):
            address = self.first_of(a, indices, scope)
            value = self.load_lanes(a.kind, address, scope)
            value = self.reversed_lanes(value, of, scope) if step == -1 else value
        else:
            value = self.gather(a, indices, scope)
        if a.kind != "b":
            return value
        whole = f"<{self.width} x i64>"
        return self.emit(whole, f"zext {of} {value} to {whole}", scope)

    def gather(self, a: Stored, indices: Sequence[Expr], scope: Scope) -> str:
        """Elements that do not lie side by side, one by one."""
        whole, element = f"<{self.width} x i64>", self.element_type(a.kind)
        before = ""
        for i, n in zip(indices, a.shape, strict=True):
            at = self.safe_lanes(i, n, whole, scope)
            if before:
                rows = self.emit(whole, f"mul {whole} {before}, {self.splat(n, 'i')}", scope)
                at = self.emit(whole, f"add {whole} {rows}, {at}", scope)
            before = at
        of, last = self.lane_type_of(a.kind), "poison"
        for k in range(self.width):
            one = self.emit("i64", f"extractelement {whole} {before}, i64 {k}", scope)
            place = self.emit("ptr", f"getelementptr {element}, ptr {a.address}, i64 {one}", scope)
            value = self.emit(element, self.load(a.kind, place), scope)
            last = self.emit(of, f"insertelement {of} {last}, {element} {value}, i64 {k}", scope)
        return last

    def safe_lanes(self, i: Expr, n: Expr, whole: str, scope: Scope) -> str:
        """The values of an index in the lanes, moved into the axis."""
        if not self.varies(i):
            return self.spread("i64", self.inside(i, n), scope)
        value = self.vector(i)
        if self.in_range(i, n):
            return value
        size = self.scalar(n)
        last = self.emit("i64", f"sub i64 {size}, 1", scope)
        top, zero = self.spread("i64", last, scope), "zeroinitializer"
        for which, bound in (("smin", top), ("smax", zero)):
            name = f"llvm.{which}.v{self.width}i64"
            self.packed.declared[name] = f"declare {whole} @{name}({whole}, {whole})"
            call = f"call {whole} @{name}({whole} {value}, {whole} {bound})"
            value = self.emit(whole, call, scope)
        return value
