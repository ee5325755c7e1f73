"""Epidemics, populations, neurons, chemical kinetics, pharmacology."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.programs.case import Case


def sir_peak(beta, gamma, i0, days=60):
    """The largest share of infected people, by Euler's method."""
    S, I, R = 1 - i0, i0, 0.0
    history = [I]
    for _ in range(days):
        new_inf = beta * S * I
        new_rec = gamma * I
        S -= new_inf
        I += new_inf - new_rec
        R += new_rec
        history.append(I)
    return max(history)


def seir_fit(params, cases):
    """Squared error of new cases of an age-structured SEIR model with a lockdown."""
    contact = np.array([[2.0, 0.5], [0.5, 1.0]])
    S = np.array([0.6, 0.39])
    E = np.array([0.0, 0.0])
    I = np.array([0.005, 0.005])
    sse = 0.0
    for day, observed in enumerate(cases):
        beta = params["beta"] * (params["lockdown"] if day >= 5 else 1)
        force = beta * contact @ I
        infections, onsets, recoveries = force * S, params["sigma"] * E, params["gamma"] * I
        S, E, I = S - infections, E + infections - onsets, I + onsets - recoveries
        sse += (onsets.sum() * 1000 - observed) ** 2
    return sse


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1)])
    k3 = f(t + h / 2, [a + h / 2 * b for a, b in zip(y, k2)])
    k4 = f(t + h, [a + h * b for a, b in zip(y, k3)])
    return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]


def lotka_volterra(alpha, beta, delta, gamma, y0):
    def rhs(t, y):
        x, p = y
        return [alpha * x - beta * x * p, delta * x * p - gamma * p]

    y, t = list(y0), 0.0
    for _ in range(40):
        y = rk4(rhs, y, t, 0.1)
        t += 0.1
    return y[0] + 2 * y[1]


@dataclass
class Neuron:
    g_na: float = 120.0
    g_k: float = 36.0
    g_l: float = 0.3
    c: float = 1.0

    @staticmethod
    def rates(V):
        am = 1.0 if abs(V + 40) < 1e-7 else 0.1 * (V + 40) / (1 - math.exp(-(V + 40) / 10))
        bm = 4 * math.exp(-(V + 65) / 18)
        ah = 0.07 * math.exp(-(V + 65) / 20)
        bh = 1 / (1 + math.exp(-(V + 35) / 10))
        an = 0.1 if abs(V + 55) < 1e-7 else 0.01 * (V + 55) / (1 - math.exp(-(V + 55) / 10))
        bn = 0.125 * math.exp(-(V + 65) / 80)
        return (am, bm), (ah, bh), (an, bn)

    def current(self, V, m, h, n):
        return (
            self.g_na * m**3 * h * (V - 50) + self.g_k * n**4 * (V + 77) + self.g_l * (V + 54.387)
        )


def hodgkin_huxley(cell, stimulus):
    """Membrane voltage after 0.4 ms of an exponential Euler method."""
    V, dt = -65.0, 0.05
    gates = [a / (a + b) for a, b in cell.rates(V)]
    for k in range(8):
        m, h, n = gates
        I = stimulus if 0.1 <= k * dt < 0.3 else 0.0
        V += dt * (I - cell.current(V, m, h, n)) / cell.c
        gates = [
            x + (1 - math.exp(-dt * (a + b))) * (a / (a + b) - x)
            for x, (a, b) in zip(gates, cell.rates(V))
        ]
    return V


def robertson(k, y0, t_end=0.3):
    """Implicit Euler with Newton's method for a stiff reaction."""

    def f(y):
        a, b, c = y
        r1, r2, r3 = k[0] * a, k[1] * b * c, k[2] * b * b
        return np.array([-r1 + r2, r1 - r2 - r3, r3])

    def jac(y):
        _, b, c = y
        return np.array(
            [
                [-k[0], k[1] * c, k[1] * b],
                [k[0], -k[1] * c - 2 * k[2] * b, -k[1] * b],
                [0, 2 * k[2] * b, 0],
            ]
        )

    y, h = np.array(y0), 0.1
    for _ in range(round(t_end / h)):
        z = y
        for _ in range(6):
            z = z - np.linalg.solve(np.eye(3) - h * jac(z), z - y - h * f(z))
        y = z
    return y[2] * 1e3 + y[1] * 1e4


