"""Small and triangular linear systems in LLVM IR, so that a kernel need not ask a library.

    i32 @linear.solve(ptr a, i64 rows, i64 columns, ptr b, i64 height, i64 width, ptr x)
    i32 @linear.inv(ptr a, i64 rows, i64 columns, ptr x)
    i32 @linear.det(ptr a, i64 rows, i64 columns, ptr value)
    i32 @linear.slogdet(ptr a, i64 rows, i64 columns, ptr sign, ptr log)
    i32 @linear.eliminated(ptr a, i64 rows, i64 columns, ptr sign, ptr m, ptr u)
    i32 @linear.cofactors(ptr a, i64 rows, i64 columns, ptr c)
    i32 @linear.cholesky(ptr a, i64 rows, i64 columns, ptr l)

Matrices lie row by row. Each function returns 0, or 1 for what it leaves to the library, and then
has computed nothing that counts: matrices that are too large or not square, that are singular or
not positive definite, and arguments that are not finite; so errors are the library's, too.

A triangular matrix is solved by substitution, whatever its size. Others, of up to `SMALL` rows, by
Gaussian elimination with partial pivoting, as LAPACK does (Golub and Van Loan, Matrix Computations,
4th edition, algorithm 3.4.1); `cofactors` by minors, of up to three rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

SMALL = 16
"""Rows of the matrices that are factored here."""
MINORS = 3
"""Rows of the matrices whose cofactors are computed here."""
FACTORED = 32
"""Rows of the matrices of which the Cholesky factor is computed here."""


class _Printer:
    """Prints functions of loops over elements of arrays."""

    def __init__(self, real: str, width: int) -> None:
        self.real, self.width = real, width
        self.suffix = "f64" if real == "double" else "f32"
        self.item = 8 if real == "double" else 4
        self.lines: list[str] = []
        self.count = 0
        self.block = "start"

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def emit(self, text: str) -> str:
        """An instruction; its result."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """The beginning of a block, which the one before goes on to."""
        self.lines += [f"  br label %{name}", f"{name}:"]
        self.block = name

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # ------------------------------------------------------------------- control
    @contextmanager
    def loop(self, first: str, past: str, down: bool = False) -> Iterator[str]:
        """A loop over [first, past), or over it from its end."""
        head, body, end = self.name("head"), self.name("body"), self.name("end")
        i, following = self.fresh("i"), self.fresh("n")
        before = self.block
        back = self.name("back")
        start = past if down else first
        self.lines += [
            f"  br label %{head}", f"{head}:",
            f"  {i} = phi i64 [ {start}, %{before} ], [ {following}, %{back} ]",
        ]  # fmt: skip
        self.block = head
        more = self.emit(f"icmp s{'gt' if down else 'lt'} i64 {i}, {first if down else past}")
        self.lines += [f"  br i1 {more}, label %{body}, label %{end}", f"{body}:"]
        self.block = body
        at = self.emit(f"sub i64 {i}, 1") if down else i
        yield at
        self.label(back)
        self.lines += [
            f"  {following} = {'sub' if down else 'add'} i64 {i}, 1",
            f"  br label %{head}", f"{end}:",
        ]  # fmt: skip
        self.block = end

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is done only if a condition holds."""
        yes, end = self.name("yes"), self.name("end")
        self.lines += [f"  br i1 {condition}, label %{yes}, label %{end}", f"{yes}:"]
        self.block = yes
        yield
        self.label(end)

    def leave_if(self, condition: str) -> None:
        """Leave it to the library."""
        with self.when(condition):
            self.do("br label %leave")
            self.lines.append(f"{self.name('never')}:")
            self.block = self.lines[-1][:-1]

    # -------------------------------------------------------------------- values
    def place(self, array: str, at: str) -> str:
        return self.emit(f"getelementptr {self.real}, ptr {array}, i64 {at}")

    def load(self, array: str, at: str) -> str:
        return self.emit(f"load {self.real}, ptr {self.place(array, at)}, align {self.item}")

    def store(self, value: str, array: str, at: str) -> None:
        self.do(f"store {self.real} {value}, ptr {self.place(array, at)}, align {self.item}")

    def at(self, i: str, n: str, j: str) -> str:
        """The place of an element of a matrix with n columns."""
        return self.emit(f"add i64 {self.emit(f'mul i64 {i}, {n}')}, {j}")

    def real_op(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{op} {self.real} {a}, {b}")

    def whole(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{op} i64 {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        of = "i64" if how[0] == "s" or how in ("eq", "ne") else self.real
        return self.emit(f"{'icmp' if of == 'i64' else 'fcmp'} {how} {of} {a}, {b}")

    def size(self, value: str) -> str:
        return self.emit(f"call {self.real} @llvm.fabs.{self.suffix}({self.real} {value})")

    def variable(self, kind: str, value: str) -> str:
        name = self.emit(f"alloca {kind}, align 8")
        self.do(f"store {kind} {value}, ptr {name}")
        return name

    def read(self, kind: str, variable: str) -> str:
        return self.emit(f"load {kind}, ptr {variable}")

    def write(self, kind: str, value: str, variable: str) -> None:
        self.do(f"store {kind} {value}, ptr {variable}")

    def copy(self, to: str, of: str, count: str) -> None:
        size = self.whole("mul", count, str(self.item))
        self.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {size}, i1 false)")

    def less(self, y: str, f: str, x: str, count: str) -> None:
        """y -= f*x, of so many elements."""
        self.do(f"call void @linear.less(ptr {y}, {self.real} {f}, ptr {x}, i64 {count})")

    # ------------------------------------------------------------------- functions
    def function(self, head: str, body: str) -> str:
        return "\n".join([f"define internal {head} {{", "start:", *self.lines, body, "}"])

    def text(self, name: str, parameters: str) -> str:
        """A function that leaves what is not done to the library."""
        tail = "  ret i32 0\nleave:\n  ret i32 1"
        return self.function(f"i32 @linear.{name}({parameters}) noinline #0", tail)


def functions(routine: str, real: str, width: int) -> dict[str, str]:
    """The functions that a routine needs, by their names, for a kernel of a type and lanes."""
    if routine not in ROUTINES:
        return {}
    return {
        name: _less(real, width) if name == "less" else _TEXTS[name](_Printer(real, width))
        for name in (*ROUTINES[routine], routine)
    }


def declared(real: str) -> dict[str, str]:
    """What the functions need from elsewhere, by name."""
    suffix = "f64" if real == "double" else "f32"
    names = [f"llvm.{f}.{suffix}" for f in ("sqrt", "fabs")]
    return {n: f"declare {real} @{n}({real}) #1" for n in names} | {
        "log": "declare double @log(double) #1"
    }


def _less(real: str, width: int) -> str:
    """y -= f*x; each element is rounded twice, in a register of lanes as alone."""
    item = 8 if real == "double" else 4
    vector = f"<{width} x {real}>"
    lanes = [
        f"  %f.0 = insertelement {vector} poison, {real} %f, i64 0",
        f"  %f.v = shufflevector {vector} %f.0, {vector} poison, <{width} x i32> zeroinitializer",
        f"  %most = and i64 %n, {-width}",
        "  br label %head",
        "head:",
        "  %k = phi i64 [ 0, %start ], [ %k.n, %body ]",
        "  %some = icmp slt i64 %k, %most",
        "  br i1 %some, label %body, label %rest",
        "body:",
        f"  %y.p = getelementptr {real}, ptr %y, i64 %k",
        f"  %x.p = getelementptr {real}, ptr %x, i64 %k",
        f"  %y.v = load {vector}, ptr %y.p, align {item}",
        f"  %x.v = load {vector}, ptr %x.p, align {item}",
        f"  %t.v = fmul {vector} %f.v, %x.v",
        f"  %z.v = fsub {vector} %y.v, %t.v",
        f"  store {vector} %z.v, ptr %y.p, align {item}",
        f"  %k.n = add i64 %k, {width}",
        "  br label %head",
    ]
    if width == 1:
        lanes = ["  br label %head", "head:", "  %most = add i64 0, 0", "  br label %rest"]
    return "\n".join([
        f"define internal void @linear.less(ptr %y, {real} %f, ptr %x, i64 %n) #0 {{",
        "start:", *lanes,
        "rest:",
        "  %i = phi i64 [ %most, %head ], [ %i.n, %one ]",
        "  %more = icmp slt i64 %i, %n",
        "  br i1 %more, label %one, label %end",
        "one:",
        f"  %y.q = getelementptr {real}, ptr %y, i64 %i",
        f"  %x.q = getelementptr {real}, ptr %x, i64 %i",
        f"  %y.1 = load {real}, ptr %y.q, align {item}",
        f"  %x.1 = load {real}, ptr %x.q, align {item}",
        f"  %t.1 = fmul {real} %f, %x.1",
        f"  %z.1 = fsub {real} %y.1, %t.1",
        f"  store {real} %z.1, ptr %y.q, align {item}",
        "  %i.n = add i64 %i, 1",
        "  br label %rest",
        "end:",
        "  ret void",
        "}",
    ])  # fmt: skip


def _finite(p: _Printer) -> str:
    """Whether all elements are: a sum of products with 0 is 0."""
    total = p.variable(p.real, "0.0")
    with p.loop("0", "%n") as i:
        zero = p.real_op("fmul", p.load("%a", i), "0.0")
        p.write(p.real, p.real_op("fadd", p.read(p.real, total), zero), total)
    fine = p.compare("oeq", p.read(p.real, total), "0.0")
    return p.function("i1 @linear.finite(ptr %a, i64 %n) #0", f"  ret i1 {fine}")


def _triangle(p: _Printer) -> str:
    """Whether all elements above the diagonal are 0 (1), or all below it (2), or both (3)."""
    above, below = p.variable("i64", "1"), p.variable("i64", "2")
    with p.loop("0", "%n") as i, p.loop("0", "%n") as j:
        some = p.compare("une", p.load("%a", p.at(i, "%n", j)), "0.0")
        for how, kept in (("slt", above), ("sgt", below)):
            with p.when(p.emit(f"and i1 {some}, {p.compare(how, i, j)}")):
                p.write("i64", "0", kept)
    both = p.whole("or", p.read("i64", above), p.read("i64", below))
    return p.function("i64 @linear.triangle(ptr %a, i64 %n) #0", f"  ret i64 {both}")


def _eliminate(p: _Printer) -> str:
    """Make a matrix of n columns upper triangular, with rows of b beside its own; the sign of the
    exchanges, or 0 if a pivot is 0."""
    sign = p.variable(p.real, "1.0")
    best, place = p.variable(p.real, "0.0"), p.variable("i64", "0")
    with p.loop("0", "%n") as k:
        p.write(p.real, "0.0", best)
        p.write("i64", k, place)
        with p.loop(k, "%n") as i:
            size = p.size(p.load("%a", p.at(i, "%n", k)))
            with p.when(p.compare("ogt", size, p.read(p.real, best))):
                p.write(p.real, size, best)
                p.write("i64", i, place)
        with p.when(p.compare("oeq", p.read(p.real, best), "0.0")):
            p.do(f"ret {p.real} 0.0")
            p.lines.append(f"{p.name('never')}:")
            p.block = p.lines[-1][:-1]
        found = p.read("i64", place)
        with p.when(p.compare("ne", found, k)):
            minus = p.emit(f"fneg {p.real} {p.read(p.real, sign)}")
            p.write(p.real, minus, sign)
            for array, width in (("%a", "%n"), ("%b", "%m")):
                with p.loop("0", width) as j:
                    here, there = p.at(k, width, j), p.at(found, width, j)
                    one, other = p.load(array, here), p.load(array, there)
                    p.store(other, array, here)
                    p.store(one, array, there)
        pivot = p.load("%a", p.at(k, "%n", k))
        next_ = p.whole("add", k, "1")
        with p.loop(next_, "%n") as i:
            factor = p.real_op("fdiv", p.load("%a", p.at(i, "%n", k)), pivot)
            rest = p.whole("sub", "%n", next_)
            p.less(p.place("%a", p.at(i, "%n", next_)), factor,
                   p.place("%a", p.at(k, "%n", next_)), rest)  # fmt: skip
            p.less(p.place("%b", p.at(i, "%m", "0")), factor,
                   p.place("%b", p.at(k, "%m", "0")), "%m")  # fmt: skip
    end = p.read(p.real, sign)
    head = f"{p.real} @linear.eliminate(ptr %a, i64 %n, ptr %b, i64 %m) noinline #0"
    return p.function(head, f"  ret {p.real} {end}")


def _substitute(p: _Printer) -> str:
    """Solve a triangular system in place, the upper from its end."""

    def row(i: str, first: str, past: str) -> None:
        target = p.place("%x", p.at(i, "%m", "0"))
        with p.loop(first, past) as j:
            p.less(target, p.load("%a", p.at(i, "%n", j)), p.place("%x", p.at(j, "%m", "0")), "%m")
        pivot = p.load("%a", p.at(i, "%n", i))
        with p.loop("0", "%m") as j:
            at = p.at(i, "%m", j)
            p.store(p.real_op("fdiv", p.load("%x", at), pivot), "%x", at)

    with p.when("%upper"):
        with p.loop("0", "%n", down=True) as i:
            row(i, p.whole("add", i, "1"), "%n")
        p.do("ret void")
        p.lines.append(f"{p.name('never')}:")
        p.block = p.lines[-1][:-1]
    with p.loop("0", "%n") as i:
        row(i, "0", i)
    head = "void @linear.substitute(ptr %a, i64 %n, ptr %x, i64 %m, i1 %upper) noinline #0"
    return p.function(head, "  ret void")


def _square(p: _Printer, most: int | None = SMALL) -> None:
    """Leave matrices to the library that are not square, too large, empty or not finite."""
    p.leave_if(p.compare("ne", "%rows", "%columns"))
    p.leave_if(p.compare("slt", "%rows", "1"))
    if most is not None:
        p.leave_if(p.compare("sgt", "%rows", str(most)))
    fine = p.emit(f"call i1 @linear.finite(ptr %a, i64 {p.whole('mul', '%rows', '%rows')})")
    p.leave_if(p.emit(f"xor i1 {fine}, true"))


def _factored(p: _Printer, b: str, width: str) -> tuple[str, str]:
    """A copy of the matrix, made upper triangular with what stands beside it, and the sign."""
    room = p.emit(f"alloca [{SMALL * SMALL} x {p.real}], align 64")
    p.copy(room, "%a", p.whole("mul", "%rows", "%rows"))
    sign = p.emit(f"call {p.real} @linear.eliminate(ptr {room}, i64 %rows, ptr {b}, i64 {width})")
    p.leave_if(p.compare("oeq", sign, "0.0"))
    return room, sign


def _solved(p: _Printer, width: str) -> None:
    """Solve for what stands in x."""
    with p.loop("0", "%rows") as i:
        p.leave_if(p.compare("oeq", p.load("%a", p.at(i, "%rows", i)), "0.0"))
    p.do(f"call void @linear.substitute(ptr %a, i64 %rows, ptr %x, i64 {width}, i1 %upper)")
    p.do("ret i32 0")
    p.lines.append("general:")
    p.block = "general"
    p.leave_if(p.compare("sgt", "%rows", str(SMALL)))
    room, _ = _factored(p, "%x", width)
    p.do(f"call void @linear.substitute(ptr {room}, i64 %rows, ptr %x, i64 {width}, i1 true)")


def _shape(p: _Printer) -> None:
    """Go on with the triangular, or with the general case."""
    p.do("%shape = call i64 @linear.triangle(ptr %a, i64 %rows)")
    p.do("%upper = icmp eq i64 %shape, 2")
    p.do("%none = icmp eq i64 %shape, 0")
    p.do("br i1 %none, label %general, label %triangular")
    p.lines.append("triangular:")
    p.block = "triangular"


def _solve(p: _Printer) -> str:
    _square(p, None)
    p.leave_if(p.compare("ne", "%height", "%rows"))
    count = p.whole("mul", "%height", "%width")
    fine = p.emit(f"call i1 @linear.finite(ptr %b, i64 {count})")
    p.leave_if(p.emit(f"xor i1 {fine}, true"))
    p.copy("%x", "%b", count)
    _shape(p)
    _solved(p, "%width")
    return p.text(
        "solve", "ptr %a, i64 %rows, i64 %columns, ptr %b, i64 %height, i64 %width, ptr %x"
    )


def _inv(p: _Printer) -> str:
    _square(p, None)
    with p.loop("0", "%rows") as i, p.loop("0", "%rows") as j:
        same = p.compare("eq", i, j)
        p.store(p.emit(f"select i1 {same}, {p.real} 1.0, {p.real} 0.0"), "%x", p.at(i, "%rows", j))
    _shape(p)
    _solved(p, "%rows")
    return p.text("inv", "ptr %a, i64 %rows, i64 %columns, ptr %x")


def _double(p: _Printer, value: str) -> str:
    return value if p.real == "double" else p.emit(f"fpext float {value} to double")


def _det(p: _Printer) -> str:
    _square(p)
    room, sign = _factored(p, "%a", "0")
    total = p.variable(p.real, sign)
    with p.loop("0", "%rows") as i:
        pivot = p.load(room, p.at(i, "%rows", i))
        p.write(p.real, p.real_op("fmul", p.read(p.real, total), pivot), total)
    p.do(f"store double {_double(p, p.read(p.real, total))}, ptr %value")
    return p.text("det", "ptr %a, i64 %rows, i64 %columns, ptr %value")


def _slogdet(p: _Printer) -> str:
    _square(p)
    room, sign = _factored(p, "%a", "0")
    signs, logs = p.variable(p.real, sign), p.variable("double", "0.0")
    with p.loop("0", "%rows") as i:
        pivot = p.load(room, p.at(i, "%rows", i))
        with p.when(p.compare("olt", pivot, "0.0")):
            p.write(p.real, p.emit(f"fneg {p.real} {p.read(p.real, signs)}"), signs)
        size = _double(p, p.size(pivot))
        log = p.emit(f"call double @log(double {size})")
        p.write("double", p.emit(f"fadd double {p.read('double', logs)}, {log}"), logs)
    p.do(f"store double {_double(p, p.read(p.real, signs))}, ptr %sign")
    p.do(f"store double {p.read('double', logs)}, ptr %log")
    return p.text("slogdet", "ptr %a, i64 %rows, i64 %columns, ptr %sign, ptr %log")


def _eliminated(p: _Printer) -> str:
    """What makes the matrix upper triangular, and the triangle, as `ir.linalg.routines` has them."""
    _square(p)
    p.copy("%u", "%a", p.whole("mul", "%rows", "%rows"))
    with p.loop("0", "%rows") as i, p.loop("0", "%rows") as j:
        same = p.compare("eq", i, j)
        p.store(p.emit(f"select i1 {same}, {p.real} 1.0, {p.real} 0.0"), "%m", p.at(i, "%rows", j))
    sign = p.emit(f"call {p.real} @linear.eliminate(ptr %u, i64 %rows, ptr %m, i64 %rows)")
    p.leave_if(p.compare("oeq", sign, "0.0"))
    with p.loop("0", "%rows") as i, p.loop("0", i) as j:
        p.store("0.0", "%u", p.at(i, "%rows", j))
    p.do(f"store double {_double(p, sign)}, ptr %sign")
    return p.text("eliminated", "ptr %a, i64 %rows, i64 %columns, ptr %sign, ptr %m, ptr %u")


def _cofactors(p: _Printer) -> str:
    """Of each element the determinant without its row and column, with the sign of its place: with
    the following rows and columns in a circle the signs of the places are right by themselves."""
    _square(p, MINORS)
    cases = [(n, p.compare("eq", "%rows", str(n))) for n in range(1, MINORS + 1)]
    for n, here in cases:
        with p.when(here):
            a = [[p.load("%a", str(i * n + j)) for j in range(n)] for i in range(n)]
            for i in range(n):
                for j in range(n):
                    p.store(_cofactor(p, a, i, j), "%c", str(i * n + j))
    return p.text("cofactors", "ptr %a, i64 %rows, i64 %columns, ptr %c")


def _cofactor(p: _Printer, a: list[list[str]], i: int, j: int) -> str:
    n = len(a)
    if n == 1:
        return "1.0"
    if n == 2:
        value = a[1 - i][1 - j]
        return value if i == j else p.emit(f"fneg {p.real} {value}")
    r, s, k, m = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    left, right = p.real_op("fmul", a[r][k], a[s][m]), p.real_op("fmul", a[r][m], a[s][k])
    return p.real_op("fsub", left, right)


def _cholesky(p: _Printer) -> str:
    """The lower factor, row by row; of the matrix what is above the diagonal is not read."""
    p.leave_if(p.compare("ne", "%rows", "%columns"))
    p.leave_if(p.compare("slt", "%rows", "1"))
    p.leave_if(p.compare("sgt", "%rows", str(FACTORED)))
    with p.loop("0", "%rows") as i, p.loop("0", "%rows") as j:
        kept = p.compare("sle", j, i)
        value = p.load("%a", p.at(i, "%rows", j))
        p.store(p.emit(f"select i1 {kept}, {p.real} {value}, {p.real} 0.0"), "%l",
                p.at(i, "%rows", j))  # fmt: skip
    total = p.variable(p.real, "0.0")
    with p.loop("0", "%rows") as i, p.loop("0", p.whole("add", i, "1")) as j:
        here = p.at(i, "%rows", j)
        p.write(p.real, p.load("%l", here), total)
        with p.loop("0", j) as k:
            one, other = p.load("%l", p.at(i, "%rows", k)), p.load("%l", p.at(j, "%rows", k))
            term = p.real_op("fmul", one, other)
            p.write(p.real, p.real_op("fsub", p.read(p.real, total), term), total)
        value, diagonal = p.read(p.real, total), p.compare("eq", i, j)
        with p.when(diagonal):
            positive = p.compare("ogt", value, "0.0")
            below = p.compare("olt", value, "0x7FF0000000000000")
            p.leave_if(p.emit(f"xor i1 {p.emit(f'and i1 {positive}, {below}')}, true"))
            root = p.emit(f"call {p.real} @llvm.sqrt.{p.suffix}({p.real} {value})")
            p.store(root, "%l", here)
        with p.when(p.emit(f"xor i1 {diagonal}, true")):
            pivot = p.load("%l", p.at(j, "%rows", j))
            p.store(p.real_op("fdiv", value, pivot), "%l", here)
    return p.text("cholesky", "ptr %a, i64 %rows, i64 %columns, ptr %l")


_TEXTS: dict[str, Callable[[_Printer], str]] = {
    "finite": _finite, "triangle": _triangle, "eliminate": _eliminate, "substitute": _substitute,
    "solve": _solve, "inv": _inv, "det": _det, "slogdet": _slogdet, "cofactors": _cofactors,
    "cholesky": _cholesky, "eliminated": _eliminated,
}  # fmt: skip
_SYSTEM = ("less", "finite", "triangle", "eliminate", "substitute")
ROUTINES = {
    "solve": _SYSTEM, "inv": _SYSTEM, "det": ("less", "finite", "eliminate"),
    "slogdet": ("less", "finite", "eliminate"), "cofactors": ("finite",), "cholesky": (),
    "eliminated": ("less", "finite", "eliminate"),
}  # fmt: skip
"""The routines, and the functions that they need."""

__all__ = ["ROUTINES", "SMALL", "declared", "functions"]
