"""Arrays of a kernel in memory: addresses of elements, places for new arrays, tapes.

Arrays lie row by row without gaps. An index is moved into its axis unless it is proved to
be within it. Places are allocated as far out as their sizes are known, and kept in a list,
so that an error frees them too. A tape is a buffer that grows; a loop that is counted
reserves its part of it before it starts, and its iterations use it like an array.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.llvm.assembly import Function
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

_WHOLE = f"""
@pool = internal global [{SLOTS} x i64] zeroinitializer
@pooled = internal global i64 0
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare {{i64, i1}} @llvm.smul.with.overflow.i64(i64, i64)

define internal i64 @floordiv(i64 %a, i64 %b) alwaysinline #1 {{
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
}}
define internal i64 @floormod(i64 %a, i64 %b) alwaysinline #1 {{
  %q = call i64 @floordiv(i64 %a, i64 %b)
  %p = mul i64 %q, %b
  %r = sub i64 %a, %p
  %zero = icmp eq i64 %b, 0
  %s = select i1 %zero, i64 0, i64 %r
  ret i64 %s
}}
define internal i64 @bytes(i64 %a, i64 %b) alwaysinline #1 {{
  %both = call {{i64, i1}} @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %product = extractvalue {{i64, i1}} %both, 0
  %over = extractvalue {{i64, i1}} %both, 1
  %r = select i1 %over, i64 9223372036854775807, i64 %product
  ret i64 %r
}}
"""


def _swap(f: Function, slot: str, value: str) -> str:
    """Put a word into a slot, in which there was none; whether that was so."""
    found = f.emit(f"cmpxchg ptr {slot}, i64 0, i64 {value} acq_rel acquire")
    return f.emit(f"extractvalue {{i64, i1}} {found}, 1")


def _atomic(f: Function, what: str, place: str, value: str) -> str:
    """Change a word that other threads use; what it was."""
    return f.emit(f"atomicrmw {what} ptr {place}, i64 {value} acq_rel")


def _line(f: Function, made: str) -> str:
    """Where arrays begin in a piece of memory."""
    line = f.whole("and", f.whole("add", f.address("ptr", made), "127"), "-64")
    return f.address("i64", line)


def _print_take() -> str:
    f = Function()
    found = f.variable("ptr", "null")
    f.leave_if(f.compare("ugt", "%bytes", str(2**62)), "none")
    size = f.whole("add", "%bytes", "192")
    with f.when(f.compare("uge", size, str(LARGE))), f.loop("0", str(SLOTS)) as k:
        slot, following = f.place("@pool", k, "i64"), f.name("following")
        at = _atomic(f, "xchg", slot, "0")
        f.leave_if(f.compare("eq", at, "0"), following)
        old = f.address("i64", at)
        there = f.load(old, "1", "i64")
        enough = f.compare("uge", there, size)
        with f.when(f.both(enough, f.compare("ule", there, f.whole("mul", size, "2")))):
            _atomic(f, "sub", "@pooled", there)
            f.write("ptr", old, found)
            f.go("link")
        f.leave_if(_swap(f, slot, at), following)
        _atomic(f, "sub", "@pooled", there)
        f.do(f"call void @free(ptr {old})")
        f.label(following)
    new = f.emit(f"call ptr @malloc(i64 {size})")
    f.leave_if(f.compare("eq", new, "null", "ptr"), "none")
    f.store(size, new, "1", "i64")
    f.write("ptr", new, found)
    f.label("link")
    made = f.read("ptr", found)
    f.write("ptr", f.read("ptr", "%list"), made)
    f.write("ptr", made, "%list")
    f.store("0", made, str(MARK), "i64")
    f.give(f"ptr {_line(f, made)}")
    f.label("none")
    return f.function("ptr @take(ptr %list, i64 %bytes) noinline #0", "ret ptr null")


MARK = 2
"""The word of a piece of memory that says how many of its bytes are balls."""


def print_release(clears: str = "") -> str:
    """The function that frees pieces of memory; `clears`: what frees the parts of balls in them before."""
    f = Function()
    f.label("next")
    made = f.read("ptr", "%list")
    f.leave_if(f.compare("eq", made, "%mark", "ptr"), "end")
    if clears:
        balls = f.load(made, str(MARK), "i64")
        with f.when(f.compare("ne", balls, "0")):
            f.do(f"call void @{clears}(ptr {_line(f, made)}, i64 {balls})")
    f.write("ptr", f.read("ptr", made), "%list")
    size = f.load(made, "1", "i64")
    worth = f.both(f.compare("uge", size, str(LARGE)), f.compare("ule", size, str(POOLED)))
    with f.when(worth):
        has = f.whole("add", _atomic(f, "add", "@pooled", size), size)
        new = f.address("ptr", made)
        with f.when(f.compare("ule", has, str(POOLED))), f.loop("0", str(SLOTS)) as k:
            f.leave_if(_swap(f, f.place("@pool", k, "i64"), new), "next")
        _atomic(f, "sub", "@pooled", size)
    f.do(f"call void @free(ptr {made})")
    f.go("next")
    f.label("end")
    return f.function("void @release(ptr %list, ptr %mark) noinline #0", "ret void")


def _print_unpool() -> str:
    f = Function()
    with f.loop("0", str(SLOTS)) as k:
        at = _atomic(f, "xchg", f.place("@pool", k, "i64"), "0")
        with f.when(f.compare("ne", at, "0")):
            old = f.address("i64", at)
            _atomic(f, "sub", "@pooled", f.load(old, "1", "i64"))
            f.do(f"call void @free(ptr {old})")
    return f.function("void @unpool() noinline #0", "ret void")


def _print_unpark() -> str:
    f = Function()
    at = _atomic(f, "xchg", "%slot", "0")
    with f.when(f.compare("ne", at, "0")):
        data = f.address("i64", at)
        f.write("ptr", data, "%tape")
        f.store(f.read("i64", data), "%tape", "2", "i64")
    return f.function("void @unpark(ptr %slot, ptr %tape) noinline #0", "ret void")


def _print_keep() -> str:
    f = Function()
    data, room = f.read("ptr", "%tape"), f.load("%tape", "2", "i64")
    with f.when(f.both(f.compare("ugt", room, "7"), f.compare("ule", room, str(POOLED)))):
        f.write("i64", room, data)
        old = _atomic(f, "xchg", "%slot", f.address("ptr", data))
        f.do(f"call void @free(ptr {f.address('i64', old)})")
        f.give("void")
    f.do(f"call void @free(ptr {data})")
    return f.function("void @keep.tape(ptr %slot, ptr %tape) noinline #0", "ret void")


def _print_reserve() -> str:
    f = Function()
    data, used, room = f.read("ptr", "%tape"), *(f.load("%tape", k, "i64") for k in "12")
    f.leave_if(f.compare("ugt", "%more", str(2**62)), "bad")
    need = f.whole("add", used, "%more")
    with f.when(f.compare("sgt", need, room)):
        twice = f.whole("mul", room, "2")
        size = f.emit(f"call i64 @llvm.smax.i64(i64 {need}, i64 {twice})")
        new = f.emit(f"call ptr @realloc(ptr {data}, i64 {size})")
        f.leave_if(f.compare("eq", new, "null", "ptr"), "bad")
        f.write("ptr", new, "%tape")
        f.store(size, "%tape", "2", "i64")
    f.give("i1 true")
    f.label("bad")
    return f.function("i1 @reserve(ptr %tape, i64 %more) noinline #0", "ret i1 false")


PRELUDE = "\n".join([
    _WHOLE, _print_take(), print_release(), _print_unpool(), _print_unpark(), _print_keep(),
    _print_reserve(), "",
])  # fmt: skip
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

    def value_at(self, kind: str, address: str, *names: str) -> str:
        """Print a load of a number that gets these names."""
        return self.emit(self.element_type(kind), self.load(kind, address))

    # ------------------------------------------------------------- allocations
    def cell(self, kind: str) -> str:
        """A place for a number that a loop carries."""
        return self.variable(self.element_type(kind))

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
        taken = f"call ptr @{self.taker(kind)}(ptr {self.allocation}, i64 {size})"
        address = self.emit("ptr", taken, scope)
        self.require(f"icmp ne ptr {address}, null", NO_MEMORY, scope)
        slot = Slot(self.variable("ptr", scope), scope.depth)
        scope.lines.append(f"store ptr {address}, ptr {slot.pointer}")
        return slot

    def taker(self, kind: str) -> str:
        """The function that takes memory for elements of a kind."""
        return "take"

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
