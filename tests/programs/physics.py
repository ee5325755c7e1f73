"""Mechanics, molecular dynamics, cosmology, quantum mechanics, rotations, orbits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy import linalg as LA

from tests.programs.case import Case


def lennard_jones(positions, epsilon=1.0, sigma=1.0, cutoff=2.5):
    """Energy of a cluster, shifted at the cutoff."""
    n = len(positions)
    sr6 = (sigma / cutoff) ** 6
    shift = 4 * epsilon * (sr6**2 - sr6)
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            rij = positions[i] - positions[j]
            r2 = np.dot(rij, rij)
            if r2 > cutoff**2:
                continue
            s6 = (sigma**2 / r2) ** 3
            energy += 4 * epsilon * (s6 * s6 - s6) - shift
    return energy


def argon_energy_after(x0, v0, dt, nsteps):
    """Velocity Verlet in a periodic box with minimum image; returns the total energy."""
    box = 6.0

    def forces(x):
        f = np.zeros_like(x)
        pot = 0.0
        for i in range(x.shape[0] - 1):
            d = x[i] - x[i + 1 :]
            d = d - box * np.round(d / box)
            r2 = np.sum(d * d, axis=1)
            ir6 = 1.0 / r2**3
            pot += np.sum(4 * (ir6**2 - ir6))
            w = (48 * ir6**2 - 24 * ir6) / r2
            f[i] += np.sum(w[:, None] * d, axis=0)
            f[i + 1 :] -= w[:, None] * d
        return f, pot

    x, v = x0.copy(), v0.copy()
    f, pot = forces(x)
    for _ in range(nsteps):
        v += 0.5 * dt * f
        x += dt * v
        f, pot = forces(x)
        v += 0.5 * dt * f
    return 0.5 * (v**2).sum() + pot


@dataclass
class Body:
    mass: float
    pos: list
    vel: list


def solar_system_drift(bodies, dt, steps):
    """The n-body benchmark's advance(), then the total energy."""
    G = 4 * math.pi**2
    pos = [list(b.pos) for b in bodies]
    vel = [list(b.vel) for b in bodies]
    for _ in range(steps):
        for i, a in enumerate(bodies):
            for j, b in enumerate(bodies):
                if i >= j:
                    continue
                d = [p - q for p, q in zip(pos[i], pos[j])]
                mag = dt * G / (sum(c * c for c in d) + 1e-6) ** 1.5
                for k in range(3):
                    vel[i][k] -= d[k] * b.mass * mag
                    vel[j][k] += d[k] * a.mass * mag
        for p, v in zip(pos, vel):
            for k in range(3):
                p[k] += dt * v[k]
    e = 0.0
    for i, b in enumerate(bodies):
        e += 0.5 * b.mass * sum(c**2 for c in vel[i])
        for j in range(i + 1, len(bodies)):
            r = math.sqrt(sum((p - q) ** 2 for p, q in zip(pos[i], pos[j])))
            e -= G * b.mass * bodies[j].mass / r
    return e


def pendulum_period_error(length, theta0, omega0):
    """A damped pendulum by RK4 until t = 1, the angle minus its small-angle solution."""
    g, gamma, dt = 9.81, 0.1, 0.02

    def rhs(state):
        th, om = state
        return np.array([om, -g / length * np.sin(th) - gamma * om])

    y = np.array([theta0, omega0])
    t = 0.0
    while t < 1.0:
        k1 = rhs(y)
        k2 = rhs(y + dt / 2 * k1)
        k3 = rhs(y + dt / 2 * k2)
        k4 = rhs(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
    return y[0] - theta0 * np.cos(np.sqrt(g / length) * t)


def solve_kepler(M, e, tol=1e-13):
    E = M if e < 0.8 else math.pi
    for _ in range(50):
        dE = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= dE
        if abs(dE) < tol:
            break
    return E


def radial_velocity(t, elements):
    """Radial velocity of a star with one planet; `elements` as astronomers pass them."""
    P, K, e, w, T0 = (elements[k] for k in ("P", "K", "e", "w", "T0"))
    M = 2 * math.pi * (t - T0) / P
    E = solve_kepler(M % (2 * math.pi), e)
    nu = 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))
    return K * (math.cos(nu + w) + e * math.cos(w))


MU, J2, RE = 398600.4418, 1.08262668e-3, 6378.137


