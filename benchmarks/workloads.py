"""The twelve functions that are timed over arrays, each with its kernel written in C.

A function is plain Python on `math`; it runs under other names for `math` as well, such
as `jax.numpy`. The C computes what is asked of it, value first, then the derivatives
row by row, by formulas derived and shared by hand.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

Range = tuple[float, float]


@dataclass(frozen=True)
class Workload:
    """What is computed of a function, and how it is written in C.

    Attributes
    ----------
    ranges : of the parameters, in order.
    c : statements that read the parameters and write o0, o1, ...
    wrt : the parameters to differentiate by; all of them if empty.
    outputs : how many values the function returns; with several, their Jacobian is asked.
    second : a parameter by which the second derivative is asked as well.
    """

    fun: Callable[..., Any]
    ranges: tuple[Range, ...]
    c: str
    wrt: tuple[str, ...] = ()
    outputs: int = 1
    second: str | None = None

    @property
    def name(self) -> str:
        return self.fun.__name__

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.fun).parameters)

    @property
    def by(self) -> tuple[str, ...]:
        return self.wrt or self.params

    @property
    def results(self) -> int:
        """How many arrays are written."""
        return self.outputs * (1 + len(self.by)) + (self.second is not None)

    def under(self, names: Any) -> Callable[..., Any]:
        """The function with another namespace in the place of `math`."""
        return FunctionType(self.fun.__code__, {"math": names}, self.name)


def quotient(x):
    return (x**2 - 4) / (x - 2)


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def black_scholes(s, k, t, r, v):
    q = v * math.sqrt(t)
    d = (math.log(s / k) + (r + 0.5 * v * v) * t) / q
    above = 0.5 * (1 + math.erf(d / math.sqrt(2)))
    below = 0.5 * (1 + math.erf((d - q) / math.sqrt(2)))
    return s * above - k * math.exp(-r * t) * below


def lennard_jones(x, y, z):
    s6 = (0.81 / (x * x + y * y + z * z)) ** 3
    return 5.2 * (s6 * s6 - s6)


def softplus(x):
    return math.log(1 + math.exp(x))


def sinc(x):
    return math.sin(x) / x


def rational(x):
    p = 1 + 0.5 * x - 0.3 * x**2 + 0.2 * x**3 - 0.1 * x**4 + 0.05 * x**5
    return p / (1 + 0.4 * x**2 + 0.1 * x**4)


def gauss(x, mu, s):
    u = (x - mu) / s
    return -0.5 * u * u - math.log(s)


def rodrigues(a, b, c, x, y, z):
    angle = math.sqrt(a * a + b * b + c * c)
    p, q, r = a / angle, b / angle, c / angle
    cosine, sine = math.cos(angle), math.sin(angle)
    along = (p * x + q * y + r * z) * (1 - cosine)
    return (
        x * cosine + (q * z - r * y) * sine + p * along,
        y * cosine + (r * x - p * z) * sine + q * along,
        z * cosine + (p * y - q * x) * sine + r * along,
    )


def chain(x):
    return math.sin(math.cos(math.exp(math.sin(math.cos(math.exp(-x * x))))))


def three_body(ax, ay, az, bx, by, bz, cx, cy, cz):
    ab = math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)
    ac = math.sqrt((ax - cx) ** 2 + (ay - cy) ** 2 + (az - cz) ** 2)
    bc = math.sqrt((bx - cx) ** 2 + (by - cy) ** 2 + (bz - cz) ** 2)
    return -0.75 / ab - 0.25 / ac - 0.1875 / bc


def morse(x, y, z):
    e = math.exp(-1.7 * (math.sqrt(x * x + y * y + z * z) - 1.1))
    return 2.3 * (1 - e) ** 2


_BLACK_SCHOLES = """
double q = sqrt(t), w = v*q, i = 1/w, d1 = (log(s/k) + (r + 0.5*v*v)*t)*i, d2 = d1 - w;
double above = 0.5 + 0.5*erf(0.7071067811865476*d1), below = 0.5 + 0.5*erf(0.7071067811865476*d2);
double density = 0.3989422804014327*exp(-0.5*d1*d1), paid = k*exp(-r*t)*below;
o0 = s*above - paid; o1 = above; o2 = 0.5*s*density*v/q + r*paid; o3 = t*paid;
o4 = s*density*q; o5 = density*i/s;
"""

# R = cos I + f [w]x + g w w^T with f = sin(m)/m, g = (1 - cos(m))/m^2; and
# df/dw = f' w, dg/dw = g' w, where f' = (cos - f)/m^2, g' = (f - 2 g)/m^2
_RODRIGUES = """
double n = a*a + b*b + c*c, i = 1/n, m = sqrt(n), e = cos(m), sine = sin(m), f = sine*m*i;
double g = (1 - e)*i, df = (e - f)*i, dg = (f - 2*g)*i, h = a*x + b*y + c*z;
double u = b*z - c*y, v = c*x - a*z, w = a*y - b*x, gh = g*h;
o0 = x*e + u*f + a*gh; o1 = y*e + v*f + b*gh; o2 = z*e + w*f + c*gh;
double k = dg*h, k0 = df*u - f*x + k*a, k1 = df*v - f*y + k*b, k2 = df*w - f*z + k*c;
double ga = g*a, gb = g*b, gc = g*c;
o3 = a*k0 + ga*x + gh; o4 = b*k0 + ga*y + f*z; o5 = c*k0 + ga*z - f*y;
o6 = a*k1 + gb*x - f*z; o7 = b*k1 + gb*y + gh; o8 = c*k1 + gb*z + f*x;
o9 = a*k2 + gc*x + f*y; o10 = b*k2 + gc*y - f*x; o11 = c*k2 + gc*z + gh;
"""

_THREE_BODY = """
double x1 = ax - bx, y1 = ay - by, z1 = az - bz, x2 = ax - cx, y2 = ay - cy, z2 = az - cz;
double x3 = bx - cx, y3 = by - cy, z3 = bz - cz;
double r1 = 1/sqrt(x1*x1 + y1*y1 + z1*z1), r2 = 1/sqrt(x2*x2 + y2*y2 + z2*z2);
double r3 = 1/sqrt(x3*x3 + y3*y3 + z3*z3), u1 = 0.75*r1, u2 = 0.25*r2, u3 = 0.1875*r3;
double k1 = u1*r1*r1, k2 = u2*r2*r2, k3 = u3*r3*r3;
o0 = -u1 - u2 - u3;
o1 = k1*x1 + k2*x2; o2 = k1*y1 + k2*y2; o3 = k1*z1 + k2*z2;
o4 = k3*x3 - k1*x1; o5 = k3*y3 - k1*y1; o6 = k3*z3 - k1*z1;
o7 = -k2*x2 - k3*x3; o8 = -k2*y2 - k3*y3; o9 = -k2*z2 - k3*z3;
"""

WORKLOADS = (
    Workload(quotient, ((-3, 5),), "o0 = x + 2; o1 = 1;"),
    Workload(
        rosenbrock,
        ((-2, 2), (-2, 2)),
        "double a = 1 - x, b = y - x*x; o0 = a*a + 100*(b*b); o1 = -2*a - 400*(x*b); o2 = 200*b;",
    ),
    Workload(
        black_scholes,
        ((80, 120), (90, 110), (0.2, 2), (0.01, 0.05), (0.1, 0.4)),
        _BLACK_SCHOLES,
        wrt=("s", "t", "r", "v"),
        second="s",
    ),
    Workload(
        lennard_jones,
        ((0.8, 2),) * 3,
        "double r = 1/(x*x + y*y + z*z), u = 0.81*r, s = u*u*u, k = -31.2*(2*s*s - s)*r;"
        "o0 = 5.2*(s*s - s); o1 = k*x; o2 = k*y; o3 = k*z;",
    ),
    Workload(softplus, ((-20, 20),), "double e = exp(x), d = 1 + e; o0 = log(d); o1 = e/d;"),
    Workload(sinc, ((0.1, 10),), "double i = 1/x; o0 = sin(x)*i; o1 = (cos(x) - o0)*i;"),
    Workload(
        rational,
        ((-2, 2),),
        "double p = 1 + x*(0.5 + x*(-0.3 + x*(0.2 + x*(-0.1 + x*0.05))));"
        "double dp = 0.5 + x*(-0.6 + x*(0.6 + x*(-0.4 + x*0.25)));"
        "double s = x*x, i = 1/(1 + s*(0.4 + s*0.1)), dq = x*(0.8 + s*0.4);"
        "o0 = p*i; o1 = (dp - o0*dq)*i;",
    ),
    Workload(
        gauss,
        ((-3, 3), (-1, 1), (0.5, 2)),
        "double i = 1/s, u = (x - mu)*i, d = u*i; o0 = -0.5*(u*u) - log(s);"
        "o1 = -d; o2 = d; o3 = (u*u - 1)*i;",
    ),
    Workload(
        rodrigues, ((0.1, 1),) * 3 + ((-1, 1),) * 3, _RODRIGUES, wrt=("a", "b", "c"), outputs=3
    ),
    Workload(
        chain,
        ((-1.5, 1.5),),
        "double e = exp(-x*x), c = cos(e), s = exp(sin(c)), d = cos(s);"
        "o0 = sin(d); o1 = -2*x*e*sin(e)*cos(c)*s*sin(s)*cos(d);",
    ),
    Workload(three_body, tuple((a, a + 1) for a in (0, 0, 0, 2, 2, 2, 4, 4, 4)), _THREE_BODY),
    Workload(
        morse,
        ((0.5, 2),) * 3,
        "double r = sqrt(x*x + y*y + z*z), e = exp(-1.7*(r - 1.1)), w = 1 - e, k = 7.82*w*e/r;"
        "o0 = 2.3*w*w; o1 = k*x; o2 = k*y; o3 = k*z;",
    ),
)
