"""State machines: thermostats, hysteresis, debouncing, refractory neurons, bouncing balls."""

import numpy as np

from tests.numerics.cases import Programs, vec

programs = Programs()


@programs((18.2, 0.53, 3), (18.2, 0.53, 30))
def thermostat(temp, power, n):
    on = False
    for _ in range(n):
        if temp < 19.0:
            on = True
        elif temp > 21.0:
            on = False
        temp += (power if on else 0.0) - 0.03 * (temp - 10.0)
    return temp


@programs((vec(3, 15, 25), 1.5), (vec(12, 15, 25), 1.5))
def thermostat_energy(outside, power):
    temp, heating, used = 20.0, 0, 0.0
    for t in outside:
        if heating == 0 and temp < 19.5:
            heating = 1
        elif heating == 1 and temp > 20.5:
            heating = 0
        used += heating * power
        temp += 0.3 * (t - temp) + heating * power * 0.5
    return used + temp**2


@programs((vec(3, -1, 1), 0.3), (vec(12, -1, 1), 0.3))
def hysteresis(x, width):
    out, state = np.zeros(len(x)), -1.0
    for i, v in enumerate(x):
        if v > width:
            state = 1.0
        elif v < -width:
            state = -1.0
        out[i] = state * v
    return out


@programs((vec(3, -1, 1), 0.37), (vec(9, -1, 1), 0.37))
def play_operator(x, r):
    y, total = 0.0, 0.0
    for v in x:
        if v - y > r:
            y = v - r
        elif v - y < -r:
            y = v + r
        total += y * y
    return total


@programs((vec(4, -1, 1), 0.7), (vec(14, -1, 1), 0.7))
def debounce(x, gain):
    state, count, total = 0, 0, 0.0
    for v in x:
        raw = 1 if v > 0 else 0
        if raw != state:
            count += 1
            if count >= 2:
                state, count = raw, 0
        else:
            count = 0
        total += gain * v if state else -v
    return total


@programs((vec(3, 0, 3), 4.3), (vec(14, 0, 3), 4.3))
def refractory(current, tau):
    v, last, spikes, total = 0.0, -10, 0, 0.0
    for k in range(len(current)):
        if k - last < 2:
            v = 0.0
            continue
        v = v + 0.3 * (current[k] - v / tau)
        if v > 0.9:
            spikes += 1
            last = k
            total += v
    return total + v + spikes


@programs((1.3, 0.11, 4), (1.3, 0.11, 40))
def integrate_and_fire(i, dt, n):
    v, spikes = 0.0, []
    for k in range(n):
        v += dt * (i - v)
        if v > 0.97:
            spikes.append(v * (k + 1))
            v = 0.0
    return v + sum(spikes)


@programs((vec(3, 0, 4), 0.9), (vec(12, 0, 4), 0.9))
def adaptive_threshold(x, decay):
    v, theta, out = 0.0, 1.0, np.zeros(len(x))
    for k in range(len(x)):
        v = decay * v + 0.3 * x[k]
        if v > theta:
            out[k] = v - theta
            v -= theta
            theta += 0.4
        theta = 1.0 + (theta - 1.0) * 0.9
    return np.sum(out) + v * theta


@programs((1.0, 0.0, 0.023, 5), (1.0, 0.0, 0.023, 40))
def bouncing_ball(y, v, dt, n):
    bounces = 0
    for _ in range(n):
        v -= 9.81 * dt
        y += v * dt
        if y < 0:
            y, v = -y, -0.8 * v
            bounces += 1
    return y + 0.1 * v + bounces


@programs((0.53, 1.17, 3), (0.53, 1.17, 25))
def ball_in_a_box(x, v, n):
    path = [x]
    for _ in range(n):
        x += 0.31 * v
        if x > 1.0:
            x, v = 2.0 - x, -0.9 * v
        elif x < 0.0:
            x, v = -x, -0.9 * v
        path.append(x)
    return sum(p * p for p in path)


@programs((1.03, 0.81, 2), (1.03, 0.81, 6))
def flight_times(h, e, n):
    t, v = np.sqrt(2 * h / 9.81), np.sqrt(2 * 9.81 * h)
    for _ in range(n):
        v *= e
        if v < 1.0:
            break
        t += 2 * v / 9.81
    return t


@programs((vec(3, -1, 1),), (vec(11, -1, 1),))
def zero_crossings(x):
    last, total, count = x[0], 0.0, 0
    for i in range(1, len(x)):
        if last * x[i] < 0:
            total += i - 1 + last / (last - x[i])
            count += 1
        last = x[i]
    return total if count > 0 else 0.0


@programs((vec(3), 0.4), (vec(12), 0.4))
def traffic_light(flow, rate):
    phase, timer, queue, waited = 0, 0, 0.0, 0.0
    for f in flow:
        queue += f
        if phase == 1:
            queue = max(queue - 2.0 * rate, 0.0)
        timer += 1
        if timer >= (3 if phase == 0 else 2):
            phase, timer = 1 - phase, 0
        waited += queue
    return waited


