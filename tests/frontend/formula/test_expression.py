"""Formulas given as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symdiff.errors import ParseError
from symdiff.frontend.formula.grammar import FUNCTIONS
from symdiff.frontend.formula.parse import parse, parse_condition
from symdiff.ir import (
    FALSE,
    INF,
    NAN,
    ONE,
    POW,
    TRUE,
    ZERO,
    Expr,
    and_,
    const,
    eq,
    le,
    lt,
    ne,
    not_,
    or_,
    power,
    sqrt,
    var,
    where,
)
from symdiff.ir import functions as fn

x, y, z = var("x"), var("y"), var("z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(x**2 - 4)/(x - 2)", (x**2 - 4) / (x - 2)),
        ("  x\n + 1 ", x + 1),
        ("x # a comment", x),
        ("-x**2", -(x**2)),
        ("+x", x),
        ("2**-1*x", const(Fraction(1, 2)) * x),
        ("1_000.5*x", const(Fraction(2001, 2)) * x),
        ("0.3", const(Fraction(3, 10))),
        ("1.", ONE),
        (".5e-3", const(Fraction(1, 2000))),
        ("1e30", const(10**30)),
        ("0x10", const(16)),
        ("pi*x", fn.PI() * x),
        ("π*x", fn.PI() * x),
        ("math.tau", 2 * fn.PI()),
        ("e**x", power(fn.EXP(ONE), x)),
        ("ln(x) + log(x, 2)", fn.LOG(x) + fn.LOG(x) / fn.LOG(const(2))),
        ("arcsin(x) + asin(x)", 2 * fn.ASIN(x)),
        ("np.sin(x) + math.cos(x)", fn.SIN(x) + fn.COS(x)),
        ("scipy.special.gammaln(x)*np.pi", fn.LGAMMA(x) * fn.PI()),
        ("sqrt(x)", sqrt(x)),
        ("pow(x, y)", power(x, y)),
        ("max(x, y, 3) - min(x)", fn.MAXIMUM(fn.MAXIMUM(x, y), const(3)) - x),
        ("abs(x)*gamma(x)", fn.ABS(x) * fn.GAMMA(x)),
        ("x // y", fn.FLOOR(x / y)),
        ("x % y", x - y * fn.FLOOR(x / y)),
        ("where(x > 0, x, y)", where(lt(0, x), x, y)),
        ("x if x > 0 else y", where(lt(0, x), x, y)),
        ("where(0 < x <= y, 1, 2)", where(and_(lt(0, x), le(x, y)), 1, 2)),
        ("where(x == 0 or y != 1, 1, 2)", where(or_(eq(x, 0), ne(y, 1)), 1, 2)),
        ("where(not x >= 0, 1, 2)", where(le(0, x), 2, 1)),
        ("where((x > 0) & ~(y > 0) | (x < y), 1, 2)",
         where(or_(and_(lt(0, x), not_(lt(0, y))), lt(x, y)), 1, 2)),
        ("(x > 0)*x", where(lt(0, x), 1, 0) * x),
        ("where(x, 1, 2)", where(ne(x, 0), 1, 2)),
        ("1/x if True else nan0", 1 / x),
    ],
)  # fmt: skip
def test_meaning(text: str, expected: Expr) -> None:
    assert parse(text).outputs == (expected,)


def test_parameters_are_in_order_of_appearance() -> None:
    program = parse("z*x + sin(z)*y", "energy")
    assert program.name == "energy"
    assert program.params == ("z", "x", "y")
    assert program.tree == 0


def test_a_tuple_gives_several_outputs() -> None:
    program = parse("x*y, x + y")
    assert program.outputs == (x * y, x + y)
    assert program.tree == (0, 1)


def test_locations_are_columns_of_the_text() -> None:
    program = parse("  x + sin(y)")
    place = program.locations[fn.SIN(y)]
    assert (str(place), place.text) == ("<expression>:1:7", "  x + sin(y)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x/y", ()),
        ("log(x)", (le(0, x),)),
        ("sqrt(x)**2/x", (le(0, x),)),
        ("exp(log(x))", (le(0, x),)),
        ("sqrt(x**2)", ()),
        ("log(-1) + x", (FALSE,)),
        ("where(y > 0, log(x), 1)", (or_(not_(lt(0, y)), le(0, x)),)),
        ("where(y > 0, 1, sqrt(x)**2)", (or_(lt(0, y), le(0, x)),)),
        ("where(y > 0, log(x), 1) + log(x)", (or_(not_(lt(0, y)), le(0, x)), le(0, x))),
        ("where(y > 0 and log(x) > 1, 1, 2)", (or_(not_(lt(0, y)), le(0, x)),)),
        ("xlogy(x, y)", (or_(and_(eq(x, 0), le(y, 0)), le(0, y)),)),
    ],
)
def test_domain(text: str, expected: tuple[Expr, ...]) -> None:
    assert parse(text).domain == expected


def test_conditions() -> None:
    assert parse_condition("x > 0 and y != x", ["x", "y"]) is and_(lt(0, x), ne(y, x))
    assert parse_condition("True", []) is TRUE
    with pytest.raises(
        ParseError, match=r"'z' is not a parameter\n.*\n.*\nhint: the parameters are x, y"
    ):
        parse_condition("z > 0", ["x", "y"])
    with pytest.raises(ParseError, match="this is a number, not a condition"):
        parse_condition("x + 1", ["x"])


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("", 1, "the expression is empty", ""),
        ("  ", 1, "the expression is empty", ""),
        ("x^2", 2, "^ is not an operator here", "use ** for powers"),
        ("α + (x)^(2)", 8, "^ is not an operator here", "use ** for powers"),
        ("x @ y", 3, "@ is not an operator here", ""),
        ("x << 2", 3, "<< is not an operator here", ""),
        ("2x", 1, "a product needs a sign", "write 2*x"),
        ("y + 2.5 x", 5, "a product needs a sign", "write 2.5*x"),
        ("2(x + 1)", 1, "only functions can be called", "write a*(b) for a product"),
        ("x(y)", 1, "x is not a function", "write x*(...) for a product"),
        ("pi(y)", 1, "pi is not a function", "write pi*(...) for a product"),
        ("speed + speed(y)", 9, "speed is not a function", "write speed*(...) for a product"),
        ("sin x", 1, "something is missing between two names",
         "write sin*x for a product, sin(x) for a function"),
        ("1 + sinn(x)", 5, "the function sinn is not known", "did you mean sin or sinh or sinc?"),
        ("foo(x)", 1, "the function foo is not known", ""),
        ("flor(x)", 1, "the function flor is not known", "did you mean floor?"),
        ("qqqq(x)", 1, "the function qqqq is not known", ""),
        ("sin", 1, "sin is a function", "write sin(...), or give the variable another name"),
        ("2*np.gamma", 3, "gamma is a function", "write gamma(...), or give the variable another name"),
        ("sin(x, y)", 1, "sin takes 1 argument, not 2", ""),
        ("atan2(x)", 1, "atan2 takes 2 arguments, not 1", ""),
        ("log(x, y, z)", 1, "log takes 1 to 2 arguments, not 3", ""),
        ("max()", 1, "max takes at least 1 argument, not 0", ""),
        ("where(x > 0, 1)", 1, "where takes 3 arguments, not 2", ""),
        ("sin(x=1)", 1, "sin takes no keyword arguments", ""),
        ("max(*x)", 1, "* is not part of a call in a formula", ""),
        ("x > 0", 1, "this is a condition, not a number", "use where(condition, a, b)"),
        ("x, y < 1", 4, "this is a condition, not a number", "use where(condition, a, b)"),
        ("sin((x, y))", 5, "a tuple can only be the whole expression", ""),
        ("x[0]", 1, "indexing is not part of a formula", "use names such as x0, x1"),
        ("(x := 2)", 2, "assignments are not part of a formula", ""),
        ("x = 2", 3, "= is not part of a formula", "use == to compare"),
        ("lambda*2", 1, "lambda is a keyword of Python", "give the variable another name"),
        ("2*None", 3, "None is not a number", ""),
        ("'a'", 1, "'a' is not a number", ""),
        ("3j", 1, "complex numbers are not supported", "write 2*x for a product"),
        ("[x for x in y]", 1, "this is not part of a formula", "use a Python file"),
        ("x & 1", 1, "& and | join conditions", "put the comparisons in parentheses"),
        ("~x", 1, "~ needs a condition", "use - for the negative"),
        ("where(x in y, 1, 2)", 12, "only <, <=, >, >=, == and != compare numbers", ""),
        ("x.real", 1, "x.real is not known", "attributes are not part of a formula"),
        ("os.system('ls')", 1, "os.system is not known", "attributes are not part of a formula"),
        ("np.linalg.norm(x)", 1, "np.linalg.norm is not known", "attributes are not part of a formula"),
        ("__import__('os')", 1, "the function __import__ is not known", ""),
        ("__name__", 1, "__name__ is no name for a variable", ""),
        ("(x", 1, "'(' was never closed", ""),
        ("x)", 2, "unmatched ')'", ""),
        ("x +", 4, "the expression ends too early", ""),
        ("x + * y", 5, "unexpected '*'", ""),
        ("x²", 2, "² is not part of a formula", "use ** for powers"),
        ("2×x", 2, "× is not part of a formula", "use * for a product"),
        ("1e99999999999", 1, "the number is too long", ""),
        ("x*1e-5000", 3, "the number is too long", ""),
    ],
)  # fmt: skip
def test_errors(text: str, place: int, message: str, hint: str) -> None:
    with pytest.raises(ParseError) as info:
        parse(text)
    error = info.value
    assert (error.message, error.hint) == (message, hint)
    assert str(error).splitlines()[0] == f"<expression>:1:{place}: {message}"


def test_the_caret_stands_below_the_mistake() -> None:
    with pytest.raises(ParseError) as info:
        parse("  1 + x^2")
    assert str(info.value) == (
        "<expression>:1:8: ^ is not an operator here\n"
        "    1 + x^2\n"
        "         ^\n"
        "hint: use ** for powers"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 300 + "x" + ")" * 300, "too many nested parentheses"),
        ("-" * 100_000 + "x", "longer than 100000 characters"),
        ("-" * 50_000 + "x", "nested too deeply"),
        ("+".join(["x"] * 40_000), "nested too deeply"),
        ("1" * 5000, "the number is too long"),
        ("0." + "1" * 2000, "the number is too long"),
        ("x\0y", "null bytes"),
    ],
)
def test_excessive_input_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message) as info:
        parse(text)
    assert len(str(info.value)) < 500


@pytest.mark.parametrize(
    "text",
    ["9**9**9*x", "x**9**9**9", "10**5000*x", "exp2(10**400)", "cbrt(10**400)", "gamma(10**9)"],
)
def test_huge_powers_do_not_hang(text: str) -> None:
    assert parse(text).outputs[0].args


def test_long_sums_parse() -> None:
    program = parse("+".join(f"x**{k}" for k in range(2, 500)))
    assert sum(e.op is POW for e in program.locations) == 498


def test_every_table_entry_can_be_called() -> None:
    for op in fn.TABLE:
        if op.arity and op.names:
            text = f"{op.name}({', '.join('wxyz'[: op.arity])})"
            if op.name == "polygamma":
                text = "polygamma(2, x)"
            assert parse(text).outputs[0].op is op or op.simplify is not None
            assert op.name in FUNCTIONS


@given(st.text(alphabet="xy0123456789.+-*/()<>=, sincoe\n^!'\"[]{}:@#π²", max_size=40))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        program = parse(text)
    except ParseError as error:
        assert str(error).startswith("<expression>:1:")
    else:
        assert not any(e.op.boolean for e in program.outputs)


def test_poles_of_constants_are_those_of_ieee() -> None:
    assert parse("x*0").outputs == (ZERO,)
    assert parse("1/0 + x").outputs[0].args == (INF, var("x"))
    assert parse("0/0").outputs == parse("0*(1/0)").outputs == (NAN,)
