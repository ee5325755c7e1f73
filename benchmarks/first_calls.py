"""What first calls cost: processor seconds of the first value and the first gradient of fifty programs.

    python benchmarks/first_calls.py [--repeat N] [NAME ...]

Each program runs in a process of its own: one with an empty cache, one with the cache that the first left, and one
with JAX's `jit` of the value and of the gradient, where JAX runs the same text with `jax.numpy` in place of NumPy (a
dash where it does not). The seconds are those of the processor, of all threads, without those of imports. The target
is a median of 1 s for value and gradient together, at most 5 s, at most three times JAX (1 s where that is more), and
0.3 s with a filled cache. With --repeat, the least of N runs counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from types import FunctionType

import numpy as np
from scipy import special

rng = np.random.default_rng(0)


# ------------------------------------------------------------------------------ finance
def black_scholes(s, k, t, r, v):
    d = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
    return s * special.ndtr(d) - k * np.exp(-r * t) * special.ndtr(d - v * np.sqrt(t))


def binomial_tree(s, sigma):
    up = np.exp(sigma * np.sqrt(0.1))
    p = (np.exp(0.003) - 1 / up) / (up - 1 / up)
    v = np.maximum(100.0 - s * up ** np.arange(-10, 11, 2), 0.0)
    for i in range(9, -1, -1):
        v = np.exp(-0.003) * (p * v[1:] + (1 - p) * v[:-1])
        v = np.maximum(v, 100.0 - s * up ** np.arange(-i, i + 1, 2))
    return v[0]


def heston(s0, k, v, rho):
    u = np.linspace(1e-4, 100.0, 200)
    b = 1.5 - rho * 0.4 * 1j * u
    d = np.sqrt(b**2 + 0.16 * (1j * u + u**2))
    g, e = (b - d) / (b + d), np.exp(-d * 0.75)
    level = 0.375 * ((b - d) * 0.75 - 2 * np.log((1 - g * e) / (1 - g)))
    slope = (b - d) / 0.16 * (1 - e) / (1 - g * e)
    y = np.real(np.exp(level + slope * v + 1j * u * np.log(s0 / k)) / (u**2 + 0.25))
    return np.sum(y[1:] + y[:-1]) * 0.25


def sabr(f, k, t, alpha, beta, rho, nu):
    q = (f * k) ** ((1 - beta) / 2)
    m = np.log(f / k)
    z = nu / alpha * q * m
    x = np.log((np.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    c = (1 - beta) ** 2
    d = q * (1 + c / 24 * m**2 + c**2 / 1920 * m**4)
    e = c / 24 * alpha**2 / q**2 + rho * beta * nu * alpha / (4 * q) + (2 - 3 * rho**2) / 24 * nu**2
    return alpha / d * z / x * (1 + e * t)


def garch(r, omega, alpha, beta):
    s, t = np.var(r), 0.0
    for i in range(len(r)):
        t = t + np.log(s) + r[i] ** 2 / s
        s = omega + alpha * r[i] ** 2 + beta * s
    return 0.5 * t


def ewma(x, a):
    s, t = x[0], 0.0
    for i in range(1, len(x)):
        t = t + (x[i] - s) ** 2
        s = a * x[i] + (1 - a) * s
    return t


def bond(rates, coupon):
    t = np.arange(1, len(rates) + 1)
    return np.sum(coupon * np.exp(-rates * t)) + 100 * np.exp(-rates[-1] * len(rates))


def portfolio(w, mu, cov):
    p = np.exp(w) / np.sum(np.exp(w))
    return (p @ mu) / np.sqrt(p @ cov @ p)


# ------------------------------------------------------------------------------ inference
def gaussian_process(theta, x, y):
    from scipy.linalg import cho_factor, cho_solve
    from scipy.spatial.distance import cdist

    length, size, noise = np.exp(theta)
    k = size**2 * np.exp(-0.5 * cdist(x / length, x / length, "sqeuclidean"))
    c = cho_factor(k + noise**2 * np.eye(len(x)), lower=True)
    return 0.5 * y @ cho_solve(c, y) + np.sum(np.log(np.diag(c[0])))


def hidden_markov(start, trans, obs, y):
    a = start * obs[:, y[0]]
    t = 0.0
    for i in range(1, len(y)):
        s = np.sum(a)
        t = t + np.log(s)
        a = (a / s) @ trans * obs[:, y[i]]
    return t + np.log(np.sum(a))


def kalman(z, F, H, Q, r):
    m, P, t = np.zeros(len(F)), np.eye(len(F)), 0.0
    for i in range(len(z)):
        m, P = F @ m, F @ P @ F.T + Q
        s = H @ P @ H + r
        k, e = P @ H / s, z[i] - H @ m
        t = t + 0.5 * (np.log(s) + e * e / s)
        m, P = m + k * e, P - np.outer(k, H @ P)
    return t


def mixture(w, mu, s, x):
    d = (x[:, None] - mu) / s
    p = np.log(w) - np.log(s) - 0.5 * d**2
    top = np.max(p, axis=1)
    return np.sum(top + np.log(np.sum(np.exp(p - top[:, None]), axis=1)))


def poisson_regression(beta, X, y):
    eta = X @ beta
    return np.sum(np.exp(eta) - y * eta) + 0.5 * beta @ beta


def normal_density(x, mu, L):
    z = np.linalg.solve(L, x - mu)
    return 0.5 * z @ z + np.sum(np.log(np.diag(L)))


def student(x, nu, mu, s):
    z = (x - mu) / s
    c = (
        special.gammaln((nu + 1) / 2)
        - special.gammaln(nu / 2)
        - 0.5 * np.log(nu * np.pi)
        - np.log(s)
    )
    return np.sum(c - (nu + 1) / 2 * np.log1p(z * z / nu))


def independent_components(W, X):
    S = W @ X
    return np.log(np.abs(np.linalg.det(W))) - np.mean(np.sum(np.log(np.cosh(S)), axis=0))


def beta_binomial(k, n, a, b):
    return np.sum(special.betaln(k + a, n - k + b) - special.betaln(a, b))


# ------------------------------------------------------------------------------ learning
def logistic_regression(w, X, y):
    z = X @ w
    return np.mean(np.logaddexp(0, z) - y * z) + 0.01 * np.sum(w**2)


def perceptron(W1, b1, W2, b2, X, y):
    h = np.tanh(X @ W1 + b1)
    return np.mean((h @ W2 + b2 - y) ** 2)


def convolutional(image, k1, k2, w):
    n = image.shape[0] - 2
    a = np.zeros((n, n))
    for i in range(3):
        for j in range(3):
            a = a + k1[i, j] * image[i : i + n, j : j + n]
    a = np.maximum(a, 0.0)
    m = n - 2
    b = np.zeros((m, m))
    for i in range(3):
        for j in range(3):
            b = b + k2[i, j] * a[i : i + m, j : j + m]
    return np.sum(np.tanh(b) * w)


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    p = np.exp(s - np.max(s, axis=1, keepdims=True))
    return np.sum(((p / np.sum(p, axis=1, keepdims=True)) @ v) ** 2)


def recurrent(W, U, b, x):
    h = np.zeros(len(b))
    for t in range(len(x)):
        h = np.tanh(W @ h + U @ x[t] + b)
    return np.sum(h**2)


def layer_norm(x, g, b):
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return np.sum(((x - m) / np.sqrt(v + 1e-5) * g + b) ** 3)


def soft_alignment(a, b, g):
    r = [[np.inf] * (len(b) + 1) for _ in range(len(a) + 1)]
    r[0][0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            p, q, s = -r[i - 1][j - 1] / g, -r[i - 1][j] / g, -r[i][j - 1] / g
            top = np.maximum(np.maximum(p, q), s)
            total = np.exp(p - top) + np.exp(q - top) + np.exp(s - top)
            r[i][j] = (a[i - 1] - b[j - 1]) ** 2 - g * (top + np.log(total))
    return r[-1][-1]


def cross_entropy(W, X, y):
    z = X @ W
    top = np.max(z, axis=1)
    return np.mean(top + np.log(np.sum(np.exp(z - top[:, None]), axis=1)) - np.sum(z * y, axis=1))


def factorisation(U, V, R):
    return np.sum((U @ V.T - R) ** 2) + 0.1 * (np.sum(U**2) + np.sum(V**2))


# ------------------------------------------------------------------------------ physics
def n_body(x, v, m):
    def pull(x):
        d = x[None, :, :] - x[:, None, :]
        return np.sum(d * (m / (np.sum(d**2, axis=-1) + 0.01) ** 1.5)[:, :, None], axis=1)

    a = pull(x)
    for _ in range(20):
        v = v + 0.005 * a
        x = x + 0.01 * v
        a = pull(x)
        v = v + 0.005 * a
    return np.sum(m[:, None] * v**2)


def lennard_jones(x):
    e = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            s = 1 / np.sum(d * d) ** 3
            e = e + 4 * (s * s - s)
    return e


def heat(u, k):
    for _ in range(12):
        u = u + k * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return np.sum(u**2)


def wave(u, c):
    before = u
    for _ in range(20):
        inner = 2 * u[1:-1] - before[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        before, u = u, np.concatenate((np.zeros(1), inner, np.zeros(1)))
    return np.sum(u**2)


def pendulum(a, w, length, drag):
    for _ in range(100):
        w = w - 0.01 * (9.81 / length * np.sin(a) + drag * w)
        a = a + 0.01 * w
    return a


def double_pendulum(a, b, u, v):
    for _ in range(10):
        c, s = np.cos(a - b), np.sin(a - b)
        p = -v * v * s - 2 * 9.81 * np.sin(a)
        q = u * u * s - 9.81 * np.sin(b)
        du, dv = (p - c * q) / (2 - c * c), (2 * q - c * p) / (2 - c * c)
        u, v = u + 0.01 * du, v + 0.01 * dv
        a, b = a + 0.01 * u, b + 0.01 * v
    return a + b


def cosmology(z, matter, w):
    x = np.linspace(0.0, 1.0, 65) * z
    e = 1 / np.sqrt(matter * (1 + x) ** 3 + (1 - matter) * (1 + x) ** (3 * (1 + w)))
    return 5 * np.log10((1 + z) * np.sum(e[1:] + e[:-1]) * z / 128)


def ising(J, h, s):
    return np.sum(J * s[:, None] * s) + np.sum(np.log(2 * np.cosh(h + J @ s)))


def planck(wavelength, temperature):
    x = 0.0143877 / (wavelength * temperature)
    return np.sum(1.19e-16 / wavelength**5 / np.expm1(x))


def kepler(m, e):
    a = m
    for _ in range(8):
        a = a - (a - e * np.sin(a) - m) / (1 - e * np.cos(a))
    return np.sqrt(1 - e * e) * np.sin(a)


def van_der_pol(mu, x, y):
    def slope(x, y):
        return y, mu * (1 - x * x) * y - x

    for _ in range(25):
        a, b = slope(x, y)
        c, d = slope(x + 0.05 * a, y + 0.05 * b)
        e, f = slope(x + 0.05 * c, y + 0.05 * d)
        g, h = slope(x + 0.1 * e, y + 0.1 * f)
        x, y = x + 0.1 / 6 * (a + 2 * c + 2 * e + g), y + 0.1 / 6 * (b + 2 * d + 2 * f + h)
    return x * x + y * y


# ------------------------------------------------------------------------------ engineering
def circuit(v0, r, saturation):
    G = np.array([[1 / r + 1e-3, -1e-3, 0.0], [-1e-3, 3e-3, -1e-3], [0.0, -1e-3, 2e-3]])
    v = np.array([0.6, 0.3, 0.1])
    for _ in range(6):
        d = saturation * (np.exp(v[0] / 0.025) - 1)
        F = G @ v - np.array([v0 / r, 0.0, 0.0]) + np.array([d, 0.0, 0.0])
        g = saturation / 0.025 * np.exp(v[0] / 0.025)
        J = G + np.array([[g, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        v = v - np.linalg.solve(J, F)
    return v[2]


def robot_arm(q, lengths):
    a = np.cumsum(q)
    return np.sqrt(np.sum(lengths * np.cos(a)) ** 2 + np.sum(lengths * np.sin(a)) ** 2)


def rodrigues(r, p):
    angle = np.sqrt(np.sum(r * r))
    k = r / angle
    turned = p * np.cos(angle) + np.cross(k, p) * np.sin(angle)
    return np.sum((turned + np.outer(p @ k, k) * (1 - np.cos(angle))) ** 3)


def bundle_adjustment(camera, points, seen):
    r, t, f, k = camera[:3], camera[3:6], camera[6], camera[7]
    angle = np.sqrt(np.sum(r * r) + 1e-12)
    w = r / angle
    turned = points * np.cos(angle) + np.cross(w, points) * np.sin(angle)
    p = turned + np.outer(points @ w, w) * (1 - np.cos(angle)) + t
    u = p[:, :2] / p[:, 2:]
    n = np.sum(u * u, axis=1)
    return np.sum((f * (1 + k * n)[:, None] * u - seen) ** 2)


def truss(areas, force):
    c = np.sqrt(0.5)
    K = areas[0] * np.array([[1.0, 0.0], [0.0, 0.0]]) + areas[1] * np.array([[c, c], [c, c]])
    K = K + areas[2] * np.array([[0.0, 0.0], [0.0, 1.0]])
    return force @ np.linalg.solve(K, force)


def beam(widths, load):
    x = np.linspace(0.0, 1.0, len(widths))
    moment = load * (1 - x) ** 2 / 2
    slope = np.cumsum(moment / widths**3) / len(widths)
    return np.sum(slope) / len(widths)


def controller(kp, ki, kd):
    x, v, i, cost = 0.0, 0.0, 0.0, 0.0
    for _ in range(50):
        e = 1 - x
        i = i + 0.02 * e
        u = kp * e + ki * i - kd * v
        v = v + 0.02 * (u - x - 0.2 * v)
        x = x + 0.02 * v
        cost = cost + e * e + 0.001 * u * u
    return cost


def peng_robinson(t, v, a, b):
    m = 0.37464 + 1.54226 * 0.225 - 0.26992 * 0.225**2
    alpha = (1 + m * (1 - np.sqrt(t / 304.0))) ** 2
    return 8.314 * t / (v - b) - a * alpha / (v * v + 2 * b * v - b * b)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


# ------------------------------------------------------------------------------ life and data
def epidemic(beta, gamma, infected):
    from scipy.integrate import solve_ivp

    def slope(t, y):
        s, i, _ = y
        return [-beta * s * i, beta * s * i - gamma * i, gamma * i]

    y = solve_ivp(slope, (0.0, 20.0), [1 - infected, infected, 0.0], rtol=1e-6).y
    return y[2, -1]


def lotka_volterra(a, b, c, d):
    x, y = 1.0, 0.5
    for _ in range(200):
        x, y = x + 0.02 * (a * x - b * x * y), y + 0.02 * (c * x * y - d * y)
    return (x - y) ** 2


def spline(x, y, t):
    h, s = x[1:] - x[:-1], (y[1:] - y[:-1]) / (x[1:] - x[:-1])
    A = np.diag(2 * (h[1:] + h[:-1])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
    m = np.concatenate((np.zeros(1), np.linalg.solve(A, 6 * (s[1:] - s[:-1])), np.zeros(1)))
    i = np.searchsorted(x, t) - 1
    p, q = (x[i + 1] - t) / h[i], (t - x[i]) / h[i]
    cubic = (p**3 - p) * m[i] + (q**3 - q) * m[i + 1]
    return np.sum(p * y[i] + q * y[i + 1] + cubic * h[i] ** 2 / 6)


def haversine(lat1, lon1, lat2, lon2):
    h = np.sin((lat2 - lat1) / 2) ** 2
    h = h + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 12742 * np.arcsin(np.sqrt(h))


CLOUD, SQUARE = rng.normal(size=(8, 3)), rng.random((5, 5))
SERIES, TIMES = rng.normal(size=100), np.sort(rng.random(12))
PROGRAMS = (
    (black_scholes, (100.0, 95.0, 0.5, 0.03, 0.2)),
    (binomial_tree, (95.0, 0.2)),
    (heston, (100.0, 110.0, 0.05, -0.6)),
    (sabr, (100.0, 110.0, 1.0, 0.3, 0.5, -0.3, 0.4)),
    (garch, (SERIES, 0.1, 0.1, 0.8)),
    (ewma, (SERIES, 0.3)),
    (bond, (0.02 + 0.02 * rng.random(10), 4.0)),
    (portfolio, (rng.normal(size=5), rng.random(5), SQUARE @ SQUARE.T + np.eye(5))),
    (gaussian_process, (np.array([-1.0, 0.2, -2.0]), rng.random((15, 2)), rng.normal(size=15))),
    (hidden_markov, (np.full(3, 1 / 3), rng.random((3, 3)), rng.random((3, 4)), rng.integers(0, 4, 20))),
    (kalman, (SERIES[:20], np.eye(2) + np.eye(2, k=1), np.array([1.0, 0.0]), 0.1 * np.eye(2), 0.5)),
    (mixture, (np.full(3, 1 / 3), np.array([-1.0, 0.0, 1.0]), np.array([0.5, 1.0, 0.5]), SERIES)),
    (poisson_regression, (0.1 * rng.normal(size=3), rng.normal(size=(30, 3)), rng.poisson(2, 30) + 0.0)),
    (normal_density, (rng.normal(size=5), np.zeros(5), np.tril(SQUARE) + np.eye(5))),
    (student, (SERIES, 4.0, 0.1, 1.2)),
    (independent_components, (np.eye(3) + 0.1 * rng.random((3, 3)), rng.normal(size=(3, 50)))),
    (beta_binomial, (np.array([1.0, 3.0, 4.0]), np.array([5.0, 6.0, 9.0]), 1.5, 2.5)),
    (logistic_regression, (rng.normal(size=4), rng.normal(size=(50, 4)), 1.0 * (rng.random(50) > 0.5))),
    (perceptron, (rng.normal(size=(3, 8)), np.zeros(8), rng.normal(size=(8, 1)), np.zeros(1),
                  rng.normal(size=(20, 3)), rng.normal(size=(20, 1)))),
    (convolutional, (rng.normal(size=(12, 12)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(8, 8)))),
    (attention, (rng.normal(size=(6, 4)), rng.normal(size=(7, 4)), rng.normal(size=(7, 4)))),
    (recurrent, (0.3 * rng.normal(size=(6, 6)), rng.normal(size=(6, 3)), np.zeros(6), rng.normal(size=(15, 3)))),
    (layer_norm, (rng.normal(size=(6, 8)), np.ones(8), np.zeros(8))),
    (soft_alignment, (SERIES[:4], SERIES[4:8], 0.5)),
    (cross_entropy, (rng.normal(size=(4, 3)), rng.normal(size=(20, 4)), np.eye(3)[rng.integers(0, 3, 20)])),
    (factorisation, (rng.normal(size=(8, 2)), rng.normal(size=(9, 2)), rng.normal(size=(8, 9)))),
    (n_body, (CLOUD, 0.1 * rng.normal(size=(8, 3)), rng.random(8) + 0.5)),
    (lennard_jones, (2 * CLOUD,)),
    (heat, (rng.random(64), 0.1)),
    (wave, (np.sin(np.linspace(0, np.pi, 40)), 0.25)),
    (pendulum, (0.5, 0.0, 1.0, 0.1)),
    (double_pendulum, (0.5, 0.8, 0.0, 0.0)),
    (cosmology, (0.8, 0.3, -0.9)),
    (ising, (rng.normal(size=(6, 6)), 0.3, rng.normal(size=6))),
    (planck, (np.linspace(3e-7, 2e-6, 20), 5800.0)),
    (kepler, (1.2, 0.3)),
    (van_der_pol, (1.5, 2.0, 0.0)),
    (circuit, (5.0, 1e3, 1e-12)),
    (robot_arm, (rng.random(5), np.ones(5))),
    (rodrigues, (np.array([0.1, 0.5, -0.3]), CLOUD)),
    (bundle_adjustment, (np.array([0.1, 0.2, -0.1, 0.0, 0.1, 6.0, 1.0, 0.05]), CLOUD, rng.normal(size=(8, 2)))),
    (truss, (np.array([1.0, 2.0, 1.5]), np.array([1.0, -2.0]))),
    (beam, (0.5 + rng.random(20), 3.0)),
    (controller, (2.0, 0.5, 0.3)),
    (peng_robinson, (350.0, 1e-3, 0.4, 2.7e-5)),
    (rosenbrock, (rng.random(10),)),
    (epidemic, (0.8, 0.2, 0.01)),
    (lotka_volterra, (1.0, 0.8, 0.6, 0.9)),
    (spline, (np.linspace(0, 1, 10), rng.random(10), 0.05 + 0.9 * TIMES)),
    (haversine, (0.8, 0.1, 0.7, -1.2)),
)  # fmt: skip


def processes(name: str, tool: str) -> None:
    """Print the seconds of the first value and the first gradient by one tool, in this process."""
    f, args = next(p for p in PROGRAMS if p[0].__name__ == name)
    warnings.simplefilter("ignore")
    by = tuple(i for i, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    if tool == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.grad(lambda x: x * 1.0)(1.0)
        names = {**f.__globals__, "np": jax.numpy, "special": jax.scipy.special}
        twin = FunctionType(f.__code__, names)
        value, slopes = jax.jit(twin), jax.jit(jax.grad(twin, by))
        done = jax.block_until_ready
    else:
        from symdiff import symgrad

        value, done = symgrad(f), id
        slopes = value.grad
    seconds = []
    for call in (value, slopes):
        start = time.process_time()
        done(call(*args))
        seconds.append(time.process_time() - start)
    print(json.dumps(seconds))


def measured(name: str, tool: str, folder: str, limit: float = 200.0) -> tuple[float, float]:
    """The seconds of both first calls in a new process; nan where the program is refused or does not end."""
    command = [sys.executable, __file__, "--process", tool, name]
    environment = {**os.environ, "SYMDIFF_CACHE_DIR": folder, "JAX_PLATFORMS": "cpu"}
    try:
        ran = subprocess.run(
            command, check=False, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return np.inf, np.inf
    return tuple(json.loads(ran.stdout)) if ran.returncode == 0 else (np.nan, np.nan)


def figures(name: str) -> tuple[float, ...]:
    """First value and gradient, both with the filled cache, both by JAX."""
    with tempfile.TemporaryDirectory() as folder:
        first = measured(name, "symdiff", folder)
        return *first, sum(measured(name, "symdiff", folder)), sum(measured(name, "jax", folder))


def main() -> None:
    """Print a line for each program, and how the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--process", choices=("symdiff", "jax"), help=argparse.SUPPRESS)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.process:
        return processes(options.names[0], options.process)
    rows = []
    print("| program | value | gradient | both | filled cache | JAX |\n|---|---|---|---|---|---|")
    for f, _ in PROGRAMS:
        if options.names and f.__name__ not in options.names:
            continue
        runs = [figures(f.__name__) for _ in range(options.repeat)]
        value, slopes, again, jax = np.min(runs, axis=0)
        rows.append((value + slopes, again, jax))
        cells = (f"{x:.2f}" if np.isfinite(x) else "-" for x in (value, slopes, *rows[-1]))
        print(f"| {f.__name__} | {' | '.join(cells)} |", flush=True)
    first, second, jax = (list(c) for c in zip(*rows, strict=True))
    print(
        f"\n{len(rows)} programs: median {statistics.median(first):.2f} s, worst {max(first):.2f} s"
    )
    print(f"above 5 s: {sum(not t <= 5 for t in first)}")
    beside = [t > max(3 * j, 1) for t, j in zip(first, jax, strict=True) if np.isfinite(j)]
    print(f"above 3 times JAX and 1 s: {sum(beside)} of {len(beside)}")
    print(f"filled cache: median {statistics.median(second):.2f} s, worst {max(second):.2f} s,"
          f" above 0.3 s: {sum(not t <= 0.3 for t in second)}")  # fmt: skip


if __name__ == "__main__":
    main()
