"""Controllers, robots, cameras, circuits, batteries, heat, structures."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from tests.programs.case import Case


def lqr_cost(A, B, q, r):
    """Cost-to-go from x0 by iterating the Riccati equation."""
    Q, R = np.diag(q), np.diag(r)
    P = Q
    for _ in range(30):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    x0 = np.array([1.0, 0.5])
    return x0 @ P @ x0


@dataclass
class PID:
    kp: float
    ki: float
    kd: float
    limit: float = 5.0
    integral: float = field(default=0.0)
    last: float = field(default=0.0)

    def update(self, error, dt):
        self.integral += error * dt
        derivative = (error - self.last) / dt
        self.last = error
        u = self.kp * error + self.ki * self.integral + self.kd * derivative
        return max(-self.limit, min(self.limit, u))


def pid_tracking(kp, ki, kd):
    """Integrated squared error of a second-order plant."""
    controller = PID(kp, ki, kd)
    pos = vel = 0.0
    dt, cost = 0.05, 0.0
    for step in range(60):
        setpoint = 1.0 if step * dt >= 0.5 else 0.0
        u = controller.update(setpoint - pos, dt)
        vel += dt * (u - 0.8 * vel - 0.5 * pos)
        pos += dt * vel
        cost += dt * ((setpoint - pos) ** 2 + 0.001 * u**2)
    return cost


def rendezvous_cost(u, x0):
    """Optimal control of a double integrator with an obstacle: the cost of a sequence of thrusts."""
    dt = 0.2
    x = np.asarray(x0)
    obstacle, radius = np.array([0.5, 0.4]), 0.3
    J = 0.0
    for k in range(u.shape[0]):
        x = np.concatenate((x[:2] + dt * x[2:], x[2:] + dt * u[k]))
        gap = np.linalg.norm(x[:2] - obstacle) - radius
        J += dt * (u[k] @ u[k]) + 0.1 * np.log1p(np.exp(-10 * gap))
    return J + 10 * np.sum((x - np.array([1, 1, 0, 0])) ** 2)


def dh_matrix(theta, d, a, alpha):
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def arm_reach(joints, target):
    """Distance of a six-axis arm's tool from a target, Denavit-Hartenberg."""
    links = [
        (0.089, 0, np.pi / 2),
        (0, -0.425, 0),
        (0, -0.392, 0),
        (0.109, 0, np.pi / 2),
        (0.095, 0, -np.pi / 2),
        (0.082, 0, 0),
    ]
    transforms = [dh_matrix(q, d, a, al) for q, (d, a, al) in zip(joints, links)]
    T = reduce(np.matmul, transforms)
    return np.linalg.norm(T[:3, 3] - target)


def rodrigues(w):
    theta = np.linalg.norm(w)
    if theta < 1e-8:
        return np.eye(3)
    k = w / theta
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K


def project(camera, point):
    rot, trans, f, k1, k2 = camera["rot"], camera["trans"], camera["f"], camera["k1"], camera["k2"]
    p = rodrigues(rot) @ point + trans
    xn = -p[:2] / p[2]
    r2 = xn @ xn
    return f * (1 + k1 * r2 + k2 * r2**2) * xn


def bundle_adjustment(cameras, points, observations):
    """Huber cost of reprojection errors."""
    cost = 0.0
    for cam, pt, u, v in observations:
        e = project(cameras[cam], points[pt]) - np.array([u, v])
        s = e @ e
        cost += s if s <= 1 else 2 * np.sqrt(s) - 1
    return cost


def impedance(freq, R, L, C, R_load):
    """Insertion loss in dB of an LC low-pass between two resistors."""
    w = 2 * math.pi * freq
    z_c = 1 / (1j * w * C)
    z_l = 1j * w * L
    z_par = 1 / (1 / z_c + 1 / R_load)
    h = z_par / (R + z_l + z_par)
    return 20 * math.log10(abs(h)) + 0.1 * cmath.phase(h)


def battery_discharge(params, current, dt):
    """First-order Thevenin model: the voltage at the end of a current profile."""
    soc, v1 = 0.9, 0.0
    voltages = []
    for i in current:
        soc -= i * dt / (3600 * params["capacity"])
        v1 = (
            v1 * math.exp(-dt / (params["r1"] * params["c1"]))
            + params["r1"] * (1 - math.exp(-dt / (params["r1"] * params["c1"]))) * i
        )
        ocv = 3.2 + 0.9 * soc - 0.05 / (soc + 0.05) + 0.1 * math.exp(-20 * (1 - soc))
        voltages.append(ocv - params["r0"] * i - v1)
    return voltages[-1] + min(voltages)


def heat_explicit(u0, alpha, n):
    dx = 1.0 / (len(u0) - 1)
    dt = 0.4 * dx**2
    u = u0.copy()
    for _ in range(n):
        un = u.copy()
        u[1:-1] = un[1:-1] + alpha * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        u[0] = 0
        u[-1] = u[-2]
    return np.sum(u) * dx


def thomas(a, b, c, d):
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def heat_implicit(conductivity, u0):
    """Crank-Nicolson with a conductivity in each cell and a tridiagonal solve."""
    n = len(u0)
    lam = 0.5 * conductivity
    u = u0
    for _ in range(6):
        a = -lam * np.ones(n)
        b = (1 + 2 * lam) * np.ones(n)
        c = -lam * np.ones(n)
        rhs = (1 - 2 * lam) * u
        rhs[1:] += lam[1:] * u[:-1]
        rhs[:-1] += lam[:-1] * u[1:]
        u = thomas(a, b, c, rhs)
    return np.max(u) + u.mean()


