"""The functions that kernels of modules call, printed from the rules of `lowering`.

Before:  the operations `_mul` and `_exp` of pairs, `_product_error` of doubles
After:   def _mul(x, y):
             t0 = x[0]*y[0]
             return _fast_two_sum(t0, _fma(x[0], y[0], -t0) + _fma(...))

Requires: operations of `double_double.arithmetic.CALLED`, or entries of `compensated.functions.CORRECTED`.
Ensures: each function once, after those that it calls; nothing that is not used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from textwrap import fill, indent
from typing import NamedTuple

from symdiff import ir
from symdiff.codegen.common.temporaries import ATOM, Text
from symdiff.codegen.source.modules.support import CALLS
from symdiff.codegen.source.python import PythonWriter, function_body
from symdiff.ir import Expr, Op
from symdiff.lowering.compensated.evaluate import CALLED as CORRECTED_CALLS
from symdiff.lowering.compensated.evaluate import CALLED_LIGHT as LIGHT_CALLS
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.lower import lower
from symdiff.lowering.target import FMA

CACHED = '@njit(error_model="numpy", cache=True)'
HELPER = """_helper = njit(
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)  # called by compiled code only
"""
FUSED = '''@intrinsic
def _fma(typing, a, b, c):
    """a*b + c, rounded once: an instruction of the processor."""

    def code(context, builder, signature, args):
        return builder.fma(*args)

    return a(a, b, c), code
'''
POLYNOMIAL = '''@_helper
def _polynomial(x, terms, tail):
    """A polynomial of a pair by Horner's rule, last terms first: pairs, after a tail of doubles."""
    total = 0.0
    for c in tail:
        total = _fma(total, x[0], c)
    value = (total, 0.0)
    for k in range(0, len(terms), 2):
        value = _pair_add((terms[k], terms[k + 1]), _pair_mul(value, x))
    return value
'''
TINY = '''@_helper
def _tiny(x, least):
    """Whether a number is so small that products of it may underflow."""
    return (abs(x) < least) & (x != 0.0)
