"""Small and triangular linear systems in LLVM IR, so that a kernel need not ask a library.

    i32 @linear.solve(ptr a, i64 rows, i64 columns, ptr b, i64 height, i64 width, ptr x)
    i32 @linear.inv(ptr a, i64 rows, i64 columns, ptr x)
    i32 @linear.det(ptr a, i64 rows, i64 columns, ptr value)
    i32 @linear.slogdet(ptr a, i64 rows, i64 columns, ptr sign, ptr log)
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

from collections.abc import Callable

from symdiff.codegen.llvm.assembly import Elements

SMALL = 16
"""Rows of the matrices that are factored here."""
MINORS = 3
"""Rows of the matrices whose cofactors are computed here."""
FACTORED = 32
"""Rows of the matrices of which the Cholesky factor is computed here."""


class _Printer(Elements):
    """Prints functions of matrices."""

    def size(self, value: str) -> str:
        return self.emit(f"call {self.real} @llvm.fabs.f{8 * self.item}({self.real} {value})")

    def copy(self, to: str, of: str, count: str) -> None:
        size = self.whole("mul", count, str(self.item))
        self.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {size}, i1 false)")

    def less(self, y: str, f: str, x: str, count: str) -> None:
        """y -= f*x, of so many elements."""
        self.do(f"call void @linear.less(ptr {y}, {self.real} {f}, ptr {x}, i64 {count})")

    def text(self, name: str, parameters: str) -> str:
        """A function that leaves what is not done to the library."""
        self.give("i32 0")
        self.label("leave")
        return self.function(f"i32 @linear.{name}({parameters}) noinline #0", "ret i32 1")


def functions(routine: str, real: str, width: int) -> dict[str, str]:
    """The functions that a routine needs, by their names, for a kernel of a type and lanes."""
    if routine not in ROUTINES:
        return {}
    return {name: _TEXTS[name](_Printer(real, width)) for name in (*ROUTINES[routine], routine)}


def declared(real: str) -> dict[str, str]:
    """What the functions need from elsewhere, by name."""
    suffix = "f64" if real == "double" else "f32"
    names = [f"llvm.{f}.{suffix}" for f in ("sqrt", "fabs")]
    return {n: f"declare {real} @{n}({real}) #1" for n in names} | {
        "log": "declare double @log(double) #1"
    }


def _less(p: _Printer) -> str:
    """y -= f*x; each element is rounded twice, in a register of lanes as alone."""

    def subtracted(k: str, factor: str, of: str) -> None:
        product = p.emit(f"fmul {of} {factor}, {p.load('%x', k, of)}")
        p.store(p.emit(f"fsub {of} {p.load('%y', k, of)}, {product}"), "%y", k, of)

    most = "0"
    if p.width > 1:
        most = p.whole("and", "%n", str(-p.width))
        factors = p.spread("%f")
        with p.loop("0", most, step=p.width) as k:
            subtracted(k, factors, p.vector)
    with p.loop(most, "%n") as k:
        subtracted(k, "%f", p.real)
    return p.function(f"void @linear.less(ptr %y, {p.real} %f, ptr %x, i64 %n) #0", "ret void")


def _finite(p: _Printer) -> str:
    """Whether all elements are: a sum of products with 0 is 0."""
    total = p.variable(p.real, "0.0")
    with p.loop("0", "%n") as i:
        zero = p.real_op("fmul", p.load("%a", i), "0.0")
        p.write(p.real, p.real_op("fadd", p.read(p.real, total), zero), total)
    fine = p.compare("oeq", p.read(p.real, total), "0.0")
    return p.function("i1 @linear.finite(ptr %a, i64 %n) #0", f"ret i1 {fine}")


def _triangle(p: _Printer) -> str:
    """Whether all elements above the diagonal are 0 (1), or all below it (2), or both (3)."""
    above, below = p.variable("i64", "1"), p.variable("i64", "2")
    with p.loop("0", "%n") as i, p.loop("0", "%n") as j:
        some = p.compare("une", p.load("%a", p.at(i, "%n", j)), "0.0")
        for how, kept in (("slt", above), ("sgt", below)):
            with p.when(p.both(some, p.compare(how, i, j))):
                p.write("i64", "0", kept)
    both = p.whole("or", p.read("i64", above), p.read("i64", below))
    return p.function("i64 @linear.triangle(ptr %a, i64 %n) #0", f"ret i64 {both}")


def _eliminate(p: _Printer) -> str:
    """Make a matrix of n columns upper triangular, augmented by rows of b; the sign of the
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
            p.give(f"{p.real} 0.0")
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
    return p.function(head, f"ret {p.real} {end}")


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
        p.give("void")
    with p.loop("0", "%n") as i:
        row(i, "0", i)
    head = "void @linear.substitute(ptr %a, i64 %n, ptr %x, i64 %m, i1 %upper) noinline #0"
    return p.function(head, "ret void")