def truss_compliance(areas, load):
    """Assembly of a plane truss; compliance of the free nodes."""
    nodes = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [1, 1]])
    bars = [(0, 1), (1, 2), (3, 4), (0, 4), (3, 1), (1, 4), (4, 2)]
    K = np.zeros((10, 10))
    for (i, j), area in zip(bars, areas):
        d = nodes[j] - nodes[i]
        L = np.linalg.norm(d)
        c = d / L
        k = area / L * np.outer(c, c)
        dofs_i, dofs_j = slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2)
        K[dofs_i, dofs_i] += k
        K[dofs_j, dofs_j] += k
        K[dofs_i, dofs_j] -= k
        K[dofs_j, dofs_i] -= k
    free = [2, 3, 4, 5, 8, 9]
    f = np.zeros(10)
    f[5] = -load
    u = np.linalg.solve(K[np.ix_(free, free)], f[free])
    return f[free] @ u


def diode_current(v_source, r, temperature):
    """Newton with damping for a diode in series with a resistor."""
    vt = 8.617e-5 * temperature
    i_s = 1e-12
    v = 0.6
    it = 0
    while it < 100:
        f = (v_source - v) / r - i_s * (math.exp(v / vt) - 1)
        df = -1 / r - i_s / vt * math.exp(v / vt)
        step = f / df
        if abs(step) > 0.1:
            step = math.copysign(0.1, step)
        v -= step
        it += 1
        if abs(step) < 1e-15:
            break
    return (v_source - v) / r * 1e3


def colebrook(reynolds, roughness, diameter, length=100.0):
    """Pressure drop of a pipe; the friction factor by fixed-point iteration when turbulent."""
    if reynolds < 2300:
        friction = 64 / reynolds
    else:
        x = 8.0
        for _ in range(40):
            x = -2 * math.log10(roughness / (3.7 * diameter) + 2.51 * x / reynolds)
        friction = 1 / x**2
    viscosity, rho = 1e-6, 998.0
    velocity = reynolds * viscosity / diameter
    return friction * length / diameter * rho * velocity**2 / 2


def wing_lift(alpha, chords, twist, span=10.0):
    """Lifting-line theory by Fourier coefficients."""
    n = len(chords)
    theta = np.pi * (np.arange(n) + 1) / (2 * n)
    A = np.empty((n, n))
    rhs = np.empty(n)
    for i, (th, c, tw) in enumerate(zip(theta, chords, twist)):
        mu = c * 2 * np.pi / (4 * span)
        for j in range(n):
            k = 2 * j + 1
            A[i, j] = np.sin(k * th) * (mu * k + np.sin(th))
        rhs[i] = mu * (alpha + tw) * np.sin(th)
    coef = np.linalg.solve(A, rhs)
    area = np.mean(chords) * span
    AR = span**2 / area
    CL = np.pi * AR * coef[0]
    CDi = np.pi * AR * sum((2 * j + 1) * a**2 for j, a in enumerate(coef))
    return CL - 5 * CDi


_rng = np.random.default_rng(5)
_cam = {
    "rot": np.array([0.1, -0.2, 0.05]),
    "trans": np.array([0.1, 0.0, -5.0]),
    "f": 2.0,
    "k1": 0.01,
    "k2": -0.002,
}
_cam2 = {
    "rot": np.array([-0.1, 0.3, 0.0]),
    "trans": np.array([-0.3, 0.2, -4.0]),
    "f": 1.8,
    "k1": 0.0,
    "k2": 0.001,
}

PROGRAMS = [
    Case(lqr_cost, (np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]]), np.array([1.0, 0.1]), np.array([0.5]))),
    Case(pid_tracking, (8.0, 2.0, 0.6)),
    Case(rendezvous_cost, (0.3 * _rng.normal(size=(8, 2)), [0.0, 0.0, 0.4, 0.2])),
    Case(arm_reach, ([0.3, -1.0, 1.2, -0.4, 0.8, 0.1], np.array([0.3, 0.2, 0.5]))),
    Case(bundle_adjustment, ([_cam, _cam2], np.array([[0.3, 0.2, 0.1], [-0.5, 0.4, 0.3]]), [(0, 0, 0.2, 0.1), (0, 1, -0.3, 0.1), (1, 0, 0.1, 1.9), (1, 1, -0.2, 0.3)]), ("cameras", "points"), ("observations",)),
    Case(impedance, (1.2e5, 50.0, 6e-5, 2e-8, 75.0)),
    Case(battery_discharge, ({"capacity": 2.5, "r0": 0.05, "r1": 0.02, "c1": 1500.0}, [1.0, 2.0, 0.5, -1.0, 3.0], 20.0)),
    Case(heat_explicit, (np.sin(np.linspace(0, 3, 9)) + 1, 0.7, 12), ("u0", "alpha")),
    Case(heat_implicit, (0.5 + _rng.random(7), _rng.random(7))),
    Case(truss_compliance, (1 + _rng.random(7), 2.0)),
    Case(diode_current, (5.0, 1000.0, 300.0)),
    Case(colebrook, (5e4, 1e-4, 0.1)),
    Case(colebrook, (1500.0, 1e-4, 0.1)),
    Case(wing_lift, (0.1, np.array([1.5, 1.3, 1.1, 0.8]), np.array([0.0, -0.01, -0.02, -0.03]))),
]  # fmt: skip
