"""The tiers of generated modules: error tests, double-double arithmetic, balls; against balls."""

from __future__ import annotations

import ast
import importlib.util
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.special
from flint import arb, ctx, fmpq

from symdiff import Array, symgrad
from symdiff.codegen.source.loops import _below_loads
from symdiff.codegen.source.modules import copied
from symdiff.codegen.source.modules.first_tier import corrected_helper
from symdiff.codegen.source.modules.helpers import FILES, copies, definitions
from symdiff.codegen.source.modules.second_tier import function_helper
from symdiff.export.measured import run
from symdiff.ir import POW, Op, lt, var
from symdiff.lowering.compensated.functions import BITS, CORRECTED
from symdiff.lowering.double_double import functions as rules

UNIT = arb(2) ** -105


@pytest.fixture(scope="module")
def helpers() -> dict:
    """All that modules may contain copies of, run as plain Python."""
    names = set(definitions())
    texts = [
        function_helper(op)[0] for op in rules.RULES if f"_{op.name}" not in names and op is not POW
    ]
    texts += [corrected_helper(op, False)[0] for op in CORRECTED]
    scope = run("\n\n".join(["_helper = njit()", copies(names), *texts]))
    scope["np"].seterr(all="ignore")
    return scope


def arguments(op: Op, rng: random.Random) -> list[float]:
    return [rng.choice((1, -1)) * 2.0 ** rng.uniform(-40, 6) for _ in range(op.arity)]


def exact(pair) -> arb:
    value = arb(float(pair[0])) + arb(float(pair[1]))
    return value if len(pair) < 4 else value * arb(2) ** int(pair[3])


def bound(number) -> arb:
    return arb(float(number[2])) * UNIT * arb(2) ** int(number[3])


