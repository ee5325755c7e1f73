"""Programs of many kinds, each with arguments on both sides of a decision."""

from __future__ import annotations

import bisect
import collections
import contextlib
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import re
import statistics
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np


@dataclasses.dataclass
class Ball:
    centre: float
    radius: float
    shine: float


def chosen_object(x, shine):
    balls = [Ball(0.0, 1.0, shine), Ball(1.5, 0.7, 0.2), Ball(-1.0, 0.5, x)]
    nearest, seen = None, math.inf
    for ball in balls:
        square = ball.radius**2 - (x - ball.centre) ** 2
        if square > 0 and (depth := 4 - math.sqrt(square)) < seen:
            nearest, seen = ball, depth
    assert isinstance(Ball, type) and type(Ball) is type
    lit = dataclasses.replace(nearest, shine=nearest.shine * 2)
    return dataclasses.astuple(lit)[2] * seen + lit.radius


@contextlib.contextmanager
def scaled(factors, by):
    factors.append(factors[-1] * by)
    yield factors[-1]
    factors.pop()


def within_contexts(x, y):
    factors, total = [1.0], 0.0
    with scaled(factors, x) as outer:
        total += outer**2
        with scaled(factors, max(x, y)) as inner:
            total += math.sin(inner)
    return total * factors[-1] + y


def bellman_ford(w, extra):
    edges = [(0, 1, w[0]), (1, 2, w[1]), (0, 2, w[2]), (2, 3, w[3] + extra), (1, 3, w[0] * w[1])]
    best = {0: 0.0}
    for _ in range(4):
        for a, b, c in edges:
            if a in best and best[a] + c < best.get(b, float("inf")):
                best[b] = best[a] + c
    return best[3] ** 2 + best[2]


def floyd_warshall(d, s):
    n = len(d)
    best = [[d[i, j] * s if i != j else 0.0 for j in range(n)] for i in range(n)]
    for k, i, j in itertools.product(range(n), repeat=3):
        best[i][j] = min(best[i][j], best[i][k] + best[k][j])
    return sum(x * (i + 1) for i, row in enumerate(best) for x in row)


def spanning_tree(x, y):
    points = [(0.0, 0.0), (x, 1.0), (1.0, y), (x + y, 0.3)]
    parent = list(range(4))

    def find(k):
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    pairs = itertools.combinations(range(4), 2)
    total = 0.0
    for d, i, j in sorted((math.dist(points[i], points[j]), i, j) for i, j in pairs):
        if (a := find(i)) != (b := find(j)):
            parent[a] = b
            total += d
    return total


def page_rank(links, damping):
    rank = dict.fromkeys("abc", 1.0 / 3)
    out = {"a": "bc", "b": "c", "c": "a"}
    for _ in range(60):
        new = dict.fromkeys(rank, (1 - damping) / 3)
        for k, targets in out.items():
            for j, t in enumerate(targets):
                share = links if j == 0 and len(targets) > 1 else 1 - links if j else 1.0
                new[t] += damping * rank[k] * share
        change = max(abs(new[k] - rank[k]) for k in rank)
        rank = new
        if change < 1e-10:
            break
    return rank["c"] * 3 + rank["b"]


def round_robin(a, b, c):
    jobs, clock, done = deque([["a", a], ["b", b], ["c", c]]), 0.0, OrderedDict()
    while jobs:
        name, left = jobs.popleft()
        step = min(left, 0.8)
        clock += step
        if left - step > 1e-12:
            jobs.append([name, left - step])
        else:
            done[name] = clock
    return sum(t * (k + 1) for k, t in enumerate(done.values()))


def priorities(lengths, aging):
    queue = [(-p, k) for k, p in enumerate([1.0, 3.0, 2.0])]
    heapq.heapify(queue)
    clock, cost = 0.0, 0.0
    while queue:
        p, k = heapq.heappop(queue)
        clock += lengths[k]
        cost += clock * (-p)
        queue = [(q - aging * lengths[k] * (j + 1), j) for q, j in queue]
        heapq.heapify(queue)
    return cost


