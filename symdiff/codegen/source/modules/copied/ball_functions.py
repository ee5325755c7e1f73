"""What modules do with balls, those of python-flint or where that is missing `integer_balls`, of
which modules contain copies.

Before : x, a ball: a number that is only known to lie in an interval.
After  : `_ball_power(x, 1, 3)`, a ball that holds its cube root.
Ensures: as `interpret.flat` has it, everything is evaluated, what is undefined or not known is
         nan (a condition: None), and `_ball_where` drops the side that is not taken. So a
         finite ball is a proof.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math


def _ball(x, radius=0):
    """A ball around an integer, a double, or "nan"."""
    if flint is not None:
        return flint.arb(x, radius)
    return _Ball(x, radius) if radius else _ball_of(x)


def _power_of_2(k):
    """2**k."""
    return flint.arb(2) ** k if flint is not None else _Ball(1, 0, k)


_SPENT = [0]
"""Bits of the balls that were computed in this call."""


def _precision(bits):
    """Sets the precision of balls, and says what it was."""
    _SPENT[0] += bits
    if flint is not None:
        flint.ctx.prec, bits = bits, flint.ctx.prec
    else:
        _BITS[0], bits = bits, _BITS[0]
    return bits


def _ball_ratio(n, d):
    """A fraction."""
    return flint.arb(flint.fmpq(n, d)) if flint is not None else _Ball(n) / d


def _ball_less(x, y):
    """x < y, if that is certain."""
    return True if x < y else False if x >= y else None


def _ball_at_most(x, y):
    """x <= y, if that is certain."""
    return True if x <= y else False if x > y else None


def _ball_equal(x, y):
    """x == y, if that is certain."""
    return True if x == y else False if x != y else None


def _ball_double(x):
    """x beside an infinity: what rounds to one is one."""
    most = _power_of_2(1024) - _power_of_2(970)
    size = abs(x)
    if flint is None and x.r < 0 and x.m:
        return _Ball(x.m, 0, 1 << 70)
    if not size.is_finite() or size < most:
        return x
    if flint is None:
        return _Ball(1 if x > 0 else -1, 0, 1 << 70) if size >= most else _Ball(0, -1)
    return x.sgn() * flint.arb("inf") if size >= most else flint.arb("nan")


def _ball_not(p):
    """Not p."""
    return None if p is None else not p


def _ball_and(p, q):
    """p and q."""
    return False if p is False or q is False else True if p and q else None


def _ball_or(p, q):
    """p or q."""
    return True if p or q else False if p is False and q is False else None


def _ball_where(p, x, y):
    """x where p holds, else y."""
    return _ball("nan") if p is None else x if p else y


def _ball_pinned(h, value, closed):
    """What is given where h is 0, and a formula beside that: no branch that is decided."""
    return value if h.is_zero() else closed if h > 0 or h < 0 else _ball("nan")


def _ball_sign(x):
    return _ball(0) if x.is_zero() else _ball(1) if x > 0 else _ball(-1) if x < 0 else _ball(0, 1)


def _ball_copysign(x, y):
    return -abs(x) if y < 0 else abs(x) if y >= 0 else _ball("nan")


def _ball_root_slope(s):
    return s if s.is_zero() else 1 / (2 * s.sqrt())


def _ball_xlogy(u, x):
    return u if u.is_zero() else u * x.log()


def _ball_xlog1py(u, x):
    return u if u.is_zero() else u * x.log1p()


def _ball_sqrt(x):
    """The square root."""
    return x.sqrt()


def _ball_power(x, n, d):
    """x**(n/d)."""
    if x.is_zero() and n > 0:
        return _ball(0)
    return x.root(d) ** n if x > 0 and d <= 64 else _ball_pow(x, _ball_ratio(n, d))


def _ball_pow(x, y):
    """x**y over the reals."""
    if y.is_exact() and y.is_integer():
        n = int(y.unique_fmpz())
        if abs(n) < 1 << 20:
            return x**n
        if not x.is_zero():
            size = (y * abs(x).log()).exp()
            return size if n % 2 == 0 else size * _ball_sign(x)
    if x > 0:
        return (y * x.log()).exp()
    return _ball(0) if x.is_zero() and y > 0 else _ball("nan")


def _ball_near_0(x, value):
    """A function with |f(x)/x - 1| <= |x| near 0: of tiny arguments FLINT has few digits."""
    if flint is not None and x.abs_upper() < flint.arb(2) ** (-4 * flint.ctx.prec):
        return x * (1 + x * flint.arb(0, 1))
    return value


def _ball_expm1(x):
    return _ball_near_0(x, x.expm1())


def _ball_sinh(x):
    return _ball_near_0(x, x.sinh())


def _ball_tanh(x):
    return _ball_near_0(x, x.tanh())


def _ball_exp2(x):
    return (x * _ball_ln2()).exp()


def _ball_log2(x):
    return x.log() / _ball_ln2()


def _ball_log10(x):
    return x.log() / _ball_ln10()


def _ball_pi():
    return flint.arb.pi() if flint is not None else _integer_pi()


def _ball_ln2():
    return flint.arb.const_log2() if flint is not None else _integer_log2()


def _ball_ln10():
    return _ball(10).log()


def _ball_logaddexp(x, y):
    return x.max(y) + (-abs(x - y)).exp().log1p()


def _ball_cbrt(x):
    return x if x.is_zero() else x.root(3) if x > 0 else -((-x).root(3))


def _ball_unit(w, norm):
    """w/norm, and 0 where the norm is."""
    return norm if norm.is_zero() else w / norm


def _ball_hypot(x, y):
    return (x * x + y * y).sqrt()


def _ball_atan2(y, x):
    return flint.arb.atan2(y, x) if flint is not None else y.atan2(x)


def _ball_erfc(x):
    """By its ends where it falls so fast that the radius would say nothing else."""
    if x.is_exact() or not x > 100:
        return x.erfc()
    return x.upper().erfc().union(x.lower().erfc())


def _ball_lgamma(x):
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _ball_polygamma(n, x):
    order = int(n.unique_fmpz())
    if order == 0:
        return x.digamma()
    if x > 0:  # (-1)**(n+1) n! zeta(n+1, x)
        if flint is None:
            value = x.hurwitz(order + 1) * math.factorial(order)
        else:
            value = flint.arb(order + 1).zeta(x) * flint.arb(math.factorial(order))
        return value if order % 2 else -value
    if flint is None:
        return _ball("nan")
    z = flint.acb(x).polygamma(flint.acb(order))
    return z.real if z.imag.contains(0) else _ball("nan")


def _ball_sinc(x):
    return x.sinc_pi()


def _ball_maximum(x, y):
    return x.max(y)


def _ball_minimum(x, y):
    return x.min(y)


def _ball_larger(x, y):
    return x.max(y)


def _ball_smaller(x, y):
    return x.min(y)


def _ball_whole(x):
    """A step function is known only where the ball holds one integer."""
    return x if x.is_exact() else _ball("nan")


def _ball_floor(x):
    return _ball_whole(x.floor())


def _ball_ceil(x):
    return _ball_whole(x.ceil())


def _ball_trunc(x):
    return _ball_whole(x.floor() if x >= 0 else x.ceil())


def _ball_round(x):
    """Half to even."""
    low, high = (x + 0.5).floor(), (x - 0.5).ceil()
    if low.is_exact() and high.is_exact():
        return low if low == high or int(low.unique_fmpz()) % 2 == 0 else high
    return _ball("nan")


def _ball_fmod(x, y):
    return x - y * _ball_trunc(x / y)


def _rounded(ball):
    """The double nearest to the number in a ball, if that is certain."""
    if not ball.is_finite():
        return None
    low, high = float(ball.lower()), float(ball.upper())
    return low if low == high else None


_PRECISIONS = (128, 320, 800, 2000, 5000, 16000)
"""Bits of ball arithmetic, tried one after the other."""


def _exactly(balls, columns, point):
    """The values at a point, correctly rounded; None of those that are undefined or not decided."""
    found, before = [None] * len(columns), _precision(_PRECISIONS[0])
    try:
        for precision in _PRECISIONS[:4]:
            _precision(precision)
            results, _ = balls(lambda p: p, *map(_ball, point))
            found = [_rounded(results[c]) for c in columns]
            left = [results[c] for c, v in zip(columns, found) if v is None]
            if not left or (precision > 128 and not any(x.is_finite() for x in left)):
                break
    finally:
        _precision(before)
    return found


def _proven(balls, columns, point, values, otherwise=None):
    """The values, correctly rounded by ball arithmetic, or the limits of those that are undefined
    at the point; where there is none, `otherwise(balls, point)`, or what was given; and that where
    nothing is decided."""
    if not all(map(math.isfinite, point)):
        return values
    found, left = list(values), dict(enumerate(columns))
    before = _precision(_PRECISIONS[0])
    try:
        for precision in _PRECISIONS:
            _precision(precision)
            decisions = []
            results, divisors = balls(lambda p: decisions.append(p) or p, *map(_ball, point))
            for k, column in list(left.items()):
                value = _rounded(results[column])
                if value is not None:
                    found[k] = value
                    del left[k]
            undefined = [c for c in left.values() if not results[c].is_finite()]
            if not left or (len(undefined) == len(left) and precision >= 2000):
                break
        beside = {}
        for k, column in left.items():
            if not results[column].is_finite():
                limit = _limit(balls, decisions, column, point, divisors, beside)
                if otherwise is not None and (limit is None or limit != limit):
                    value = otherwise(balls, point)[column]
                    limit = value if limit is None or math.isinf(value) else limit
                if limit is not None and (otherwise is not None or limit == limit):
                    found[k] = limit
    finally:
        _precision(before)
    return found


def _limit(balls, decisions, column, point, divisors, beside):
    """The number or the infinity that every path into the point tends to, if they agree to 66
    bits, else None; nan if none of them has a value. Conditions that are decided at the
    point keep that decision. The columns share what is computed beside the point."""
    largest = max(abs(math.frexp(x)[1]) for x in point)
    depth = 300 + 2 * max(0, largest - 64)

    def at(path, depth):
        key = depth, *path
        if key not in beside:
            steps = [_ball(c) * _step_of_path(depth, e) for c, e in path]
            beside[key] = _values_beside(balls, decisions, point, steps, 3 * depth + 256)[0]
        return beside[key][column]

    found = None
    for path in _paths(len(point)):
        value = _tendency(lambda depth, path=path: at(path, depth), depth)
        if value is None:
            continue  # outside of the domain
        if found is not None and not _agree(found, value):
            return None
        if not value.is_finite():
            return None
        found = value
    if found is None:
        return math.nan
    if len(point) == 1:
        return float(found.mid())
    if found.abs_upper() < _power_of_2(2000):  # is it the limit on all other paths?
        near = 64 + largest
        for path in _oblique_paths(point):
            value = at(path, near)
            if value.is_finite() and abs(value - found) > (1 + abs(found)) * _ball(0.125):
                return None
        for number, divisor in enumerate(divisors):
            if not (divisor > 0 or divisor < 0):
                if number not in beside:
                    beside[number] = [*_near_zeros(balls, decisions, point, number, near)]
                for values in beside[number]:
                    if abs(values[column] - found) > 1 + abs(found):
                        return None
    return float(found.mid())


def _values_beside(balls, decisions, point, steps, precision):
    """The values beside the point, and what they divide by: to 86 bits, or as well as can be."""
    place = kept = None

    def keep(p):
        q = next(kept)
        return p if q is None else q

    for tries in range(7):
        if tries and precision << tries > (16000 if flint is None else 30000):
            break
        _precision(precision << tries)
        place = [_ball(x) + step for x, step in zip(point, steps)]
        kept = iter(decisions)
        values, divisors = balls(keep, *place)
        known = [v.rel_accuracy_bits() > 86 or _vanished(v) for v in values if v.is_finite()]
        if all(known) and (len(known) == len(values) or tries > 1):
            break
    return values, divisors


def _near_zeros(balls, decisions, point, number, near):
    """Values where a divisor is smaller and smaller, close to the point: by regula falsi between
    two directions in which its signs differ."""
    n, sides = len(point), {}
    for k in range(8):
        way = [_ball(_turn(k, i, 3) * c) for i, c in enumerate(_spread(n, 3 * k))]
        values, divisors = _around(balls, decisions, point, way, near)
        y = divisors[number]
        if y > 0 or y < 0:
            sides.setdefault(bool(y > 0), (way, y))
    if len(sides) < 2:
        return
    (a, at_a), (b, at_b) = sides[True], sides[False]
    for _ in range(40):
        part = (at_a / (at_a - at_b)).mid()
        way = [(x + part * (y - x)).mid() for x, y in zip(a, b)]
        values, divisors = _around(balls, decisions, point, way, near)
        if not (divisors[number] > 0 or divisors[number] < 0):  # a zero: a little beside it
            way = [(w + _power_of_2(-300) * (y - w)).mid() for w, y in zip(way, b)]
            values, divisors = _around(balls, decisions, point, way, near)
        y = divisors[number]
        if not (y > 0 or y < 0):
            return
        yield values
        if _magnitude(y) < -250:
            return
        if y > 0:
            a, at_a, at_b = way, y, at_b * at_a / (at_a + y)
        else:
            b, at_b, at_a = way, y, at_a * at_b / (at_b + y)


def _around(balls, decisions, point, way, near):
    """The values at a distance of 2**-near."""
    return _values_beside(
        balls, decisions, point, [w * _power_of_2(-near) for w in way], 1200 + 4 * near
    )


_DEEPEST = 1 << 14
"""Limits are not looked for closer than 2**-_DEEPEST, where balls of so many bits take too long."""


def _agree(x, y):
    """Whether two numbers are the same to 66 bits, or both vanish, or are beyond all doubles."""
    if abs(x) > _power_of_2(2000) and abs(y) > _power_of_2(2000):
        return bool(x > 0) == bool(y > 0)
    return abs(x - y) <= abs(y) * _power_of_2(-66) or (_vanished(x) and _vanished(y))


def _vanished(x):
    return x.abs_upper() < _power_of_2(-1200)


def _tendency(at, depth):
    """What values close to the point tend to: None outside of the domain, nan if to nothing, a
    number beyond all doubles where they grow."""
    x, y = at(depth), at(depth * 4 // 3)
    if not (x.is_finite() and y.is_finite()):
        return None
    if _agree(x, y):
        return y
    fall = _magnitude(x) - _magnitude(y)
    if fall >= 16 and not _vanished(y):  # to 0, or to what is left closer still
        deep = depth * 4 // 3 + max(1, (1250 + _magnitude(y)) * (depth // 3) // fall)
        if deep > max(_DEEPEST, 8 * depth):
            return _ball("nan")
        x, y = at(deep), at(deep * 4 // 3)
        return y if _agree(x, y) else _ball("nan")
    if _vanished(y):
        return y
    if fall <= -16:
        grows = _magnitude(y) > 64 and bool(x > 0) == bool(y > 0)
        return y * _power_of_2(4000) if grows else _ball("nan")
    y, z = at(2 * depth), at(4 * depth)
    first, second = y - x, z - y
    if abs(second) > abs(first) * _ball(1.4) and bool(first > 0) == bool(second > 0):
        third = at(8 * depth) - z
        ratio = third * first / (second * second) - 1
        if bool(third > 0) == bool(first > 0) and abs(ratio) < _ball(0.1):  # like a logarithm
            return third * _power_of_2(4000)
    return _extrapolated(at, depth)


def _extrapolated(at, depth):
    """The limit of a function of the logarithm of the distance, a power series in 1/depth (Richardson,
    1911); nan for none."""
    rows = []
    for i in range(1, 15):
        rows.append(at(i * depth))
        for j in range(i - 2, -1, -1):  # Neville's scheme for the value at 1/depth = 0
            rows[j] = ((j + 1) * rows[j] - i * rows[j + 1]) / (j + 1 - i)
        if i == 13:
            before = rows[0]
    if _agree(before, rows[0]):
        return rows[0]
    scale = abs(at(depth)) * _power_of_2(-66)
    return _ball(0) if abs(before) < scale and abs(rows[0]) < scale else _ball("nan")


def _magnitude(x):
    """About log2(|x|)."""
    if flint is None:
        return x.m.bit_length() + x.e
    mantissa, exponent = x.mid().man_exp()
    return int(abs(mantissa)).bit_length() + int(exponent)


def _spread(n, k):
    """n different numbers from 0.5 to 1."""
    return [0.5 + 0.5 * math.modf(0.618033988749895 * (k + i + 1))[0] for i in range(n)]


def _turn(k, i, bits):
    """The sign of coordinate i on way k: of so many coordinates all signs occur, of others both."""
    mask = 1 << i if i < bits else 1 + i * i % ((1 << bits) - 1)
    return -1 if bin(k & mask).count("1") % 2 else 1


def _paths(n):
    """Ways into a point, straight and curved: for each coordinate a factor and an exponent."""
    spread = [(c, i % 2) for i, c in enumerate(_spread(n, 0))]
    shapes = [[(c, 1) for c, _ in spread]]
    if n > 1:
        shapes.append([(-c if odd else c, 1) for c, odd in spread])
        shapes.append([(c if odd else 0.1 * c, 1) for c, odd in spread])
        shapes.append([(c, 1 + odd) for c, odd in spread])
        shapes.append([(c, 2 - odd) for c, odd in spread])
    return shapes + [[(-c, e) for c, e in shape] for shape in shapes]


def _step_of_path(depth, e):
    """t**e for t = 2**-depth; for e < 1 exp(-1/t**(1 - e)), which is less than all of these."""
    if e > 0:
        return _power_of_2(-depth * e)
    return (-_power_of_2(depth * (1 - e))).exp()


def _oblique_paths(point):
    """Ways into a point with steps of different orders and of many signs, then with coordinates
    that vanish faster than all powers."""
    n, orders = len(point), (1, 2, 3, 4, 6)
    zeros = [i for i, x in enumerate(point) if x == 0]
    for k in range(40 + 24 * bool(zeros)):
        spread = _spread(n, 7 * k)
        path = [(_turn(k, i, 6) * c, orders[(k // 2**i + k * i) % 5]) for i, c in enumerate(spread)]
        if k >= 40:
            i = zeros[k % len(zeros)]
            path[i] = path[i][0], (0, -1, -3, -7)[k // 2 % 4]
        yield path
