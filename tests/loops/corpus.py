"""Programs that every derivative is tested on: name -> (program, arguments, wrt)."""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import HALF, Expr, const, var
from symdiff.ir.functions import EXP, MAXIMUM, SIN, TANH
from symdiff.ir.loop_program import LoopProgram, Type, Update, array, index, load
from tests.loops.programs import REAL, VECTOR, M, N, at, build, function, loop, update

I, J, K, Q, R, C, T = map(index, "ijkqrct")  # noqa: E741
H = index("h")
HIDDEN, WEIGHTS = Type((H,)), Type((H, H))


def total(name: str, value, i: str = "l") -> object:
    """The loop that sums `value(i)`; the result is `name_end`."""
    return loop(i, N, {name: (0, var(name) + value(index(i)))})


def rows(step, outer: tuple = ("r", N), inner: tuple = ("c", M)) -> LoopProgram:
    """Each row's recurrence in a cell that is overwritten; the sum of squares."""
    return function({"d": Type((N, M))}, [
        build("e0", "k", ir.ZERO),
        loop(*outer, {"e": (array("e0"), array("f_end"), VECTOR)}, [
            loop(*inner, {"f": (array("e"), array("g"), VECTOR)}, [
                update("g", "f", R, step(at("d", R, C), at("f", R))),
            ]),
        ]),
        total("s", lambda i: at("e_end", i) ** 2),
    ], var("s_end"))  # fmt: skip


def columns(step) -> LoopProgram:
    """The same with the loops the other way round: all cells in each step."""
    return rows(step, ("c", M), ("r", N))


def recurrence(step) -> LoopProgram:
    """A cell of one array that is overwritten in every step."""
    return function({"d": VECTOR}, [
        build("e0", "k", ir.ZERO, Type((const(1),))),
        loop("i", N, {"e": (array("e0"), array("f"), Type((const(1),)))}, [
            update("f", "e", 0, step(at("d", I), at("e", 0)), Type((const(1),))),
        ]),
    ], at("e_end", 0))  # fmt: skip


def network() -> LoopProgram:
    """A recurrent network that overwrites its hidden state."""
    pre = var("p_end") + at("u", Q) * at("x", T)
    dot = loop("j", H, {"p": (0, var("p") + at("w", Q, J) * at("h0", J))})
    return function({"x": VECTOR, "w": WEIGHTS, "u": HIDDEN}, [
        build("start", "k", ir.ZERO, HIDDEN),
        loop("t", N, {"h0": (array("start"), array("h1"), HIDDEN)}, [
            build("h1", "q", TANH(pre), HIDDEN, [dot]),
        ]),
        loop("l", H, {"s": (0, var("s") + at("h0_end", index("l")))}),
    ], var("s_end"))  # fmt: skip


def leapfrog() -> LoopProgram:
    """A pendulum: position and velocity in turn."""
    force = lambda q: -SIN(q)
    half = var("v") + var("dt") / 2 * force(var("q"))
    moved = var("q") + var("dt") * half
    return function({"q0": REAL, "v0": REAL, "dt": REAL}, [
        loop("i", 5, {
            "q": (var("q0"), moved),
            "v": (var("v0"), half + var("dt") / 2 * force(moved)),
        }),
    ], var("q_end") ** 2 + var("v_end") ** 2)  # fmt: skip


def runge_kutta() -> LoopProgram:
    """The classical method for y' = sin(y) - a*y."""
    f = lambda y: SIN(y) - var("a") * y
    y, h = var("y"), const(Fraction(1, 8))
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    step = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return function({"a": REAL, "y0": REAL}, [loop("i", 6, {"y": (var("y0"), step)})], var("y_end"))


def stencil(step) -> LoopProgram:
    """Changes every inner point of an array in place, three times."""
    place = I + 1
    return function({"x": VECTOR}, [
        loop("t", 3, {"u": (array("x"), array("v_end"), VECTOR)}, [
            loop("i", N - 2, {"v": (array("u"), array("w"), VECTOR)}, [
                update("w", "v", place, step(at("v", I), at("v", place), at("v", I + 2))),
            ]),
        ]),
        total("s", lambda i: at("u_end", i) ** 2),
    ], var("s_end"))  # fmt: skip


def heat() -> LoopProgram:
    """A heat equation, a new array in every step."""
    middle = at("u", K) + HALF * (at("u", K - 1) - 2 * at("u", K) + at("u", K + 1))
    inside = ir.and_(ir.lt(ir.ZERO, K), ir.lt(K, N - 1))
    return function({"x": VECTOR}, [
        loop("t", 4, {"u": (array("x"), array("w"), VECTOR)}, [
            build("w", "k", ir.where(inside, SIN(middle), at("u", K))),
        ]),
        total("s", lambda i: at("u_end", i) ** 2),
    ], var("s_end"))  # fmt: skip