'''
SUM_ERROR = Op("sum_error", 2, python="_sum_error({0}, {1})")
DIFFERENCE_ERROR = Op("difference_error", 2, python="_difference_error({0}, {1})")
PRODUCT_ERROR = Op("product_error", 2, python="_product_error({0}, {1})")
IS_TINY = Op("tiny", 2, boolean=True, python="_tiny({0}, {1})")
_ERRORS: dict[Op, Callable[..., Expr]] = {
    SUM_ERROR: lambda a, b: dd.two_sum(a, b).lo,
    DIFFERENCE_ERROR: lambda a, b: dd.two_sum(a, dd.minus_of(b)).lo,
    PRODUCT_ERROR: lambda a, b: dd.two_product(a, b).lo,
}
_WRITTEN: dict[Op, tuple[str, tuple[str, ...]]] = {
    FMA: (FUSED, ()),
    dd.POLYNOMIAL: (POLYNOMIAL, ("_fma", "_pair_add", "_pair_mul")),
    IS_TINY: (TINY, ()),
}
"""Functions with a loop, or an instruction, which no formula says; and what they call."""


class Helper(NamedTuple):
    """A function or a table of coefficients.

    Attributes
    ----------
    text : its definition.
    uses : the names of others.
    """

    text: str
    uses: tuple[str, ...]


class CallWriter(PythonWriter):
    """Python that calls helpers.

    Attributes
    ----------
    used : their names.
    """

    def __init__(self, dtype: str = "float64") -> None:
        super().__init__(dtype)
        self.used: dict[str, None] = {}

    def compose(self, e: Expr, args: Sequence[Text]) -> Text:
        if e.op in (dd.TERMS, dd.TAIL):
            name = _table(e)
            self.used[name] = None
            return Text(name, ATOM)
        return super().compose(e, args)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        if op in _names():
            self.used[_names()[op]] = None
        return super().function(op, args)

    def stays(self, e: Expr, text: Text) -> bool:
        return super().stays(e, text) or (e.op in (dd.HI, dd.LO) and text.text[:-3].isidentifier())


def _called() -> dict[Op, dd.Called]:
    """The calls of operations on pairs, all of which are known once the rules are."""
    from symdiff.lowering.double_double import scaled

    assert scaled.TABLE
    return dd.CALLED


@functools.cache
def _names() -> dict[Op, str]:
    """The helper that an operation calls."""
    return {
        **{op: f"_{call.name}" for op, call in _called().items()},
        **{op: f"_{op.name}" for op in (*_ERRORS, *_WRITTEN)},
        **{call: f"_corrected_{op.name}" for op, call in CORRECTED_CALLS.items()},
        **{call: f"_light_{op.name}" for op, call in LIGHT_CALLS.items()},
    }


# ------------------------------------------------------------------------- tables


def _table(e: Expr) -> str:
    """The name of coefficients, by what function they are of."""
    known = _known_tables()
    return known[e]


@functools.cache
def _known_tables() -> dict[Expr, str]:
    found: dict[Expr, str] = {}
    with dd.as_calls():
        for call in _called().values():
            for e in ir.topological((_built(call),)):
                if e.op in (dd.TERMS, dd.TAIL) and e not in found:
                    kind = "TERMS" if e.op is dd.TERMS else "TAIL"
                    title = f"_{call.name.removeprefix('pair_').upper()}_{kind}"
                    while title in found.values():
                        title += "_"
                    found[e] = title
    return found


def _table_text(name: str, e: Expr) -> str:
    count = 1 if e.op is dd.TAIL else 2
    numbers = [repr(float(p.value)) for q in e.value for p in dd.expansion(Fraction(q), count)]
    body = fill(", ".join(numbers), 94, break_on_hyphens=False, break_long_words=False)
    return f"{name} = (\n{indent(body, '    ')},\n)\n"


# ---------------------------------------------------------------------- functions
def _built(call: dd.Called) -> Expr:
    """What a call computes, as one node over its arguments."""
    made = call.build(*(dd.parts(ir.var(n), kind) for n, kind in call.takes))
    return made if isinstance(made, Expr) else dd.one(made)


@functools.cache
def helper(name: str) -> Helper:
    """The function, or the table, of a name."""
    if name in CALLS:
        return Helper(*CALLS[name])
    for e, table in _known_tables().items():
        if table == name:
            return Helper(_table_text(name, e), ())
    op = next(op for op, n in _names().items() if n == name)
    if op in _WRITTEN:
        return Helper(*_WRITTEN[op])
    writer, title = CallWriter(), name.removeprefix("_")
    roots: Sequence[Expr]
    if op in dd.CALLED:
        call = dd.CALLED[op]
        names = [n for n, _ in call.takes]
        with dd.as_calls():
            roots = (_built(call),)
        said = (call.build.__doc__ or "").partition("\n")[0]
        doc = said if said.endswith(".") else f"{title}({', '.join(names)})."
    elif op in _ERRORS:
        names = ["a", "b"]
        roots = (_ERRORS[op](ir.var("a"), ir.var("b")),)
        doc = f"The rounding error of a {title.split('_')[0]}."
    else:
        names, light = ["x"], title.startswith("light")
        calls = LIGHT_CALLS if light else CORRECTED_CALLS
        of = next(o for o, call in calls.items() if call is op)
        roots = with_errors(lower(tuple(CORRECTED[of].build(ir.var("x"), light)), fold=False))
        doc = f"{of.name}(x), its rounding error, and the slope there."
    body, results = function_body(names, roots, writer)
    lines = [f'"""{doc}"""', *body, f"return {', '.join(results)}"]
    head = f"@_helper\ndef {name}({', '.join(names)}):\n"
    return Helper(head + indent("\n".join(lines), "    ") + "\n", tuple(writer.used))


def closure(names: Iterable[str]) -> dict[str, Helper]:
    """Helpers with all that they use, each after those that it calls."""
    order: dict[str, Helper] = {}

    def add(name: str) -> None:
        if name not in order:
            found = helper(name)
            for other in found.uses:
                add(other)
            order[name] = found

    for name in sorted(names):
        add(name)
    return order


def all_helpers() -> list[str]:
    """The names of all helpers."""
    return sorted([*_names().values(), *CALLS])


# ------------------------------------------------------------------ errors as calls
def with_errors(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """Lowered outputs in which operations that give an error, or a test for underflow, are one."""
    new: dict[Expr, Expr] = {}
    for e in ir.topological(outputs):
        args = tuple(new[a] for a in e.args)
        found = _error(e) or _tiny(e)
        if found is not None:
            op, taken = found
            new[e] = ir.raw(op, tuple(new.get(a, a) for a in taken))
        else:
            new[e] = e if args == e.args else ir.raw(e.op, args, e.value)
    return tuple(new[o] for o in outputs)


def _error(e: Expr) -> tuple[Op, tuple[Expr, Expr]] | None:
    """Of which operation a node is the error."""
    if e.op is FMA:
        a, b, c = e.args
        if c.op is ir.NEG and c.args[0].op is ir.MUL and set(c.args[0].args) == {a, b}:
            return PRODUCT_ERROR, (a, b)
        return None
    if e.op not in (ir.ADD, ir.SUB) or e.args[0].op is not ir.SUB:
        return None
    a, st = e.args[0].args
    rest = e.args[1]
    other = ir.SUB if e.op is ir.ADD else ir.ADD
    if st.op is not ir.SUB or rest.op is not other or len(st.args) != 2:
        return None
    s, t = st.args
    b = rest.args[0] if rest.args[1] is t else rest.args[1]
    if t.op is not ir.SUB or t.args != (s, a) or s.op is not e.op or t not in rest.args:
        return None
    if s.args == (a, b) or (e.op is ir.ADD and set(s.args) == {a, b}):
        return (SUM_ERROR if e.op is ir.ADD else DIFFERENCE_ERROR), (a, b)
    return None


def _tiny(e: Expr) -> tuple[Op, tuple[Expr, Expr]] | None:
    """Of which number, and below which one, a condition is the test for underflow."""
    if e.op is not ir.AND:
        return None
    for small, other in (e.args, e.args[::-1]):
        if small.op is ir.LT and small.args[0].op is ir.ABS and small.args[1].op is ir.CONST:
            x = small.args[0].args[0]
            zero = other.args[0] if other.op is ir.NOT else None
            if zero is not None and zero.op is ir.EQ and set(zero.args) == {x, ir.ZERO}:
                return IS_TINY, (x, small.args[1])
    return None


__all__ = ["CACHED", "HELPER", "CallWriter", "all_helpers", "closure", "with_errors"]