def _square(p: _Printer, most: int | None = SMALL) -> None:
    """Leave matrices to the library that are not square, too large, empty or not finite."""
    p.leave_if(p.compare("ne", "%rows", "%columns"))
    p.leave_if(p.compare("slt", "%rows", "1"))
    if most is not None:
        p.leave_if(p.compare("sgt", "%rows", str(most)))
    fine = p.emit(f"call i1 @linear.finite(ptr %a, i64 {p.whole('mul', '%rows', '%rows')})")
    p.leave_unless(fine)


def _factored(p: _Printer, b: str, width: str) -> tuple[str, str]:
    """A copy of the augmented matrix, made upper triangular, and the sign."""
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
    p.give("i32 0")
    p.label("general")
    p.leave_if(p.compare("sgt", "%rows", str(SMALL)))
    room, _ = _factored(p, "%x", width)
    p.do(f"call void @linear.substitute(ptr {room}, i64 %rows, ptr %x, i64 {width}, i1 true)")


def _shape(p: _Printer) -> None:
    """Go on with the triangular, or with the general case."""
    p.do("%shape = call i64 @linear.triangle(ptr %a, i64 %rows)")
    p.do("%upper = icmp eq i64 %shape, 2")
    p.do("%none = icmp eq i64 %shape, 0")
    p.leave_if("%none", "general")


def _solve(p: _Printer) -> str:
    _square(p, None)
    p.leave_if(p.compare("ne", "%height", "%rows"))
    count = p.whole("mul", "%height", "%width")
    fine = p.emit(f"call i1 @linear.finite(ptr %b, i64 {count})")
    p.leave_unless(fine)
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
        p.store(p.choose(same, "1.0", "0.0", p.real), "%x", p.at(i, "%rows", j))
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
        p.store(p.choose(kept, value, "0.0", p.real), "%l",
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
            p.leave_unless(p.both(positive, below))
            root = p.emit(f"call {p.real} @llvm.sqrt.f{8 * p.item}({p.real} {value})")
            p.store(root, "%l", here)
        with p.when(p.emit(f"xor i1 {diagonal}, true")):
            pivot = p.load("%l", p.at(j, "%rows", j))
            p.store(p.real_op("fdiv", value, pivot), "%l", here)
    return p.text("cholesky", "ptr %a, i64 %rows, i64 %columns, ptr %l")


_TEXTS: dict[str, Callable[[_Printer], str]] = {
    "less": _less, "finite": _finite, "triangle": _triangle, "eliminate": _eliminate, "substitute": _substitute,
    "solve": _solve, "inv": _inv, "det": _det, "slogdet": _slogdet, "cofactors": _cofactors,
    "cholesky": _cholesky,
}  # fmt: skip
_SYSTEM = ("less", "finite", "triangle", "eliminate", "substitute")
ROUTINES = {
    "solve": _SYSTEM, "inv": _SYSTEM, "det": ("less", "finite", "eliminate"),
    "slogdet": ("less", "finite", "eliminate"), "cofactors": ("finite",), "cholesky": (),
}  # fmt: skip
"""The routines, and the functions that they need."""

__all__ = ["ROUTINES", "SMALL", "declared", "functions"]
