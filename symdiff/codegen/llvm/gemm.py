"""Products of matrices in LLVM IR: tiles of registers over panels that stay in a cache.

    void @gemm(ptr frame, i64 first, i64 past)      rows of C = A B

A tile is ROWS rows by a few registers of C, in which every element is a sum in the order of
the inner index, each term added with one rounding where the processor can. So a result does
not depend on how rows are divided among threads. B is copied panel by panel: `depth` inner
indices of the columns of one tile, which lie in the nearest cache while the rows of A go by.
A is read where it is, whatever its strides, and C is written under a mask where a tile is wider
than what is left of it. (The scheme of Goto and van de Geijn, ACM
Transactions on Mathematical Software 34, 2008, without their copy of A.) What is too small
for that, or finds no memory, is computed by three loops.
"""

from __future__ import annotations

from symdiff.codegen.llvm.printer import Lanes

FRAME = ("c", "ldc", "a", "ras", "cas", "b", "rbs", "cbs", "n", "depth")
"""What the frame holds, 64 bits each: addresses of the first elements; the strides from row to
row of C, and from row to row and column to column of A and B, in elements; the columns of B,
and its rows."""
ROWS = 6
NEAR, FAR, BLOCK = 2**15, 2**19, 2**20
"""Bytes of a panel of B; of all panels that are there at once; and of the rows of A that are
multiplied by all of these before the next."""
SMALL = 1000
"""Products of numbers up to which three loops are as fast."""


