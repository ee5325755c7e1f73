"""Arrays of a kernel in memory: addresses of elements, places for new arrays, tapes.

Arrays lie row by row without gaps. An index is moved into its axis unless it is proved to
be within it. Places are allocated as far out as their sizes are known, and kept in a list,
so that an error frees them too. A tape is a buffer that grows; a loop that is counted
reserves its part of it before it starts, and its iterations use it like an array.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.llvm.loops.scoped import Expressions, Scope, Slot, Stored
from symdiff.ir import Expr
from symdiff.ir.integers import in_range as provably_in_range
from symdiff.ir.loop_program import name_of

NO_MEMORY = 1
"""What a kernel returns if there is no memory."""

POOLED = 32 * 2**20
"""Bytes of a tape up to which its memory is kept from one call to the next, as fresh pages
cost more than what is saved on them."""

LARGE, SLOTS = 2**16, 12
"""Bytes of arrays that are kept likewise, and how many of them; together at most POOLED."""

PRELUDE = """
@pool = internal global [SLOTS x i64] zeroinitializer
@pooled = internal global i64 0
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)

define internal i64 @floordiv(i64 %a, i64 %b) alwaysinline #1 {
  %zero = icmp eq i64 %b, 0
  %minus = icmp eq i64 %b, -1
  %odd = or i1 %zero, %minus
  %d = select i1 %odd, i64 1, i64 %b
  %q = sdiv i64 %a, %d
  %p = mul i64 %q, %d
  %r = sub i64 %a, %p
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %d
  %differ = icmp slt i64 %signs, 0
  %down = and i1 %some, %differ
  %less = zext i1 %down to i64
  %f = sub i64 %q, %less
  %n = sub i64 0, %a
  %g = select i1 %minus, i64 %n, i64 %f
  %h = select i1 %zero, i64 0, i64 %g
  ret i64 %h
}
define internal i64 @floormod(i64 %a, i64 %b) alwaysinline #1 {
  %q = call i64 @floordiv(i64 %a, i64 %b)
  %p = mul i64 %q, %b
  %r = sub i64 %a, %p
  %zero = icmp eq i64 %b, 0
  %s = select i1 %zero, i64 0, i64 %r
  ret i64 %s
}
define internal i64 @bytes(i64 %a, i64 %b) alwaysinline #1 {
  %both = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %product = extractvalue {i64, i1} %both, 0
  %over = extractvalue {i64, i1} %both, 1
  %r = select i1 %over, i64 9223372036854775807, i64 %product
  ret i64 %r
}
define internal ptr @take(ptr %list, i64 %bytes) noinline #0 {
  %large = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %large, label %none, label %try
try:
  %all = add i64 %bytes, 192
  %big = icmp uge i64 %all, LARGE
  br i1 %big, label %seek, label %fresh
seek:
  %k = phi i64 [ 0, %try ], [ %k.n, %next ]
  %slot = getelementptr i64, ptr @pool, i64 %k
  %at = atomicrmw xchg ptr %slot, i64 0 acq_rel
  %empty = icmp eq i64 %at, 0
  br i1 %empty, label %next, label %look
look:
  %old = inttoptr i64 %at to ptr
  %size.p = getelementptr i64, ptr %old, i64 1
  %size = load i64, ptr %size.p
  %most = mul i64 %all, 2
  %enough = icmp uge i64 %size, %all
  %fits = icmp ule i64 %size, %most
  %good = and i1 %enough, %fits
  br i1 %good, label %mine, label %back
mine:
  %less = atomicrmw sub ptr @pooled, i64 %size acq_rel
  br label %link
back:
  %swap = cmpxchg ptr %slot, i64 0, i64 %at acq_rel acquire
  %put = extractvalue {i64, i1} %swap, 1
  br i1 %put, label %next, label %drop
drop:
  %lost = atomicrmw sub ptr @pooled, i64 %size acq_rel
  call void @free(ptr %old)
  br label %next
