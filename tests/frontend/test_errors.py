"""Every kind of Python that is refused, with the exact message that says so.

Each entry of `REFUSED` is a source text whose function `f` is captured, and what the error says there.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest

from symdiff.errors import UnsupportedError
from symdiff.frontend import Parameters, capture
from symdiff.frontend.syntax.expressions import EXPRESSIONS
from symdiff.frontend.syntax.expressions import REFUSED as REFUSED_EXPRESSIONS
from symdiff.frontend.syntax.statements import REFUSED as REFUSED_STATEMENTS
from symdiff.frontend.syntax.statements import STATEMENTS
from tests.frontend.refused import define, is_refused, refusals

REFUSED = refusals("""
# for_range
    y = 0.0
    for i in range(x):
        y += i
    return y
=> 3:14: range() of a real number
hint: if it is an integer known in the call, annotate it: x: int
# long_list
    found = []
    for i in range(10**12):
        found.append(x * i)
    return found[3]
=> 3:14: a range of more than 2000000 elements is listed
hint: loops are unrolled when traced; use fewer iterations
# try_except
    import symdiff

    try:
        return symdiff.root(lambda y, a: y**3 + y - a, 0.5, x)
    except ValueError:
        return 0.0
=> 4:5: 'try' around root(), which may raise errors that are not followed
hint: test what would raise it instead, such as if x >= 0 for math.sqrt(x)
# try_of_many_statements
    y = 0.0
    try:
        for k in range(3):
            y += 1 / (x - k)
    except ZeroDivisionError:
        return y
    return y
=> 3:5: 'try' around a statement that may raise an error after it has changed something
hint: try one assignment at a time
# with_block
    with open("data") as file:
        return x * len(file.read())
=> 2:5: 'with' is not supported
hint: only np.errstate and warnings.catch_warnings are; do I/O outside
# yield_value
    yield x
=> 2:5: 'yield' is not supported
hint: return a tuple or a list
# async_function
async def f(x):
    return x
=> 1:1: 'async' is not supported
# class_inside
    class Model(dict):
        rate = 2
    return x
=> 2:5: a class is defined inside of the function
hint: define it at the top of the file
# delete
    y = x
    del y
    return y
=> 4:12: name 'y' is used before it is assigned
# global_name
    global count
    count = 1
    return x
=> 3:5: the global 'count' is assigned
hint: a function to differentiate has no side effects; pass the value in and return it
# import_inside
    import random
    return x * random.random()
=> 2:5: 'random' is imported inside of the function
hint: import it at the top of the file
# input_call
    return x * float(input())
=> 2:22: 'input' cannot be traced
hint: pass the value as an argument
# open_call
    return x * float(open("rate").read())
=> 2:22: 'open' cannot be traced
hint: read the file before, and pass its values as arguments
# clock
    return x * time.time()
=> 2:16: 'time.time' cannot be traced
hint: its value would be frozen when traced; pass it as an argument
# random_numbers
    return x + random.random()
=> 2:16: 'random.random' cannot be traced
hint: random numbers would be frozen when traced; pass them as arguments
# random_gauss
    return x + random.gauss(0, 1)
=> 2:16: 'random.gauss' cannot be traced
hint: random numbers would be frozen when traced; pass them as arguments
# numpy_random
    return x + np.random.rand()
=> 2:16: 'np.random.rand' cannot be traced
hint: random numbers would be frozen when traced; pass them as arguments
# numpy_generator
    return x + RNG.normal()
=> 2:16: 'RNG.normal' cannot be traced
hint: random numbers would be frozen when traced; pass them as arguments
# foreign_function
    return x + len(np.packbits([1, x]))
=> 2:20: 'np.packbits' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# complex_transform
    return x + len(np.fft.hfft([x, 1.0]))
=> 2:20: 'np.fft.hfft' cannot be traced
hint: fft, ifft, rfft, irfft, fft2, fftn, rfftn and their frequencies are supported; write others as a sum, such as np.exp(-1j * w[:, None] * t) @ x
# foreign_object
    return COUNTER((x, x)) * x
=> 2:12: 'COUNTER' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# foreign_attribute
    return PATH.stem
