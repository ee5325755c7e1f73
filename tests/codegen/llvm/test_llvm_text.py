"""The printed IR: constants, dtypes, conditions, vectorisation, size."""

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff import ir
from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm import printer as llvm
from symdiff.ir import MUL, add, const, eq, lt, mul, ne, power, raw, sqrt, topological, var, where
from symdiff.ir import functions as F
from symdiff.lowering.lower import lower
from symdiff.lowering.target import nearest
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar.compiled import Spec, _lanes
from tests.kernels import make_kernel
from tests.work import calls

x, y, z = var("x"), var("y"), var("z")
XY = ("x", "y")


def spec(outputs, dtype="float64", accuracy="high", params=XY, flagged=None) -> Spec:
    return Spec(params, tuple(outputs), flagged, dtype, accuracy, False)


def body_text(s: Spec) -> str:
    return llvm.print_body(s.params, s.lowered(), None, s.dtype, _lanes(s))


def wide(operations):
    """A sum of products of six variables."""
    v = [var(f"x{i}") for i in range(6)]
    total = const(0)
    for k in range(max(1, operations // 10)):
        i, j, n = k % 6, (k * 5 + 1) % 6, (k * 7 + 2) % 6
        total = add(
            total,
            F.SIN(const(1 + 0.01 * k) * v[i] + v[j])
            * F.EXP(ir.neg(v[n] * v[j]))
            * (v[i] + const(k)),
        )
    return total


SIX = tuple(f"x{i}" for i in range(6))


# ------------------------------------------------------------------------- constants
@pytest.mark.slow
@given(st.fractions())
def test_double_is_nearest(q):
    d = nearest(q)
    below, above = np.nextafter(d, -np.inf), np.nextafter(d, np.inf)
    assert abs(Fraction(d) - q) <= min(abs(Fraction(float(n)) - q) for n in (below, above))


@pytest.mark.slow
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float32_of_a_double_is_numpys(value):
    with np.errstate(over="ignore", under="ignore"):
        assert llvm.nearest_single(Fraction(value)) == float(np.float32(value))


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (Fraction(10) ** 400, np.inf),
        (-(Fraction(10) ** 400), -np.inf),
        (Fraction(1, 10**400), 0.0),
        (Fraction(1, 3), 1 / 3),
        (Fraction(2) ** -1074, 5e-324),
    ],
)
def test_extreme_constants(q, expected):
    assert nearest(q) == expected
    assert make_kernel((const(q),), ()).fast() == expected


def test_float32_rounds_once():
    """Rounding to double first would land on the tie and then on the wrong side."""
    q = 1 + Fraction(1, 2**24) + Fraction(1, 2**60)
    assert float(np.float32(float(q))) == 1.0
    assert llvm.nearest_single(q) == 1 + 2**-23


# ----------------------------------------------------------------------------- dtype
EVERYTHING = [op(*[x, y, x, y][: op.arity]) for op in F.TABLE if op is not F.POLYGAMMA]


def test_float32_has_no_double():
    s = spec([add(e, const(0.1)) for e in EVERYTHING], "float32")
    for text in (body_text(s), llvm.print_point(XY, s.lowered(), None, "float32")):
        assert "double" not in text and "f64" not in text


# ---------------------------------------------------------------------- vectorisation
POISON = re.compile(r"\bvf?n?m(add|sub)\d|\bfmadd|\bfmla")


def test_nothing_is_contracted():
    e = add(mul(x, y), x) - mul(y, y) * x
    for dtype in ("float64", "float32"):
        s = spec([e], dtype, "fast")
        assert not POISON.search(jit.assembly(body_text(s)))
        assert not POISON.search(jit.assembly(llvm.print_point(XY, s.lowered(), None, dtype)))
    assert POISON.search("vfmadd213pd") and POISON.search("vfnmsub231ss")


@pytest.mark.skipif("x86_64" not in jit.llvm.get_process_triple(), reason="counts x86 code")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation_is_packed(dtype):
    """No scalar arithmetic in a kernel of many arrays, whatever their number."""
    params = tuple(f"x{i}" for i in range(12))
    v = [var(p) for p in params]
    outputs = [
        where(lt(a, b), a * b + sqrt(a) / b, a - b) for a, b in zip(v, [*v[1:], v[0]], strict=True)
    ]
    text = jit.assembly(body_text(spec(outputs, dtype, params=params)))
    letter = "d" if dtype == "float64" else "s"
    packed = re.findall(rf"\bv?(?:add|sub|mul|div|sqrt)p{letter}\b", text)
    scalar = re.findall(r"\bv?(?:add|sub|mul|div|sqrt)s[sd]\b", text)
    assert len(packed) >= 5 * 12 and not scalar