def test_names_are_defined_once():
    names = [
        node.name
        for file in FILES
        for node in ast.parse(Path(copied.__path__[0], f"{file}.py").read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert len(names) == len(set(names)) > 100


@pytest.mark.parametrize("op", [op for op in rules.RULES if op is not POW], ids=lambda op: op.name)
def test_functions_of_numbers_are_within_their_bounds(helpers, op):
    rng = random.Random(op.name)
    counted = 0
    for k in range(40):
        numbers = [(np.float64(x), *[np.float64(0)] * 3) for x in arguments(op, rng)]
        if k % 2:  # with an error that is there
            numbers = [(x, x * 2.0**-54, abs(x) * 2.0**-3, z) for x, _, _, z in numbers]
        found = helpers[f"_{op.name}"](*numbers)
        with ctx.workprec(400):
            for side in (-1, 0, 1):
                given = [
                    exact(n) + side * arb(float(n[2])) * arb(2) ** -106 if n[2] else exact(n)
                    for n in numbers
                ]
                truth = op.ball(*given)
                if found[2] < 0 or not truth.is_finite() or not math.isfinite(found[0]):
                    continue
                counted += 1
                assert abs(exact(found) - truth) <= bound(found), (numbers, found)
    assert counted >= 8


def test_functions_of_tiny_numbers_are_within_their_bounds(helpers):
    """Where they are their arguments, but not exactly."""
    for name in ("sin", "tan", "atan", "asinh", "tanh", "expm1", "log1p"):
        for exponent in (-320, -700, -1070):
            x = math.ldexp(-0.75, exponent)
            found = helpers[f"_{name}"](helpers["_number"](np.float64(x)))
            with ctx.workprec(5000):
                truth = getattr(arb(x), name)()
                assert abs(exact(found) - truth) <= bound(found), (name, x)
        rest = helpers["_sub"](found, helpers["_number"](np.float64(x)))
        assert rest[2] > 0  # no exact zero


def test_arithmetic_is_within_its_bounds(helpers):
    rng = random.Random(3)
    operations = {"_add": 2, "_sub": 2, "_mul": 2, "_div": 2, "_sqrt": 1}
    truths = {
        "_add": lambda a, b: a + b, "_sub": lambda a, b: a - b, "_mul": lambda a, b: a * b,
        "_div": lambda a, b: a / b, "_sqrt": lambda a: a.sqrt(),
    }  # fmt: skip
    for name, arity in operations.items():
        for _ in range(60):
            hi = [rng.choice((1, -1)) * 2.0 ** rng.uniform(-30, 30) for _ in range(arity)]
            if rng.random() < 0.4 and arity == 2:
                hi[1] = hi[0] * (1 + rng.choice((1, -1)) * 2.0**-50)
            if arity == 1:
                hi[0] = abs(hi[0])
            numbers = [
                (np.float64(x), np.float64(x) * 2.0**-55, np.float64(0), np.float64(0)) for x in hi
            ]
            if rng.random() < 0.5:  # far from 1
                numbers = [
                    helpers["_scaled"](*x[:3], x[3] + rng.choice((700.0, -5000.0, 0.0, 9.0)))
                    for x in numbers
                ]
            found = helpers[name](*numbers)
            with ctx.workprec(400):
                truth = truths[name](*map(exact, numbers))
                assert abs(exact(found) - truth) <= bound(found), (name, numbers)


@pytest.mark.parametrize("op", CORRECTED, ids=lambda op: op.name)
def test_functions_with_their_errors(helpers, op):
    rng = random.Random(op.name)
    for _ in range(40):
        (x,) = arguments(op, rng)
        value, error, _ = helpers[f"_corrected_{op.name}"](np.float64(x))
        with ctx.workprec(3000):
            truth = op.ball(arb(x))
            if truth.is_finite() and abs(truth) > arb(2) ** -500:
                assert abs(exact((value, error)) / truth - 1) < arb(2) ** -BITS * 2, x


def test_steps_and_conditions(helpers):
    number, exactly = helpers["_number"], lambda q: (np.float64(q), *[np.float64(0)] * 3)
    for x in (-2.5, -2.0, -0.5, 0.0, 0.5, 1.5, 2.0, 2.5, 1e17):
        assert helpers["_floor"](number(x))[0] == math.floor(x)
        assert helpers["_ceil"](number(x))[0] == math.ceil(x)
        assert helpers["_trunc"](number(x))[0] == math.trunc(x)
        assert helpers["_round"](number(x))[0] == round(x)
    just_below = (np.float64(2.0), np.float64(-1e-20), np.float64(0), np.float64(0))
    assert helpers["_floor"](just_below)[0] == 1.0
    unsure = (np.float64(2.0), np.float64(0), np.float64(1e32), np.float64(0))
    assert helpers["_floor"](unsure)[2] == math.inf
    assert helpers["_less"](exactly(1.0), exactly(2.0)) == 1.0
    assert helpers["_less"](exactly(2.0), exactly(2.0)) == 0.0
    assert helpers["_at_most"](exactly(2.0), exactly(2.0)) == 1.0
    assert helpers["_less"](unsure, exactly(2.0)) == 0.5
    assert helpers["_choose"](0.5, exactly(1.0), exactly(2.0))[2] == math.inf
    assert helpers["_number"](math.nan)[2] < 0
    assert helpers["_decided"](helpers["_log"](exactly(-1.0)))  # certainly nan
    assert not helpers["_decided"](helpers["_div"](exactly(1.0), exactly(0.0)))


def test_constants_are_those_of_the_rules(helpers):
    from symdiff.ir import functions as f

    for name, op, terms in (("_LN2", f.LN2, 3), ("_PI", f.PI, 2)):
        total = sum(Fraction(float(p)) for p in helpers[name])
        assert abs(total / rules.named(op) - 1) < Fraction(1, 2 ** (53 * terms - 2))
    for k, (hi, lo) in enumerate(reversed(helpers["_EXPM1"])):
        want = Fraction(1, math.factorial(k + 1))
        assert abs((Fraction(float(hi)) + Fraction(float(lo))) / want - 1) < Fraction(1, 2**104)
    coefficients = rules.erfcx_polynomial(rules._ERF_MIDDLE, rules._ERF_REACH, 44)
    for want, (hi, lo) in zip(coefficients, reversed(helpers["_ERFCX"]), strict=False):
        assert abs((Fraction(float(hi)) + Fraction(float(lo))) / want - 1) < Fraction(1, 2**103)


def loaded(fun, path: Path, **options):
    """The module of a function."""
    file = path / f"{fun.__name__}_kernels.py"
    symgrad(fun, **options).save(file)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def played(fun, path: Path, **options):
    """The same, run as plain Python."""
    file = path / f"{fun.__name__}_kernels.py"
    symgrad(fun, **options).save(file)
    return run(file.read_text())


def quad(a, b, c):
    """A root of a quadratic equation."""
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


@pytest.mark.slow
def test_the_root_of_a_quadratic_equation(tmp_path):
    module = loaded(quad, tmp_path)
    with ctx.workprec(3000):
        for b in (3.0, 1e9, 1e200):
            truth = float((-arb(b) + (arb(b) * b - 4).sqrt()) / 2)
            assert abs(module.quad(1.0, b, 1.0) - truth) <= 2 * math.ulp(truth)
            several = module.quad(np.full(3, 1.0), np.full(3, b), 1.0)
            assert max(abs(several - truth)) <= 2 * math.ulp(truth)
            assert abs(module.quad_value_and_grad(1.0, b, 1.0)[0] - truth) <= 2 * math.ulp(truth)
    module.flint = None  # what double-double arithmetic has
    assert module.quad(1.0, 1e9, 1.0) == -1e-9


@pytest.mark.slow
def test_fast_modules_have_one_tier(tmp_path):
    path = tmp_path / "k.py"
    symgrad(quad, accuracy="fast").save(path)
    text = path.read_text()
    assert "_wide" not in text and "flint" not in text and "Measured error" not in text
    symgrad(quad).save(path)
    text = path.read_text()
    assert "_wide" in text and "Measured error" in text
    assert '    """The value of quad.\n\n    A root of a quadratic equation.' in text


def difference(x):
    return math.exp(x) - 1 - x


def cosine(x):
    return (1 - math.cos(x)) / x**2


def distance(x, y):
    return math.sqrt(x * x + y * y)


def quotient(x):
    return math.sin(x * 1e10) / x


def chosen(x, y):
    return x * y if x * y < 1e-3 else math.log(x * y)


@pytest.mark.parametrize("fun", [difference, cosine, distance, quotient, chosen])
def test_values_are_right_everywhere(fun, tmp_path):
    """Bit-uniform, ordinary and special arguments; the text run as plain Python."""
    from symdiff.interpret import Certified

    f = symgrad(fun)
    scope = played(fun, tmp_path)
    scope["flint"] = __import__("flint")
    raw = f.raw_program
    truth = Certified(raw.params, raw.outputs)
    rng = random.Random(fun.__name__)
    points = [
        [rng.choice((1, -1)) * 2.0 ** rng.uniform(-1000, 1000) for _ in raw.params]
        for _ in range(8)
    ]
    points += [
        [rng.choice((1, -1)) * 2.0 ** rng.uniform(-12, 8) for _ in raw.params] for _ in range(16)
    ]
    points += [[x] * len(raw.params) for x in (1e-300, 1e-8, 1.0, 1e8, 1e160)]
    for point in points:
        (answer,) = truth.at_with_status(point)
        if answer.status != "exact" or not math.isfinite(answer.value):
            continue
        with np.errstate(all="ignore"):
            found = float(scope[fun.__name__](*map(np.float64, point)))
        ulp = math.ulp(answer.value)
        assert abs(found - answer.value) <= 8 * ulp, (point, found, answer.value)


def logarithm(x, y=2.0, *, k=1.5):
    """The user's words."""
    assert x > 0
    assert y < 10
    return math.log(x * x) * y + k


def test_signature_and_assertions(tmp_path):
    scope = played(logarithm, tmp_path)
    one = np.float64(1.0)
    assert scope["logarithm"](one, k=one) == 1.0
    with pytest.raises(TypeError):
        scope["logarithm"](one, one, one)
    number = logarithm.__code__.co_firstlineno + 2
    with pytest.raises(ValueError, match=rf"test_module_tiers.py:{number}: logarithm: .*x = .*-1"):
        scope["logarithm"](np.float64(-1.0), one, k=one)
    with pytest.raises(ValueError, match=rf"test_module_tiers.py:{number + 1}: .*y = .*11"):
        scope["logarithm_grad"](one, np.float64(11.0), k=one)
    scope = played(logarithm, tmp_path, check_domain=False)
    scope["logarithm"](np.float64(-1.0), one, k=one)  # not checked


@pytest.mark.slow
def test_assertions_of_arrays(tmp_path):
    module = loaded(logarithm, tmp_path)
    assert module.logarithm(np.array([1.0, 2.0]), k=0.0).tolist() == [0.0, 4 * math.log(2.0)]
    with pytest.raises(ValueError, match=r"x = -2\.0, y = 2\.0, k = 1\.5"):
        module.logarithm_grad(np.array([1.0, -2.0]))


@pytest.mark.slow
def test_arrays_and_numbers_agree(tmp_path):
    module = loaded(cosine, tmp_path)
    x = np.concatenate([np.linspace(-40, 40, 4001), 2.0 ** np.arange(-900.0, 900.0, 7)])
    values, slopes = module.cosine_value_and_grad(x)
    f = symgrad(cosine)
    np.testing.assert_array_max_ulp(values, f(x), 8)
    np.testing.assert_array_max_ulp(slopes, f.grad(x), 8)
    few = x[::97]
    np.testing.assert_array_max_ulp(np.array([module.cosine_grad(v) for v in few]), f.grad(few), 8)
    single = module.cosine(x.astype(np.float32))
    assert single.dtype == np.float32


def test_a_fraction_is_exact_for_balls(helpers):
    helpers["flint"] = __import__("flint")
    assert helpers["_ball_ratio"](1, 3).overlaps(arb(fmpq(1, 3)))
    (value,) = helpers["_proven"](lambda decide, x: ([x.sin() / x], []), (0,), [0.0], [math.nan])
    assert value == 1.0  # the limit
    (value,) = helpers["_proven"](lambda decide, x: ([1 / x], []), (0,), [0.0], [math.inf])
    assert value == math.inf  # a pole stays
    (value,) = helpers["_proven"](lambda decide, x: ([abs(x) / x], []), (0,), [0.0], [math.nan])
    assert math.isnan(value)  # no limit


LIMITS = {
    "a pole of one sign": (lambda x: ([-1 / x**2], [x**2]), [0.0], -math.inf),
    "a logarithm": (lambda x: ([_log(abs(x))], []), [0.0], -math.inf),
    "a pole of two signs": (lambda x: ([1 / x], []), [0.0], math.nan),
    "removable": (lambda x, y: ([(x * x - y * y) / (x - y)], [x - y]), [2.0, 2.0], 4.0),
    "x**2*y/(x**4 + y**2)": (
        lambda x, y: ([x * x * y / (x**4 + y * y)], [x**4 + y * y]), [0.0, 0.0], math.nan,
    ),
    "x**3*y/(x**6 + y**2)": (
        lambda x, y: ([x**3 * y / (x**6 + y * y)], [x**6 + y * y]), [0.0, 0.0], math.nan,
    ),
    "x*log(y)": (lambda x, y: ([x * _log(abs(y))], []), [0.0, 0.0], math.nan),
    "x*y/(x - y)": (lambda x, y: ([x * y / (x - y)], [x - y]), [0.0, 0.0], math.nan),
    "x*y/(x - y**2)": (lambda x, y: ([x * y / (x - y * y)], [x - y * y]), [0.0, 0.0], math.nan),
}  # fmt: skip
"""Formulas with what they divide by, a point, and their limit there; nan for none."""


def _log(x):
    return x.log()


@pytest.mark.parametrize("case", LIMITS)
@pytest.mark.parametrize("library", [None, "flint"])
def test_limits(helpers, case, library):
    helpers["flint"] = library and __import__(library)
    formula, point, truth = LIMITS[case]
    (found,) = helpers["_proven"](lambda decide, *p: formula(*p), (0,), point, [math.nan])
    assert found == truth or (math.isnan(found) and math.isnan(truth))


@pytest.mark.slow
def test_functions_that_balls_lack_are_expanded(tmp_path):
    def several(x, y):
        return math.copysign(x, y) * np.sign(x - y) + scipy.special.xlogy(x, y) - y

    scope = played(several, tmp_path)
    with np.errstate(all="ignore"):
        found = scope["several"](np.float64(3.0), np.float64(1e-17))
    assert abs(found - several(3.0, 1e-17)) <= 8 * math.ulp(found)
    assert "_several_value_and_grad_balls" in scope


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

    for x in (3.0, 1e9, 1e200):  # of the last one only balls know anything
        assert call(x) == (slopes(x, k=0.5), quadratic(1.0, x, 1.0))
    with pytest.raises(ValueError, match="this does not hold"):
        call(-1.0)

    @njit(parallel=True)
    def every(x):
        out = np.empty_like(x)
        for i in prange(x.size):
            out[i] = slopes(x[i])[0]
        return out

    x = np.linspace(0.1, 2.0, 300)
    np.testing.assert_array_equal(every(x), slopes(x)[0])

    @njit(parallel=True)
    def roots(b):
        out = np.empty_like(b)
        for i in prange(b.size):
            out[i] = quadratic(1.0, b[i], 1.0)
        return out

    b = np.array([3.0, 1e200, 1e9, 1e220])
    np.testing.assert_array_equal(roots(b), [root.quad(1.0, v, 1.0) for v in b])
    with pytest.raises(TypingError, match="call it in a loop"):
        njit(lambda x: quadratic(x, x, x))(x)


def spread(x: Array["n"]):  # noqa: F821, UP037
    return np.sum((x - np.mean(x)) ** 2)


def test_arrays_are_corrected(tmp_path):
    """Programs with arrays have their rounding errors beside them, and say what is flagged."""
    x = 1e8 + np.arange(5.0) / 7
    with ctx.workprec(300):
        exactly = [arb(v) for v in x]
        mean = sum(exactly, arb(0)) / 5
        truth = float(sum(((v - mean) ** 2 for v in exactly), arb(0)))
    f = symgrad(spread)
    f.save(tmp_path / "k.py")
    scope = run((tmp_path / "k.py").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(scope["spread"](x) - truth) <= 2 * math.ulp(truth)
        assert scope["spread"](np.full(2, 1e200) * [1, 2]) == math.inf  # balls say so
    scope["_spread__again"] = None, None  # there is a helper _spread
    with pytest.warns(RuntimeWarning, match="spread: .* may have lost digits"):
        scope["spread"](np.full(2, 1e200) * [1, 2])
    symgrad(spread, accuracy="fast").save(tmp_path / "k.py")
    text = (tmp_path / "k.py").read_text()
    assert "_corrected" not in text and "without error tests" in text


def test_long_shared_programs_are_printed():
    """Walks over integers and conditions visit shared parts once."""
    e = x = var("x")
    for _ in range(60):
        e = e * e + x
    assert len(_below_loads(lt(e, x))) == 0