=> 2:12: 'PATH.stem' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# unknown_scipy
    return scipy.special.struve(0, x)
=> 2:12: 'scipy.special.struve' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# complex_call
    return 1.0 if complex(x, 1) < 2 else x
=> 2:19: '<' of complex numbers, which Python refuses
hint: compare or round their parts, z.real and z.imag, or abs(z)
# is_comparison
    return 1.0 if x is 0.5 else x
=> 2:19: 'is' between numbers
hint: compare values with ==
# membership
    return 1.0 if x in {1: 2} else x
=> 2:19: a value that is not known when traced is compared or used as a key
hint: use comparisons of numbers with 'if', or np.where
# bit_operation
def f(x, y):
    return x & y
=> 2:12: '&' of a real number and a real number
hint: put comparisons in parentheses: (a > 0) & (b > 0)
# mask_without_parentheses
def f(x, y):
    return np.where(x > 0 & y > 0, x, y)
=> 2:25: '&' of an integer and a real number
hint: put comparisons in parentheses: (a > 0) & (b > 0)
# shift
    return x << 2
=> 2:12: '<<' of a real number and an integer
hint: it works on integers and truth values known when traced
# invert
    return ~x
=> 2:12: '~' of a real number
hint: it negates conditions: ~(x > 0)
# index_by_value
    return [1.0, 2.0][x / 3]
=> 2:12: a real number is used as an index
hint: an index must be known; use np.where to select by value; or, where there is no derivative by it, static="x"
# key_by_value
    return {0: 1.0, 1: 2.0}[x]
=> 2:12: a value that is not known when traced is compared or used as a key
hint: use comparisons of numbers with 'if', or np.where
# missing_key
    return {"a": x}["b"]
=> 2:12: key 'b' is not in the dictionary
# missing_key_deleted
    d = {"a": x}
    del d["b"]
    return d["a"]
=> 3:9: key 'b' is not in the dictionary
# missing_key_popped
    d = {"a": x}
    return d.pop("b")
=> 3:12: key 'b' is not in the dictionary
# missing_key_in_loop
    d = {"a": x}
    while d["a"] < 9:
        d["b"] += d["a"]
    return d["a"]
=> 4:9: key 'b' is not in the dictionary
# list_arithmetic
    return [x, 1.0] - [x, 2.0]
=> 2:12: '-' of a list and a list
hint: np.array(...) makes an array of a list; gradients by lists are lists
# list_method_of_array
    return [x, 1.0].sum()
=> 2:12: a list has no method 'sum'
hint: np.array(...) makes an array of a list; gradients by lists are lists
# unbound_name
    if x > 0:
        y = x
    return y
=> 4:12: name 'y' may be unbound here: it is assigned only when x > 0
hint: assign it on every path
# unbound_by_elif
def f(x, z):
    if x > 0:
        y = x
    elif z < 0 and x < -1:
        y = z
    return x + y
=> 6:16: name 'y' may be unbound here: it is assigned only when x > 0 or z < 0 and x < -1
hint: assign it on every path
# unbound_after_loop
    for i in range(0):
        y = x
    return y
=> 4:12: name 'y' is used before it is assigned
# used_before_assignment
    z = y + x
    y = 1.0
    return z
=> 2:9: name 'y' is used before it is assigned
# undefined_name
    return x + undefined
=> 2:16: name 'undefined' is not defined
# returns_nothing
    y = x
=> 2:5: 'f' returns nothing
hint: return a number, or a tuple, list, dict or array of numbers
# returns_nothing_on_a_path
    if x > 0:
        return x
    elif x < -1:
        return -x
=> 2:5: 'f' returns nothing when not (x > 0 or x < -1)
hint: return a value on every path
# helper_returns_nothing_on_a_path
def g(x):
    if x > 0:
        return x

def f(x):
    return g(x) + 1
=> 2:5: 'g' returns nothing when x <= 0
hint: return a value on every path
# explicit_none
    if x > 0:
        return None
    return x
=> 4:5: what 'f' returns is None or a real number depending on whether x > 0
hint: both sides of a condition on real values must give numbers, or containers alike
# returns_text
    return "no"
=> 2:5: 'f' returns a string
hint: return a number, or a tuple, list, dict or array of numbers
# raise_always
    raise NotImplementedError