@pytest.mark.skipif(not jit.host().isa, reason="no libmvec or no AVX2 here")
def test_functions_are_simd():
    s = spec([F.SIN(x) * F.EXP(y)])
    text = body_text(s)
    letter, width = jit.host().isa, jit.host().bits // 64
    assert f"_ZGV{letter}N{width}v_sin" in text and f"_ZGV{letter}N{width}v_exp" in text
    assert "lanes." not in text
    strict = body_text(spec([F.SIN(x)], accuracy="strict"))
    assert "_ZGV" not in strict and "lanes.sin" in strict


def test_without_simd_functions():
    """On a C library without libmvec the same values come from libm."""
    s = spec([F.SIN(x) + F.ATAN2(x, y)])
    text = llvm.print_body(XY, s.lowered(), None, "float64", llvm.Lanes(4))
    assert "_ZGV" not in text and "@sin(double" in text and "@atan2(double" in text
    jit.compile_object(text)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [1, 2, 16])
def test_registers_of_other_widths(monkeypatch, width, dtype):
    """What a processor without AVX2, or one with AVX-512, is given (LLVM splits or
    joins registers that this one does not have)."""
    monkeypatch.setattr(compiled, "_lanes", lambda spec: llvm.Lanes(width))
    condition = lt(x, y)
    e = where(condition, F.SIN(x) * y, sqrt(y) / x + F.ATAN2(x, y))
    kernel = make_kernel((e,), XY, test=condition)
    a, b = np.random.default_rng(0).uniform(0.1, 2, (2, 75)).astype(dtype)
    result = kernel.evaluate((a, b))
    expected = np.where(a < b, np.sin(a) * b, np.sqrt(b) / a + np.arctan2(a, b))
    np.testing.assert_allclose(result.values[0], expected, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(result.flags, a < b)


def test_avx512_code():
    """512-bit registers and libmvec's functions for them, in code for such a processor."""
    if "x86_64" not in jit.llvm.get_process_triple():
        pytest.skip("x86 code")
    library = frozenset({"_ZGVeN8v_sin", "_ZGVeN16v_sinf"})
    for dtype, width, name in (("float64", 8, "_ZGVeN8v_sin"), ("float32", 16, "_ZGVeN16v_sinf")):
        s = spec([F.SIN(x) * y + x], dtype)
        text = llvm.print_body(XY, s.lowered(), None, dtype, llvm.Lanes(width, "e", library))
        target = jit.llvm.Target.from_default_triple()
        machine = target.create_target_machine(cpu="skylake-avx512", opt=2)
        code = machine.emit_assembly(jit.llvm.parse_assembly(text))
        assert name in code and "zmm" in code and not POISON.search(code)


# ------------------------------------------------------------------------- conditions
NANS = (0.0, 1.0, float("nan"), float("inf"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("condition", "python"),
    [
        (lt(x, y), lambda a, b: a < b),
        (ir.le(x, y), lambda a, b: a <= b),
        (eq(x, y), lambda a, b: a == b),
        (ne(x, y), lambda a, b: a != b),
        (ir.not_(lt(x, y)), lambda a, b: not a < b),
        (ir.and_(lt(x, y), ne(x, const(1))), lambda a, b: a < b and a != 1),
        (ir.or_(lt(x, y), eq(y, const(1))), lambda a, b: a < b or b == 1),
    ],
)
def test_conditions_are_pythons(condition, python):
    kernel = make_kernel((where(condition, const(1), const(2)), condition), XY)
    pairs = [(a, b) for a in NANS for b in NANS]
    for a, b in pairs:
        assert kernel.fast(a, b) == (1.0 if python(a, b) else 2.0, float(python(a, b)))
    got = kernel((np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])))
    assert got[0].tolist() == [1.0 if python(a, b) else 2.0 for a, b in pairs]
    assert got[1].tolist() == [float(python(a, b)) for a, b in pairs]


def test_constant_and_passed_through_outputs():
    kernel = make_kernel((const(2.5), y, ir.NAN, F.PI()), XY)
    assert repr(kernel.fast(1.0, 3.0)) == "(2.5, 3.0, nan, 3.141592653589793)"
    two, same, nan, pi = kernel((np.zeros((2, 3)), 7.0))
    assert two.tolist() == [[2.5] * 3] * 2 and same.tolist() == [[7.0] * 3] * 2
    assert np.isnan(nan).all() and (pi == np.pi).all()


