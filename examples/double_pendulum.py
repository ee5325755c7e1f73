"""A double pendulum from its Lagrangian: SymPy derives, symdiff compiles, Numba integrates.

The equations of motion M(q) q'' = b(q, q') follow from the Lagrangian by SymPy. They become a
kernel of symdiff, which a Runge-Kutta loop compiled by Numba calls, and whose exact Jacobian tells
how fast neighbouring paths part. Energy is kept as far as the integrator keeps it.

    python examples/double_pendulum.py
"""

from __future__ import annotations

import sympy as sp
from numba import njit

from symdiff import lambdify

GRAVITY = 9.81


def equations() -> tuple[tuple[sp.Symbol, ...], list[sp.Expr], sp.Expr]:
    """The state (angles and velocities), its derivative by time, and the energy; two rods of
    one metre with one kilogram at each end."""
    t = sp.Symbol("t")
    q = [sp.Function(n)(t) for n in ("a", "b")]
    v = [f.diff(t) for f in q]
    x1, y1 = sp.sin(q[0]), -sp.cos(q[0])
    x2, y2 = x1 + sp.sin(q[1]), y1 - sp.cos(q[1])
    kinetic = sum(c.diff(t) ** 2 for c in (x1, y1, x2, y2)) / 2
    potential = GRAVITY * (y1 + y2)
    lagrangian = kinetic - potential
    state = sp.symbols("a b u w")
    forces = sp.symbols("du dw")
    names = dict(zip([f.diff(t, t) for f in q], forces, strict=True))
    names |= dict(zip(v, state[2:], strict=True)) | dict(zip(q, state[:2], strict=True))
    motion = [(lagrangian.diff(w).diff(t) - lagrangian.diff(p)).subs(names) for p, w in zip(q, v, strict=True)]  # fmt: skip
    accelerations = sp.solve([e.expand() for e in motion], forces, dict=True)[0]
    derivative = [state[2], state[3], *(accelerations[f] for f in forces)]
    return state, derivative, (kinetic + potential).subs(names)


STATE, DERIVATIVE, ENERGY = equations()
flow = lambdify(STATE, tuple(DERIVATIVE))
energy = lambdify(STATE, ENERGY)


@njit
def advance(a, b, u, w, step, steps):
    """The state after so many steps of the classical Runge-Kutta method."""
    for _ in range(steps):
        a1, b1, u1, w1 = flow(a, b, u, w)
        h = step / 2
        a2, b2, u2, w2 = flow(a + h * a1, b + h * b1, u + h * u1, w + h * w1)
        a3, b3, u3, w3 = flow(a + h * a2, b + h * b2, u + h * u2, w + h * w2)
        h = step
        a4, b4, u4, w4 = flow(a + h * a3, b + h * b3, u + h * u3, w + h * w3)
        a += step * (a1 + 2 * a2 + 2 * a3 + a4) / 6
        b += step * (b1 + 2 * b2 + 2 * b3 + b4) / 6
        u += step * (u1 + 2 * u2 + 2 * u3 + u4) / 6
        w += step * (w1 + 2 * w2 + 2 * w3 + w4) / 6
    return a, b, u, w


def main() -> None:
    start = (1.2, -0.4, 0.0, 0.3)
    before = energy(*start)
    end = advance(*start, 1e-3, 10_000)
    print("state after 10 s:   ", *(f"{v:+.6f}" for v in end))
    print(f"energy:              {before:.6f} before, drift {energy(*end) - before:+.1e}")
    rates = flow.jacobian(*start)
    print("trace of Jacobian:  ", sum(rates[i][i] for i in range(4)))


if __name__ == "__main__":
    main()
