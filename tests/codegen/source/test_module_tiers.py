"""What generated modules compute with: error tests, and double-double arithmetic; against balls.

Helpers and modules run as plain Python (`export.measured.run`), but for the slow tests.
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx

from symdiff import symgrad
from symdiff.codegen.source.loops import _below_loads
from symdiff.codegen.source.modules.helpers import HELPER, all_helpers, closure
from symdiff.export.measured import flat, run
from symdiff.export.scalar import module_text
from symdiff.ir import POW, Op, lt, var
from symdiff.lowering.compensated.functions import BITS, CORRECTED, LIGHT_BITS
from symdiff.lowering.double_double.scaled import TABLE
from tests.law.made import formula
from tests.law.made import loaded as load


@pytest.fixture(scope="module")
def helpers() -> dict:
    """All that modules may call, run as plain Python."""
    texts = [h.text for h in closure(all_helpers()).values()]
    scope = run("\n\n".join([HELPER, *texts]))
    scope["np"].seterr(all="ignore")
    return scope


def number(x, k: int = 0):
    return (np.float64(x), np.float64(0.0)), np.float64(k)


def exact(x) -> arb:
    (hi, lo), k = x
    return (arb(float(hi)) + arb(float(lo))) * arb(2) ** int(k)


def apart(found, truth: arb) -> float:
    """The relative error."""
    return float(abs(exact(found) / truth - 1)) if truth != 0 else float(abs(exact(found)))


def arguments(op: Op, rng: random.Random, size: float) -> list[float]:
    return [rng.choice((1, -1)) * 2.0 ** rng.uniform(-size, size / 8) for _ in range(op.arity)]


ANGLES = ("sin", "cos", "tan")
"""Of angles beyond 1e15 there are no rules: they are as the C library has them."""


@pytest.mark.sampled
@pytest.mark.parametrize("op", TABLE, ids=lambda op: op.name)
def test_functions_of_the_table(helpers, op):
    """To 90 bits where arguments are ordinary, and where they are tiny."""
    rng, counted = random.Random(op.name), 0
    name = f"_{op.name}"
    for k in range(60):
        point = arguments(op, rng, (40.0, 300.0)[k % 2])
        found = helpers[name](*(helpers["_number"](np.float64(x)) for x in point))
        with ctx.workprec(4000):
            if (op is POW and point[0] < 0) or (op.name in ANGLES and abs(point[0]) > 1e15):
                continue
            truth = arb(point[0]) ** arb(point[1]) if op is POW else op.ball(*map(arb, point))
            if truth.is_finite() and abs(math.log2(abs(found[0][0])) + found[1]) > 1e6:
                continue
            if truth.is_finite() and truth != 0:
                counted += 1
                assert apart(found, truth) < 2.0**-90, (point, found)
            elif truth.is_nan():
                assert math.isnan(found[0][0]), (point, found)
    assert counted >= 5


@pytest.mark.parametrize("op", TABLE, ids=lambda op: op.name)
def test_functions_of_numbers_that_are_not_finite(helpers, op):
    """As in IEEE arithmetic, where that is not undecided."""
    for x in (math.inf, -math.inf, math.nan):
        found = float(helpers["_double"](helpers[f"_{op.name}"](*[number(x)] * op.arity)))
        want = float(helpers["np"].float64(op_of(op)(*[np.float64(x)] * op.arity)))
        assert found == want or (math.isnan(found) and math.isnan(want)), (x, found, want)


def op_of(op: Op):
    from symdiff.ir.plain import in_doubles

    return in_doubles(op)


ARITHMETIC = {
    "_add": (2, lambda a, b: a + b), "_sub": (2, lambda a, b: a - b), "_mul": (2, lambda a, b: a * b),
    "_div": (2, lambda a, b: a / b), "_sqrt": (1, lambda a: a.sqrt()),
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_does_not_overflow(helpers, name):
    rng = random.Random(name)
    arity, truth_of = ARITHMETIC[name]
    for _ in range(100):
        his = [rng.choice((1, -1)) * 2.0 ** rng.uniform(-30, 30) for _ in range(arity)]
        if arity == 1:
            his[0] = abs(his[0])
        given = [
            helpers["_scaled"]((np.float64(x), np.float64(x * 2.0**-55)), np.float64(k))
            for x, k in zip(his, rng.choices((0, 700, -5000, 9), k=arity), strict=True)
        ]
        found = helpers[name](*given)
        with ctx.workprec(12000):
            truth = truth_of(*map(exact, given))
            assert apart(found, truth) < 2.0**-100, (given, found)


@pytest.mark.parametrize("infinite", [(1.0, 0.0), (math.inf, 2.0), (0.0, math.inf), (0.0, 0.0)])
def test_arithmetic_is_that_of_doubles_where_it_is_not_finite(helpers, infinite):
    a, b = map(np.float64, infinite)
    wants = {"_add": a + b, "_sub": a - b, "_mul": a * b, "_div": np.divide(a, b)}
    for name, want in wants.items():
        np.testing.assert_equal(helpers["_double"](helpers[name](number(a), number(b))), want)


@pytest.mark.sampled
@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("op", CORRECTED, ids=lambda op: op.name)
def test_functions_with_their_errors(helpers, op, light):
    rng = random.Random(op.name)
    name, bits = ("_light_", LIGHT_BITS) if light else ("_corrected_", BITS)
    for _ in range(40):
        (x,) = arguments(op, rng, 40.0)
        value, error, _ = helpers[f"{name}{op.name}"](np.float64(x))
        with ctx.workprec(3000):
            truth = op.ball(arb(x))
            if truth.is_finite() and abs(truth) > arb(2) ** -500 and inside(op, x):
                found = arb(float(value)) + arb(float(error))
                assert abs(found / truth - 1) < arb(2) ** -bits * 2, x


def inside(op: Op, x: float) -> bool:
    from symdiff.interpret.loops import Doubles, evaluate

    return bool(evaluate(CORRECTED[op].inside(var("x")), Doubles(), {"x": np.float64(x)}))


def test_steps_and_conditions(helpers):
    for x in (-2.5, -2.0, -0.5, 0.0, 0.5, 1.5, 2.0, 2.5, 1e17, -1e-200):
        pair = (np.float64(x), np.float64(0.0))
        assert helpers["_pair_floor"](pair)[0] == math.floor(x)
        assert helpers["_pair_ceil"](pair)[0] == math.ceil(x)
        assert helpers["_pair_trunc"](pair)[0] == math.trunc(x)
        assert helpers["_pair_rint"](pair)[0] == round(x)
    assert helpers["_pair_floor"]((np.float64(2.0), np.float64(-1e-20)))[0] == 1.0
    less, most, equal = (helpers[n] for n in ("_less", "_at_most", "_equal"))
    for a, b in ((1.0, 2.0), (2.0, 2.0), (-math.inf, 1.0), (math.nan, 1.0), (math.inf, math.inf)):
        x, y = helpers["_number"](np.float64(a)), helpers["_number"](np.float64(b))
        assert (bool(less(x, y)), bool(most(x, y)), bool(equal(x, y))) == (a < b, a <= b, a == b)
    tiny, huge = number(1.5, -4000), number(1.25, 4000)
    assert less(tiny, huge) and not less(huge, tiny) and not equal(tiny, huge)
    assert less(helpers["_neg"](huge), tiny)


# ----------------------------------------------------------------------- modules
def loaded(fun, path: Path, **options):
    """The module of a function."""
    file = path / f"{fun.__name__}_kernels.py"
    symgrad(fun, **options).save(file)
    sys.path.insert(0, str(path))
    sys.modules.pop("symdiff_pairs", None)
    try:
        return load(file)
    finally:
        sys.path.remove(str(path))


def played(fun, **options):
    """The same, run as plain Python."""
    f = symgrad(fun, **options)
    raw, level = f.raw_program, options.get("accuracy", "high")
    from symdiff.export.faces import face_of

    check = options.get("check_domain", True)
    return run(module_text(raw, f._wrt(), accuracy=level, check_domain=check, face=face_of(f)))


def quad(a, b, c):
    """A root of a quadratic equation."""
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


difference = formula("difference", "x", "math.exp(x) - 1 - x")
cosine = formula("cosine", "x", "(1 - math.cos(x)) / x**2")
distance = formula("distance", "x, y", "math.sqrt(x * x + y * y)")
chosen = formula("chosen", "x, y", "x * y if x * y < 1e-3 else math.log(x * y)")
wave = formula("wave", "x", "math.sin(x) / x")
density = formula("density", "x, s", "math.erfc(x) * math.exp(x * x / s)")


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [difference, cosine, distance, chosen, wave, density])
def test_values_are_right_where_pairs_have_digits(fun):
    """Bit-uniform, ordinary and special arguments. Where more than 32 digits cancel, or an angle is huge,
    there is no claim."""
    from symdiff.interpret import Certified

    scope, raw = played(fun), symgrad(fun).raw_program
    truth = Certified(raw.params, raw.outputs)
    rng = random.Random(fun.__name__)
    size = 1000 if fun in (cosine, distance, chosen) else 60
    points = [
        [rng.choice((1, -1)) * 2.0 ** rng.uniform(-size, min(size, 16)) for _ in raw.params]
        for _ in range(12)
    ]
    points += [
        [rng.choice((1, -1)) * 2.0 ** rng.uniform(-12, 5) for _ in raw.params] for _ in range(16)
    ]
    points += [[x] * len(raw.params) for x in (1e-8, 1.0, 30.0)]
    for point in points:
        (answer,) = truth.at_with_status(point)
        if answer.status != "exact" or not math.isfinite(answer.value):
            continue
        with np.errstate(all="ignore"):
            found = float(scope[fun.__name__](*map(np.float64, point)))
        assert abs(found - answer.value) <= 8 * math.ulp(answer.value), (point, found, answer.value)


@pytest.mark.slow
def test_what_is_undefined_stays_nan():
    scope = played(chosen)
    with np.errstate(all="ignore"):
        assert math.isnan(scope["chosen"](np.float64(math.nan), np.float64(1.0)))
        assert math.isnan(played(quad)["quad"](*map(np.float64, (1.0, 1.0, 1.0))))
        assert math.isnan(played(lambda_log)["lambda_log"](np.float64(-2.0)))


lambda_log = formula("lambda_log", "x", "math.log(x) - 1 / (x - 1)")


def logarithm(x, y=2.0, *, k=1.5):
    """The user's words."""
    assert x > 0
    assert y < 10
    return math.log(x * x) * y + k


