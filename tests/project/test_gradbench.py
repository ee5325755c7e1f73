"""The evaluations of benchmarks/gradbench: small inputs, against plain Python.

The truth is written here a second time, from the description, with numbers and lists: exact fractions, closed forms,
and derivatives by complex steps, which lose no digits.
"""

from __future__ import annotations

import cmath
import io
import json
from fractions import Fraction
from itertools import product
from math import lgamma, log, pi, prod

import numpy as np
import pytest

from benchmarks.gradbench.__main__ import Tool
from benchmarks.gradbench.evals import NAMES, load

STEP = 1e-100


def by_complex_steps(f, x):
    """The derivative of f, of numbers in a flat list, by each of them."""
    columns = []
    for k in range(len(x)):
        moved = [complex(v) for v in x]
        moved[k] += STEP * 1j
        columns.append(np.imag(f(moved)) / STEP)
    return np.array(columns).T


def run(name, function, accuracy="high", seed=1):
    """An input of the evaluation, and what the function of that name gives for it as JSON."""
    found = load(name)
    given = found.example(np.random.default_rng(seed))
    args = found.prepare(given)
    return given, found.output(function, found.functions(accuracy)[function](*args), given)


def flat(tree):
    if isinstance(tree, (list, tuple, np.ndarray)):
        return [leaf for part in tree for leaf in flat(part)]
    return [tree]


def close(ours, truth, tolerance=1e-13):
    ours, truth = np.array(flat(ours)), np.array(flat(truth))
    assert ours.shape == truth.shape
    np.testing.assert_allclose(ours, truth, rtol=tolerance, atol=tolerance * np.abs(truth).max())


# ------------------------------------------------------------------------------- closed forms
def test_hello():
    x, slope = run("hello", "double")
    assert slope == 2 * x
    assert run("hello", "square")[1] == x * x


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_llsq(accuracy):
    given, slope = run("llsq", "gradient", accuracy)
    n, x = given["n"], list(map(Fraction, given["x"]))
    truth, value = [Fraction(0)] * len(x), Fraction(0)
    for i in range(n):
        t = Fraction(2 * i, n - 1) - 1
        rest = (t > 0) - (t < 0) - sum(c * t**j for j, c in enumerate(x))
        value += rest**2 / 2
        truth = [g - rest * t**j for j, g in enumerate(truth)]
    close(slope, list(map(float, truth)))
    close(run("llsq", "primal", accuracy)[1], float(value))


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_lse(accuracy):
    given, slope = run("lse", "gradient", accuracy)
    powers = [cmath.exp(v).real for v in given["x"]]
    close(slope, [p / sum(powers) for p in powers])
    close(run("lse", "primal", accuracy)[1], cmath.log(sum(powers)).real)


@pytest.mark.slow
def test_kmeans():
    given, step = run("kmeans", "dir")
    points = [list(map(Fraction, p)) for p in given["points"]]
    centroids = [list(map(Fraction, c)) for c in given["centroids"]]
    clusters = [[] for _ in centroids]
    cost = Fraction(0)
    for p in points:
        squares = [sum((a - b) ** 2 for a, b in zip(p, c, strict=True)) for c in centroids]
        clusters[squares.index(min(squares))].append(p)
        cost += min(squares)
    truth = [
        [
            float(v - sum(column) / len(column))
            for v, column in zip(c, zip(*members, strict=True), strict=True)
        ]
        for c, members in zip(centroids, clusters, strict=True)
    ]
    close(step, truth)
    close(run("kmeans", "cost")[1], float(cost))


@pytest.mark.slow
def test_det():
    given, slope = run("det", "gradient")
    n = given["ell"]
    a = np.array(list(map(Fraction, given["A"])), dtype=object).reshape(n, n)

    def det(m):
        if len(m) == 0:
            return Fraction(1)
        rest = np.delete(m, 0, 0)
        return sum((-1) ** j * m[0, j] * det(np.delete(rest, j, 1)) for j in range(len(m)))

    minors = [
        float((-1) ** (i + j) * det(np.delete(np.delete(a, i, 0), j, 1)))
        for i, j in product(range(n), range(n))
    ]
    close(slope, minors)
    close(run("det", "primal")[1], float(det(a)))