def newton() -> LoopProgram:
    """A square root, until it is good enough."""
    y, a = var("y"), var("a")
    return function({"a": REAL}, [
        loop("k", None, {
            "y": (1, HALF * (y + a / y)), "d": (1, ir.abs_(y * y - a)),
        }, condition=ir.lt(const(Fraction(1, 1000)), var("d"))),
    ], var("y_end"))  # fmt: skip


def inner_while() -> LoopProgram:
    """A while loop of different length in every iteration."""
    y = var("y")
    inside = loop("k", None, {"y": (at("x", I), 2 * SIN(y) + var("s"))},
                  condition=ir.lt(y, const(Fraction(9, 5))))  # fmt: skip
    return function({"x": VECTOR}, [
        loop("i", N, {"s": (0, var("s") + var("y_end"))}, [inside]),
    ], var("s_end"))  # fmt: skip


def triangle() -> LoopProgram:
    """Every pair once, with a product that depends on the order."""
    p = var("p")
    inside = loop("j", I, {"p": (var("s"), p + EXP(at("x", I) * at("x", J)) * p / 10)})
    return function({"x": VECTOR}, [loop("i", N, {"s": (1, var("p_end"))}, [inside])], var("s_end"))


def pairs() -> LoopProgram:
    """A potential of every pair of points in the plane."""
    r2 = (at("x", I) - at("x", J)) ** 2 + (at("y", I) - at("y", J)) ** 2
    inside = loop("j", I, {"p": (var("s"), var("p") + 1 / (1 + r2) ** 3)})
    return function(
        {"x": VECTOR, "y": VECTOR},
        [loop("i", N, {"s": (0, var("p_end"))}, [inside])],
        var("s_end"),
    )


def sums_in_elements() -> LoopProgram:
    """Elements that are recurrences themselves."""
    inside = loop("j", K + 1, {"p": (0, SIN(var("p")) + at("x", J))})
    return function({"x": VECTOR}, [
        build("c", "k", EXP(var("p_end")), VECTOR, [inside]),
        total("s", lambda i: at("c", i)),
    ], var("s_end"))  # fmt: skip


def backwards() -> LoopProgram:
    """A loop from the last element to the first."""
    return function({"x": VECTOR}, [
        loop("i", N, {"s": (1, SIN(var("s")) * at("x", I))}, reverse=True),
    ], var("s_end"))  # fmt: skip


def swap() -> LoopProgram:
    """Two arrays that change places."""
    return function({"x": VECTOR, "y": VECTOR}, [
        loop("t", 3, {
            "u": (array("x"), array("v"), VECTOR), "v": (array("y"), array("w"), VECTOR),
        }, [build("w", "k", SIN(at("u", K)) * at("v", K))]),
        total("s", lambda i: at("u_end", i) * at("v_end", i)),
    ], var("s_end"))  # fmt: skip


def stopped() -> LoopProgram:
    """A loop that breaks; the flag is an integer."""
    s = var("s")
    following = s + SIN(at("x", I))
    go = ir.where(ir.lt(following, const(1)), 1, 0)
    return function({"x": VECTOR}, [
        loop("i", N, {"s": (0, following), "go": (1, go, Type((), "i"))},
             condition=ir.eq(index("go"), ir.ONE)),
    ], var("s_end"))  # fmt: skip


def permuted() -> LoopProgram:
    """Elements at indices from an array of integers."""
    place = load(array("p", "i"), I)
    return function({"x": VECTOR, "p": Type((N,), "i")}, [
        total("s", lambda i: at("x", i) ** 3),
        loop("i", N, {"r": (var("s_end"), var("r") * SIN(load(array("x"), place)) + at("x", I))}),
    ], var("r_end"))  # fmt: skip


def masked() -> LoopProgram:
    """np.sum((delta**0.5)[delta > 0]) with delta = [0, 1]*x."""
    d = build("d", "k", ir.where(ir.eq(K, ir.ZERO), 0, 1) * var("x"), Type((const(2),)))
    term = ir.where(ir.lt(ir.ZERO, at("d", I)), ir.sqrt(at("d", I)), 0)
    return function({"x": REAL}, [d, loop("i", 2, {"s": (0, var("s") + term)})], var("s_end"))


def greatest() -> LoopProgram:
    """The maximum of an array."""
    return function(
        {"x": VECTOR},
        [loop("i", N, {"s": (at("x", 0), MAXIMUM(var("s"), at("x", I)))})],
        var("s_end") ** 2,
    )


def rosenbrock() -> LoopProgram:
    term = lambda i: 100 * (at("x", i + 1) - at("x", i) ** 2) ** 2 + (1 - at("x", i)) ** 2
    return function({"x": VECTOR}, [loop("i", N - 1, {"s": (0, var("s") + term(I))})], var("s_end"))


def dot() -> LoopProgram:
    return function(
        {"x": VECTOR, "y": VECTOR},
        [build("p", "k", at("x", K) * at("y", K)), total("s", lambda i: at("p", i))],
        var("s_end"),
    )