REACTIONS = [("A", "B", 0), ("B", "C", 1), ("C", "A", 2), ("A", "C", 3)]


def reaction_network(rates, start):
    """Species in a dictionary, reactions in a list."""
    conc = dict(start)
    dt = 0.05
    for _ in range(20):
        change = {s: 0.0 for s in conc}
        for source, product, index in REACTIONS:
            flux = rates[index] * conc[source]
            change[source] -= flux
            change[product] += flux
        conc = {s: conc[s] + dt * change[s] for s in conc}
    return conc["B"] ** 2 + 3 * conc["C"]


def two_compartment(dose, ka, cl, v1, q, v2, times, observed):
    """Oral two-compartment pharmacokinetics in closed form; log residuals."""
    k10, k12, k21 = cl / v1, q / v1, q / v2
    s = k10 + k12 + k21
    root = np.sqrt(s * s - 4 * k10 * k21)
    alpha, beta = (s + root) / 2, (s - root) / 2
    A = ka / v1 * (k21 - alpha) / ((ka - alpha) * (beta - alpha))
    B = ka / v1 * (k21 - beta) / ((ka - beta) * (alpha - beta))
    pred = dose * (
        A * np.exp(-alpha * times) + B * np.exp(-beta * times) - (A + B) * np.exp(-ka * times)
    )
    return np.sum((np.log(observed) - np.log(pred)) ** 2)


def integrate_and_fire(weights, inputs, threshold=1.0):
    """A surrogate spiking layer: soft spikes, leak and reset."""
    v = np.zeros(weights.shape[1])
    spikes = []
    for x in inputs:
        v = 0.9 * v + x @ weights
        s = 1 / (1 + np.exp(-5 * (v - threshold)))
        v = v * (1 - s)
        spikes.append(s)
    return np.stack(spikes).mean()


def wright_fisher(s, h, mu, p0, generations):
    """Allele frequency under selection with dominance and mutation, until it settles."""
    p = p0
    for g in range(generations):
        q = 1 - p
        w_bar = p * p * (1 + s) + 2 * p * q * (1 + h * s) + q * q
        p_next = (p * p * (1 + s) + p * q * (1 + h * s)) / w_bar
        p_next = p_next * (1 - mu) + (1 - p_next) * mu
        p = p_next
    return p


def leslie_growth(fertility, survival):
    """Dominant growth rate of an age-structured population by power iteration."""
    n = len(fertility)
    L = np.zeros((n, n))
    L[0, :] = fertility
    for i, s in enumerate(survival):
        L[i + 1, i] = s
    v = np.ones(n) / n
    for _ in range(80):
        v = L @ v
        growth = np.linalg.norm(v, 1)
        v = v / growth
    return np.log(growth)


_rng = np.random.default_rng(6)
_times = np.array([0.5, 1.0, 2.0, 4.0, 8.0])

PROGRAMS = [
    Case(sir_peak, (0.4, 0.15, 0.01), ("beta", "gamma", "i0")),
    Case(seir_fit, ({"beta": 0.5, "sigma": 0.3, "gamma": 0.2, "lockdown": 0.4}, [0.5, 1.0, 2.0, 2.5, 3.0, 3.2, 3.1, 2.9])),
    Case(lotka_volterra, (1.1, 0.4, 0.1, 0.4, (3.0, 2.0))),
    Case(hodgkin_huxley, (Neuron(), 15.0)),
    Case(robertson, (np.array([0.04, 1e4, 3e7]) * np.array([1, 1e-2, 1e-4]), [1.0, 0.0, 0.0]), ("k", "y0")),
    Case(reaction_network, ([0.5, 0.3, 0.2, 0.1], {"A": 1.0, "B": 0.2, "C": 0.0})),
    Case(two_compartment, (100.0, 1.2, 5.0, 20.0, 3.0, 30.0, _times, np.array([2.0, 2.8, 2.5, 1.6, 0.9]))),
    Case(integrate_and_fire, (_rng.normal(size=(3, 4)), _rng.normal(size=(6, 3)))),
    Case(wright_fisher, (0.1, 0.4, 1e-3, 0.2, 25), ("s", "h", "mu", "p0")),
    Case(leslie_growth, (np.array([0.0, 1.2, 1.5, 0.4]), np.array([0.6, 0.7, 0.3]))),
]  # fmt: skip