class Gemm:
    """Prints the functions.

    Parameters
    ----------
    real : "double" or "float".
    lanes : the registers.
    fuses : whether the processor multiplies and adds with one rounding.
    many : whether it has 32 of these registers, not 16.
    """

    def __init__(self, real: str, lanes: Lanes, fuses: bool, many: bool) -> None:
        self.real, self.width, self.fuses = real, lanes.width, fuses
        self.item = 4 if real == "float" else 8
        self.tiles = (4, 2, 1) if many else (2, 1)
        self.columns = self.tiles[0] * self.width
        self.depth = max(16, NEAR // (self.columns * self.item))
        self.vector = real if self.width == 1 else f"<{self.width} x {real}>"
        bits = f"f{8 * self.item}"
        self.fma = {
            self.vector: f"llvm.fma.{bits if self.width == 1 else f'v{self.width}{bits}'}",
            real: f"llvm.fma.{bits}",
        }

    def declarations(self) -> dict[str, str]:
        """What the functions need, by name."""
        of, bits = self.vector, f"<{self.width} x i1>"
        made = {}
        if self.width > 1:
            made[self.masked("load")] = (
                f"declare {of} @{self.masked('load')}(ptr, i32, {bits}, {of})"
            )
            made[self.masked("store")] = (
                f"declare void @{self.masked('store')}({of}, ptr, i32, {bits})"
            )
        if self.fuses:
            made |= {f: f"declare {of} @{f}({of}, {of}, {of}) #1" for of, f in self.fma.items()}
        return made

    def masked(self, what: str) -> str:
        """The name of a load or store of some lanes."""
        return f"llvm.masked.{what}.v{self.width}f{8 * self.item}.p0"

    def functions(self) -> list[str]:
        """The functions, the last of which is `@gemm`."""
        places = {
            "real": self.real, "vector": self.vector, "width": self.width, "item": self.item,
            "columns": self.columns, "most": self.depth,
            "far": max(self.columns, FAR // (self.depth * self.item) // self.columns * self.columns),
            "rows": ROWS, "block": max(ROWS, BLOCK // (self.depth * self.item) // ROWS * ROWS),
            "small": SMALL, "plain": "\n".join(self.added(self.real, "%next", "%x", "%y", "%s")),
            "choice": "\n".join(self.choice()),
        }  # fmt: skip
        texts = (_PACK, _PLAIN, _BLOCKED)
        made = [*map(self.tile, self.tiles), self.wide()]
        return [*made, *(t.format(**places) for t in texts)]

    def wide(self) -> str:
        """The columns of the narrowest tile that is as wide as those that are left."""
        lines, found = [], str(self.columns)
        for k in self.tiles[1:]:
            size = k * self.width
            lines += [
                f"  %in.{k} = icmp sle i64 %nc, {size}",
                f"  %w.{k} = select i1 %in.{k}, i64 {size}, i64 {found}",
            ]
            found = f"%w.{k}"
        head = "define internal i64 @gemm.wide(i64 %nc) alwaysinline #0 {"
        return "\n".join([head, *lines, f"  ret i64 {found}", "}"])

    def added(self, of: str, name: str, a: str, b: str, c: str) -> list[str]:
        """The instructions of name = c + a*b."""
        if self.fuses:
            return [f"  {name} = call {of} @{self.fma[of]}({of} {a}, {of} {b}, {of} {c}) #1"]
        return [f"  {name}.p = fmul {of} {a}, {b}", f"  {name} = fadd {of} {c}, {name}.p"]

    def choice(self) -> list[str]:
        """The call of the tile that is as wide as the columns that are left, or wider."""
        lines = []
        call = (
            "  call void @gemm.tile.{}(ptr %a.i, i64 %ras, i64 %cas, ptr %panel, i64 %kc, ptr %c.i, "
            "i64 %ldc, i64 %last, i64 %nc, i1 %set)"
        )
        for wide, less in zip(self.tiles, self.tiles[1:], strict=False):
            lines += [
                f"  %over.{less} = icmp sgt i64 %nc, {less * self.width}",
                f"  br i1 %over.{less}, label %by.{wide}, label %under.{wide}", f"by.{wide}:",
                call.format(wide), "  br label %tile.e", f"under.{wide}:",
            ]  # fmt: skip
        return [*lines, call.format(self.tiles[-1]), "  br label %tile.e"]

    def tile(self, registers: int) -> str:
        """Rows of A times a panel, to C or added to it; `last` is the last of the rows, and `nc` how
        many columns C has."""
        of, width = self.vector, self.width
        zero = "0.0" if width == 1 else "zeroinitializer"
        zeros = f"<{width} x i32> zeroinitializer"
        sums = [(r, v) for r in range(ROWS) for v in range(registers)]
        lines = [
            f"define internal void @gemm.tile.{registers}(ptr %a, i64 %ras, i64 %cas, "
            "ptr noalias %b, i64 %depth, ptr noalias %c, i64 %ldc, i64 %last, "
            "i64 %nc, i1 %set) noinline #0 {",
            "start:",
        ]  # fmt: skip
        for r in range(ROWS):  # a row that is not there is the last once more
            lines += [
                f"  %r{r} = call i64 @llvm.smin.i64(i64 {r}, i64 %last)",
                f"  %d{r} = mul i64 %r{r}, %ras",
                f"  %a{r} = getelementptr {self.real}, ptr %a, i64 %d{r}",
            ]
        lines += ["  br label %head", "head:"]
        lines += [
            f"  %s{r}.{v} = phi {of} [ {zero}, %start ], [ %n{r}.{v}, %body ]" for r, v in sums
        ]
        lines += [
            "  %k = phi i64 [ 0, %start ], [ %k.n, %body ]",
            "  %o = phi i64 [ 0, %start ], [ %o.n, %body ]",
            "  %p = phi ptr [ %b, %start ], [ %p.n, %body ]",
            "  %more = icmp slt i64 %k, %depth",
            "  br i1 %more, label %body, label %done",
            "body:",
        ]
        for v in range(registers):
            lines += [
                f"  %p{v} = getelementptr {self.real}, ptr %p, i64 {v * width}",
                f"  %b{v} = load {of}, ptr %p{v}, align {self.item}",
            ]
        for r in range(ROWS):
            lines += [
                f"  %q{r} = getelementptr {self.real}, ptr %a{r}, i64 %o",
                f"  %x{r} = load {self.real}, ptr %q{r}, align {self.item}",
            ]
            one = f"%x{r}"
            if width > 1:
                lines += [
                    f"  %i{r} = insertelement {of} poison, {self.real} %x{r}, i64 0",
                    f"  %w{r} = shufflevector {of} %i{r}, {of} poison, {zeros}",
                ]
                one = f"%w{r}"
            for v in range(registers):
                lines += self.added(of, f"%n{r}.{v}", one, f"%b{v}", f"%s{r}.{v}")
        lines += [
            "  %k.n = add nsw i64 %k, 1", "  %o.n = add nsw i64 %o, %cas",
            f"  %p.n = getelementptr {self.real}, ptr %p, i64 {registers * width}",
            "  br label %head", "done:",
        ]  # fmt: skip
        if width > 1:
            lines += [
                f"  %nc.1 = insertelement <{width} x i64> poison, i64 %nc, i64 0",
                f"  %ncs = shufflevector <{width} x i64> %nc.1, <{width} x i64> poison, {zeros}",
                *map(self.mask, range(registers)),
            ]
        for r in range(ROWS):
            lines += [
                f"  %in{r} = icmp sle i64 {r}, %last",
                f"  br i1 %in{r}, label %row{r}, label %out",
                f"row{r}:",
                f"  %e{r} = mul i64 {r}, %ldc",
                f"  br i1 %set, label %set{r}, label %add{r}",
            ]
            for how in ("set", "add"):
                lines.append(f"{how}{r}:")
                for v in range(registers):
                    name = f"%{how}{r}.{v}"
                    lines += [
                        f"  {name}.o = add i64 %e{r}, {v * width}",
                        f"  {name}.p = getelementptr {self.real}, ptr %c, i64 {name}.o",
                        *self.collected(name, f"%s{r}.{v}", f"%m{v}", how == "add"),
                    ]
                lines.append(f"  br label %end{r}")
            lines.append(f"end{r}:")
        return "\n".join([*lines, "  br label %out", "out:", "  ret void", "}"])

    def mask(self, v: int) -> str:
        """The lanes of register v that C has."""
        first = ", ".join(f"i64 {v * self.width + i}" for i in range(self.width))
        return f"  %m{v} = icmp slt <{self.width} x i64> <{first}>, %ncs"

    def collected(self, name: str, value: str, mask: str, adds: bool) -> list[str]:
        """The instructions that store a sum, or add it to what is there."""
        of, at = self.vector, f"ptr {name}.p"
        where = f"{at}, align {self.item}"
        load, store = f"load {of}, {where}", f"store {of} {{}}, {where}"
        if self.width > 1:
            where = f"{at}, i32 {self.item}, <{self.width} x i1> {mask}"
            load = f"call {of} @{self.masked('load')}({where}, {of} poison)"
            store = f"call void @{self.masked('store')}({of} {{}}, {where})"
        if not adds:
            return ["  " + store.format(value)]
        return [
            f"  {name}.l = {load}",
            f"  {name}.t = fadd {of} {name}.l, {value}",
            "  " + store.format(f"{name}.t"),
        ]


_PACK = """
define internal void @gemm.pack(ptr noalias %to, ptr noalias %b, i64 %rbs, i64 %cbs, i64 %kc, i64 %nc, i64 %wide) noinline #0 {{
start:
  %near = icmp eq i64 %cbs, 1
  br label %row.h
row.h:
  %k = phi i64 [ 0, %start ], [ %k.n, %fill ]
  %row.m = icmp slt i64 %k, %kc
  br i1 %row.m, label %row, label %out
row:
  %from.o = mul i64 %k, %rbs
  %from = getelementptr {real}, ptr %b, i64 %from.o
  %dst.o = mul i64 %k, %wide
  %dst = getelementptr {real}, ptr %to, i64 %dst.o
  %whole = and i64 %nc, -{width}
  %vectors = select i1 %near, i64 %whole, i64 0
  br label %vec.h
vec.h:
  %v = phi i64 [ 0, %row ], [ %v.n, %vec ]
  %vec.m = icmp slt i64 %v, %vectors
  br i1 %vec.m, label %vec, label %one.h
vec:
  %v.f = getelementptr {real}, ptr %from, i64 %v
  %v.x = load {vector}, ptr %v.f, align {item}
  %v.t = getelementptr {real}, ptr %dst, i64 %v
  store {vector} %v.x, ptr %v.t, align {item}
  %v.n = add nsw i64 %v, {width}
  br label %vec.h
one.h:
  %j = phi i64 [ %v, %vec.h ], [ %j.n, %one ]
  %one.m = icmp slt i64 %j, %nc
  br i1 %one.m, label %one, label %zero.h
one:
  %j.o = mul i64 %j, %cbs
  %j.f = getelementptr {real}, ptr %from, i64 %j.o
  %j.x = load {real}, ptr %j.f, align {item}
  %j.t = getelementptr {real}, ptr %dst, i64 %j
  store {real} %j.x, ptr %j.t, align {item}
  %j.n = add nsw i64 %j, 1
  br label %one.h
zero.h:
  %z = phi i64 [ %j, %one.h ], [ %z.n, %zero ]
  %zero.m = icmp slt i64 %z, %wide
  br i1 %zero.m, label %zero, label %fill
zero:
  %z.t = getelementptr {real}, ptr %dst, i64 %z
  store {real} 0.0, ptr %z.t, align {item}
  %z.n = add nsw i64 %z, 1
  br label %zero.h
fill:
  %k.n = add nsw i64 %k, 1
  br label %row.h
out:
  ret void
}}"""
"""Columns of B one inner index after the other, with zeros where there are too few."""

_PLAIN = """
define internal void @gemm.plain(ptr %c, i64 %ldc, ptr %a, i64 %ras, i64 %cas, ptr %b, i64 %rbs, i64 %cbs, i64 %n, i64 %depth, i64 %first, i64 %past) noinline #0 {{
start:
  br label %row.h
row.h:
  %i = phi i64 [ %first, %start ], [ %i.n, %row.e ]
  %row.m = icmp slt i64 %i, %past
  br i1 %row.m, label %row, label %out
row:
  %a.o = mul i64 %i, %ras
  %a.i = getelementptr {real}, ptr %a, i64 %a.o
  %c.o = mul i64 %i, %ldc
  %c.i = getelementptr {real}, ptr %c, i64 %c.o
  br label %col.h
col.h:
  %j = phi i64 [ 0, %row ], [ %j.n, %col.e ]
  %col.m = icmp slt i64 %j, %n
  br i1 %col.m, label %col, label %row.e
col:
  %b.o = mul i64 %j, %cbs
  %b.j = getelementptr {real}, ptr %b, i64 %b.o
  br label %sum.h
sum.h:
  %k = phi i64 [ 0, %col ], [ %k.n, %sum ]
  %s = phi {real} [ 0.0, %col ], [ %next, %sum ]
  %sum.m = icmp slt i64 %k, %depth
  br i1 %sum.m, label %sum, label %col.e
sum:
  %x.o = mul i64 %k, %cas
  %x.p = getelementptr {real}, ptr %a.i, i64 %x.o
  %x = load {real}, ptr %x.p, align {item}
  %y.o = mul i64 %k, %rbs
  %y.p = getelementptr {real}, ptr %b.j, i64 %y.o
  %y = load {real}, ptr %y.p, align {item}
{plain}
  %k.n = add nsw i64 %k, 1
  br label %sum.h
col.e:
  %c.p = getelementptr {real}, ptr %c.i, i64 %j
  store {real} %s, ptr %c.p, align {item}
  %j.n = add nsw i64 %j, 1
  br label %col.h
row.e:
  %i.n = add nsw i64 %i, 1
  br label %row.h
out:
  ret void
}}"""
"""Three loops."""

_BLOCKED = """
define internal void @gemm(ptr %frame, i64 %first, i64 %past) noinline #0 {{
start:
  %words = load [10 x i64], ptr %frame
  %c.0 = extractvalue [10 x i64] %words, 0
  %c = inttoptr i64 %c.0 to ptr
  %ldc = extractvalue [10 x i64] %words, 1
  %a.0 = extractvalue [10 x i64] %words, 2
  %a = inttoptr i64 %a.0 to ptr
  %ras = extractvalue [10 x i64] %words, 3
  %cas = extractvalue [10 x i64] %words, 4
  %b.0 = extractvalue [10 x i64] %words, 5
  %b = inttoptr i64 %b.0 to ptr
  %rbs = extractvalue [10 x i64] %words, 6
  %cbs = extractvalue [10 x i64] %words, 7
  %n = extractvalue [10 x i64] %words, 8
  %depth = extractvalue [10 x i64] %words, 9
  %list = alloca ptr
  store ptr null, ptr %list
  %m = sub i64 %past, %first
  %mn = call i64 @bytes(i64 %m, i64 %n)
  %mnk = call i64 @bytes(i64 %mn, i64 %depth)
  %little = icmp sle i64 %mnk, {small}
  br i1 %little, label %plain, label %memory
memory:
  %deep = call i64 @llvm.smin.i64(i64 %depth, i64 {most})
  %n.up = add i64 %n, {columns}
  %wide = call i64 @llvm.smin.i64(i64 %n.up, i64 {far})
  %space.n = mul i64 %deep, %wide
  %space = mul i64 %space.n, {item}
  %panels = call ptr @take(ptr %list, i64 %space)
  %none = icmp eq ptr %panels, null
  br i1 %none, label %plain, label %band.h
plain:
  call void @gemm.plain(ptr %c, i64 %ldc, ptr %a, i64 %ras, i64 %cas, ptr %b, i64 %rbs, i64 %cbs, i64 %n, i64 %depth, i64 %first, i64 %past)
  br label %out
band.h:
  %jc = phi i64 [ 0, %memory ], [ %jc.n, %band.e ]
  %band.m = icmp slt i64 %jc, %n
  br i1 %band.m, label %band, label %free
band:
  %band.l = sub i64 %n, %jc
  %band.w = call i64 @llvm.smin.i64(i64 %band.l, i64 {far})
  br label %deep.h
deep.h:
  %pc = phi i64 [ 0, %band ], [ %pc.n, %deep.e ]
  %kc.l = sub i64 %depth, %pc
  %kc = call i64 @llvm.smin.i64(i64 %kc.l, i64 {most})
  %set = icmp eq i64 %pc, 0
  br label %pack.h
pack.h:
  %pj = phi i64 [ 0, %deep.h ], [ %pj.n, %pack ]
  %pack.m = icmp slt i64 %pj, %band.w
  br i1 %pack.m, label %pack, label %block.h
pack:
  %pj.l = sub i64 %band.w, %pj
  %pj.w = call i64 @llvm.smin.i64(i64 %pj.l, i64 {columns})
  %pj.t = call i64 @gemm.wide(i64 %pj.w)
  %pb.r = mul i64 %pc, %rbs
  %pb.j = add i64 %jc, %pj
  %pb.c = mul i64 %pb.j, %cbs
  %pb.o = add i64 %pb.r, %pb.c
  %pb = getelementptr {real}, ptr %b, i64 %pb.o
  %pt.o = mul i64 %pj, %kc
  %pt = getelementptr {real}, ptr %panels, i64 %pt.o
  call void @gemm.pack(ptr %pt, ptr %pb, i64 %rbs, i64 %cbs, i64 %kc, i64 %pj.w, i64 %pj.t)
  %pj.n = add nsw i64 %pj, {columns}
  br label %pack.h
block.h:
  %ic = phi i64 [ %first, %pack.h ], [ %ic.e, %block.e ]
  %block.m = icmp slt i64 %ic, %past
  br i1 %block.m, label %block, label %deep.e
block:
  %ic.n = add nsw i64 %ic, {block}
  %ic.e = call i64 @llvm.smin.i64(i64 %ic.n, i64 %past)
  br label %panel.h
panel.h:
  %j = phi i64 [ 0, %block ], [ %j.n, %panel.e ]
  %panel.m = icmp slt i64 %j, %band.w
  br i1 %panel.m, label %panel.b, label %block.e
panel.b:
  %nc.l = sub i64 %band.w, %j
  %nc = call i64 @llvm.smin.i64(i64 %nc.l, i64 {columns})
  %panel.o = mul i64 %j, %kc
  %panel = getelementptr {real}, ptr %panels, i64 %panel.o
  br label %tile.h
tile.h:
  %i = phi i64 [ %ic, %panel.b ], [ %i.n, %tile.e ]
  %tile.m = icmp slt i64 %i, %ic.e
  br i1 %tile.m, label %tile, label %panel.e
tile:
  %mr = sub i64 %ic.e, %i
  %mr.c = call i64 @llvm.smin.i64(i64 %mr, i64 {rows})
  %last = sub i64 %mr.c, 1
  %a.r = mul i64 %i, %ras
  %a.c = mul i64 %pc, %cas
  %a.o = add i64 %a.r, %a.c
  %a.i = getelementptr {real}, ptr %a, i64 %a.o
  %c.r = mul i64 %i, %ldc
  %c.j = add i64 %jc, %j
  %c.o = add i64 %c.r, %c.j
  %c.i = getelementptr {real}, ptr %c, i64 %c.o
{choice}
tile.e:
  %i.n = add nsw i64 %i, {rows}
  br label %tile.h
panel.e:
  %j.n = add nsw i64 %j, {columns}
  br label %panel.h
block.e:
  br label %block.h
deep.e:
  %pc.n = add nsw i64 %pc, {most}
  %deep.m = icmp slt i64 %pc.n, %depth
  br i1 %deep.m, label %deep.h, label %band.e
band.e:
  %jc.n = add nsw i64 %jc, {far}
  br label %band.h
free:
  call void @release(ptr %list, ptr null)
  br label %out
out:
  ret void
}}"""
"""All of it."""