def logistic() -> LoopProgram:
    """The loss of logistic regression."""
    z = loop("j", M, {"z": (0, var("z") + at("a", I, J) * at("w", J))})
    loss = ir.OPS["logaddexp"](0, -at("y", I) * var("z_end"))
    return function({"a": Type((N, M)), "y": VECTOR, "w": Type((M,))}, [
        loop("i", N, {"s": (0, var("s") + loss)}, [z]),
    ], var("s_end"))  # fmt: skip


def removable(e: Expr) -> Expr:
    return (EXP(e) - 1) / e


def history() -> LoopProgram:
    """An array that a loop fills from what it has filled before."""
    return function({"x": VECTOR}, [
        loop("i", N - 1, {"u": (array("x"), array("v"), VECTOR)}, [
            Update("v", "u", VECTOR, (I + 1,), SIN(at("u", I)) * at("u", I + 1) + at("u", 0)),
        ]),
        total("s", lambda i: at("u_end", i) ** 2),
    ], var("s_end"))  # fmt: skip


def growing() -> LoopProgram:
    """An array of another size in every step."""
    some = Type((I + 1,))
    inside = loop("j", K + 1, {"p": (var("s"), SIN(var("p")) * at("x", J))})
    ends = loop("l", I + 1, {"r": (var("s"), var("r") + at("u", index("l")) ** 2)})
    return function({"x": VECTOR}, [
        loop("i", N, {"s": (1, var("r_end") / 2)}, [
            build("u", "k", EXP(var("p_end")), some, [inside]),
            loop("q", I + 1, {"w": (array("u"), array("v"), some)}, [
                update("v", "w", index("q"), at("w", 0) * at("w", index("q")), some),
            ]),
            ends, build("z", "o", at("w_end", index("o")) * at("u", index("o")), some),
            loop("y", I + 1, {"t": (var("r_end"), var("t") * at("z", index("y")))}),
        ]),
    ], var("s_end"))  # fmt: skip


X3, X4, X5 = [0.3, 0.5, 0.7], [0.3, 0.5, 0.7, 1.1], [0.3, 0.5, 0.7, 0.2, 0.9]
D = [[0.3, 0.5, 0.7], [1.0, 2.0, 3.0]]
PROGRAMS: dict[str, tuple[LoopProgram, list, list[int]]] = {
    "ewma_rows": (rows(lambda d, e: d / 2 + e / 2), [D], [0]),
    "ewma_columns": (columns(lambda d, e: d / 2 + e / 2), [D], [0]),
    "ewma": (recurrence(lambda d, e: d / 2 + e / 2), [X4], [0]),
    "blending_rows": (rows(lambda d, e: (1 - e) * d + e), [D], [0]),
    "blending_columns": (columns(lambda d, e: (1 - e) * d + e), [D], [0]),
    "blending": (recurrence(lambda d, e: (1 - e) * d + e), [X4], [0]),
    "sine": (recurrence(lambda d, e: SIN(e) + d), [X4], [0]),
    "network": (network(), [X3, [[0.1, 0.2], [0.3, 0.4]], [0.5, 0.6]], [0, 1, 2]),
    "leapfrog": (leapfrog(), [0.3, 0.2, 0.125], [0, 1, 2]),
    "runge_kutta": (runge_kutta(), [0.5, 1.2], [0, 1]),
    "linear_stencil": (stencil(lambda a, b, c: b + (a - 2 * b + c) / 4), [X5], [0]),
    "stencil": (stencil(lambda a, b, c: b + a * c * a), [X5], [0]),
    "heat": (heat(), [X5], [0]),
    "newton": (newton(), [2.7], [0]),
    "inner_while": (inner_while(), [X4], [0]),
    "triangle": (triangle(), [X4], [0]),
    "pairs": (pairs(), [X4, [0.9, 0.1, -0.6, 0.4]], [0, 1]),
    "sums_in_elements": (sums_in_elements(), [X4], [0]),
    "backwards": (backwards(), [X4], [0]),
    "swap": (swap(), [X3, [0.2, 0.8, -0.4]], [0, 1]),
    "stopped": (stopped(), [X4], [0]),
    "permuted": (permuted(), [X4, [2, 0, 2, 1]], [0]),
    "masked": (masked(), [1.0], [0]),
    "greatest": (greatest(), [X4], [0]),
    "rosenbrock": (rosenbrock(), [X5], [0]),
    "growing": (growing(), [X3], [0]),
    "dot": (dot(), [X3, [1.0, 2.0, -3.0]], [0, 1]),
    "logistic": (logistic(), [D, [1.0, -1.0], X3], [2]),
    "history": (history(), [X4], [0]),
    "expm1": (recurrence(lambda d, e: removable(d) + e * e / 2), [X3], [0]),
}
