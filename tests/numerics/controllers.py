"""Controllers: PID with saturation, anti-windup, bang-bang, schedules."""

from dataclasses import dataclass

import numpy as np

from tests.numerics.cases import Programs, vec

programs = Programs()


@programs((1.1, 0.31, 0.07, 3), (1.1, 0.31, 0.07, 20))
def pid(kp, ki, kd, n):
    y = integral = 0.0
    last = 1.0
    for _ in range(n):
        e = 1.0 - y
        integral += e * 0.1
        u = kp * e + ki * integral + kd * (e - last) / 0.1
        last = e
        y += 0.1 * (u - y)
    return y


@programs((2.3, 0.9, 3), (2.3, 0.9, 25))
def pid_saturated(kp, ki, n):
    y = integral = cost = 0.0
    for _ in range(n):
        e = 1.0 - y
        integral += 0.1 * e
        u = min(max(kp * e + ki * integral, -1.3), 1.3)
        y += 0.1 * (u - 0.5 * y)
        cost += e * e
    return cost


@programs((2.3, 0.9, 3), (2.3, 0.9, 25))
def clamped_integral(kp, ki, n):
    y = integral = 0.0
    for _ in range(n):
        e = 2.0 - y
        u = kp * e + ki * integral
        if u > 1.7:
            u = 1.7
        elif u < -1.7:
            u = -1.7
        else:
            integral += 0.1 * e
        y = 0.9 * y + 0.2 * u
    return y + integral


@programs((1.9, 0.8, 0.6, 3), (1.9, 0.8, 0.6, 20))
def back_calculation(kp, ki, kt, n):
    y = integral = 0.0
    out = np.zeros(n)
    for k in range(n):
        e = 1.0 - y
        v = kp * e + ki * integral
        u = np.clip(v, -0.9, 0.9)
        integral += 0.2 * (e + kt * (u - v))
        y += 0.2 * (u - 0.3 * y)
        out[k] = y
    return np.sum(out**2)


@programs((0.3, 0.71, 4), (0.3, 0.71, 30))
def bang_bang(x, power, n):
    v = 0.0
    for _ in range(n):
        u = -power if x + 0.5 * v * abs(v) > 0.05 else power
        v += 0.1 * u
        x += 0.1 * v
    return x * x + v * v


@programs((0.3, 0.71, 4), (0.3, 0.71, 30))
def bang_bang_with_dead_band(x, power, n):
    u, switches = 0.0, 0
    for _ in range(n):
        new = u
        if x > 0.4:
            new = -power
        elif x < -0.4:
            new = power
        if new != u:
            switches += 1
        u = new
        x += 0.2 * u + 0.03
    return x + switches


@programs((vec(2), vec(2, seed=1)), (vec(6), vec(6, seed=1)))
def gain_schedule(x, gains):
    total = 0.0
    edges = [0.5, 1.0, 1.5]
    for v in x:
        k = 0
        while k < len(edges) and v > edges[k]:
            k += 1
        total += gains[min(k, len(gains) - 1)] * v
    return total


@programs((vec(2), vec(3, seed=1)), (vec(6), vec(5, seed=1)))
def interpolated_schedule(x, table):
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        t = v / 2.0 * (len(table) - 1)
        k = min(int(t), len(table) - 2)
        w = t - k
        out[i] = (1 - w) * table[k] + w * table[k + 1]
    return out


@programs((0.11, 3), (0.11, 25))
def learning_rate(rate, n):
    w = 2.0
    for k in range(n):
        if k in (10, 18):
            rate *= 0.3
        w -= rate * 2 * w
    return w


@programs((0.21, 0.9, 3), (0.21, 0.9, 20))
def warm_up_and_decay(peak, decay, n):
    w, best = 1.5, 10.0
    for k in range(n):
        lr = peak * (k + 1) / 5 if k < 5 else peak * decay ** (k - 5)
        w -= lr * (2 * w - 0.4)
        loss = (w - 0.2) ** 2
        if loss < best:  # noqa: PLR1730
            best = loss
    return best + w


@programs((vec(3, -1, 1), 1.2, 0.4), (vec(10, -1, 1), 1.2, 0.4))
def tracking(reference, kp, ki):
    y, s, u = 0.0, 0.0, np.zeros(len(reference))
    for k in range(len(reference)):
        e = reference[k] - y
        s = s + e if abs(s + e) < 1.5 else s
        u[k] = kp * e + ki * s
        y = 0.7 * y + 0.3 * u[k]
    return u


@programs((0.9, 0.2, 3), (0.9, 0.2, 15))
def lqr_recursion(q, r, n):
    p, gains = q, []
    for _ in range(n):
        k = p * 0.9 / (r + p)
        p = q + 0.81 * p - 0.9 * p * k
        gains.append(k)
    x = 1.0
    for k in gains[::-1]:
        x = 0.9 * x - k * x
    return x * x + p


@programs((np.array([1.0, 0.5]), 0.3, 2), (np.array([1.0, 0.5]), 0.3, 8))
def riccati_matrix(q, r, n):
    a, b = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([0.0, 0.1])
    p = np.diag(q)
    for _ in range(n):
        k = (b @ p @ a) / (r + b @ p @ b)
        p = np.diag(q) + a.T @ p @ (a - np.outer(b, k))
    return p