@pytest.mark.slow
def test_signature_and_assertions():
    scope = played(logarithm)
    one = np.float64(1.0)
    assert scope["logarithm"](one, k=one) == 1.0
    with pytest.raises(TypeError):
        scope["logarithm"](one, one, one)
    number = logarithm.__code__.co_firstlineno + 2
    with pytest.raises(ValueError, match=rf"test_module_tiers.py:{number}: logarithm: .*x = .*-1"):
        scope["logarithm"](np.float64(-1.0), one, k=one)
    with pytest.raises(ValueError, match=rf"test_module_tiers.py:{number + 1}: .*y = .*11"):
        scope["logarithm_grad"](one, np.float64(11.0), k=one)
    scope = played(logarithm, check_domain=False)
    scope["logarithm"](np.float64(-1.0), one, k=one)  # not checked


@pytest.mark.slow
def test_fast_modules_have_one_tier():
    f = symgrad(quad)
    fast = module_text(f.raw_program, f._wrt(), accuracy="fast")
    high = module_text(f.raw_program, f._wrt())
    assert "_quad_pairs" not in fast and "Measured error" not in fast
    assert "_quad_pairs" in high and "Measured error" in high
    assert "flint" not in high


@pytest.mark.slow
def test_the_root_of_a_quadratic_equation(tmp_path):
    module = loaded(quad, tmp_path)
    with ctx.workprec(3000):
        for b in (3.0, 1e9):
            truth = float((-arb(b) + (arb(b) * b - 4).sqrt()) / 2)
            assert abs(module.quad(1.0, b, 1.0) - truth) <= 2 * math.ulp(truth)
            several = module.quad(np.full(3, 1.0), np.full(3, b), 1.0)
            assert max(abs(several - truth)) <= 2 * math.ulp(truth)
            assert abs(module.quad_value_and_grad(1.0, b, 1.0)[0] - truth) <= 2 * math.ulp(truth)


