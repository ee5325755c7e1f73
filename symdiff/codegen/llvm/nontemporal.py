"""LLVM IR by which the bodies of kernels write large results past the caches.

An ordinary store first reads the cache line it writes to. One that does not must fill a
line at once, and so lie at a multiple of a register's size. Where outputs lie at different
places, a register is put together from the end of the last result and the beginning of this
one (SHIFTED); the first and the last register of a run are then written as usual.
Inputs are asked for AHEAD of their turn then: while stores wait for memory, the processor
looks no further ahead than the operations it has room for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PLAIN, WHOLE, SHIFTED = 0, 1, 2
"""How a body writes its outputs: as usual; past the caches, where all lie at multiples of a
register's size; past the caches, wherever they lie (but see `granule`)."""
_FIRST = 3
AHEAD = 2048
"""Bytes by which inputs are fetched before they are read."""
MOST = 16
"""Outputs up to which a body can do so: they are in registers together."""


def granule(register: int, item: int) -> int | None:
    """What the addresses of outputs are multiples of, in bytes, if SHIFTED can write them;
    None if nothing can. `register` and `item` are sizes in bytes."""
    return {32: 16, 64: item}.get(register)


@dataclass(frozen=True)
class Streams:
    """The parts of a body that writes results.

    Parameters
    ----------
    real : type of an element, "double" or "float".
    width : elements in a register.
    bases : the addresses of the outputs' first elements; in the loop, output k is the
        register `%o{k}`, to be written to `%o{k}.p`.
    reads : where the inputs of this turn of the loop are.
    plain : writes all results as usual, and `flags` what is no real number.
    permutes : whether the processor picks elements from two registers of 64 bytes (AVX-512).
    """

    real: str
    width: int
    bases: Sequence[str]
    reads: Sequence[str]
    plain: Sequence[str]
    flags: Sequence[str]
    permutes: bool = False

    @property
    def item(self) -> int:
        return 4 if self.real == "float" else 8

    @property
    def register(self) -> int:
        return self.width * self.item

    @property
    def kind(self) -> str:
        return f"<{self.width} x {self.real}>"

    @property
    def indices(self) -> str:
        return f"<{self.width} x i{8 * self.item}>"

    @property
    def shifts(self) -> bool:
        if self.register == 64 and not self.permutes:
            return False
        return granule(self.register, self.item) is not None

    def declared(self) -> dict[str, str]:
        """Declarations by name."""
        fetch = {"llvm.prefetch.p0": "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"}
        if self.register != 64 or not self.shifts:
            return fetch
        name, kind = self.permuted, self.kind
        return fetch | {name: f"declare {kind} @{name}({kind}, {self.indices}, {kind}) #1"}

    @property
    def permuted(self) -> str:
        """The function that picks a register from two."""
        return f"llvm.x86.avx512.vpermi2var.p{'s' if self.real == 'float' else 'd'}.512"

    def each(self, lines: Callable[[int], list[str]]) -> list[str]:
        return [line for k in range(len(self.bases)) for line in lines(k)]

    # ----------------------------------------------------------------------- parts
    def entry(self) -> list[str]:
        """Before the loop."""
        if not self.shifts:
            return []
        count = len(self.bases)
        return [
            f"%held = alloca {self.kind}, i64 {count}, align 64",
            f"%index = alloca {self.indices}, i64 {count}, align 64",
            f"%back = alloca i64, i64 {count}",
            f"%is.shifted = icmp eq i64 %stream, {SHIFTED}",
            f"%how.first = select i1 %is.shifted, i64 {_FIRST}, i64 %stream",
            *self.each(self._offsets),
        ]

    def _offsets(self, k: int) -> list[str]:
        """How far from the next multiple of a register's size an output begins."""
        bits, lanes = 8 * self.item, range(self.width)
        counting = ", ".join(f"i{bits} {i}" for i in lanes)
        zeros = ", ".join("i32 0" for _ in lanes)
        return [
            f"%b{k} = ptrtoint ptr {self.bases[k]} to i64",
            f"%b{k}.n = sub i64 0, %b{k}",
            f"%b{k}.s = and i64 %b{k}.n, {self.register - 1}",
            f"%b{k}.o = sub i64 %b{k}.s, {self.register}",
            f"%b{k}.p = getelementptr i64, ptr %back, i64 {k}",
            f"store i64 %b{k}.o, ptr %b{k}.p",
            f"%b{k}.e = udiv i64 %b{k}.s, {self.item}",
            f"%b{k}.t = {'trunc i64' if bits < 64 else 'add i64 0,'} %b{k}.e"
            + (f" to i{bits}" if bits < 64 else ""),
            f"%b{k}.i = insertelement {self.indices} poison, i{bits} %b{k}.t, i64 0",
            f"%b{k}.v = shufflevector {self.indices} %b{k}.i, {self.indices} poison, "
            f"<{self.width} x i32> <{zeros}>",
            f"%b{k}.x = add {self.indices} %b{k}.v, <{counting}>",
            f"%b{k}.q = getelementptr {self.indices}, ptr %index, i64 {k}",
            f"store {self.indices} %b{k}.x, ptr %b{k}.q, align 64",
            f"%h{k}.p = getelementptr {self.kind}, ptr %held, i64 {k}",
        ]

    def begin(self) -> list[str]:
        """At the head of the loop."""
        return ["%how = phi i64 [ %how.first, %entry ], [ %stream, %joined ]"] * self.shifts

    def store(self) -> list[str]:
        """At the end of the loop; goes on at the label `joined`."""
        whole = self.each(lambda k: [self._past(f"%o{k}", f"%o{k}.p")])
        ways = {"whole": (WHOLE, [*self._fetch("w"), *whole, *self.flags])}
        if self.shifts:
            ways["first"] = (_FIRST, [*self.plain, *self.each(self._hold)])
            shifted = [*self._fetch("s"), *self.each(self._shift), *self.flags]
            ways["shifted"] = (SHIFTED, shifted)
        table = " ".join(f"i64 {n}, label %{name}" for name, (n, _) in ways.items())
        lines = [f"switch i64 %{'how' if self.shifts else 'stream'}, label %plain [ {table} ]"]
        for name, (_, text) in ways.items():
            lines += [f"{name}:", *text, "br label %joined"]
        return [*lines, "plain:", *self.plain, "br label %joined", "joined:"]

    def end(self) -> list[str]:
        """Behind the loop; goes on at the label `done`."""
        if not self.shifts:
            return ["br label %done"]
        return [
            "br i1 %is.shifted, label %last, label %done",
            "last:",
            f"%at.last = sub i64 %end, {self.width}",
            *self.each(self._last),
            "br label %done",
        ]

    def _fetch(self, tag: str) -> list[str]:
        lines = []
        for k, place in enumerate(self.reads):
            lines += [
                f"%f{tag}{k} = getelementptr i8, ptr {place}, i64 {AHEAD}",
                f"call void @llvm.prefetch.p0(ptr %f{tag}{k}, i32 0, i32 3, i32 1)",
            ]
        return lines

    # --------------------------------------------------------------------- outputs
    def _past(self, value: str, place: str) -> str:
        how = f"align {self.register}, !nontemporal !1"
        return f"store {self.kind} {value}, ptr {place}, {how}"

    def _hold(self, k: int) -> list[str]:
        return [f"store {self.kind} %o{k}, ptr %h{k}.p, align 64"]

    def _shift(self, k: int) -> list[str]:
        return [
            f"%h{k} = load {self.kind}, ptr %h{k}.p, align 64",
            *self._hold(k),
            *self._joined(k),
            f"%h{k}.o = load i64, ptr %b{k}.p",
            f"%h{k}.t = getelementptr i8, ptr %o{k}.p, i64 %h{k}.o",
            self._past(f"%h{k}.v", f"%h{k}.t"),
        ]

    def _joined(self, k: int) -> list[str]:
        """The register that begins inside the last result."""
        if self.register == 64:
            index = f"%h{k}.x = load {self.indices}, ptr %b{k}.q, align 64"
            args = f"{self.kind} %h{k}, {self.indices} %h{k}.x, {self.kind} %o{k}"
            return [index, f"%h{k}.v = call {self.kind} @{self.permuted}({args}) #1"]
        half = ", ".join(f"i32 {i + self.width // 2}" for i in range(self.width))
        return [
            f"%h{k}.m = shufflevector {self.kind} %h{k}, {self.kind} %o{k}, "
            f"<{self.width} x i32> <{half}>",
            f"%h{k}.c = icmp eq i64 %b{k}.s, 0",
            f"%h{k}.v = select i1 %h{k}.c, {self.kind} %h{k}, {self.kind} %h{k}.m",
        ]

    def _last(self, k: int) -> list[str]:
        return [
            f"%l{k} = load {self.kind}, ptr %h{k}.p, align 64",
            f"%l{k}.p = getelementptr {self.real}, ptr {self.bases[k]}, i64 %at.last",
            f"store {self.kind} %l{k}, ptr %l{k}.p, align 1",
        ]