=> 2:5: the function raises NotImplementedError when traced
hint: the error does not depend on the values of real arguments
# false_assertion
    assert 1 > 2, "never"
    return x
=> 2:5: this assertion is known to be false
# mixed_types
    if x > 0:
        y = x
    else:
        y = None
    return y * 2
=> 6:12: name 'y' is a real number or None depending on whether x > 0
hint: ask first, in an 'if' of its own: if value is None: ...
# mixed_functions
    g = math.sin if x > 0 else math.cos
    return g(x)
=> 3:12: name 'g' is a function or another function depending on whether x > 0
hint: both sides of a condition on real values must give numbers, or containers alike
# attribute_assigned
    MODEL.rate = x
    return x
=> 2:5: attribute 'rate' is assigned
hint: a function to differentiate has no side effects; use local names
# outer_list_changed
    OUTER.append(x)
    return x
=> 2:5: a list that was not made on this path is changed
hint: change a copy; a function to differentiate has no side effects
# list_grows_in_branch
    v = [1.0]
    if x > 0:
        v.append(x)
    return sum(v)
=> 4:9: a list changes its size only when x > 0
hint: its size must not depend on real values
# filtered_list
    v = [e for e in (x, -x) if e > 0]
    return v[0]
=> 3:12: a selection by a condition is indexed
hint: their number is not known when traced; sum them, or use np.where
# masked_length
    v = np.array([x, -x])
    return len(v[v > 0]) * x
=> 3:12: the number of elements that a condition selects is not known when traced
hint: sum the condition instead: np.sum(a > 0)
# integer_array
    v = np.array([1, 2, 3])
    v *= 0.5
    return v[1] * x
=> 3:5: an array of integers is changed in place to floats, which NumPy refuses
hint: make a new array: a = a + ..., or convert it first with .astype(float)
# shapes
    return np.sum(np.array([x, 1.0]) + np.array([1.0, 2.0, 3.0]))
=> 2:19: arrays of shapes (2,) and (3,) do not fit together
# float32
    return np.float32(x)
=> 2:12: a real number that is not known when traced is rounded to float32
hint: leave the conversion out; the arguments decide the precision of a call
# float32_array
    return np.array([x], dtype=np.float32)[0]
=> 2:12: dtype float32 is not supported
hint: a traced function computes with real numbers; float, int and bool are known
# truth_of_array
    return x if np.array([x, 1.0]) > 0 else -x
=> 2:17: the truth value of an array of several elements
hint: use np.any or np.all
# endless_recursion
def g(x):
    return g(x - 1) if x > 0 else 0.0

def f(x):
    return g(x)
=> 2:12: calls are nested more than 400 deep
hint: a recursion must end on values known when traced
# wrong_arguments
def g(a, b):
    return a + b

def f(x):
    return g(x)
=> 5:12: 'g' is called without its argument 'b'
# too_many_arguments
    return math.sin(x, 1)
=> 2:12: sin takes 1 argument, not 2
# unknown_keyword
    return np.sin(x, dtype=float)
=> 2:12: the keyword argument 'dtype' is not supported here
# unpacking
    a, b = (x, 1.0, 2.0)
    return a
=> 2:5: 3 values are unpacked into 2 names
# index_out_of_range
    return [x, 1.0][2]
