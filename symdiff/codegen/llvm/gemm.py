"""Products of matrices in LLVM IR: tiles of registers over panels that stay in a cache.

    void @gemm(ptr frame, i64 first, i64 past)      rows of C = A B

A tile is ROWS rows by a few registers of C, in which every element is a sum in the order of
the inner index, each term added with one rounding where the processor can. So a result does
not depend on how rows are divided among threads. B is copied panel by panel: `depth` inner
indices of the columns of one tile, which lie in the nearest cache while the rows of A go by.
A is read where it is, whatever its strides, and C is written under a mask where a tile is wider
than the rest of it. (The scheme of Goto and van de Geijn, ACM
Transactions on Mathematical Software 34, 2008, without their copy of A.) What is too small
for that, or finds no memory, is computed by three loops.
"""

from __future__ import annotations

from symdiff.codegen.llvm.assembly import Elements
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
_MATRICES = (
    "ptr %c, i64 %ldc, ptr %a, i64 %ras, i64 %cas, ptr %b, i64 %rbs, i64 %cbs, i64 %n, i64 %depth, "
    "i64 %first, i64 %past"
)


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
        made = [*map(self.tile, self.tiles), self.wide()]
        return [*made, self.pack(), self.plain(), self.blocked()]

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

    def pack(self) -> str:
        """Columns of B one inner index after the other, with zeros where there are too few."""
        p = Elements(self.real, self.width)
        near = p.compare("eq", "%cbs", "1")
        vectors = p.choose(near, p.whole("and", "%nc", str(-self.width)), "0")
        with p.loop("0", "%kc") as k:
            source = p.place("%b", p.whole("mul", k, "%rbs"))
            target = p.place("%to", p.whole("mul", k, "%wide"))
            with p.loop("0", vectors, step=self.width) as v:
                p.store(p.load(source, v, p.vector), target, v, p.vector)
            with p.loop(vectors, "%nc") as j:
                p.store(p.load(source, p.whole("mul", j, "%cbs")), target, j)
            with p.loop("%nc", "%wide") as z:
                p.store("0.0", target, z)
        sizes = "i64 %rbs, i64 %cbs, i64 %kc, i64 %nc, i64 %wide"
        head = f"void @gemm.pack(ptr noalias %to, ptr noalias %b, {sizes}) noinline #0"
        return p.function(head, "ret void")

    def plain(self) -> str:
        """Three loops."""
        p = Elements(self.real, self.width)
        total = p.variable(self.real, "0.0")
        with p.loop("%first", "%past") as i:
            row = p.place("%a", p.whole("mul", i, "%ras"))
            result = p.place("%c", p.whole("mul", i, "%ldc"))
            with p.loop("0", "%n") as j:
                column = p.place("%b", p.whole("mul", j, "%cbs"))
                p.write(self.real, "0.0", total)
                with p.loop("0", "%depth") as k:
                    x = p.load(row, p.whole("mul", k, "%cas"))
                    y = p.load(column, p.whole("mul", k, "%rbs"))
                    following = p.fresh("sum")
                    lines = self.added(self.real, following, x, y, p.read(self.real, total))
                    p.lines += lines
                    p.write(self.real, following, total)
                p.store(p.read(self.real, total), result, j)
        return p.function(f"void @gemm.plain({_MATRICES}) noinline #0", "ret void")

    def blocked(self) -> str:
        """All of it: bands of C, and in them depths, for which B is packed."""
        p = Elements(self.real, self.width)
        depth, columns, rows = self.depth, self.columns, ROWS
        far = max(columns, FAR // (depth * self.item) // columns * columns)
        block = max(rows, BLOCK // (depth * self.item) // rows * rows)
        for k, name in enumerate(FRAME):
            p.do(f"%{name}.p = getelementptr i64, ptr %frame, i64 {k}")
            p.do(f"%{name} = load {'ptr' if name in ('a', 'b', 'c') else 'i64'}, ptr %{name}.p")
        memory = p.variable("ptr", "null")
        work = p.whole("sub", "%past", "%first")
        for size in ("%n", "%depth"):
            work = p.emit(f"call i64 @bytes(i64 {work}, i64 {size})")
        p.leave_if(p.compare("sle", work, str(SMALL)), "plain")
        deep = p.least("%depth", str(depth))
        wide = p.least(p.whole("add", "%n", str(columns)), str(far))
        space = p.whole("mul", p.whole("mul", deep, wide), str(self.item))
        panels = p.emit(f"call ptr @take(ptr {memory}, i64 {space})")
        p.leave_if(p.compare("eq", panels, "null", "ptr"), "plain")
        some = p.emit("call i64 @llvm.smax.i64(i64 %depth, i64 1)")  # C is 0 if there is none
        with p.loop("0", "%n", step=far) as jc:
            width = p.least(p.whole("sub", "%n", jc), str(far))
            with p.loop("0", some, step=depth) as pc:
                kc = p.least(p.whole("sub", "%depth", pc), str(depth))
                first = p.compare("eq", pc, "0")
                with p.loop("0", width, step=columns) as j:
                    self.packed(p, jc, pc, j, kc, width, panels)
                with p.loop("%first", "%past", step=block) as ic:
                    end = p.least(p.whole("add", ic, str(block)), "%past")
                    with p.loop("0", width, step=columns) as j:
                        nc = p.least(p.whole("sub", width, j), str(columns))
                        panel = p.place(panels, p.whole("mul", j, kc))
                        with p.loop(ic, end, step=rows) as i:
                            last = p.least(p.whole("sub", end, i), str(rows))
                            last = p.whole("sub", last, "1")
                            row = p.place("%a", p.at(i, "%ras", p.whole("mul", pc, "%cas")))
                            target = p.place("%c", p.at(i, "%ldc", p.whole("add", jc, j)))
                            self.choice(p, row, panel, kc, target, last, nc, first)
        p.do(f"call void @release(ptr {memory}, ptr null)")
        p.give("void")
        p.label("plain")
        p.do(f"call void @gemm.plain({_MATRICES})")
        return p.function("void @gemm(ptr %frame, i64 %first, i64 %past) noinline #0", "ret void")

    def packed(
        self, p: Elements, jc: str, pc: str, j: str, kc: str, width: str, panels: str
    ) -> None:
        """Print how the columns of one tile are packed."""
        nc = p.least(p.whole("sub", width, j), str(self.columns))
        wide = p.emit(f"call i64 @gemm.wide(i64 {nc})")
        at = p.whole("mul", p.whole("add", jc, j), "%cbs")
        source = p.place("%b", p.at(pc, "%rbs", at))
        target = p.place(panels, p.whole("mul", j, kc))
        sizes = f"i64 %rbs, i64 %cbs, i64 {kc}, i64 {nc}, i64 {wide}"
        p.do(f"call void @gemm.pack(ptr {target}, ptr {source}, {sizes})")

    def choice(
        self,
        p: Elements,
        row: str,
        panel: str,
        kc: str,
        target: str,
        last: str,
        nc: str,
        first: str,
    ) -> None:
        """The call of the tile that is as wide as the columns that are left, or wider."""
        done = p.name("done")
        call = (
            f"call void @gemm.tile.{{}}(ptr {row}, i64 %ras, i64 %cas, ptr {panel}, i64 {kc}, "
            f"ptr {target}, i64 %ldc, i64 {last}, i64 {nc}, i1 {first})"
        )
        for wide, less in zip(self.tiles, self.tiles[1:], strict=False):
            with p.when(p.compare("sgt", nc, str(less * self.width))):
                p.do(call.format(wide))
                p.go(done)
        p.do(call.format(self.tiles[-1]))
        p.label(done)

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
