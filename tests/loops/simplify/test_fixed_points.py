"""Affine recurrences with a fixed point: their derivatives keep their digits near it and far from it."""

from __future__ import annotations

import random
import re
import warnings

import mpmath as mp
import numpy as np
import pytest

import symdiff
from symdiff import symgrad
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as pipeline
from tests.law.made import made

BITS = 2000
STEP = mp.mpf(2) ** -400


def exactly(value):
    """An argument in many digits."""
    if isinstance(value, np.ndarray):
        return np.array([mp.mpf(float(v)) for v in value.ravel()], object).reshape(value.shape)
    return mp.mpf(value)


def value_of(f, *args):
    with mp.workprec(BITS):
        return f(*map(exactly, args))


def slopes_of(f, *args):
    """The gradient by each argument, by differences in many digits."""
    found = []
    with mp.workprec(BITS):
        base = list(map(exactly, args))
        for k, a in enumerate(base):
            slopes = np.empty(np.shape(a), object)
            for place in np.ndindex(slopes.shape):
                ends = []
                for h in (STEP, -STEP):
                    moved = np.array(a, object)
                    moved[place] += h
                    moved = moved if slopes.shape else moved[()]
                    ends.append(f(*base[:k], moved, *base[k + 1 :]))
                slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
            found.append(slopes)
    return found


def ulps(found, true) -> float:
    """The largest error, each element's in its own unit in the last place."""
    pairs = zip(np.ravel(found), np.ravel(np.asarray(true, object)), strict=True)
    return max(float(abs(mp.mpf(float(x)) - t)) / np.spacing(abs(float(t))) for x, t in pairs)