def calculator(x, y):
    tokens = re.findall(r"[a-z]+|\d+\.?\d*|[-+*/()]", "3*x+(y-2)*x/(1+y*y)-x*x*y")
    names = {"x": x, "y": y}
    place = 0

    def peek():
        return tokens[place] if place < len(tokens) else None

    def take():
        nonlocal place
        place += 1
        return tokens[place - 1]

    def atom():
        token = take()
        if token == "(":
            value = expression()
            take()
            return value
        return names[token] if token in names else float(token)

    def term():
        value = atom()
        while peek() in ("*", "/"):
            value = value * atom() if take() == "*" else value / atom()
        return value

    def expression():
        value = term()
        while peek() in ("+", "-"):
            value = value + term() if take() == "+" else value - term()
        return value

    return expression() + (1.0 if x > y else 2 * x)


def stack_machine(x, y):
    program = [
        "x",
        "dup",
        "mul",
        "y",
        "add",
        "dup",
        "1",
        "lt",
        "if",
        "neg",
        "else",
        "2",
        "mul",
        "then",
        "x",
        "mul",
    ]
    stack, k = [], 0
    binary = {"mul": operator.mul, "add": operator.add, "lt": operator.lt}
    while k < len(program):
        match program[k]:
            case "dup":
                stack.append(stack[-1])
            case "neg":
                stack.append(-stack.pop())
            case "if":
                if not stack.pop():
                    k = program.index("else")
            case "else":
                k = program.index("then")
            case "then":
                pass
            case op if op in binary:
                b, a = stack.pop(), stack.pop()
                stack.append(binary[op](a, b))
            case name:
                stack.append({"x": x, "y": y}.get(name) if name in "xy" else float(name))
        k += 1
    return stack.pop()


class Agent:
    count = 3

    def __init__(self, wealth, mood="calm"):
        self.wealth, self.mood = wealth, mood

    @property
    def rich(self):
        return self.wealth > 1.0

    def trade(self, other, rate):
        gift = rate * (self.wealth - other.wealth) if self.rich else 0.01 * self.wealth
        self.wealth -= gift
        other.wealth += gift
        self.mood = "glad" if gift < 0.1 else "sad"


class Trader(Agent):
    def trade(self, other, rate):
        super().trade(other, rate * 1.5)
        self.wealth *= 1.01 if self.mood == "sad" else 0.99


def market(w, rate):
    agents = [Agent(w), Trader(0.5 * w), Agent(0.8), Trader(1.2)]
    for day in range(5):
        for i, a in enumerate(agents):
            a.trade(agents[(i + day + 1) % 4], rate)
    return sum(a.wealth**2 for a in agents if a.mood != "lost")


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s)

    __rmul__ = __mul__

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __abs__(self):
        return math.sqrt(self @ self)

    def __lt__(self, o):
        return abs(self) < abs(o)


def vectors(a, b):
    vs = [Vec(a, b), 2.0 * Vec(b, 1.0), Vec(1.0, a) + Vec(b, b)]
    longest = max(vs)
    return longest @ vs[0] + abs(sorted(vs)[0])


class Number:
    """Dual-like numbers with operators of their own."""

    def __init__(self, value, weight=1.0):
        self.value, self.weight = value, weight

    def __add__(self, other):
        other = other if isinstance(other, Number) else Number(other)
        return Number(self.value + other.value, self.weight * other.weight)

    __radd__ = __add__

    def __pow__(self, n):
        return Number(self.value**n, self.weight * n)

    def __float__(self):
        return self.value

    def __bool__(self):
        return self.value > 0


def operators(x, y):
    total = sum([Number(x), Number(y) ** 2, Number(x * y)])
    return total.value * total.weight if total else total.value * y


def running(x, y):
    def values():
        state = x
        while True:
            received = yield state
            state = state * y + (received or 0.0)

    walk = values()
    total = next(walk)
    for k in range(5):
        total += walk.send(0.1 * k if total < 2 else None)
    return total


def pipeline(x, y):
    def powers(base):
        for k in itertools.count():
            yield base**k

    def chained():
        yield from itertools.islice(powers(x), 4)
        yield from itertools.takewhile(lambda v: v > 0.1, powers(y))

    return sum(itertools.accumulate(chained(), operator.add)) / 3


class Found(Exception):  # noqa: N818
    def __init__(self, value):
        self.value = value


def search(x, y):
    def walk(depth, total):
        if depth == 6 or total > 3.0:
            raise Found(total * x)
        walk(depth + 1, total + y)

    try:
        walk(0, x)
    except Found as found:
        return found.value + y
    return 0.0


