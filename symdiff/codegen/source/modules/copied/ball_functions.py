"""Ball arithmetic of python-flint in plain Python, of which modules contain copies.

Before : x, an arb: a number that is only known to lie in an interval.
After  : `_ball_power(x, 1, 3)`, an arb that holds its cube root.
Ensures: as `interpret.flat` has it, everything is evaluated, what is undefined or not known is
         nan (a condition: None), and `_ball_where` drops the side that is not taken. So a
         finite ball is a proof.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math


def _ball_ratio(n, d):
    """A fraction."""
    return flint.arb(flint.fmpq(n, d))


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
    most = flint.arb(2) ** 1024 - flint.arb(2) ** 970
    size = abs(x)
    if not size.is_finite() or size < most:
        return x
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
    return flint.arb("nan") if p is None else x if p else y


def _ball_sqrt(x):
    """The square root."""
    return x.sqrt()


def _ball_power(x, n, d):
    """x**(n/d)."""
    if x.is_zero() and n > 0:
        return flint.arb(0)
    return x.root(d) ** n if x > 0 and d <= 64 else _ball_pow(x, _ball_ratio(n, d))


def _ball_pow(x, y):
    """x**y over the reals."""
    if y.is_exact() and y.is_integer():
        n = int(y.unique_fmpz())
        if abs(n) < 1 << 20:
            return x**n
    if x > 0:
        return (y * x.log()).exp()
    return flint.arb(0) if x.is_zero() and y > 0 else flint.arb("nan")


def _ball_near_0(x, value):
    """A function with |f(x)/x - 1| <= |x| near 0: of tiny arguments FLINT has few digits."""
    if x.abs_upper() < flint.arb(2) ** (-4 * flint.ctx.prec):
        return x * (1 + x * flint.arb(0, 1))
    return value


def _ball_expm1(x):
    return _ball_near_0(x, x.expm1())


def _ball_sinh(x):
    return _ball_near_0(x, x.sinh())


def _ball_tanh(x):
    return _ball_near_0(x, x.tanh())


def _ball_exp2(x):
    return (x * flint.arb.const_log2()).exp()


def _ball_log2(x):
    return x.log() / flint.arb.const_log2()


def _ball_log10(x):
    return x.log() / flint.arb.const_log10()


def _ball_pi():
    return flint.arb.pi()


def _ball_ln2():
    return flint.arb.const_log2()


def _ball_ln10():
    return flint.arb.const_log10()


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
    return flint.arb.atan2(y, x)


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
        value = flint.arb(order + 1).zeta(x) * flint.arb(math.factorial(order))
        return value if order % 2 else -value
    z = flint.acb(x).polygamma(flint.acb(order))
    return z.real if z.imag.contains(0) else flint.arb("nan")


def _ball_sinc(x):
    return x.sinc_pi()


def _ball_maximum(x, y):
    return x.max(y)


def _ball_minimum(x, y):
    return x.min(y)


def _ball_whole(x):
    """A step function is known only where the ball holds one integer."""
    return x if x.is_exact() else flint.arb("nan")


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
    return flint.arb("nan")


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


def _proven(balls, columns, point, values):
    """The values, correctly rounded by ball arithmetic, or the limits of those that are undefined
    at the point; what neither decides stays."""
    if flint is None or not all(map(math.isfinite, point)):
        return values
    found, left = list(values), dict(enumerate(columns))
    before = flint.ctx.prec
    try:
        for precision in _PRECISIONS:
            flint.ctx.prec = precision
            decisions = []
            results = balls(lambda p: decisions.append(p) or p, *map(flint.arb, point))
            for k, column in list(left.items()):
                value = _rounded(results[column])
                if value is not None:
                    found[k] = value
                    del left[k]
            undefined = [c for c in left.values() if not results[c].is_finite()]
            if not left or (len(undefined) == len(left) and precision >= 2000):
                break
        for k, column in left.items():
            if not results[column].is_finite():
                limit = _limit(balls, decisions, column, point)
                found[k] = found[k] if limit is None else limit
    finally:
        flint.ctx.prec = before
    return found


def _limit(balls, decisions, column, point):
    """The value that every path into the point tends to, if they agree to 66 bits; conditions
    that are decided at the point keep that decision."""
    exponents = [abs(math.frexp(x)[1]) for x in point]
    depth = 300 + 2 * max(0, max(exponents) - 64)
    found = None
    for path in _paths(len(point)):
        values = _tendency(balls, decisions, column, point, path, depth)
        if values is None:
            continue  # outside of the domain
        if not _agree(*values) or (found is not None and not _agree(found, values[1])):
            return None
        found = values[1]
    return None if found is None else float(found.mid())


def _agree(x, y):
    """Whether two numbers are the same to 66 bits, or both vanish."""
    return abs(x - y) <= abs(y) * flint.arb(2) ** -66 or (_vanished(x) and _vanished(y))


def _vanished(x):
    return x.abs_upper() < flint.arb(2) ** -1200


def _tendency(balls, decisions, column, point, path, depth):
    """Two values on a path, close to the point; closer still where they fall to 0."""
    near, nearer = depth, depth * 4 // 3
    x = _on_path(balls, decisions, column, point, path, near)
    y = _on_path(balls, decisions, column, point, path, nearer)
    if x is None or y is None:
        return None
    if abs(y) * 65536 < abs(x) and not _vanished(y):
        bits_x, bits_y = (int(float(v.abs_upper().log()) / math.log(2)) for v in (x, y))
        deep = nearer + (1250 + bits_y) * (nearer - near) // (bits_x - bits_y)
        y = _on_path(balls, decisions, column, point, path, max(deep, nearer + 1))
        x = y
    return None if y is None else (x, y)


def _paths(n):
    """Ways into a point, straight and curved: for each coordinate a factor and an exponent."""
    spread = [(0.5 + 0.5 * math.modf(0.618033988749895 * (i + 1))[0], i % 2) for i in range(n)]
    shapes = [[(c, 1) for c, _ in spread]]
    if n > 1:
        shapes.append([(-c if odd else c, 1) for c, odd in spread])
        shapes.append([(c if odd else 0.1 * c, 1) for c, odd in spread])
        shapes.append([(c, 1 + odd) for c, odd in spread])
        shapes.append([(c, 2 - odd) for c, odd in spread])
    return shapes + [[(-c, e) for c, e in shape] for shape in shapes]


def _on_path(balls, decisions, column, point, path, depth):
    """The value at the parameter 2**-depth of a path, to 86 bits at least; None outside of the
    domain."""
    precision = 3 * depth + 256
    while precision < 60000:
        flint.ctx.prec = precision
        step = flint.arb(2) ** -depth
        place = [flint.arb(x) + flint.arb(c) * step**e for x, (c, e) in zip(point, path)]
        kept = iter(decisions)
        value = balls(lambda p: p if (q := next(kept)) is None else q, *place)[column]
        if value.is_finite() and (
            value.rel_accuracy_bits() > 86 or value.abs_upper() < flint.arb(2) ** -1200
        ):
            return value
        precision *= 2
    return None