@programs((0.4, 1.3, 3), (0.4, 1.3, 20))
def sliding_mode(x, gain, n):
    v = 0.3
    for _ in range(n):
        s = v + 2.0 * x
        u = -gain * s / 0.3 if abs(s) < 0.3 else -gain * np.sign(s)
        v += 0.1 * (u + 0.1 * x)
        x += 0.1 * v
    return x * x + 0.5 * v * v


@programs((vec(3), 0.8), (vec(10), 0.8))
def rate_limited_output(target, limit):
    u, total = 0.0, 0.0
    for t in target:
        step = t - u
        u += limit * 0.3 if step > limit * 0.3 else step if step > -limit else -limit
        total += (t - u) ** 2
    return total


@programs((1.3, 0.6, 3), (1.3, 0.6, 20))
def smith_predictor(kp, ki, n):
    delay, model, y, s = [0.0] * 3, 0.0, 0.0, 0.0
    for k in range(n):
        e = 1.0 - y - model + delay[k % 3]
        s += 0.1 * e
        u = kp * e + ki * s
        delay[k % 3] = model
        model = 0.8 * model + 0.2 * u
        y = 0.8 * y + 0.2 * delay[(k + 1) % 3]
    return y + model


@programs((0.8, 0.3, 3), (0.8, 0.3, 20))
def cascade(k1, k2, n):
    x, v, state = 0.0, 0.0, [0.0, 0.0]
    for _ in range(n):
        e = 1.0 - x
        state[0] += 0.1 * e
        target = max(-0.5, min(0.5, k1 * e + 0.1 * state[0]))
        f = target - v
        state[1] += 0.1 * f
        v += 0.5 * (k2 * f + state[1])
        x += 0.2 * v
    return x + state[0] * state[1]


@programs((vec(3, 0, 1), 0.6, 0.2), (vec(9, 0, 1), 0.6, 0.2))
def bumpless_transfer(r, kp, ki):
    y = s = 0.0
    manual = True
    for k, ref in enumerate(r):
        e = ref - y
        if manual:
            u = 0.3
            s = (u - kp * e) / ki
            manual = k < 1
        else:
            s += e
            u = kp * e + ki * s
        y += 0.4 * (u - y)
    return y


@dataclass
class Gains:
    kp: float
    ki: float


@programs((Gains(1.2, 0.4), 3), (Gains(1.2, 0.4), 15))
def pid_of_dataclass(g, n):
    y = s = 0.0
    for _ in range(n):
        e = 1.0 - y
        s += 0.2 * e
        y += 0.3 * (min(g.kp * e + g.ki * s, 0.9) - 0.2 * y)
    return y


@programs(({"kp": 1.2, "ki": 0.4}, vec(2)), ({"kp": 1.2, "ki": 0.4}, vec(8)))
def pid_of_dict(gains, setpoints):
    state = {"y": 0.0, "s": 0.0}
    cost = 0.0
    for r in setpoints:
        e = r - state["y"]
        state["s"] += e
        if abs(state["s"]) > 1.1:
            state["s"] -= e
        state["y"] += 0.3 * (gains["kp"] * e + gains["ki"] * state["s"])
        cost += e**2
    return cost


@programs((0.7, 3), (0.7, 12))
def class_with_state(kp, n):
    class Loop:
        def __init__(self, gain):
            self.gain = gain
            self.out = 0.0

        def step(self, e):
            self.out = 0.6 * self.out + self.gain * e
            return self.out

    loop, y = Loop(kp), 0.0
    for _ in range(n):
        y += 0.2 * (loop.step(1.0 - y) - 0.1 * y)
    return y


@programs((vec(2, -1, 1), 0.5), (vec(8, -1, 1), 0.5))
def relay_with_delay(disturbance, power):
    x, pending, total = 0.0, [0.0, 0.0], 0.0
    for d in disturbance:
        pending.append(-power if x > 0 else power)
        u = pending.pop(0)
        x += 0.3 * d + 0.2 * u
        total += x * x
    return total


@programs((vec(3), 1.7), (vec(9), 5.3))
def budget(demand, capacity):
    out = np.zeros(len(demand))
    left = capacity
    for i in range(len(demand)):
        if demand[i] > left:
            out[i] = left
            left = 0.0
            break
        out[i] = demand[i]
        left -= demand[i]
    return out * np.arange(1, len(demand) + 1) + left


@programs((0.53, 0.9, 3), (0.53, 0.9, 9))
def extremum_seeking(x, gain, n):
    step, last = 0.2, -10.0
    for _ in range(n):
        value = -((x - 2.0) ** 2) * gain
        if value < last:
            step = -0.5 * step
        last = value
        x += step
    return x * gain + last


@programs((vec(2), 0.3, 2), (vec(5), 0.3, 4))
def consensus(x, w, steps):
    x = x.copy()
    for _ in range(steps):
        total = np.zeros(len(x))
        for i in range(len(x)):
            for j in (i - 1, i + 1):
                if 0 <= j < len(x):
                    total[i] += x[j] - x[i]
        x += w * total
    return np.sum((x - np.mean(x)) ** 2)