next:
  %k.n = add i64 %k, 1
  %more = icmp ult i64 %k.n, SLOTS
  br i1 %more, label %seek, label %fresh
fresh:
  %new = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %none, label %sized
sized:
  %all.p = getelementptr i64, ptr %new, i64 1
  store i64 %all, ptr %all.p
  br label %link
link:
  %raw = phi ptr [ %new, %sized ], [ %old, %mine ]
  %before = load ptr, ptr %list
  store ptr %before, ptr %raw
  store ptr %raw, ptr %list
  %first = ptrtoint ptr %raw to i64
  %past = add i64 %first, 127
  %line = and i64 %past, -64
  %p = inttoptr i64 %line to ptr
  ret ptr %p
none:
  ret ptr null
}
define internal void @release(ptr %list, ptr %mark) noinline #0 {
entry:
  br label %next
next:
  %p = load ptr, ptr %list
  %done = icmp eq ptr %p, %mark
  br i1 %done, label %end, label %drop
drop:
  %before = load ptr, ptr %p
  store ptr %before, ptr %list
  %size.p = getelementptr i64, ptr %p, i64 1
  %size = load i64, ptr %size.p
  %big = icmp uge i64 %size, LARGE
  %small = icmp ule i64 %size, POOLED
  %worth = and i1 %big, %small
  br i1 %worth, label %keep, label %free
keep:
  %had = atomicrmw add ptr @pooled, i64 %size acq_rel
  %has = add i64 %had, %size
  %room = icmp ule i64 %has, POOLED
  %new = ptrtoint ptr %p to i64
  br i1 %room, label %seek, label %full
seek:
  %k = phi i64 [ 0, %keep ], [ %k.n, %taken ]
  %slot = getelementptr i64, ptr @pool, i64 %k
  %swap = cmpxchg ptr %slot, i64 0, i64 %new acq_rel acquire
  %put = extractvalue {i64, i1} %swap, 1
  br i1 %put, label %next, label %taken
taken:
  %k.n = add i64 %k, 1
  %more = icmp ult i64 %k.n, SLOTS
  br i1 %more, label %seek, label %full
full:
  %less = atomicrmw sub ptr @pooled, i64 %size acq_rel
  br label %free
free:
  call void @free(ptr %p)
  br label %next
end:
  ret void
}
define internal void @unpool() noinline #0 {
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %k.n, %last ]
  %slot = getelementptr i64, ptr @pool, i64 %k
  %at = atomicrmw xchg ptr %slot, i64 0 acq_rel
  %empty = icmp eq i64 %at, 0
  br i1 %empty, label %last, label %drop
drop:
  %p = inttoptr i64 %at to ptr
  %size.p = getelementptr i64, ptr %p, i64 1
  %size = load i64, ptr %size.p
  %less = atomicrmw sub ptr @pooled, i64 %size acq_rel
  call void @free(ptr %p)
  br label %last
last:
  %k.n = add i64 %k, 1
  %more = icmp ult i64 %k.n, SLOTS
  br i1 %more, label %next, label %end
end:
  ret void
}
define internal void @unpark(ptr %slot, ptr %tape) noinline #0 {
  %at = atomicrmw xchg ptr %slot, i64 0 acq_rel
  %none = icmp eq i64 %at, 0
  br i1 %none, label %end, label %found
found:
  %data = inttoptr i64 %at to ptr
  %room = load i64, ptr %data
  %room.p = getelementptr i64, ptr %tape, i64 2
  store ptr %data, ptr %tape
  store i64 %room, ptr %room.p
  br label %end
end:
  ret void
}
define internal void @keep.tape(ptr %slot, ptr %tape) noinline #0 {
  %data = load ptr, ptr %tape
  %room.p = getelementptr i64, ptr %tape, i64 2
  %room = load i64, ptr %room.p
  %some = icmp ugt i64 %room, 7
  %small = icmp ule i64 %room, POOLED
  %keep = and i1 %some, %small
  br i1 %keep, label %swap, label %drop
