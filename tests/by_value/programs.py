"""Programs that need Python whole, each with arguments on both sides of a decision."""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections import defaultdict, deque

import numpy as np


def arrivals(gap, work):
    """A queue of events with one server; a late customer comes if the server has been busy for long."""
    events, free, waited = [], 0.0, []
    for k in range(6):
        heapq.heappush(events, (gap * (k + 0.3 * (k % 2)), k))
    while events:
        time, k = heapq.heappop(events)
        begin = max(time, free)
        waited.append(begin - time)
        free = begin + work * (1.0 + 0.2 * (k % 3))
        if len(waited) == 3 and waited[-1] > 0.5:
            heapq.heappush(events, (free + 0.25 * gap, 9))
    return sum(waited) / len(waited) + free


def shortest(weights, toll):
    """Dijkstra's algorithm over a dict of edges."""
    edges = defaultdict(list)
    for (a, b), w in zip([(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4)], weights, strict=True):
        edges[a].append((b, w + toll))
    best, queue, done = {0: 0.0}, [(0.0, 0)], set()
    while queue:
        d, u = heapq.heappop(queue)
        if u in done:
            continue
        done.add(u)
        for v, w in edges[u]:
            if d + w < best.get(v, math.inf):
                best[v] = d + w
                heapq.heappush(queue, (best[v], v))
    return best[4] * best[3] + best[2]


def pile(heights, limit):
    """A sandpile that topples until it rests."""
    cells = list(heights)
    unstable = deque(k for k, h in enumerate(cells) if h > limit)
    while unstable:
        k = unstable.popleft()
        if cells[k] <= limit:
            continue
        moved = 0.5 * (cells[k] - 0.5 * limit)
        cells[k] -= 2.0 * moved
        for j in (k - 1, k + 1):
            if 0 <= j < len(cells):
                cells[j] += 0.7 * moved
                if cells[j] > limit:
                    unstable.append(j)
    return sum((k + 1) * h * h for k, h in enumerate(cells))


def table(x, y):
    """A recursion with a memo table, whose keys are pairs of an integer and a number."""
    known = {}

    def value(n, t):
        if n < 2:
            return t if t > 0.5 else 0.25 * t
        if (n, t) not in known:
            known[n, t] = value(n - 1, t) * y + value(n - 2, t * 0.5)
        return known[n, t]

    return value(7, x) + len(known)


def adaptive(rate, start):
    """Steps that adapt, kept in lists."""
    t, y, h, times, states = 0.0, start, 0.2, [0.0], [start]
    while t < 1.0:
        h = min(h, 1.0 - t)
        slope = -rate * y
        rough, fine = y + h * slope, y + h * (slope - rate * (y + h * slope)) / 2
        error = abs(fine - rough)
        if error < 2e-3 or h < 1e-3:
            t, y = t + h, fine
            times.append(t)
            states.append(y)
        h = h * min(2.0, max(0.3, 0.9 * (2e-3 / (error + 1e-12)) ** 0.5))
    parts = zip(times, times[1:], states, states[1:], strict=False)
    return sum((b - a) * (p + q) / 2 for a, b, p, q in parts)


def machine(p, q):
    """A machine whose states are strings, and a log of them."""
    state, score, log = "idle", 1.0, ""
    moves = {"run": lambda s: s * q + 0.1, "stop": lambda s: s - p * q}
    for _ in range(8):
        if state == "idle":
            state = "run" if score * p < 0.5 else "stop"
            score = score * (1 + p)
        else:
            score = moves[state](score)
            state = "idle" if state == "run" else "run"
        log += f"{state[0]}{score:.1f};"
    return score * log.count("r") + len(log)


class Node:
    def value(self):
        raise NotImplementedError


class Leaf(Node):
    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x


class Split(Node):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def value(self):
        a, b = self.left.value(), self.right.value()
        return math.sin(a) * b if a > b else a + b * b


def tree(x, y, z):
    """Objects of classes, evaluated by their methods."""
    items = [Leaf(x), Leaf(y), Leaf(z), Leaf(x * z)]
    while len(items) > 1:
        items = [Split(a, b) for a, b in zip(items[::2], items[1::2], strict=True)]
    return items[0].value()


@dataclasses.dataclass
class Tank:
    level: float
    name: str


def roots(x, y):
    """Exceptions that decide."""
    found = []
    for sign in (1.0, -1.0, 0.5):
        try:
            found.append(math.sqrt(sign * x) * y)
        except ValueError:
            found.append(x * y * sign)
        finally:
            y = y + 0.1
    return sum(found)


def sweeps(matrix, shift):
    """Arrays with views, changes in place, and a loop that ends by a norm."""
    a = matrix + shift * np.eye(len(matrix))
    x = np.ones(len(matrix))
    history = []
    while len(history) < 30:
        before = x.copy()
        for i in range(len(x)):
            row = a[i]
            x[i] = (1.0 - row @ x + row[i] * x[i]) / row[i]
        history.append(np.linalg.norm(x - before))
        if history[-1] < 1e-3:
            break
    return float(len(history)) * 0.0 + np.sum(x * x)


MATRIX = np.array([[0.5, 0.2, 0.1], [0.3, 0.4, 0.2], [0.1, 0.1, 0.6]])
WEIGHTS = np.array([1.0, 2.5, 3.0, 1.2, 0.7, 1.1])

PROGRAMS = {
    arrivals: [(1.0, 0.7), (1.0, 1.4), (0.6, 0.9)],
    shortest: [(WEIGHTS, 0.1), (WEIGHTS[::-1].copy(), 0.1), (WEIGHTS, 2.0)],
    pile: [(np.array([0.2, 1.7, 0.3, 0.9]), 1.0), (np.array([0.2, 0.7, 0.3]), 1.0), (np.array([2.3, 0.1]), 0.8)],
    table: [(0.9, 1.2), (0.4, 1.2), (2.5, 0.3)],
    adaptive: [(1.3, 0.4), (4.0, 1.0), (0.2, -1.0)],
    machine: [(0.3, 0.6), (0.7, 0.6), (0.05, 1.1)],
    tree: [(0.3, 1.2, 0.8), (1.5, 0.2, 0.8), (-0.4, 0.3, 1.9)],
    roots: [(0.5, 2.0), (-0.5, 2.0), (3.0, -1.0)],
    sweeps: [(MATRIX, 1.0), (MATRIX, 4.0), (MATRIX.T.copy(), 0.7)],
}  # fmt: skip