@pytest.mark.slow
def test_ode():
    # what the method integrates exactly, up to order four: y[i] = x[0]*...*x[i]*2**(i + 1)/(i + 1)!
    given, slope = run("ode", "gradient")
    x = given["x"]
    last = prod(v * 2 / (i + 1) for i, v in enumerate(x))
    close(slope, [last / v for v in x])
    close(run("ode", "primal")[1][-1], last)


# ------------------------------------------------------------------------------ complex steps
def mixture(given, parts):
    """The log posterior but for constants, from densities; parts is flat: alpha, mu, q, l."""
    d, k, m, gamma = given["d"], given["k"], given["m"], given["gamma"]
    sizes = [k, k * d, k * d, k * d * (d - 1) // 2]
    rows = [parts[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(4)]
    alpha = rows[0]
    mu, q, lower = (np.array(r).reshape(k, -1) for r in rows[1:])
    factors, prior = [], 0
    for i in range(k):
        factor = np.diag(np.exp(q[i]))
        entries = iter(lower[i])
        for column in range(d):
            for row in range(column + 1, d):
                factor[row, column] = next(entries)
        factors.append(factor)
        prior += m * np.sum(q[i]) - gamma**2 / 2 * np.sum(factor**2)
    total = 0
    for x in np.array(given["x"]):
        density = 0
        for i in range(k):
            far = factors[i] @ (x - mu[i])
            weight = cmath.exp(alpha[i]) / sum(map(cmath.exp, alpha))
            density += (
                weight
                * np.prod(np.exp(q[i]))
                * cmath.exp(-(far @ far) / 2)
                / (2 * np.pi) ** (d / 2)
            )
        total += cmath.log(density)
    return total + prior


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_gmm(accuracy):
    given, slope = run("gmm", "jacobian", accuracy)
    keys = ("alpha", "mu", "q", "l")
    truth = by_complex_steps(lambda x: mixture(given, x), flat([given[key] for key in keys]))
    close([slope[key] for key in keys], truth, 1e-12)
    d, n, gamma = given["d"], given["d"] + given["m"] + 1, given["gamma"]
    several = d * (d - 1) / 4 * log(pi) + sum(lgamma((n - j) / 2) for j in range(d))
    constant = given["k"] * (n * d * log(gamma / 2**0.5) - several)
    value = mixture(given, flat([given[key] for key in keys])).real + constant
    close(run("gmm", "objective", accuracy)[1], value, 1e-12)


def reprojection(numbers, feature):
    """The errors of one observation; numbers are a camera's eleven, three of a point and a weight."""
    camera, point, w = numbers[:11], numbers[11:14], numbers[14]
    away = [a - b for a, b in zip(point, camera[3:6], strict=True)]
    angle = cmath.sqrt(sum(v * v for v in camera[:3]))
    x, y, z = (v / angle for v in camera[:3])
    c, s = cmath.cos(angle), cmath.sin(angle)
    a, b, e = away
    across = (y * e - z * b, z * a - x * e, x * b - y * a)
    along = x * a + y * b + z * e
    seen = [
        v * c + u * s + n * along * (1 - c) for v, u, n in zip(away, across, (x, y, z), strict=True)
    ]
    flat = seen[0] / seen[2], seen[1] / seen[2]
    r = flat[0] ** 2 + flat[1] ** 2
    distortion = 1 + camera[9] * r + camera[10] * r * r
    return [w * (f * distortion * camera[6] + o - g)
            for f, o, g in zip(flat, camera[7:9], feature, strict=True)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_ba(accuracy):
    given, matrix = run("ba", "jacobian", accuracy)
    numbers = [*given["cam"], *given["x"], given["w"]]
    block = by_complex_steps(lambda x: reprojection(x, given["feat"]), numbers)
    close(matrix["vals"], [*flat(block), -2 * given["w"]], 1e-12)
    n, m, p = given["n"], given["m"], given["p"]
    row = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
    assert matrix["cols"] == [*row, *row, 11 * n + 3 * m + p - 1]
    rows = [*range(0, 30 * p + 1, 15), *range(30 * p + 1, 31 * p + 1)]
    assert matrix["rows"] == [*rows[:30], rows[-1]]
    errors = run("ba", "objective", accuracy)[1]
    close(errors["reproj_error"]["elements"], np.real(reprojection(numbers, given["feat"])), 1e-12)
    close(errors["w_err"]["element"], 1 - given["w"] ** 2)


def text_loss(given, parts):
    main, extra = np.array(given["main_params"]), np.array(given["extra_params"])
    bits = len(given["sequence"][0])
    main = np.array(parts[: main.size]).reshape(-1, 2, 4, bits)
    extra = np.array(parts[main.size :]).reshape(extra.shape)
    state = [[complex(v) for v in row] for row in given["state"]]
    total, count = 0, 0
    for now, then in zip(given["sequence"], given["sequence"][1:], strict=False):
        x = [a * b for a, b in zip(now, extra[0], strict=True)]
        for k, (weights, biases) in enumerate(main):
            for i in range(bits):
                hidden, cell = state[2 * k][i], state[2 * k + 1][i]
                inputs = x[i], hidden, x[i], hidden
                turned = [v * weights[g, i] + biases[g, i] for g, v in enumerate(inputs)]
                forget, enter, leave = (1 / (1 + cmath.exp(-turned[g])) for g in range(3))
                cell = cell * forget + enter * cmath.tanh(turned[3])
                state[2 * k][i], state[2 * k + 1][i] = leave * cmath.tanh(cell), cell
            x = state[2 * k]
        said = [a * b + c for a, b, c in zip(x, extra[1], extra[2], strict=True)]
        norm = cmath.log(2 + sum(map(cmath.exp, said)))
        total += sum(t * (v - norm) for t, v in zip(then, said, strict=True))
        count += bits
    return -total / count


@pytest.mark.slow
def test_lstm():
    given, slope = run("lstm", "jacobian")
    x = flat([given["main_params"], given["extra_params"]])
    close(slope, by_complex_steps(lambda x: text_loss(given, x), x), 1e-12)
    close(run("lstm", "objective")[1], text_loss(given, x).real)


def hand(given, numbers):
    """The differences; numbers are theta and then two for each point."""
    model, data = given["data"]["model"], given["data"]
    theta, us = numbers[:26], np.array(numbers[26:]).reshape(-1, 2)
    base, weights = np.array(model["base_positions"]), np.array(model["weights"])
    placed, posed = [], 0
    for i, parent in enumerate(model["parents"]):
        angles = [0, 0, 0]
        finger, joint = divmod(i - 2, 4)
        if i >= 2 and joint < 3:
            own = theta[6 + 4 * finger : 10 + 4 * finger]
            angles = [own[0], own[1], 0] if joint == 0 else [own[joint + 1], 0, 0]
        turn = np.eye(4, dtype=complex)
        for angle, (a, b) in zip(
            (angles[1], angles[2], angles[0]), ((0, 1), (2, 0), (1, 2)), strict=True
        ):
            single = np.eye(4, dtype=complex)
            single[a, a] = single[b, b] = np.cos(angle)
            single[a, b], single[b, a] = -np.sin(angle), np.sin(angle)
            turn = turn @ single
        own = np.array(model["base_relatives"][i]) @ turn
        placed.append(own if parent < 0 else placed[parent] @ own)
        transform = placed[i] @ np.array(model["inverse_base_absolutes"][i])
        posed = posed + weights[:, [i]] * (base @ transform.T)[:, :3]
    angle = np.sqrt(sum(v * v for v in theta[:3]))
    x, y, z = (v / angle for v in theta[:3])
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * across @ across
    posed = posed @ turn.T + np.array(theta[3:6])
    corners = np.array(model["triangles"])[data["correspondences"]]
    u, v = us[:, :1], us[:, 1:]
    inside = (
        u * posed[corners[:, 0]] + v * posed[corners[:, 1]] + (1 - u - v) * posed[corners[:, 2]]
    )
    return (np.array(data["points"]) - inside).ravel()


@pytest.mark.slow
def test_ht():
    given, rows = run("ht", "jacobian")
    numbers = flat([given["theta"], given["us"]])
    truth = by_complex_steps(lambda x: hand(given, x), numbers)
    own = [[truth[3 * i + j, 26 + 2 * i : 28 + 2 * i] for j in range(3)] for i in range(3)]
    close(rows, np.hstack([np.array(own).reshape(9, 2), truth[:, :26]]), 1e-12)
    close(run("ht", "objective")[1], np.real(hand(given, numbers)), 1e-12)


# -------------------------------------------------------------------------------- nested
def least(f, start):
    """The descent of the description, with derivatives by complex steps; f takes a list of numbers."""
    x, step, gone = list(map(float, start)), 1e-5, 0
    value, slope = f(x).real, by_complex_steps(f, x)
    while np.sqrt(slope @ slope) > 1e-5:
        if gone == 10:
            step, gone = 2 * step, 0
            continue
        moved = [float(v) for v in x - step * slope]
        if np.sqrt(sum((a - b) ** 2 for a, b in zip(x, moved, strict=True))) <= 1e-5:
            return x
        there = f(moved).real
        if there < value:
            x, value, slope, gone = moved, there, by_complex_steps(f, moved), gone + 1
        else:
            step, gone = step / 2, 0
    return x


def missed(numbers):
    (w,) = numbers
    x, v, dt = [0.0, 8.0], [0.75, 0.0], 0.1
    while True:
        force = [0.0, 0.0]
        for charge in ((10.0, 10.0 - w), (10.0, 0.0)):
            away = [a - b for a, b in zip(x, charge, strict=True)]
            cube = cmath.sqrt(away[0] ** 2 + away[1] ** 2) ** 3
            force = [g + a / cube for g, a in zip(force, away, strict=True)]
        x = [a + dt * b for a, b in zip(x, v, strict=True)]
        if x[1].real <= 0:
            return (x[0] - x[1] / v[1] * v[0]) ** 2
        v = [a + dt * b for a, b in zip(v, force, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("modes", ["rr", "fr", "rf", "ff"])
def test_particle(modes):
    given, w = run("particle", modes)
    close(w, least(missed, [given["w"]])[0], 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("modes", ["rr", "fr", "rf", "ff"])
def test_saddle(modes):
    given, found = run("saddle", modes)
    start = given["start"]

    def highest(x):
        return least(lambda y: y[0] ** 2 + y[1] ** 2 - x[0].real ** 2 - x[1].real ** 2, start)

    def ridge(x):
        y = highest(x)
        return x[0] ** 2 + x[1] ** 2 - y[0] ** 2 - y[1] ** 2

    low = least(ridge, start)
    close(found, [*low, *highest(low)], 1e-9)


# ------------------------------------------------------------------------------ the protocol
def test_every_name_is_there():
    for name in NAMES:
        found = load(name)
        assert found.derivative in found.functions("fast")
        json.dumps(found.example(np.random.default_rng(0)))


def test_requests_are_answered():
    given = {"x": [1.0, 2.0], "min_runs": 3, "min_seconds": 0}
    requests = [
        {"kind": "start", "eval": "lse"},
        {"kind": "define", "module": "lse"},
        {"kind": "evaluate", "module": "lse", "function": "gradient", "input": given},
        {"kind": "analysis", "of": 2, "valid": True},
        {"kind": "define", "module": "nothing"},
        {"kind": "evaluate", "module": "lse", "function": "nothing", "input": given},
        {"kind": "evaluate", "module": "hello", "function": "double", "input": 3.0},
    ]
    lines = [json.dumps({"id": i} | request) for i, request in enumerate(requests)]
    answers = list(Tool("fast").answers(io.StringIO("\n".join(lines))))
    assert [a["id"] for a in answers] == list(range(7))
    assert answers[0]["tool"] == "symdiff"
    assert answers[1] == {"id": 1, "success": True}
    assert answers[2]["success"]
    close(answers[2]["output"], [1 / (1 + np.e), np.e / (1 + np.e)])
    names = [t["name"] for t in answers[2]["timings"]]
    assert names == ["compile", "evaluate", "evaluate", "evaluate"]
    assert answers[3] == {"id": 3}
    assert not answers[4]["success"] and "nothing" in answers[4]["error"]
    assert not answers[5]["success"]
    assert answers[6]["output"] == 6.0