def j2_orbit(state):
    """Position of a satellite after ten steps of RK4 with the oblateness of the Earth: radius in km."""

    def deriv(s):
        x, y, z, vx, vy, vz = s
        r = math.sqrt(x * x + y * y + z * z)
        k = 1.5 * J2 * MU * RE**2 / r**5
        zr = 5 * z * z / (r * r)
        return (
            vx,
            vy,
            vz,
            -MU * x / r**3 + k * x * (zr - 1),
            -MU * y / r**3 + k * y * (zr - 1),
            -MU * z / r**3 + k * z * (zr - 3),
        )

    def axpy(a, xs, ys):
        return tuple(a * x + y for x, y in zip(xs, ys))

    s, h = tuple(state), 30.0
    for _ in range(10):
        k1 = deriv(s)
        k2 = deriv(axpy(h / 2, k1, s))
        k3 = deriv(axpy(h / 2, k2, s))
        k4 = deriv(axpy(h, k3, s))
        s = tuple(y + h / 6 * (a + 2 * b + 2 * c + d) for y, a, b, c, d in zip(s, k1, k2, k3, k4))
    return math.hypot(*s[:3])


class Cosmology:
    """Flat or curved Lambda-CDM, distances in Mpc."""

    c = 299792.458

    def __init__(self, H0, Om, Ode=None):
        self.H0 = H0
        self.Om = Om
        self.Ode = 1 - Om if Ode is None else Ode
        self.Ok = 1 - self.Om - self.Ode

    def E(self, z):
        return np.sqrt(self.Om * (1 + z) ** 3 + self.Ok * (1 + z) ** 2 + self.Ode)

    def comoving_distance(self, z, n=64):
        grid = np.linspace(0, z, n + 1)
        return self.c / self.H0 * np.trapezoid(1 / self.E(grid), grid)

    def luminosity_distance(self, z):
        d = self.comoving_distance(z)
        dh = self.c / self.H0
        if self.Ok > 1e-10:
            s = np.sqrt(self.Ok)
            d = dh / s * np.sinh(s * d / dh)
        elif self.Ok < -1e-10:
            s = np.sqrt(-self.Ok)
            d = dh / s * np.sin(s * d / dh)
        return (1 + z) * d


SN_Z = [0.02, 0.1, 0.35, 0.8, 1.2]
SN_MU = [34.7, 38.3, 41.4, 43.5, 44.6]


def supernova_chi2(H0, Om, Ode):
    cosmo = Cosmology(H0, Om, Ode)
    chi2 = 0
    for z, mu in zip(SN_Z, SN_MU):
        model = 5 * np.log10(cosmo.luminosity_distance(z)) + 25
        chi2 += ((mu - model) / 0.15) ** 2
    return chi2


def rabi_population(omega, delta, t):
    """Excited population of a driven two-level atom, by steps of the Schroedinger equation."""
    H = 0.5 * np.array([[-delta, omega], [omega, delta]], dtype=complex)
    psi = np.array([1.0 + 0j, 0.0])
    n = 20
    dt = t / n
    for _ in range(n):
        k1 = -1j * H @ psi
        k2 = -1j * H @ (psi + dt / 2 * k1)
        k3 = -1j * H @ (psi + dt / 2 * k2)
        k4 = -1j * H @ (psi + dt * k3)
        psi = psi + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.abs(psi[1]) ** 2


def ground_state_energy(params):
    """Lowest eigenvalue of an anharmonic oscillator on a grid."""
    n = 24
    x = np.linspace(-4, 4, n)
    h = x[1] - x[0]
    kinetic = (np.diag(np.full(n, 2.0)) - np.eye(n, k=1) - np.eye(n, k=-1)) / (2 * h**2)
    V = 0.5 * params["k"] * x**2 + params["lam"] * x**4
    w, _ = LA.eigh(kinetic + np.diag(V))
    return w[0]


def ising_mean_field(J, h, beta):
    """Magnetisation of a 1D chain of 8 sites by damped fixed-point iteration, then the free energy."""
    n = 8
    m = np.full(n, 0.1)
    for it in range(300):
        field = J * (np.roll(m, 1) + np.roll(m, -1)) + h
        new = np.tanh(beta * field)
        if np.max(np.abs(new - m)) < 1e-13:
            break
        m = 0.5 * m + 0.5 * new
    e = -J * np.sum(m * np.roll(m, 1)) - np.dot(h, m)
    p = (1 + m) / 2
    s = -np.sum(p * np.log(p) + (1 - p) * np.log(1 - p))
    return e - s / beta


def quat_mul(q, p):
    w0, x0, y0, z0 = q
    w1, x1, y1, z1 = p
    return np.array(
        [
            w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
            w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
            w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
            w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
        ]
    )