swap:
  store i64 %room, ptr %data
  %new = ptrtoint ptr %data to i64
  %old = atomicrmw xchg ptr %slot, i64 %new acq_rel
  %other = inttoptr i64 %old to ptr
  call void @free(ptr %other)
  ret void
drop:
  call void @free(ptr %data)
  ret void
}
define internal i1 @reserve(ptr %tape, i64 %more) noinline #0 {
  %used.p = getelementptr i64, ptr %tape, i64 1
  %room.p = getelementptr i64, ptr %tape, i64 2
  %data = load ptr, ptr %tape
  %used = load i64, ptr %used.p
  %room = load i64, ptr %room.p
  %large = icmp ugt i64 %more, 4611686018427387904
  br i1 %large, label %bad, label %check
check:
  %need = add i64 %used, %more
  %enough = icmp sle i64 %need, %room
  br i1 %enough, label %good, label %grow
grow:
  %twice = mul i64 %room, 2
  %size = call i64 @llvm.smax.i64(i64 %need, i64 %twice)
  %new = call ptr @realloc(ptr %data, i64 %size)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %bad, label %keep
keep:
  store ptr %new, ptr %tape
  store i64 %size, ptr %room.p
  br label %good
good:
  ret i1 true
bad:
  ret i1 false
}
"""
for _name, _value in (("POOLED", POOLED), ("LARGE", LARGE), ("SLOTS", SLOTS)):
    PRELUDE = PRELUDE.replace(_name, str(_value))
"""Functions of every kernel: whole division rounded down; memory that is in a list, of which
`unpool` frees what was kept; and tapes of (data, bytes used, bytes there are)."""


class Memory(Expressions):
    """Prints loads, stores, allocations."""

    allocation: str = "%allocations"
    proofs: dict[tuple[Expr, Expr, tuple[Expr, ...]], bool]

    # --------------------------------------------------------------- addresses
    def element_type(self, kind: str) -> str:
        return {"f": self.real, "i": "i64", "b": "i8"}[kind]

    def element_bytes(self, kind: str) -> int:
        return {"f": 4 if self.real == "float" else 8, "i": 8, "b": 1}[kind]

    def in_range(self, i: Expr, n: Expr) -> bool:
        """Whether an index is known to be within an axis, here."""
        scope: Scope | None = self.scope
        while scope is not None:
            if (i, n) in scope.assumed:
                return True
            scope = scope.parent
        ranges = self.ranges()
        question = i, n, tuple(ranges)
        if question not in self.proofs:
            self.proofs[question] = provably_in_range(i, n, ranges, self.sizes)
        return self.proofs[question]

    def inside(self, i: Expr, n: Expr) -> str:
        """An index, moved into its axis where it may be outside."""
        if self.in_range(i, n):
            return self.scalar(i)

        def make(at: Scope) -> str:
            value, size = self.scalar(i), self.scalar(n)
            last = self.emit("i64", f"sub i64 {size}, 1", at)
            low = self.emit("i64", f"call i64 @llvm.smin.i64(i64 {value}, i64 {last})", at)
            return self.emit("i64", f"call i64 @llvm.smax.i64(i64 {low}, i64 0)", at)

        return self.shared(("inside", i, n), (i, n), make)

    def offset(self, shape: Sequence[Expr], indices: Sequence[Expr]) -> str:
        """How many elements lie before one."""
        safe = tuple(self.in_range(i, n) for i, n in zip(indices, shape, strict=True))
        total = self.inside(indices[0], shape[0])
        for k in range(1, len(indices)):
            i, n, so_far = indices[k], shape[k], total

            def make(at: Scope, i: Expr = i, n: Expr = n, so_far: str = so_far) -> str:
                rows = self.emit("i64", f"mul nsw i64 {so_far}, {self.scalar(n)}", at)
                return self.emit("i64", f"add nsw i64 {rows}, {self.inside(i, n)}", at)

            key = ("offset", *indices[: k + 1], *shape[: k + 1], safe[: k + 1])
            total = self.shared(key, (*indices[: k + 1], *shape[: k + 1]), make)
        return total

    def place(self, a: Stored, indices: Sequence[Expr], scope: Scope | None = None) -> str:
        """The address of an element."""
        before = self.offset(a.shape, indices)
        kind = self.element_type(a.kind)
        return self.emit("ptr", f"getelementptr {kind}, ptr {a.address}, i64 {before}", scope)

    def element(self, n: Expr, scope: Scope) -> str:
        a = self.stored(name_of(n.args[0]))
        address = self.place(a, n.args[1:], scope)
        value = self.emit(self.element_type(a.kind), self.load(a.kind, address), scope)
        return self.emit("i64", f"zext i8 {value} to i64", scope) if a.kind == "b" else value

    def load(self, kind: str, address: str) -> str:
        return f"load {self.element_type(kind)}, ptr {address}, align {self.element_bytes(kind)}"

    def store(self, kind: str, value: str, address: str) -> None:
        """Print a store of one element."""
        of = self.element_type(kind)
        self.scope.lines.append(
            f"store {of} {value}, ptr {address}, align {self.element_bytes(kind)}"
        )

    # ------------------------------------------------------------- allocations
    def variable(self, kind: str, scope: Scope | None = None) -> str:
        """A variable of the function that a scope is in; what is computed further out than it
        is asked for belongs to another function than the part of a build that needs it."""
        scope = scope or self.scope
        while scope.entry is None:
            assert scope.parent is not None
            scope = scope.parent
        name = self.fresh("ptr")
        scope.entry.append(f"{name} = alloca {kind}, align 8")
        return name

    def bytes_of(self, shape: Sequence[Expr], kind: str) -> str:
        """The size of an array, at least 0."""

        def make(at: Scope) -> str:
            total = str(self.element_bytes(kind))
            for n in shape:
                axis = self.scalar(n)
                if n not in self.sizes:
                    axis = self.emit("i64", f"call i64 @llvm.smax.i64(i64 {axis}, i64 0)", at)
                total = self.emit("i64", f"call i64 @bytes(i64 {total}, i64 {axis})", at)
            return total

        return self.shared(("bytes", kind, *shape), shape, make)

    def allocate(self, shape: tuple[Expr, ...], kind: str) -> Slot:
        """A place for an array, in the outermost scope that knows its size."""
        size = self.bytes_of(shape, kind)
        scope = self.scope_of(*shape)
        scope.allocates = True
        address = self.emit("ptr", f"call ptr @take(ptr {self.allocation}, i64 {size})", scope)
        self.require(f"icmp ne ptr {address}, null", NO_MEMORY, scope)
        slot = Slot(self.variable("ptr", scope), scope.depth)
        scope.lines.append(f"store ptr {address}, ptr {slot.pointer}")
        return slot

    def require(self, test: str, code: int, scope: Scope | None = None) -> None:
        """Leave the kernel with a code unless a test holds."""
        scope = scope or self.scope
        good = self.label()
        fine = self.emit("i1", test, scope)
        bad = self.fail(code)
        scope.lines += [f"br i1 {fine}, label %{good}, label %{bad}, !prof !1", f"{good}:"]

    def fail(self, code: int) -> str:
        """The label where the kernel leaves with a code."""
        raise NotImplementedError

    def new(self, shape: tuple[Expr, ...], kind: str) -> Stored:
        """A new array, whose elements are not set yet."""
        slot = self.allocate(shape, kind)
        address = self.emit("ptr", f"load ptr, ptr {slot.pointer}")
        return Stored(address, shape, kind, slot)

    def copy(self, to: str, of: Stored) -> None:
        """Copy a whole array to an address."""
        size = self.bytes_of(of.shape, of.kind)
        self.scope.lines.append(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of.address}, i64 {size}, i1 false)"
        )

    def copied(self, a: Stored) -> Stored:
        """A copy that may be changed."""
        made = self.new(a.shape, a.kind)
        self.copy(made.address, a)
        return made