@programs((vec(3, 0, 1), 0.6), (vec(14, 0, 1), 0.6))
def three_states(x, gain):
    state, y = "idle", 0.0
    for v in x:
        if state == "idle":
            if v > 0.5:
                state = "rise"
        elif state == "rise":
            y += gain * v
            if v < 0.3:
                state = "fall"
        else:
            y -= 0.5 * gain * v
            if y < 0.2:
                state = "idle"
    return y


@programs((vec(3, 0, 2), 3.1), (vec(12, 0, 2), 3.1))
def tank_overflow(inflow, volume):
    level, spilled, out = 0.5, 0.0, []
    for q in inflow:
        level += q - 0.4 * np.sqrt(level)
        if level > volume:
            spilled += level - volume
            level = volume
        out.append(level)
    return spilled + out[-1] ** 2


@programs((0.31, 0.72, 3), (0.31, 0.72, 30))
def stick_slip(x, v, n):
    slips, stuck, pos = 0, True, 0.0
    for _ in range(n):
        pos += 0.1 * v
        force = 2.0 * (pos - x)
        if stuck and force > 0.55:
            stuck = False
            slips += 1
        if not stuck:
            x += 0.3 * (force - 0.2)
            if force < 0.25:
                stuck = True
    return x + slips


@programs((vec(3, -1, 1), 0.1), (vec(12, -1, 1), 0.1))
def dead_zone_counter(x, zone):
    total, count = 0.0, np.zeros(3)
    for v in x:
        if abs(v) < zone:
            count[1] += 1
        elif v > 0:
            count[2] += 1
            total += v - zone
        else:
            count[0] += 1
            total += v + zone
    return total * (1 + count[2]) - count[0]


@programs((2.2, 1.3, 0.09, 3), (2.2, 1.3, 0.09, 40))
def impact_oscillator(x, k, dt, n):
    v, hits = 0.0, 0
    for _ in range(n):
        v -= dt * k * x
        x += dt * v
        if x < -0.7 and v < 0:
            v = -0.6 * v
            x = -1.4 - x
            hits += 1
    return x * x + v * v + hits


@programs((vec(3), 2), (vec(10), 3))
def watchdog(x, limit):
    silent, alarms, level = 0, 0, 0.0
    for k in range(len(x)):
        if x[k] < 0.8:
            silent += 1
        else:
            silent = 0
            level = 0.5 * level + x[k]
        if silent >= limit:
            alarms += 1
            level = 0.0
            silent = 0
    return level + 10 * alarms + x[-1]


@programs((vec(3, 0, 1), 0.3), (vec(10, 0, 1), 0.3))
def schmitt_edges(x, low):
    high, edges, widths, start = False, 0, [], 0.0
    for i in range(len(x)):
        if not high and x[i] > 0.6:
            high, start = True, i + x[i]
            edges += 1
        elif high and x[i] < low:
            high = False
            widths.append(i + x[i] - start)
    return sum(widths, 0.0) + edges


@programs((0.2, 1.6, 3), (0.2, 1.6, 25))
def relay_feedback(y, gain, n):
    u, flips = 1.0, 0
    for _ in range(n):
        y = 0.8 * y + 0.2 * gain * u
        if u > 0 and y > 0.7:
            u = -1.0
            flips += 1
        elif u < 0 and y < -0.7:
            u = 1.0
            flips += 1
    return y * (1 + flips)


@programs((vec(3, 0, 1), vec(3, 0, 1, 1)), (vec(9, 0, 1), vec(9, 0, 1, 1)))
def latch(s, r):
    q, out = 0.0, np.empty(len(s))
    for i in range(len(s)):
        if s[i] > 0.5 and r[i] <= 0.5:
            q = s[i]
        elif r[i] > 0.5:
            q = 0.0
        out[i] = q + 0.1 * r[i]
    return out


@programs((1.1, 4), (1.1, 25))
def battery(load, n):
    charge, mode, log = 0.6, 0, np.zeros(n)
    for k in range(n):
        if mode == 0:
            charge -= 0.07 * load
            if charge < 0.2:
                mode = 1
        else:
            charge += 0.11
            if charge > 0.9:
                mode = 0
        log[k] = charge
    return np.sum(log**2)


@programs((vec(3), 0.5), (vec(10), 0.5))
def peak_hold(x, decay):
    hold, age, total = 0.0, 0, 0.0
    for v in x:
        if v > hold:
            hold, age = v, 0
        else:
            age += 1
            if age > 2:
                hold *= decay
        total += hold
    return total


@programs((0.41, 0.23, 3), (0.41, 0.23, 40))
def gear_box(throttle, drag, n):
    speed, gear = 0.1, 1
    ratios = [3.0, 2.0, 1.3]
    for _ in range(n):
        if speed > 0.55 * gear and gear < 3:
            gear += 1
        elif speed < 0.35 * (gear - 1):
            gear -= 1
        speed += 0.1 * (throttle * ratios[gear - 1] - drag * speed)
    return speed + gear