def gyro_integration(gyro, q0, dt=0.1):
    """Attitude from a gyroscope's samples; the angle to a reference attitude."""
    q = q0 / LA.norm(q0)
    for w in gyro:
        angle = LA.norm(w) * dt
        axis = w / LA.norm(w)
        dq = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
        q = quat_mul(q, dq)
        q /= LA.norm(q)
    return 2 * np.arccos(np.clip(np.abs(q @ np.array([1.0, 0, 0, 0])), 0, 1))


def relativistic_collision(p1, p2, masses):
    """Invariant mass of two particles, and the rapidity of their sum."""
    E = [math.sqrt(m**2 + sum(c**2 for c in p)) for m, p in zip(masses, (p1, p2))]
    total = [a + b for a, b in zip(p1, p2)]
    s = sum(E) ** 2 - sum(c * c for c in total)
    y = 0.5 * math.log((sum(E) + total[2]) / (sum(E) - total[2]))
    return math.sqrt(s) + 0.1 * y


def double_pendulum_angle(theta, omega, m=(1.0, 0.7), L=(1.0, 1.3)):
    """Semi-implicit Euler with the mass matrix solved in each step."""
    g, dt = 9.81, 0.01
    q = np.array(theta)
    w = np.array(omega)
    m1, m2 = m
    l1, l2 = L
    for _ in range(25):
        d = q[0] - q[1]
        A = np.array([[(m1 + m2) * l1, m2 * l2 * np.cos(d)], [l1 * np.cos(d), l2]])
        b = np.array(
            [
                -m2 * l2 * w[1] ** 2 * np.sin(d) - (m1 + m2) * g * np.sin(q[0]),
                l1 * w[0] ** 2 * np.sin(d) - g * np.sin(q[1]),
            ]
        )
        w = w + dt * np.linalg.solve(A, b)
        q = q + dt * w
    return q.sum()


def projectile_range(speed, angle, drag):
    """Range of a shot with quadratic drag, the landing found between two steps."""
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    dt = 0.02
    while True:
        v = math.hypot(vx, vy)
        vx_new = vx - dt * drag * v * vx
        vy_new = vy - dt * (9.81 + drag * v * vy)
        x_new, y_new = x + dt * vx_new, y + dt * vy_new
        if y_new < 0:
            f = y / (y - y_new)
            return x + f * (x_new - x)
        x, y, vx, vy = x_new, y_new, vx_new, vy_new


_rng = np.random.default_rng(1)
_lattice = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)], dtype=float)

PROGRAMS = [
    Case(lennard_jones, (1.1 * _lattice + 0.05 * _rng.normal(size=(8, 3)),), ("positions", "epsilon", "sigma")),
    Case(argon_energy_after, (1.2 * _lattice[:6] + 0.05 * _rng.normal(size=(6, 3)), 0.1 * _rng.normal(size=(6, 3)), 0.005, 8), ("x0", "v0", "dt")),
    Case(
        solar_system_drift,
        ([Body(1.0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]), Body(1e-3, [1.0, 0.1, 0.0], [0.0, 6.2, 0.1]), Body(3e-4, [-1.5, 0.0, 0.2], [0.3, -5.0, 0.0])], 0.01, 5),
        ("bodies",),
    ),
    Case(pendulum_period_error, (1.2, 0.8, -0.3)),
    Case(radial_velocity, (37.2, {"P": 12.3, "K": 55.0, "e": 0.35, "w": 0.7, "T0": 3.1})),
    Case(j2_orbit, ([6878.0, 100.0, -50.0, 0.1, 6.5, 3.9],)),
    Case(supernova_chi2, (70.0, 0.3, 0.65)),
    Case(supernova_chi2, (70.0, 0.35, 0.75)),
    Case(rabi_population, (1.3, 0.4, 2.0)),
    Case(ground_state_energy, ({"k": 1.1, "lam": 0.2},)),
    Case(ising_mean_field, (0.6, np.linspace(-0.3, 0.5, 8), 0.9)),
    Case(gyro_integration, (_rng.normal(size=(5, 3)), np.array([0.9, 0.1, -0.2, 0.3]))),
    Case(relativistic_collision, ([1.0, 0.2, 3.0], [-0.5, 0.4, -1.0], [0.14, 0.94])),
    Case(double_pendulum_angle, ([0.6, -0.4], [0.1, 0.5])),
    Case(projectile_range, (30.0, 0.7, 0.01)),
]  # fmt: skip