def fallbacks(x, y):
    total = 0.0
    for f in (lambda: math.log(x), lambda: math.acos(y), lambda: x / (y - y + (0 if y > 5 else 1))):
        try:
            total += f()
        except (ValueError, ZeroDivisionError) as error:
            total += len(str(error)) * 0.01 * x * y
        else:
            total += 0.5 * y
    return total


def simpson(a, b):
    def f(t):
        return math.exp(-a * t * t) + math.sin(3 * b * t)

    def rule(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    def adapt(lo, hi, whole, tol):
        mid = (lo + hi) / 2
        left, right = rule(lo, mid), rule(mid, hi)
        if abs(left + right - whole) < tol:
            return left + right + (left + right - whole) / 15
        return adapt(lo, mid, left, tol / 2) + adapt(mid, hi, right, tol / 2)

    return adapt(0.0, b, rule(0.0, b), 1e-5)


def bracketed(a, b):
    def f(t):
        return t**3 + a * t - b

    lo, hi = -4.0, 4.0
    for _ in range(10):
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if f(mid) < 0 else (lo, mid)
    t = 0.5 * (lo + hi)
    for _ in range(6):
        t = t - f(t) / (3 * t * t + a)
    return t * a


def secant(a, b):
    f = lambda t: math.exp(t) - a - b * t
    t0, t1, count = 3.0, 2.5, 0
    while abs(t1 - t0) > 1e-13 and count < 50 and f(t1) != f(t0):
        t0, t1 = t1, t1 - f(t1) * (t1 - t0) / (f(t1) - f(t0))
        count += 1
    return t1 * t1


def edit_distance(x, y):
    a, b = "kitten", "sitting"
    cost = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                cost[i, j] = i * x + j * y
                continue
            same = 0.0 if a[i - 1] == b[j - 1] else x * y + 0.3
            options = [cost[i - 1, j] + x, cost[i, j - 1] + y, cost[i - 1, j - 1] + same]
            cost[i, j] = min(options)
    return cost[len(a), len(b)] ** 2


def knapsack(values, scale):
    weights, best = [2, 3, 4], {0: 0.0}
    for w, v in zip(weights, values, strict=True):
        for room, total in list(best.items()):
            new = room + w
            if new <= 6 and total + v * scale > best.get(new, -1.0):
                best[new] = total + v * scale
    return max(best.values()) ** 2


def viterbi(p, q):
    states, seen = ("sun", "rain"), ["walk", "shop", "walk", "clean"]
    move = {"sun": {"sun": p, "rain": 1 - p}, "rain": {"sun": 0.4, "rain": 0.6}}
    rain = {"walk": 0.1, "shop": 0.4, "clean": 0.5}
    emit = {"sun": {"walk": q, "shop": 0.3, "clean": 0.1}, "rain": rain}
    best = {s: (math.log(0.5 * emit[s][seen[0]]), [s]) for s in states}
    for word in seen[1:]:
        best = {
            s: max(
                ((v + math.log(move[r][s] * emit[s][word]), [*way, s]) for r, (v, way) in best.items()),
                key=lambda pair: pair[0],
            )
            for s in states
        }  # fmt: skip
    score, way = max(best.values(), key=lambda pair: pair[0])
    return score + 0.1 * way.count("rain")


def traffic(speed, gap):
    state, log = "green", Counter()
    position = 0.0
    for tick in range(12):
        if tick % 3 == 2:
            state = {"green": "yellow", "yellow": "red", "red": "green"}[state]
        log[state] += 1
        move = speed if state == "green" else speed * 0.5 if state == "yellow" and gap > 1 else 0.0
        position += move * math.exp(-0.1 * gap)
    return position * log.most_common(1)[0][1]


class Heap:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)
        k = len(self.items) - 1
        while k and self.items[k] < self.items[(k - 1) // 2]:
            up = (k - 1) // 2
            self.items[k], self.items[up] = self.items[up], self.items[k]
            k = up

    def pop(self):
        top, last = self.items[0], self.items.pop()
        if self.items:
            self.items[0] = last
            k = 0
            while (c := 2 * k + 1) < len(self.items):
                if c + 1 < len(self.items) and self.items[c + 1] < self.items[c]:
                    c += 1
                if not self.items[c] < self.items[k]:
                    break
                self.items[k], self.items[c] = self.items[c], self.items[k]
                k = c
        return top


def heap(x, y):
    h = Heap()
    for k in range(6):
        h.push(math.sin(x * k) + y * (k % 2))
    return sum(h.pop() * (k + 1) for k in range(6))


def search_tree(x, y):
    root = None

    def insert(node, key):
        if node is None:
            return {"key": key, "left": None, "right": None}
        side = "left" if key < node["key"] else "right"
        node[side] = insert(node[side], key)
        return node

    for k in range(5):
        root = insert(root, math.cos(k * x) * y)

    def depth(node, level):
        if node is None:
            return 0.0
        left, right = depth(node["left"], level + 1), depth(node["right"], level + 2)
        return level * node["key"] + left + right

    return depth(root, 1)


def huffman(p, q):
    parts = [(p, 0), (q, 1), (0.3 * p, 2), (q * p, 3)]
    heapq.heapify(parts)
    cost, count = 0.0, 4
    while len(parts) > 1:
        (a, _), (b, _) = heapq.heappop(parts), heapq.heappop(parts)
        cost += a + b
        heapq.heappush(parts, (a + b, count))
        count += 1
    return cost


def masks(a, t):
    b = a.copy()
    b[b > t] *= 0.5
    b[b < 0] = -(b[b < 0] ** 2)
    keep = (b > 0.1) & (a < 2 * t)
    return b[keep].sum() * t + b.max() + np.count_nonzero(keep)


def fancy(a, t):
    order = np.argsort(a)
    ranks = np.empty(len(a), int)
    ranks[order] = np.arange(len(a))
    b = a[order][[0, -1, 1]] * t
    b[[0, 1]] += a[ranks[:2]]
    grid = np.outer(b, a)[np.ix_([0, 2], [1, 0])]
    return float(np.sum(grid * np.array([[1.0, 2.0], [3.0, 4.0]])))


def views(m, t):
    a = m * 1.0
    a[1:, :] -= t * a[:-1, :]
    diagonal = np.einsum("ii->i", a)
    diagonal += 1.0
    a.T[0][a.T[0] > 0.5] = t
    flat = a.reshape(-1)
    flat[::2] *= 2.0
    return np.sum(a @ a.T) + a[-1, ::-1].dot(a[:, 0])


def solved(m, t):
    a = m @ m.T + t * np.eye(len(m))
    x = np.linalg.solve(a, m[:, 0])
    return float(x @ x) + np.linalg.norm(x, 1) + (np.linalg.det(a) if t > 1 else np.trace(a))


def newton_system(a, b):
    x = np.array([1.0, 1.0])
    for _ in range(20):
        r = np.array([x[0] ** 2 + a * x[1] - 2.0, x[0] - b * x[1] ** 2])
        j = np.array([[2 * x[0], a], [1.0, -2 * b * x[1]]])
        step = np.linalg.solve(j, r)
        x = x - step
        if np.max(np.abs(step)) < 1e-13:
            break
    return x[0] * x[1]


def hanoi(x, n_weight):
    pegs = {"a": [3, 2, 1], "b": [], "c": []}
    cost = 0.0

    def move(n, a, b, c):
        nonlocal cost
        if n == 0:
            return
        move(n - 1, a, c, b)
        disk = pegs[a].pop()
        pegs[c].append(disk)
        cost = cost * x + disk * n_weight
        move(n - 1, b, a, c)

    move(3, "a", "b", "c")
    return cost if cost < 20 else math.sqrt(cost)


def ackermann_like(x, y):
    @functools.cache
    def count(n, m):
        if n == 0 or m == 0:
            return x if n else y
        return count(n - 1, m) * 0.5 + count(n, m - 1) * (x if n > m else y)

    return count(4, 5) + (count.cache_info().hits > 3) * x


def folded(x, y):
    steps = [lambda s: s + y, lambda s: s * s, lambda s: s - x if s > 1 else s + x]
    compose = lambda f, g: lambda s: g(f(s))
    whole = functools.reduce(compose, steps * 2)
    return whole(x) + functools.reduce(lambda a, b: a * b + 1, [x, y, x], 1.0)


def products(x, y):
    pairs = itertools.product([x, y, x * y], repeat=2)
    kept = [a * b for a, b in pairs if a + b > 1.0]
    groups = itertools.groupby(sorted(kept), key=lambda v: v > 1.0)
    twos = sum(math.prod(c) for c in itertools.combinations([x, y, 2.0], 2))
    return sum((1 + flag) * sum(items) for flag, items in groups) + twos


def queues(x, y):
    window, totals = deque(maxlen=3), defaultdict(list)
    Point = collections.namedtuple("Point", "when size")
    for k in range(7):
        p = Point(k * x, math.sin(y * k))
        window.append(p.size)
        totals["up" if p.size > 0 else "down"].append(p._replace(size=sum(window) * p.when))
    chained = collections.ChainMap({"up": 2.0}, {"up": 3.0, "down": x})
    return sum(chained[k] * p.size for k, ps in totals.items() for p in ps)


def summary(x, y):
    data = [x, y, x * y, 1.0, x - y]
    middle = statistics.median(data)
    return statistics.mean(data) + middle**2 + statistics.fmean(data) + statistics.pvariance(data)


def thresholds(x, y):
    levels = [0.0, 0.5, 1.0, 2.0]
    rates = [0.1, 0.2, 0.3, 0.4, 0.5]
    where = bisect.bisect_right(levels, x)
    own = [y, 2 * y, 4 * y]
    bisect.insort(own, x)
    return x * rates[where] + own[1] * own[2] + own.index(x)


def life(x, y):
    cells = {(0, 0): x, (0, 1): y, (1, 0): x * y}
    for _ in range(3):
        new = defaultdict(float)
        for (i, j), v in cells.items():
            for di, dj in ((0, 1), (1, 0), (0, -1)):
                new[i + di, j + dj] += v * 0.4
        cells = {k: v for k, v in new.items() if v > 0.05}
    return sum(v * (i + 2 * j + 1) for (i, j), v in cells.items())


class Account:
    rates = {"basic": 0.02, "gold": 0.05}  # noqa: RUF012

    def __init__(self, balance):
        self.balance, self.history = balance, []

    def __enter__(self):
        self.history.append(self.balance)
        return self

    def __exit__(self, *error):
        self.balance -= 0.1
        return error[0] is KeyError

    def grow(self, kind):
        self.balance *= 1 + self.rates[kind]

    def __getattr__(self, name):
        return self.history[-1] if name == "last" else None

    def __len__(self):
        return len(self.history)

    def __getitem__(self, k):
        return self.history[k]

    def __call__(self, x):
        return self.balance * x


def accounts(x, y):
    account = Account(x)
    for kind in ("basic", "gold" if x > y else "none", "gold"):
        with account:
            account.grow(kind)
            account.balance += y
    return account(y) + account.last * len(account) + sum(account)


def polynomials(x, y):
    p = np.array([1.0, x, y])
    q = np.convolve(p, [x, -1.0])
    values = np.polyval(q, np.array([0.5, 1.5]))
    return np.where(values > 0, values**2, -values).sum() + np.cumsum(q)[2] + np.diff(q)[0]


def statistics_of_arrays(a, t):
    z = (a - a.mean()) / (a.std() + t)
    top = np.partition(z, -2)[-2:] if t > 10 else np.sort(z)[-2:]
    return np.clip(z, -1.0, t).sum() + top @ top + np.percentile(a, 25) + np.median(a) * np.ptp(a)


def stacked(a, t):
    rows = np.vstack([a, a[::-1] * t, np.roll(a, 1)])
    wide = np.hstack([rows, rows.T[: len(rows), : len(rows)]])
    pieces = np.array_split(wide.sum(axis=0)[:6], 2)
    return np.tensordot(pieces[0], pieces[1], 1) + rows.max(axis=1).min() + np.prod(rows[:, 0])


M = np.array([[0.6, -0.3, 0.2], [0.1, 0.8, 0.4], [0.3, 0.2, -0.5]])
A = np.array([0.4, 1.3, -0.7, 2.1])
D = np.array([[0.0, 1.0, 4.0], [1.1, 0.0, 1.7], [3.0, 0.6, 0.0]])

FAST = {
    bellman_ford: [(np.array([1.0, 0.5, 2.0, 0.4]), 0.1), (np.array([1.0, 1.6, 2.0, 0.4]), 0.1), (np.array([1.0, 0.2, 0.3, 1.4]), 0.7)],
    floyd_warshall: [(D, 1.0), (D.T.copy(), 2.0), (D + 1.0 - np.eye(3), 0.5)],
    spanning_tree: [(0.7, 1.9), (2.0, 0.4), (-1.0, 1.1)],
    page_rank: [(0.3, 0.85), (0.7, 0.5), (0.9, 0.2)],
    round_robin: [(1.1, 2.3, 0.5), (0.3, 0.9, 1.9), (2.5, 0.2, 0.4)],
    priorities: [(np.array([1.0, 2.0, 0.5]), 0.1), (np.array([1.0, 2.0, 0.5]), 1.7), (np.array([0.1, 3.0, 0.9]), 0.4)],
    calculator: [(1.5, 0.7), (0.3, 0.7), (-1.0, 2.0)],
    stack_machine: [(0.3, 0.4), (1.3, 0.4), (-0.5, -1.0)],
    market: [(1.5, 0.1), (0.7, 0.2), (3.0, 0.05)],
    vectors: [(0.3, 0.9), (2.0, -0.5), (-1.0, 1.5)],
    operators: [(0.5, 1.2), (-0.9, 0.4), (2.0, -0.3)],
    running: [(0.5, 0.6), (1.5, 0.9), (-1.0, 1.2)],
    pipeline: [(0.7, 0.5), (1.2, 0.8), (-0.4, 0.3)],
    search: [(0.5, 0.9), (0.2, 0.3), (2.9, 0.4)],
    fallbacks: [(0.5, 0.3), (-0.5, 0.3), (2.0, 6.0)],
    bracketed: [(1.0, 2.0), (0.3, -1.0), (2.5, 0.7)],
    secant: [(2.0, 1.0), (4.0, 0.5), (1.5, 2.0)],
    knapsack: [(np.array([3.0, 4.0, 5.5]), 1.0), (np.array([3.0, 1.0, 1.5]), 2.0), (np.array([1.0, 4.0, 0.5]), 0.6)],
    viterbi: [(0.7, 0.6), (0.3, 0.2), (0.9, 0.5)],
    traffic: [(1.2, 0.5), (0.7, 1.5), (2.0, 3.0)],
    heap: [(0.9, 0.4), (2.3, -0.7), (0.2, 1.5)],
    search_tree: [(0.7, 1.0), (2.1, -0.5), (1.4, 2.0)],
    huffman: [(0.4, 0.3), (1.5, 0.2), (0.2, 2.0)],
    masks: [(A, 0.9), (A, 1.6), (-A, 0.3)],
    fancy: [(A, 0.9), (-A, 1.6), (A[::-1].copy(), 0.3)],
    views: [(M, 0.7), (-M, 0.4), (M.T.copy(), 1.5)],
    solved: [(M, 0.7), (M, 1.4), (M.T.copy(), 0.3)],
    newton_system: [(0.7, 1.1), (1.5, 0.6), (0.2, 2.0)],
    hanoi: [(0.9, 1.0), (1.5, 2.0), (-0.6, 0.7)],
    ackermann_like: [(0.5, 0.9), (1.5, -0.3), (0.2, 0.1)],
    folded: [(0.5, 0.7), (1.4, -0.3), (-0.6, 0.2)],
    products: [(0.6, 0.9), (1.7, 0.3), (0.3, 2.5)],
    queues: [(0.5, 0.9), (1.2, 2.1), (-0.4, 0.3)],
    summary: [(0.5, 0.9), (1.7, 2.1), (-0.4, 0.3)],
    thresholds: [(0.3, 0.4), (1.6, 0.5), (2.5, 0.2)],
    life: [(0.9, 0.4), (0.3, 0.3), (2.0, 0.1)],
    accounts: [(1.0, 0.4), (0.3, 0.9), (2.0, 1.5)],
    polynomials: [(0.6, 0.9), (-1.2, 0.3), (2.1, -1.5)],
    statistics_of_arrays: [(A, 0.3), (-A, 1.6), (A[::-1] * 0.5, 11.0)],
    chosen_object: [(0.3, 0.4), (1.2, 0.7), (-1.2, 0.5)],
    within_contexts: [(0.3, 0.4), (1.2, 0.7), (-1.2, 0.5)],
    stacked: [(A, 0.3), (-A, 1.6), (A * 0.5, 2.0)],
}  # fmt: skip
LONG = {
    simpson: [(1.0, 1.2), (4.0, 2.0), (0.3, 0.6)],
    edit_distance: [(1.0, 1.1), (0.4, 0.7), (2.0, 0.3)],
}  # fmt: skip