=> 2:12: IndexError when traced: list index out of range
# static_division_by_zero
    return x * (1 // 0)
=> 2:17: ZeroDivisionError when traced: integer division or modulo by zero
# text_of_value
    return float(f"{x}")
=> 2:12: text of values that are not known when traced is used as a number
# decorated_inside
    @staticmethod
    def g(v):
        return v
    return g(x)
=> 2:6: 'staticmethod' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# number_is_called
    return x(2)
=> 2:12: a real number is called
# string_arithmetic
    return x + "1"
=> 2:12: '+' of a real number and a string
# type_of_value
    return 1.0 if type(x) == float else x
=> 2:19: 'type' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# walrus_in_comprehension
    return sum([(y := x * k) for k in range(3)]) + y
=> 2:18: ':=' inside of a comprehension
hint: assign the name in a loop
# missing_module_attribute
    return np.sine(x)
=> 2:12: module 'numpy' has no attribute 'sine'
# eval_call
    return eval("x * 2")
=> 2:12: 'eval' cannot be traced
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
# set_of_values
    return len({x, 1.0})
=> 2:16: a value that is not known when traced is compared or used as a key
hint: use comparisons of numbers with 'if', or np.where
# iterator_shared_by_branches
    it = iter([1.0, 2.0])
    if x > 0:
        return next(it) * x
    return next(it)
=> 4:16: an iterator made outside of this branch or loop step is used up in it
hint: make a list of it first
""")


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_exact_message(name: str) -> None:
    is_refused(*REFUSED[name])


def test_every_statement_of_python_is_run_or_refused() -> None:
    import ast

    known = {*STATEMENTS, *REFUSED_STATEMENTS}
    assert {c for c in ast.stmt.__subclasses__() if c.__name__ != "TypeAlias"} <= known


def test_every_expression_of_python_is_evaluated_or_refused() -> None:
    import ast

    known = {*EXPRESSIONS, *REFUSED_EXPRESSIONS, ast.Starred, ast.FormattedValue}
    later = {"TemplateStr", "Interpolation"}
    assert {c for c in ast.expr.__subclasses__() if c.__name__ not in later} <= known


def test_refused_calls_are_not_executed() -> None:
    """A function that is refused in one place runs no foreign code before it."""
    calls: list[float] = []
    text = "def f(x):\n    y = x * 2\n    return y + RECORD(3.0)\n"
    f = define(text)
    f.__globals__["RECORD"] = calls.append
    with pytest.raises(UnsupportedError):
        capture(f, {})
    assert calls == []


def test_no_source() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x\n", "<nowhere>", "exec"), scope)
    with pytest.raises(UnsupportedError) as caught:
        capture(scope["f"], {})
    assert str(caught.value) == (
        "<nowhere>:1:1: the source of 'f' is not available\n"
        "hint: define the function in a file or a notebook cell; symdiff reads its source"
    )


def test_changed_source() -> None:
    f = define("def f(x):\n    return x\n", "changed.py")
    define("\n\n\ndef f(x):\n    return x\n", "changed.py")
    with pytest.raises(UnsupportedError) as caught:
        capture(f, {})
    assert str(caught.value) == (
        "changed.py:1:1: the source of 'f' has changed since it was imported\n"
        "hint: import the module again"
    )


@pytest.mark.parametrize("value", [math.sin, 3.0, operator.itemgetter(0)])
def test_not_a_function(value: object) -> None:
    name = getattr(value, "__name__", type(value).__name__)
    with pytest.raises(UnsupportedError) as caught:
        capture(value, {})  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"'{name}' is not a Python function\n"
        "hint: symdiff reads the source of plain Python functions"
    )


def test_error_in_a_helper_of_another_file() -> None:
    helper = define("def f(v):\n    input(v)\n    return v\n", "helper.py")
    main = define("def f(x):\n    return HELPER(x)\n", "main.py")
    main.__globals__["HELPER"] = helper
    with pytest.raises(UnsupportedError) as caught:
        capture(main, {})
    assert str(caught.value).startswith("helper.py:2:5: 'input' cannot be traced")


def test_static_parameter_without_value() -> None:
    with pytest.raises(UnsupportedError) as caught:
        capture(define("def f(x, n: int):\n    return x**n\n"), {})
    assert str(caught.value) == (
        "model.py:1:1: static parameter 'n' of 'f' has no value\n"
        "    def f(x, n: int):\n"
        "    ^\n"
        "hint: give it a value in the call"
    )


def test_unknown_static_parameter() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Parameters(define("def f(x):\n    return x\n"), ("n",))
    assert str(caught.value) == (
        "model.py:1:1: 'f' has no parameter 'n'\n    def f(x):\n    ^\nhint: its parameters are x"
    )


def test_columns_count_characters() -> None:
    """Not bytes: the caret stands under the refused call."""
    f = define("def f(x):\n    return 'é' * 0 or input('ü')\n")
    with pytest.raises(UnsupportedError) as caught:
        capture(f, {})
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("model.py:2:23: ")
    assert lines[1][lines[2].index("^") :].startswith("input")