def errors(f, *args, accuracy="fast"):
    """The largest errors of the value and of the gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = symgrad(f, accuracy=accuracy)
        slopes = s.grad(*args)
        found = ulps(s(*args), value_of(f, *args))
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    pairs = zip(slopes, slopes_of(f, *args), strict=True)
    return found, max(ulps(s, t) for s, t in pairs)


def stepping(name, start, step, result, params="d"):
    """A recurrence of one number e over the elements of d."""
    return made(
        f"e = {start}", "for i in range(len(d)):", f"    e = {step}", f"return {result}",
        name=name, params=params,
    )  # fmt: skip


blending = stepping("blending", "0.0", "(1 - e) * d[i] + e", "e**2")
expanded = stepping("expanded", "0.25", "e * (1 - d[i]) + d[i]", "e**3")
above = stepping("above", "3.0", "e - d[i] * (e - 1)", "(e - 1) * e")
relaxing = stepping("relaxing", "v", "e + d[i] * (target - e) / 2", "e * e", "v, target, d")
left = stepping("left", "0.0", "(1 - e) * d[i] + e", "1 - e")


def composited(d, c):
    alpha, out = 0.0, 0.0
    for i in range(len(d)):
        out = out + (1 - alpha) * d[i] * c[i]
        alpha = alpha + (1 - alpha) * d[i]
    return out


def transmitted(d, c):
    e, out = 0.0, 0.0
    for i in range(len(d)):
        e = (1 - e) * d[i] + e
        out = out + c[i] * (1 - e) ** 2
    return out


def sometimes(d):
    e, s = 0.0, 0.0
    for i in range(len(d)):
        if d[i] > 0.3:
            e = e + (1 - e) * d[i]
        s = s + e * e
        if d[i] > 0.8:
            e = 0.5
    return s


def stopped(d):
    e = 0.0
    for i in range(len(d)):
        if e > 0.99:
            break
        e = (1 - e) * d[i] + e
    return e * e


def left_over(d):
    e, i = 0.0, 0
    while e < 0.999:
        e = (1 - e) * d[i] + e
        i += 1
    return 1 - e


def nested(d):
    e = 0.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            e = (1 - e) * d[i, j] + e
    return e**2


def coupled(d, k):
    e, f = 0.0, 2.0
    for i in range(len(d)):
        e = (1 - e) * d[i] + e
        f = f + (1 - e) * k[i] * (1 - f)
    return e * f


def vectors(d, target):
    state = 0 * target
    for i in range(len(d)):
        state = (1 - d[i]) * state + d[i] * target
    return np.sum(state**2)


def elements(d, target):
    state = 0 * target
    for i in range(len(d)):
        for k in range(len(target)):
            state[k] = state[k] + d[i] * (target[k] - state[k])
    return np.sum(state**2)


def fields(d):
    a, s = 0 * d[0], 0.0
    for i in range(d.shape[0]):
        a = a + (1 - a) * d[i]
        s = s + np.sum((1 - a) ** 2)
    return s


def delayed(d, target):
    state, before = 0 * target, target / 2
    for i in range(len(d)):
        state, before = state + d[i] * (target - state), state
    return np.sum(state * before)


def pairs(d, target):
    state = 0 * target
    for i in range(len(d)):
        for j in range(len(d)):
            state = state + d[i] * d[j] * (target - state)
    return np.sum(state**2)


D = np.random.default_rng(0).uniform(0.1, 0.9, 40)
C = np.random.default_rng(1).uniform(0.5, 2.0, 40)
CASES = {
    "blending": (blending, D),
    "expanded": (expanded, D),
    "above": (above, D),
    "relaxing": (relaxing, 1.0, 3.0, D),
    "composited": (composited, D, C),
    "transmitted": (transmitted, D, C),
    "sometimes": (sometimes, D),
    "stopped": (stopped, D),
    "left_over": (left_over, D),
    "nested": (nested, D.reshape(5, 8)),
    "coupled": (coupled, D, C / 2),
    "vectors": (vectors, D, C[:3]),
    "elements": (elements, D, C[:3]),
    "delayed": (delayed, D, C[:3]),
    "pairs": (pairs, D[:6], C[:3]),
    "fields": (fields, D.reshape(10, 4)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_gradients_keep_their_digits_in_plain_doubles(name):
    f, *args = CASES[name]
    assert max(errors(f, *args)) < 64


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_programs_are_valid(name, monkeypatch):
    programs, simplified = [], pipeline._simplified

    def seen(program, *rest):
        programs.append(simplified(program, *rest))
        return programs[-1]

    monkeypatch.setattr(pipeline, "_simplified", seen)
    f, *args = CASES[name]
    symgrad(f, accuracy="fast").grad(*args)
    assert programs and not [fault for program in programs for fault in faults(program)]


@pytest.mark.sampled
@pytest.mark.parametrize("f", [blending, expanded])
@pytest.mark.parametrize("scale", [1e-3, 1e-9, 1e-15])
def test_steps_near_0_and_near_1(f, scale):
    for d in (D * scale, 1 - D * scale):
        assert max(errors(f, d)) < 40


@pytest.mark.slow
def test_one_hundred_elements_within_four_ulps():
    d = np.random.default_rng(0).uniform(0.1, 0.9, 100)
    assert errors(blending, d)[1] < 4
    assert errors(blending, d, accuracy="strict")[1] < 1


def test_a_small_step_toward_a_parameter():
    """The slope by the target is the sum of the steps, not 1 less a product near 1."""
    assert errors(relaxing, 1.0, 3.0, np.full(30, 1e-9))[1] < 24


def test_steps_of_1_leave_nothing():
    d = np.array([0.5, 1.0, 0.2, 1.0])
    assert symgrad(blending)(d) == 1.0
    assert symgrad(blending).grad(d).tolist() == [0.0] * 4


# --------------------------------------------------------------------- derivatives
def _second(f, d):
    with mp.workprec(BITS):
        base, n = exactly(d), len(d)
        found = np.empty((n, n))
        for i, j in np.ndindex(n, n):
            total = mp.mpf(0)
            for p, q in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                moved = base.copy()
                moved[i] += p * STEP
                moved[j] += q * STEP
                total += p * q * f(moved)
            found[i, j] = total / (4 * STEP**2)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("f", [blending, expanded, sometimes, stopped])
def test_other_derivatives(f):
    d, v = D[:5], C[:5]
    s, second = symgrad(f, accuracy="fast"), _second(f, d)
    first = slopes_of(f, d)[0].astype(float)
    for found, want in (
        (s.hessian(d), second),
        (symdiff.jacobian(symdiff.grad(f))(d), second),
        (s.hvp((d,), (v,)), second @ v),
        (s.jacobian(d), first),
        (s.value_and_grad(d)[1], first),
        (s.jvp((d,), (v,))[1], first @ v),
        (symgrad(f, checkpoint="revolve").grad(d), first),
    ):
        np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-15)


def test_hessians_of_long_recurrences_keep_their_digits():
    found = symgrad(blending, accuracy="fast").hessian(D)
    d = [mp.mpf(float(x)) for x in D]
    with mp.workprec(BITS):
        rest = mp.fprod(1 - x for x in d)  # e = 1 - rest; e**2
        for i, j in ((0, 1), (3, 17), (38, 39), (5, 5)):
            both = 2 * rest**2 / ((1 - d[i]) * (1 - d[j]))
            true = both if i == j else both - 2 * (1 - rest) * rest / ((1 - d[i]) * (1 - d[j]))
            assert abs(found[i, j] / true - 1) < 1e-14


# ----------------------------------------------------------------------- decisions
def test_conditions_read_what_python_computes():
    """The bound is a state of the plain loop: one rounding more or less makes another count."""
    states, e = [], 0.0
    for x in D / 4:
        e = (1 - e) * x + e
        states.append(e)

    def steps(d, bound):
        e, n = 0.0, 0
        for i in range(len(d)):
            e = (1 - e) * d[i] + e
            n += 1
            if e >= bound:
                break
        return n * (1 - e)

    f = symgrad(steps)
    for bound in states[10:]:
        for b in (bound, np.nextafter(bound, 2)):
            assert f(D / 4, b) == pytest.approx(float(steps(D / 4, b)), rel=1e-9)


# ----------------------------------------------------------------- random recurrences
def _random(seed):
    """A recurrence with a random fixed point, written in a random way, and arguments."""
    r = random.Random(seed)
    point = r.choice(["1", "2", "0.5", "t", "w[i - i]", "(t + 1)", "t*w[0]"])
    rate = r.choice(["d[i]", "d[i]*0.5", "d[i]*d[i]", "d[i]/(1 + w[0])", "d[i]*k"])
    form = r.choice([
        "e + {a}*({u} - e)", "e*(1 - {a}) + {a}*{u}", "({u} - e)*{a} + e", "{u} - (1 - {a})*({u} - e)",
        "e - {a}*e + {u}*{a}", "e if d[i] < 0.2 else e + {a}*({u} - e)",
    ])  # fmt: skip
    result = r.choice(["e", "e**2", f"({point.replace('w[i - i]', 'w[0]')} - e)*t + e", "s"])
    lines = [
        f"e, s = {r.choice(['0.0', 't/4', 'w[1]'])}, 0.0",
        "for i in range(len(d)):",
        f"    e = {form.format(a=rate, u=point)}",
        f"    s = s + {r.choice(['e*w[1]', 'e**2', 'd[i]*e'])}",
        f"return {result}",
    ]
    data = np.random.default_rng(seed)
    args = data.uniform(0.05, 0.95, 12), data.uniform(0.5, 2, 2), 1.75, 0.5
    return made(*lines, params="d, w, t, k"), args, "\n".join(lines)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(24))
def test_random_recurrences(seed):
    f, args, text = _random(seed)
    found = symgrad(f)
    assert found(*args) == pytest.approx(f(*args), rel=1e-13), text
    for slopes, true in zip(found.grad(*args), slopes_of(f, *args), strict=True):
        np.testing.assert_allclose(slopes, true.astype(float), rtol=1e-12, atol=1e-15, err_msg=text)


# -------------------------------------------------------------------- left unchanged
@pytest.mark.parametrize(("name", "start", "step", "result"), [
    ("ewma", "0.0", "a * e + (1 - a) * d[i]", "e**2"),
    ("summed", "0.0", "e + a * d[i]", "e**2"),
    ("geometric", "d[0]", "e * a + 1", "e**2"),  # 1/(1 - a) is not finite where a is 1
    ("logistic", "a", "d[i] * e * (1 - e)", "e"),
    ("product", "a", "e * (1 - d[i])", "e**2"),
])  # fmt: skip
def test_programs_without_a_fixed_point(name, start, step, result):
    f = symgrad(stepping(name, start, step, result, "d, a"))
    assert "distance" not in f.source() + f.grad.source()


@pytest.mark.parametrize("f", [blending, expanded, relaxing])
def test_values_are_computed_as_written(f):
    s = symgrad(f)
    assert "distance" not in s.source()
    assert not re.search(r"value .*distance", str(s.report()))


def test_what_is_left_is_carried_alone():
    """The number itself goes where only its distance is read."""
    text = symgrad(left).source()
    assert "e_distance = (1.0 - d[i])*e_distance" in text
    assert re.search(r"\be = ", text) is None


def test_the_adjoint_multiplies_by_the_distance():
    text = symgrad(blending).grad.source()
    assert "e_bar*e_distance" in text and "e_bar = e_bar*(1.0 - d[" in text
    assert text.count("_tape = [") == 1