@pytest.mark.slow
def test_arrays_and_numbers_agree(tmp_path):
    """With each other in all bits, and with the decorator; in threads too."""
    module = loaded(cosine, tmp_path)
    x = np.concatenate([np.linspace(-40, 40, 100_001), 2.0 ** np.arange(-900.0, 900.0, 7)])
    values, slopes = module.cosine_value_and_grad(x)
    f = symgrad(cosine)
    np.testing.assert_array_max_ulp(values, f(x), 8)
    np.testing.assert_array_max_ulp(slopes, f.grad(x), 8)
    few = slice(None, None, 977)
    assert values[few].tolist() == [module.cosine(v) for v in x[few]]
    assert slopes[few].tolist() == [module.cosine_grad(v) for v in x[few]]
    single = module.cosine(x[:100_001].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, f(x[:100_001].astype(np.float32)), rtol=4e-7)


@pytest.mark.slow
def test_assertions_of_arrays(tmp_path):
    module = loaded(logarithm, tmp_path)
    assert module.logarithm(np.array([1.0, 2.0]), k=0.0).tolist() == [0.0, 4 * math.log(2.0)]
    with pytest.raises(ValueError, match=r"x = -2\.0, y = 2\.0, k = 1\.5"):
        module.logarithm_grad(np.array([1.0, -2.0]))