# ---------------------------------------------------------------------------- lowering
def test_commuted_operands_are_one_value():
    a, b = raw(MUL, (x, y)), raw(MUL, (y, x))
    (lowered,) = lower([raw(ir.ADD, (a, b))])
    assert len([e for e in topological([lowered]) if e.op is MUL]) == 1


def test_powers_share_their_chain():
    lowered = lower([power(x, 3), power(x, 6), power(x, 12)])
    assert len([e for e in topological(lowered) if e.op is MUL]) == 4


@pytest.mark.sampled
@pytest.mark.parametrize("exponent", [3, 12, 13, 40, -2, 0.5, 1.5, -2.5, "1/3", "-2/3", "5/7"])
def test_powers(exponent):
    q = Fraction(exponent)
    kernel = make_kernel((power(x, q),), ("x",))
    values = np.random.default_rng(0).uniform(0.5, 2, 50)
    with mpmath.workdps(40):
        true = np.array(
            [float(mpmath.mpf(v) ** (mpmath.mpf(q.numerator) / q.denominator)) for v in values]
        )
    np.testing.assert_array_max_ulp(kernel((values,))[0], true, 8)
    assert np.isnan(kernel.fast(-1.0)) == (q.denominator != 1)


def test_a_quotient_by_a_constant_is_rounded_once():
    kernel = make_kernel((x / const(49), x / const(3), mul(Fraction(2, 3), x)), ("x",))
    for v in (49.0, 147.0, 0.1, 1e300):
        assert kernel.fast(v)[:2] == (v / 49, v / 3)
        assert kernel.fast(v)[2] == float(Fraction(v) * 2 / 3)


def test_constants_are_folded_exactly():
    (e,) = lower([mul(const(2) / sqrt(F.PI()), x)])
    kernel = make_kernel((e,), ("x",))
    assert kernel.fast(1.0) == 1.1283791670955126  # 2/sqrt(pi) = 1.12837916709551257389...


def test_lowering_is_deterministic():
    s = spec([F.LOGADDEXP(x, y) * power(x, 5), F.COPYSIGN(y, x)])
    assert body_text(s) == body_text(spec(list(s.outputs)))


# --------------------------------------------------------------------------- large code
def test_chunks_change_nothing(monkeypatch):
    e = wide(300)
    flag = lt(e, const(0))
    outputs = (e, where(lt(e, const(1)), e, F.COS(e)))
    whole = make_kernel(outputs, SIX, test=flag)
    point = [0.3 + 0.1 * k for k in range(6)]
    columns = [np.linspace(p, p + 1, 77) for p in point]
    expected = whole.evaluate(columns)
    alone = whole.point.evaluate(point)
    monkeypatch.setattr(llvm, "CHUNK", 37)
    split = make_kernel(outputs, SIX, test=flag)
    monkeypatch.setattr("symdiff.runtime.scalar.compiled._linked", {})
    got = split.evaluate(columns)
    for a, b in zip(got.values, expected.values, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(got.flags, expected.flags)
    assert split.point.evaluate(point) == alone


def test_chunks_carry_conditions(monkeypatch):
    """A truth value that is computed in one part and used in another."""
    monkeypatch.setattr(llvm, "CHUNK", 2)
    c = lt(x, y)
    e = where(c, x * y + x, y - x) + where(c, F.SIN(x), F.COS(y))
    kernel = make_kernel((e,), XY)
    a, b = np.array([1.0, 3.0, 2.0]), np.array([2.0, 1.0, 2.0])
    expected = np.where(a < b, a * b + a, b - a) + np.where(a < b, np.sin(a), np.cos(b))
    np.testing.assert_allclose(kernel((a, b))[0], expected, rtol=1e-14)
    np.testing.assert_allclose(
        [kernel.fast(*p) for p in zip(a.tolist(), b.tolist(), strict=True)], expected, rtol=1e-14
    )


@pytest.mark.slow
def test_printing_is_linear_in_operations():
    """What LLVM takes is in `python benchmarks --only compile`."""

    def compiled(operations):
        e = wide(operations)
        return calls(lambda: make_kernel((e,), SIX).fast(*[0.5] * 6))

    assert compiled(4000) < 6 * compiled(1000)


@pytest.mark.slow
def test_deep_functions_compile():
    e = x
    for _ in range(2000):
        e = F.SIN(e) + F.COS(e) / const(3)
    v = 0.7
    for _ in range(2000):
        v = np.sin(v) + np.cos(v) / 3
    assert make_kernel((e,), ("x",)).fast(0.7) == pytest.approx(v, rel=1e-12)
