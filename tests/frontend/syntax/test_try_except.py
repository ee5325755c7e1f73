"""`try`: each handler runs where plain Python raises what it catches. NumPy's numbers raise no errors of
arithmetic; where they cannot be told from Python's, the statement is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import check, slopes_by
from tests.frontend.refused import define


def tried(call: str, value: str, *handlers: str, before: str = "", then: str = "") -> Any:
    """A function that tries to return a value; handlers are written as `error: value`. With something to do then,
    what is tried and what handlers do are statements."""
    do = "" if then else "return "
    body = [
        f"def {call}:",
        *([f"    {before}"] if before else []),
        "    try:",
        f"        {do}{value}",
    ]
    for handler in handlers:
        error, _, other = handler.partition(": ")
        body += [f"    except {error}:", f"        {do}{other}"]
    name = call.partition("(")[0]
    return define(
        "\n".join([*body, *([f"    {then}"] if then else []), ""]), f"{name} {value}.py", name
    )


def quotient(x):
    try:
        above = np.sin(x[0] - 2.0) * x[1]
        below = np.pi**2 * (x[0] - 2.0)
        return 1.0 - abs(above / below) ** 5.0
    except (ZeroDivisionError, OverflowError):
        return 7.0


shares = tried("shares(x)", "y = x / np.sum(x)", "ArithmeticError: y = 0 * x", then="return np.sum(y**2)")  # fmt: skip
powers = tried("powers(x)", "y = x[0] ** x[1] + 2.0 ** x[1] + x[0] ** -1", "ZeroDivisionError: return 0.0", then="return y")  # fmt: skip


def test_a_pole_stays() -> None:
    element = tried("element(x)", "1 / x[0]", "ZeroDivisionError: 0.0")
    assert symgrad(element)(np.array([0.0, 1.0])) == np.inf


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        tried("oscillating(x)", "np.sum(x**6.0 * (2.0 + np.sin(1.0 / x)))", "ZeroDivisionError: np.nan", "FloatingPointError: np.nan"),
        quotient, shares, powers,
    ],
)  # fmt: skip
def test_of_arrays(f: Any) -> None:
    for x in (np.array([1.5, 0.5]), np.array([3.0, -2.0]), np.array([1.5, 0.7])):
        check(f, x, value=1e-13, near=1e-8)


lengths = tried("lengths(x)", "1.0 / (n - 2) + x[0]", "ZeroDivisionError: 5.0", before="n = len(x)")  # fmt: skip
python_numbers = tried("python_numbers(x)", "1 / a + x[1]", "ZeroDivisionError: 5.0", before="a = float(x[0])")  # fmt: skip
listed = tried("listed(x)", "1 / a[0] + x[1]", "ZeroDivisionError: 5.0", before="a = x.tolist()")
known = tried("known(x)", "x[0] + 1 / zero", "ZeroDivisionError: 5.0", before="zero = 0")


def raising_or_not(x):
    try:
        if x[0] > 0:
            raise ZeroDivisionError
        return x[0] / x[1]
    except ZeroDivisionError:
        return 5.0


inner = symgrad(lambda x: np.sum(x))


def composed(x):
    a = inner(x)
    try:
        return 1.0 / a + x[0]
    except ZeroDivisionError:
        return 5.0


def copied_first(x):
    n = 0
    try:
        m = n
        return x[0] + 1.0 / m
    except ZeroDivisionError:
        return 5.0


@pytest.mark.parametrize(
    "f",
    [
        lengths, tried("bare(x)", "1.0 / (len(x) - 2) * x[0]", "ZeroDivisionError: 5.0"), python_numbers, listed, known,
        tried("other_errors(x)", "x[0] / x[1]", "(ZeroDivisionError, ValueError): 5.0"), raising_or_not, composed, copied_first,
    ],
)  # fmt: skip
def test_what_may_raise_is_refused_or_right(f: Any) -> None:
    for x in (np.array([1.0, 2.0]), np.array([0.0, 2.0])):
        try:
            got = symgrad(f)(x)
        except UnsupportedError:
            continue
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, f(x))


def test_hints_say_what_to_write_instead() -> None:
    of_value = tried(
        "of_value(x)", "scipy.optimize.brentq(lambda y: y - x[0], 0.0, 2.0)", "ValueError: 0.0"
    )
    of_matrix = tried(
        "of_matrix(x)", "np.linalg.solve(np.outer(x, x), x)[0]", "np.linalg.LinAlgError: 0.0"
    )
    of_all = tried("of_all(x)", "np.linalg.inv(np.outer(x, x))[0, 0]", "Exception: 0.0")
    for f, hint in ((of_value, "test what"), (of_matrix, "np.linalg.det"), (of_all, "with 'if'")):
        with pytest.raises(UnsupportedError, match="not followed") as caught:
            symgrad(f)(np.ones(2))
        assert hint in caught.value.hint


@pytest.mark.parametrize("x", [-1.5, 0.0, 1.5])
def test_a_function_that_ends_with_an_error(x: float) -> None:
    def f(x):
        try:
            y, k = positive(1.0 * x)
        except ValueError:
            return -3.0 * x
        return k * y

    assert symgrad(f)(x) == f(x)
    assert symgrad(f).grad(x) == (2.0 if x > 0 else -3.0)


@pytest.mark.parametrize("x", [5.0, 1.5, 0.5, -0.5, -2.0])
def test_an_error_in_some_iterations(x: float) -> None:
    def summed(v):
        total = 0.0
        for i in range(3):
            if v > i:
                total += v
                if total > 4:
                    return total
                continue
            if v < -1:
                break
            raise ValueError("not in range")
        return total - v

    def f(x):
        try:
            return summed(x)
        except ValueError:
            return -3 * x

    assert symgrad(f)(x) == f(x)


def unit(v):
    size = np.linalg.norm(v)
    if size > 1e-12:
        return v / size, size
    raise ValueError("no direction")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("w", [np.array([0.1, 0.2, -0.3]), np.array([1.0, 2.0, 2.0]), np.zeros(3)])
def test_an_error_that_a_loop_decides(w: np.ndarray) -> None:
    def rotation(w):
        try:
            axis, angle = unit(w)
        except ValueError:
            return np.eye(3)
        return np.eye(3) + math.sin(angle) * np.outer(axis, axis)

    made = symgrad(rotation)
    np.testing.assert_allclose(made(w), rotation(w), rtol=1e-14)
    if np.any(w):
        for k, e in enumerate(np.eye(3)):
            slope = (rotation(w + 1e-6 * e) - rotation(w - 1e-6 * e)) / 2e-6
            np.testing.assert_allclose(made.jacobian(w)[..., k], slope, rtol=1e-7, atol=1e-9)


def test_an_index_out_of_range_is_caught() -> None:
    def f(x):
        try:
            r = x[5] * x[0]
        except IndexError:
            r = 3.0 * x[1]
        return r

    s = symgrad(f)
    for x in (np.arange(2.0), np.arange(1.0, 8.0)):
        assert s(x) == f(x)
    assert s.grad(np.arange(1.0, 8.0)).tolist() == [6.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert s.grad(np.ones(2)).tolist() == [0.0, 3.0]


logistic = tried("logistic(x)", "1 / (1 + math.exp(-x))", "OverflowError: 0.0")


def loglik(p, q):
    ll = 0.0
    try:
        ll += q * math.log(p)
        ll += (1 - q) * math.log(1 - p)
    except ValueError:
        return -1e3
    return ll


def several(x, y):
    try:
        a = math.log(x)
        b = a / y
        c = math.exp(100 * b)
    except ZeroDivisionError:
        return 7.0
    except OverflowError:
        return 8.0
    except ValueError:
        c = 9.0 * x
    else:
        c = c + 1
    return c * 2


acosed = tried("acosed(x)", "a = math.acos(x)", "ValueError: a = math.pi if x < 0 else 0.0", then="return a")  # fmt: skip


def helper(x):
    return math.log(x) / x


def called(x):
    try:
        y = helper(x - 1)
    except (ValueError, ZeroDivisionError):
        y = -5.0
    return y


def looped(x):
    s = 0.0
    for k in range(5):
        try:
            s += math.log(x - k)
        except ValueError:
            s -= 1.0
        if s > 3:
            break
    return s


def nested(x):
    try:
        try:
            y = 1 / x
        except ValueError:
            y = 3.0
        y = y + math.sqrt(x)
    except ZeroDivisionError:
        y = 11.0
    except ValueError:
        y = 12.0
    return y


def raising(x):
    try:
        if x > 2:
            raise ValueError("no")
        y = x * x
    except ValueError:
        y = 1.0
    return y


def asserts(x):
    try:
        assert x > 0
        y = math.log(x)
    except AssertionError:
        y = -x
    return y


conds = tried("conds(x)", "y = math.log(x) if x > 1 else 1 / x", "ZeroDivisionError: y = 4.0", then="return y")  # fmt: skip
ints = tried("ints(x)", "n = int(1 / x)", "ZeroDivisionError: n = 100", then="return n * x")


def lists(x):
    out = []
    for k in (0.0, 1.0, 2.0):
        try:
            out.append(1 / (x - k))
        except ZeroDivisionError:
            out.append(0.0)
    return sum(out)


def early(x):
    try:
        if x < 0:
            return -x
        y = math.sqrt(x - 1)
    except ValueError:
        y = x**3
    return y + 1


option = tried(
    "option(S, K, T, s)", "d1 = (math.log(S / K) + 0.5 * s * s * T) / (s * math.sqrt(T))",
    "(ZeroDivisionError, ValueError): return max(S - K, 0.0)", then="return S * 0.5 * (1 + math.erf(d1 / math.sqrt(2)))",
)  # fmt: skip


def in_while(x):
    n = 0
    while n < 3:
        try:
            x = math.sqrt(x - 1)
        except ValueError:
            break
        n += 1
    return x + n


FOLLOWED = [
    (logistic, [(1.0,), (-800.0,), (800.0,), (-709.0,)]),
    (loglik, [(0.3, 0.4), (0.0, 0.4), (1.0, 0.4), (-1.0, 0.2)]),
    (tried("rooted(x)", "math.sqrt(x)", "Exception: 0.0"), [(2.0,), (-2.0,)]),
    (several, [(2.0, 1.0), (2.0, 0.0), (-1.0, 1.0), (-1.0, 0.0), (2.0, 1e-3), (0.0, 1.0)]),
    (acosed, [(0.5,), (1.5,), (-1.5,), (1.0,)]),
    (called, [(3.0,), (1.0,), (0.5,)]),
    (looped, [(6.0,), (2.5,), (-1.0,), (40.0,)]),
    (nested, [(2.0,), (0.0,), (-1.0,)]),
    (tried("modded(x)", "5.0 % x + 7.0 // x", "ZeroDivisionError: x - 3"), [(2.5,), (0.0,)]),
    (tried("powers_of(x, y)", "x**y", "ZeroDivisionError: 1.0", "OverflowError: 2.0"), [(2.0, 3.0), (0.0, -1.0), (1e300, 2.0), (0.0, 2.0)]),
    (raising, [(1.0,), (3.0,)]),
    (asserts, [(1.5,), (-2.0,)]),
    (tried("cancels(x)", "x / x", "ZeroDivisionError: 5.0"), [(2.0,), (0.0,)]),
    (conds, [(2.0,), (0.0,), (0.5,)]),
    (ints, [(0.3,), (0.0,)]),
    (lists, [(0.5,), (1.0,)]),
    (tried("hyperbolic(x)", "math.cosh(x)", "OverflowError: math.inf"), [(2.0,), (800.0,)]),
    (tried("of_base(x, b)", "math.log(x, b)", "(ValueError, ZeroDivisionError): 0.25"), [(2.0, 3.0), (2.0, 1.0), (-1.0, 2.0)]),
    (early, [(-2.0,), (0.5,), (3.0,)]),
    (option, [(100.0, 90.0, 1.0, 0.2), (100.0, 90.0, 0.0, 0.2), (100.0, 90.0, 1.0, 0.0), (-1.0, 90.0, 1.0, 0.2)]),
    (tried("gamma(x)", "math.gamma(x)", "ValueError: -1.0", "OverflowError: -2.0"), [(2.5,), (0.0,), (-1.0,), (180.0,)]),
    (in_while, [(8.0,), (2.0,), (0.5,)]),
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore::symdiff.errors.GuardWarning")
@pytest.mark.parametrize("f, points", FOLLOWED, ids=lambda v: getattr(v, "__name__", ""))
def test_handlers_run_where_python_raises(f: Any, points: list[tuple[float, ...]]) -> None:
    s = symgrad(f)
    for p in points:
        want = f(*p)
        assert s(*p) == (pytest.approx(want, rel=1e-13) if math.isfinite(want) else want), p


@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore::symdiff.errors.GuardWarning")
@pytest.mark.parametrize(
    "f, p",
    [(logistic, (1.0,)), (loglik, (0.3, 0.4)), (several, (2.0, 30.0)), (called, (3.0,)), (looped, (6.0,)),
     (nested, (2.0,)), (nested, (-1.0,)), (early, (3.0,)), (in_while, (8.0,)), (option, (100.0, 90.0, 1.0, 0.2))],
)  # fmt: skip
def test_derivatives_are_those_of_the_side_that_runs(f: Any, p: tuple[float, ...]) -> None:
    got = np.atleast_1d(symgrad(f).grad(*p))
    for k, slope in enumerate(got):
        expected = slopes_by(f, p, k, 1e-6 * abs(p[k]))
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-9)


named = tried("named(x)", "y.name = 'y'", "AttributeError: y = y + 0.0", before="y = np.clip(x, -1, 1)", then="return np.sum(y * y)")  # fmt: skip
counted = tried("counted(x)", "n = len(x)", "TypeError: n = 1", then="return n * np.sum(x)")


def looked_up(x):
    known = {"p": 2.0}
    try:
        k = known["q"]
    except KeyError:
        k = 3.0
    else:
        k = 100.0
    return np.sum(k * x)


converted = tried("converted(x)", "x = np.asarray(x)", "Exception: x = None", then="return np.sum(x**2)")  # fmt: skip


def begun(x):
    k = 0.0
    try:
        k = 1.0
        n = len(x)
    except TypeError:
        n = 2
    return np.sum((k + n) * x)


def trimmed_in_place(x):
    def trim(v):
        v[np.abs(v) < 1.6] = 0.0
        return v

    y = 1 * x
    try:
        y = trim(x if np.ndim(x) == 0 else y)
    except TypeError:
        y = 0.0 if abs(y) < 1.6 else float(y)
    return np.sum(y) + np.sum(x)


def first_of_called(x):
    def first(v):
        return v[0]

    try:
        y, n = first(x), 2
    except TypeError:
        y, n = x, 3
    return y * n


def positive(v):
    if np.all(v > 0):
        return v, 2.0
    raise ValueError("not positive")


of_shape = tried("of_shape(x)", "n = x.shape[0]", "AttributeError: n = 5", then="return n * np.sum(x)")  # fmt: skip


FOLLOWED_TYPES = [
    named, counted, looked_up, converted, tried("of_series(x)", "x.values.sum()", "AttributeError: 2 * np.sum(x)"),
    begun, trimmed_in_place, first_of_called, tried("squeezed(x)", "np.sum(x.squeeze()[()])", "AttributeError: 3 * x"), of_shape,
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("fun", FOLLOWED_TYPES)
@pytest.mark.parametrize("x", [1.5, np.array([0.5, 2.0])], ids=["number", "array"])
def test_errors_that_numbers_do_not_cause(fun, x) -> None:
    assert symgrad(fun)(x) == fun(x)


def test_a_float_of_a_number_is_one() -> None:
    def f(x):
        try:
            x = float(x)
        except ValueError:
            return 0.0
        return x * x

    assert symgrad(f).grad(1.5) == 3.0


def another_error(x):
    try:
        try:
            r = 1 / x + math.sqrt(x + 1)
        except ZeroDivisionError as e:
            raise ValueError(f"{e}: no reciprocal") from e
    except ValueError:
        r = x + 4
    return r


def same_error(x):
    try:
        try:
            r = 1 / x + math.sqrt(x + 1)
        except ZeroDivisionError:
            r = 7 * x
        except ValueError as e:
            raise e
    except ValueError:
        r = x + 4
    return r


@pytest.mark.sampled(3)
@pytest.mark.parametrize("x", [2.0, 0.0, -2.0, 800.0, math.inf, math.nan])
@pytest.mark.parametrize(
    "f",
    [
        tried("root_of_numpy(x)", "np.sqrt(x) + np.exp(x)", "(ValueError, OverflowError): 5.0"),
        tried("wave(x)", "math.sin(x) + round(x, 2)", "ValueError: 5.0"),
        another_error,
        same_error,
    ],
)
def test_handlers_run_where_plain_python_raises(f: Any, x: float) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(symgrad(f)(x), f(x), rtol=1e-15)


@pytest.mark.parametrize("x", [2.0, 0.0])
def test_rests_of_divisions_by_zero(x: float) -> None:
    value = "math.fmod(2.5, x) + math.remainder(2.5, x) + math.sin(1 / x)"
    rest = tried("rest(x)", value, "ValueError: 5.0", "ZeroDivisionError: 6.0")
    assert symgrad(rest)(x) == pytest.approx(rest(x), rel=1e-15)


def test_numbers_rounded_to_digits_raise_nothing() -> None:
    rounded = symgrad(tried("rounded(x)", "round(x, 2)", "ValueError: 5.0"))
    assert rounded(2.347) == 2.35
    assert np.isnan(rounded(math.nan))


def test_another_error_is_raised_in_the_call() -> None:
    def reciprocal(x):
        try:
            return 1 / x
        except ZeroDivisionError as e:
            raise ValueError("x must not be 0") from e

    s = symgrad(reciprocal)
    assert s(2.0) == 0.5
    with pytest.raises(ValueError, match="x must not be 0"):
        s(0.0)


class Sum:
    def __init__(self):
        self.total = 0.0

    def quotient(self, x, y):
        self.total += x
        return x / y


def changed_object(x, y):
    s = Sum()
    try:
        r = s.quotient(x, y)
    except ZeroDivisionError:
        r = 9.0
    return r + s.total


bound_before = tried("bound_before(x, y)", "r = (a := x) + 1 / y", "ZeroDivisionError: r = 2.0", before="a = 1.0", then="return r * a")  # fmt: skip
appended_before = tried("appended_before(x, y)", "r = (a.append(x), 1 / y)[1]", "ZeroDivisionError: r = 9.0", before="a = []", then="return r * len(a)")  # fmt: skip


def changed_by_a_call(x, y):
    a = [0.0]

    def count():
        a[0] += 1
        return 1 / x

    try:
        y = count()
    except ZeroDivisionError:
        y = 0.0
    return y + a[0]


def attribute_after_a_change(x, y):
    seen = [0.0]

    def note():
        seen[0] = 5.0
        return x

    try:
        y = note().values
    except AttributeError:
        y = x
    return y * seen[0]


iterator_used_before = tried("iterator_used_before(x, y)", "y = next(values)[0]", "TypeError: y = next(values)", before="values = iter([x, 2 * x])", then="return y")  # fmt: skip
method_of_a_number = tried("method_of_a_number(x, y)", "2 * y.squeeze()", "AttributeError: 3 * y", before="y = np.sin(x)")  # fmt: skip


CHANGED = "after it has changed something"
REFUSED = [
    (changed_object, (2.0, 3.0), CHANGED), (bound_before, (2.0, 3.0), CHANGED), (appended_before, (2.0, 3.0), CHANGED),
    (changed_by_a_call, (2.0, 3.0), CHANGED), (attribute_after_a_change, (2.0, 3.0), "attribute 'values'"),
    (iterator_used_before, (2.0, 3.0), "it is indexed"), (method_of_a_number, (2.0, 3.0), "may be Python's or NumPy's"),
    (tried("beside_an_array(x, y)", "1.0 / y + np.sum(x)", "ZeroDivisionError: 5.0"), (np.ones(2), 0.0), "NumPy"),
    (tried("of_numpy(x)", "np.sin(x) / x", "ZeroDivisionError: 0.0"), (0.0,), "which raises no ZeroDivisionError"),
    (tried("first_quotient(x, y)", "next(1 / v for v in (x, y))", "ZeroDivisionError: 50.0"), (2.0, 3.0), CHANGED),
    (tried("some(x, y)", "x if any(1 / v > 0 for v in (x, y)) else y", "ZeroDivisionError: 50.0"), (2.0, 3.0), CHANGED),
    (tried("sum_that_may_overflow(x)", "math.fsum([x, x])", "OverflowError: 7.0"), (1.0,), "OverflowError"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "message"), REFUSED)
def test_statements_that_may_change_something_or_raise_another_error_are_refused(
    f: Any, args: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(*args)


def changed_after(x, y):
    a = [x, 1.0]
    try:
        if y > 1:
            a[0] = math.log(y)
        else:
            a[0] = (b := 1 / y) * x
    except ZeroDivisionError:
        b = 3.0
    return a[0] + (b if y <= 1 else 0.0)


from_an_iterator = tried("from_an_iterator(x, y)", "a = next(numbers) ** 2", "ZeroDivisionError: a = 9.0", before="numbers = iter([x, y, 3.0])", then="return a + next(numbers)")  # fmt: skip


@pytest.mark.parametrize("y", [3.0, 0.5, 0.0])
@pytest.mark.parametrize("f", [changed_after, from_an_iterator])
def test_what_is_changed_where_no_error_is_raised(f: Any, y: float) -> None:
    assert symgrad(f)(2.0, y) == pytest.approx(f(2.0, y), rel=1e-15)


index_before_a_certain_error = tried("index_before_a_certain_error(x, z)", "y = x[3] + 1.0 / 0", "IndexError: y = z", "ZeroDivisionError: y = 2 * z", then="return y")  # fmt: skip


LOGARITHM = tried("logarithm(x, y)", "math.log(x, y)", "ValueError: 2.5", "ZeroDivisionError: 3.5")
POWER = tried("power(x, y)", "x**y", "ZeroDivisionError: 1.5")


@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore::symdiff.errors.GuardWarning")
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (index_before_a_certain_error, (np.arange(3.0), 3.0)),
        (index_before_a_certain_error, (np.arange(4.0), 3.0)),
        (LOGARITHM, (0.0, 1.0)), (LOGARITHM, (2.0, 1.0)),
        (tried("hypotenuse(x, y)", "math.hypot(x, y)", "OverflowError: 2.5"), (1.5e308, 1.5e308)),
        (POWER, (0.0, -math.inf)), (POWER, (0.0, -1.0)),
    ],
)  # fmt: skip
def test_the_first_error_decides(f: Any, args: tuple[Any, ...]) -> None:
    assert symgrad(f)(*args) == f(*args)