@pytest.mark.slow
def test_calls_by_compiled_functions(tmp_path):
    """With defaults and keywords, in threads, refusals too."""
    from numba import njit, prange
    from numba.core.errors import TypingError

    module = loaded(logarithm, tmp_path)
    root = loaded(quad, tmp_path)
    slopes, quadratic = module.logarithm_grad, root.quad

    @njit
    def call(x):
        return slopes(x, k=0.5), quadratic(1, x, 1.0)

    for x in (3.0, 1e9):
        assert call(x) == (slopes(x, k=0.5), quadratic(1.0, x, 1.0))
    with pytest.raises(ValueError, match="this does not hold"):
        call(-1.0)

    @njit(parallel=True)
    def roots(b):
        out = np.empty_like(b)
        for i in prange(b.size):
            out[i] = quadratic(1.0, b[i], 1.0)
        return out

    b = np.array([3.0, 1e200, 1e9, 1e220])
    np.testing.assert_array_equal(roots(b), [root.quad(1.0, v, 1.0) for v in b])
    with pytest.raises(TypingError, match="call it in a loop"):
        njit(lambda x: quadratic(x, x, x))(b)


def test_long_shared_programs_are_printed():
    """Walks over integers and conditions visit shared parts once."""
    e = x = var("x")
    for _ in range(60):
        e = e * e + x
    assert len(_below_loads(lt(e, x))) == 0


# ------------------------------------------------------------------- how long they are
def black_scholes(S, K, T, r, sigma):
    """Price of a European call."""
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return S * math.erfc(-d1 / math.sqrt(2)) / 2 - K * math.exp(-r * T) * math.erfc(-d2 / math.sqrt(2)) / 2  # fmt: skip


def morse(r, depth=4.7, width=1.9, bond=0.74):
    """Potential energy of a diatomic molecule."""
    return depth * (1 - math.exp(-width * (r - bond))) ** 2


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "lines"), [(black_scholes, 400), (morse, 250)])
def test_modules_are_short(fun, lines):
    """With their docstrings; and what people read first comes first."""
    f = symgrad(fun)
    text = module_text(f.raw_program, f._wrt(), companion="symdiff_pairs")
    assert text.count("\n") <= lines
    order = [text.index(t) for t in ("Formula:", "Derivative:", "_kernel(", "def " + fun.__name__ + "(", "_pairs(")]  # fmt: skip
    assert order == sorted(order)
    assert max(map(len, text.partition("\nimport")[2].splitlines())) <= 140


@pytest.mark.slow
def test_companions_hold_what_all_modules_use(tmp_path):
    """It is the same for all modules, also of other folders; other files are not overwritten."""
    from symdiff.errors import SymdiffError

    symgrad(morse).save(tmp_path / "a.py")
    first = (tmp_path / "symdiff_pairs.py").read_text()
    assert "def _exp(" in first and "def _log(" in first
    (tmp_path / "other").mkdir()
    symgrad(logarithm).save(tmp_path / "other" / "b.py")
    assert (tmp_path / "other" / "symdiff_pairs.py").read_text() == first
    (tmp_path / "mine.py").write_text("x = 1\n")
    with pytest.raises(SymdiffError, match="was not generated by symdiff"):
        symgrad(morse).save(tmp_path / "a.py", companion="mine")
    with pytest.raises(SymdiffError, match="is not a name for a module"):
        symgrad(morse).save(tmp_path / "a.py", companion="a.b")
    (tmp_path / "__init__.py").touch()
    symgrad(morse).save(tmp_path / "a.py")
    assert "\nfrom .symdiff_pairs import (" in (tmp_path / "a.py").read_text()
    symgrad(morse).save(tmp_path / "c.py", companion=None)
    assert flat(run((tmp_path / "c.py").read_text())["morse"](*map(np.float64, (1.0,) * 4))) == [
        0.0
    ]
