"""Every kind of Python that is refused, with the exact message that says so.

Each entry of `REFUSED` is a source text whose function `f` is captured, and the
whole text of the error.
"""

from __future__ import annotations

import linecache
import math
import operator
import pathlib
import random
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from symdiff.frontend import Parameters, capture
from symdiff.frontend.syntax.expressions import EXPRESSIONS
from symdiff.frontend.syntax.expressions import REFUSED as REFUSED_EXPRESSIONS
from symdiff.frontend.syntax.statements import REFUSED as REFUSED_STATEMENTS
from symdiff.frontend.syntax.statements import STATEMENTS


def names() -> dict[str, Any]:
    """What the functions find in their module."""
    return {
        "__name__": "model",
        "np": np,
        "math": math,
        "random": random,
        "time": time,
        "scipy": scipy,
        "COUNTER": operator.itemgetter(0),
        "PATH": pathlib.Path("model.txt"),
        "MODEL": SimpleNamespace(rate=1.0),
        "OUTER": [],
        "RNG": np.random.default_rng(0),
    }


def define(text: str, path: str = "model.py") -> Callable[..., Any]:
    """The function `f` of a source text."""
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    scope = names()
    exec(compile(text, path, "exec", dont_inherit=True), scope)
    found: Callable[..., Any] = scope["f"]
    return found


REFUSED: dict[str, tuple[str, str]] = {
    "for_range": (
        """
def f(x):
    y = 0.0
    for i in range(x):
        y += i
    return y
""",
        """
model.py:3:14: range() of a real number
    for i in range(x):
             ^
hint: if it is an integer known in the call, annotate it: x: int
""",
    ),
    "long_list": (
        """
def f(x):
    found = []
    for i in range(10**12):
        found.append(x * i)
    return found[3]
""",
        """
model.py:3:14: a range of more than 2000000 elements is listed
    for i in range(10**12):
             ^
hint: loops are unrolled when traced; use fewer iterations
""",
    ),
    "try_except": (
        """
def f(x):
    import symdiff

    try:
        return symdiff.root(lambda y, a: y**3 + y - a, 0.5, x)
    except ValueError:
        return 0.0
""",
        """
model.py:4:5: 'try' around root(), which may raise errors that are not followed
    try:
    ^
hint: test what would raise it instead, such as if x >= 0 for math.sqrt(x)
""",
    ),
    "try_of_many_statements": (
        """
def f(x):
    y = 0.0
    try:
        for k in range(3):
            y += 1 / (x - k)
    except ZeroDivisionError:
        return y
    return y
""",
        """
model.py:3:5: 'try' around a statement that may raise an error after it has changed something
    try:
    ^
hint: try one assignment at a time
""",
    ),
    "with_block": (
        """
def f(x):
    with open("data") as file:
        return x * len(file.read())
""",
        """
model.py:2:5: 'with' is not supported
    with open("data") as file:
    ^
hint: only np.errstate and warnings.catch_warnings are; do I/O outside
""",
    ),
    "yield_value": (
        """
def f(x):
    yield x
""",
        """
model.py:2:5: 'yield' is not supported
    yield x
    ^
hint: return a tuple or a list
""",
    ),
    "async_function": (
        """
async def f(x):
    return x
""",
        """
model.py:1:1: 'async' is not supported
    async def f(x):
    ^
""",
    ),
    "class_inside": (
        """
def f(x):
    class Model(dict):
        rate = 2
    return x
""",
        """
model.py:2:5: a class is defined inside of the function
    class Model(dict):
    ^
hint: define it at the top of the file
""",
    ),
    "delete": (
        """
def f(x):
    y = x
    del y
    return y
""",
        """
model.py:4:12: name 'y' is used before it is assigned
    return y
           ^
""",
    ),
    "global_name": (
        """
def f(x):
    global count
    count = 1
    return x
""",
        """
model.py:3:5: the global 'count' is assigned
    count = 1
    ^
hint: a function to differentiate has no side effects; pass the value in and return it
""",
    ),
    "import_inside": (
        """
def f(x):
    import random
    return x * random.random()
""",
        """
model.py:2:5: 'random' is imported inside of the function
    import random
    ^
hint: import it at the top of the file
""",
    ),
    "input_call": (
        """
def f(x):
    return x * float(input())
""",
        """
model.py:2:22: 'input' cannot be traced
    return x * float(input())
                     ^
hint: pass the value as an argument
""",
    ),
    "open_call": (
        """
def f(x):
    return x * float(open("rate").read())
""",
        """
model.py:2:22: 'open' cannot be traced
    return x * float(open("rate").read())
                     ^
hint: read the file before, and pass its values as arguments
""",
    ),
    "clock": (
        """
def f(x):
    return x * time.time()
""",
        """
model.py:2:16: 'time.time' cannot be traced
    return x * time.time()
               ^
hint: its value would be frozen when traced; pass it as an argument
""",
    ),
    "random_numbers": (
        """
def f(x):
    return x + random.random()
""",
        """
model.py:2:16: 'random.random' cannot be traced
    return x + random.random()
               ^
hint: random numbers would be frozen when traced; pass them as arguments
""",
    ),
    "random_gauss": (
        """
def f(x):
    return x + random.gauss(0, 1)
""",
        """
model.py:2:16: 'random.gauss' cannot be traced
    return x + random.gauss(0, 1)
               ^
hint: random numbers would be frozen when traced; pass them as arguments
""",
    ),
    "numpy_random": (
        """
def f(x):
    return x + np.random.rand()
""",
        """
model.py:2:16: 'np.random.rand' cannot be traced
    return x + np.random.rand()
               ^
hint: random numbers would be frozen when traced; pass them as arguments
""",
    ),
    "numpy_generator": (
        """
def f(x):
    return x + RNG.normal()
""",
        """
model.py:2:16: 'RNG.normal' cannot be traced
    return x + RNG.normal()
               ^
hint: random numbers would be frozen when traced; pass them as arguments
""",
    ),
    "foreign_function": (
        """
def f(x):
    return x + len(np.packbits([1, x]))
""",
        """
model.py:2:20: 'np.packbits' cannot be traced
    return x + len(np.packbits([1, x]))
                   ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "complex_transform": (
        """
def f(x):
    return x + len(np.fft.hfft([x, 1.0]))
""",
        """
model.py:2:20: 'np.fft.hfft' cannot be traced
    return x + len(np.fft.hfft([x, 1.0]))
                   ^
hint: fft, ifft, rfft, irfft, fft2, fftn, rfftn and their frequencies are supported; write others as a sum, such as np.exp(-1j * w[:, None] * t) @ x
""",
    ),
    "foreign_object": (
        """
def f(x):
    return COUNTER((x, x)) * x
""",
        """
model.py:2:12: 'COUNTER' cannot be traced
    return COUNTER((x, x)) * x
           ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "foreign_attribute": (
        """
def f(x):
    return PATH.stem
""",
        """
model.py:2:12: 'PATH.stem' cannot be traced
    return PATH.stem
           ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "unknown_scipy": (
        """
def f(x):
    return scipy.special.struve(0, x)
""",
        """
model.py:2:12: 'scipy.special.struve' cannot be traced
    return scipy.special.struve(0, x)
           ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "complex_call": (
        """
def f(x):
    return 1.0 if complex(x, 1) < 2 else x
""",
        """
model.py:2:19: '<' of complex numbers, which Python refuses
    return 1.0 if complex(x, 1) < 2 else x
                  ^
hint: compare or round their parts, z.real and z.imag, or abs(z)
""",
    ),
    "is_comparison": (
        """
def f(x):
    return 1.0 if x is 0.5 else x
""",
        """
model.py:2:19: 'is' between numbers
    return 1.0 if x is 0.5 else x
                  ^
hint: compare values with ==
""",
    ),
    "membership": (
        """
def f(x):
    return 1.0 if x in {1: 2} else x
""",
        """
model.py:2:19: a value that is not known when traced is compared or used as a key
    return 1.0 if x in {1: 2} else x
                  ^
hint: use comparisons of numbers with 'if', or np.where
""",
    ),
    "bit_operation": (
        """
def f(x, y):
    return x & y
""",
        """
model.py:2:12: '&' of a real number and a real number
    return x & y
           ^
hint: put comparisons in parentheses: (a > 0) & (b > 0)
""",
    ),
    "mask_without_parentheses": (
        """
def f(x, y):
    return np.where(x > 0 & y > 0, x, y)
""",
        """
model.py:2:25: '&' of an integer and a real number
    return np.where(x > 0 & y > 0, x, y)
                        ^
hint: put comparisons in parentheses: (a > 0) & (b > 0)
""",
    ),
    "shift": (
        """
def f(x):
    return x << 2
""",
        """
model.py:2:12: '<<' of a real number and an integer
    return x << 2
           ^
hint: it works on integers and truth values known when traced
""",
    ),
    "invert": (
        """
def f(x):
    return ~x
""",
        """
model.py:2:12: '~' of a real number
    return ~x
           ^
hint: it negates conditions: ~(x > 0)
""",
    ),
    "index_by_value": (
        """
def f(x):
    return [1.0, 2.0][x / 3]
""",
        """
model.py:2:12: a real number is used as an index
    return [1.0, 2.0][x / 3]
           ^
hint: an index must be known; use np.where to select by value; or, where there is no derivative by it, static="x"
""",
    ),
    "key_by_value": (
        """
def f(x):
    return {0: 1.0, 1: 2.0}[x]
""",
        """
model.py:2:12: a value that is not known when traced is compared or used as a key
    return {0: 1.0, 1: 2.0}[x]
           ^
hint: use comparisons of numbers with 'if', or np.where
""",
    ),
    "missing_key": (
        """
def f(x):
    return {"a": x}["b"]
""",
        """
model.py:2:12: key 'b' is not in the dictionary
    return {"a": x}["b"]
           ^
""",
    ),
    "missing_key_deleted": (
        """
def f(x):
    d = {"a": x}
    del d["b"]
    return d["a"]
""",
        """
model.py:3:9: key 'b' is not in the dictionary
    del d["b"]
        ^
""",
    ),
    "missing_key_popped": (
        """
def f(x):
    d = {"a": x}
    return d.pop("b")
""",
        """
model.py:3:12: key 'b' is not in the dictionary
    return d.pop("b")
           ^
""",
    ),
    "missing_key_in_loop": (
        """
def f(x):
    d = {"a": x}
    while d["a"] < 9:
        d["b"] += d["a"]
    return d["a"]
""",
        """
model.py:4:9: key 'b' is not in the dictionary
    d["b"] += d["a"]
    ^
""",
    ),
    "list_arithmetic": (
        """
def f(x):
    return [x, 1.0] - [x, 2.0]
""",
        """
model.py:2:12: '-' of a list and a list
    return [x, 1.0] - [x, 2.0]
           ^
hint: np.array(...) makes an array of a list; gradients by lists are lists
""",
    ),
    "list_method_of_array": (
        """
def f(x):
    return [x, 1.0].sum()
""",
        """
model.py:2:12: a list has no method 'sum'
    return [x, 1.0].sum()
           ^
hint: np.array(...) makes an array of a list; gradients by lists are lists
""",
    ),
    "unbound_name": (
        """
def f(x):
    if x > 0:
        y = x
    return y
""",
        """
model.py:4:12: name 'y' may be unbound here: it is assigned only when x > 0
    return y
           ^
hint: assign it on every path
""",
    ),
    "unbound_by_elif": (
        """
def f(x, z):
    if x > 0:
        y = x
    elif z < 0 and x < -1:
        y = z
    return x + y
""",
        """
model.py:6:16: name 'y' may be unbound here: it is assigned only when x > 0 or z < 0 and x < -1
    return x + y
               ^
hint: assign it on every path
""",
    ),
    "unbound_after_loop": (
        """
def f(x):
    for i in range(0):
        y = x
    return y
""",
        """
model.py:4:12: name 'y' is used before it is assigned
    return y
           ^
""",
    ),
    "used_before_assignment": (
        """
def f(x):
    z = y + x
    y = 1.0
    return z
""",
        """
model.py:2:9: name 'y' is used before it is assigned
    z = y + x
        ^
""",
    ),
    "undefined_name": (
        """
def f(x):
    return x + undefined
""",
        """
model.py:2:16: name 'undefined' is not defined
    return x + undefined
               ^
""",
    ),
    "returns_nothing": (
        """
def f(x):
    y = x
""",
        """
model.py:2:5: 'f' returns nothing
    y = x
    ^
hint: return a number, or a tuple, list, dict or array of numbers
""",
    ),
    "returns_nothing_on_a_path": (
        """
def f(x):
    if x > 0:
        return x
    elif x < -1:
        return -x
""",
        """
model.py:2:5: 'f' returns nothing when not (x > 0 or x < -1)
    if x > 0:
    ^
hint: return a value on every path
""",
    ),
    "helper_returns_nothing_on_a_path": (
        """
def g(x):
    if x > 0:
        return x

def f(x):
    return g(x) + 1
""",
        """
model.py:2:5: 'g' returns nothing when x <= 0
    if x > 0:
    ^
hint: return a value on every path
""",
    ),
    "explicit_none": (
        """
def f(x):
    if x > 0:
        return None
    return x
""",
        """
model.py:4:5: what 'f' returns is None or a real number depending on whether x > 0
    return x
    ^
hint: both sides of a condition on real values must give numbers, or containers alike
""",
    ),
    "returns_text": (
        """
def f(x):
    return "no"
""",
        """
model.py:2:5: 'f' returns a string
    return "no"
    ^
hint: return a number, or a tuple, list, dict or array of numbers
""",
    ),
    "raise_always": (
        """
def f(x):
    raise NotImplementedError
""",
        """
model.py:2:5: the function raises NotImplementedError when traced
    raise NotImplementedError
    ^
hint: the error does not depend on the values of real arguments
""",
    ),
    "false_assertion": (
        """
def f(x):
    assert 1 > 2, "never"
    return x
""",
        """
model.py:2:5: this assertion is known to be false
    assert 1 > 2, "never"
    ^
""",
    ),
    "mixed_types": (
        """
def f(x):
    if x > 0:
        y = x
    else:
        y = None
    return y * 2
""",
        """
model.py:6:12: name 'y' is a real number or None depending on whether x > 0
    return y * 2
           ^
hint: ask first, in an 'if' of its own: if value is None: ...
""",
    ),
    "mixed_functions": (
        """
def f(x):
    g = math.sin if x > 0 else math.cos
    return g(x)
""",
        """
model.py:3:12: name 'g' is a function or another function depending on whether x > 0
    return g(x)
           ^
hint: both sides of a condition on real values must give numbers, or containers alike
""",
    ),
    "attribute_assigned": (
        """
def f(x):
    MODEL.rate = x
    return x
""",
        """
model.py:2:5: attribute 'rate' is assigned
    MODEL.rate = x
    ^
hint: a function to differentiate has no side effects; use local names
""",
    ),
    "outer_list_changed": (
        """
def f(x):
    OUTER.append(x)
    return x
""",
        """
model.py:2:5: a list that was not made on this path is changed
    OUTER.append(x)
    ^
hint: change a copy; a function to differentiate has no side effects
""",
    ),
    "list_grows_in_branch": (
        """
def f(x):
    v = [1.0]
    if x > 0:
        v.append(x)
    return sum(v)
""",
        """
model.py:4:9: a list changes its size only when x > 0
    v.append(x)
    ^
hint: its size must not depend on real values
""",
    ),
    "filtered_list": (
        """
def f(x):
    v = [e for e in (x, -x) if e > 0]
    return v[0]
""",
        """
model.py:3:12: a selection by a condition is indexed
    return v[0]
           ^
hint: their number is not known when traced; sum them, or use np.where
""",
    ),
    "masked_length": (
        """
def f(x):
    v = np.array([x, -x])
    return len(v[v > 0]) * x
""",
        """
model.py:3:12: the number of elements that a condition selects is not known when traced
    return len(v[v > 0]) * x
           ^
hint: sum the condition instead: np.sum(a > 0)
""",
    ),
    "integer_array": (
        """
def f(x):
    v = np.array([1, 2, 3])
    v *= 0.5
    return v[1] * x
""",
        """
model.py:3:5: an array of integers is changed in place to floats, which NumPy refuses
    v *= 0.5
    ^
hint: make a new array: a = a + ..., or convert it first with .astype(float)
""",
    ),
    "shapes": (
        """
def f(x):
    return np.sum(np.array([x, 1.0]) + np.array([1.0, 2.0, 3.0]))
""",
        """
model.py:2:19: arrays of shapes (2,) and (3,) do not fit together
    return np.sum(np.array([x, 1.0]) + np.array([1.0, 2.0, 3.0]))
                  ^
""",
    ),
    "float32": (
        """
def f(x):
    return np.float32(x)
""",
        """
model.py:2:12: a real number that is not known when traced is rounded to float32
    return np.float32(x)
           ^
hint: leave the conversion out; the arguments decide the precision of a call
""",
    ),
    "float32_array": (
        """
def f(x):
    return np.array([x], dtype=np.float32)[0]
""",
        """
model.py:2:12: dtype float32 is not supported
    return np.array([x], dtype=np.float32)[0]
           ^
hint: a traced function computes with real numbers; float, int and bool are known
""",
    ),
    "truth_of_array": (
        """
def f(x):
    return x if np.array([x, 1.0]) > 0 else -x
""",
        """
model.py:2:17: the truth value of an array of several elements
    return x if np.array([x, 1.0]) > 0 else -x
                ^
hint: use np.any or np.all
""",
    ),
    "endless_recursion": (
        """
def g(x):
    return g(x - 1) if x > 0 else 0.0

def f(x):
    return g(x)
""",
        """
model.py:2:12: calls are nested more than 400 deep
    return g(x - 1) if x > 0 else 0.0
           ^
hint: a recursion must end on values known when traced
""",
    ),
    "wrong_arguments": (
        """
def g(a, b):
    return a + b

def f(x):
    return g(x)
""",
        """
model.py:5:12: 'g' is called without its argument 'b'
    return g(x)
           ^
""",
    ),
    "too_many_arguments": (
        """
def f(x):
    return math.sin(x, 1)
""",
        """
model.py:2:12: sin takes 1 argument, not 2
    return math.sin(x, 1)
           ^
""",
    ),
    "unknown_keyword": (
        """
def f(x):
    return np.sin(x, dtype=float)
""",
        """
model.py:2:12: the keyword argument 'dtype' is not supported here
    return np.sin(x, dtype=float)
           ^
""",
    ),
    "unpacking": (
        """
def f(x):
    a, b = (x, 1.0, 2.0)
    return a
""",
        """
model.py:2:5: 3 values are unpacked into 2 names
    a, b = (x, 1.0, 2.0)
    ^
""",
    ),
    "index_out_of_range": (
        """
def f(x):
    return [x, 1.0][2]
""",
        """
model.py:2:12: IndexError when traced: list index out of range
    return [x, 1.0][2]
           ^
""",
    ),
    "static_division_by_zero": (
        """
def f(x):
    return x * (1 // 0)
""",
        """
model.py:2:17: ZeroDivisionError when traced: integer division or modulo by zero
    return x * (1 // 0)
                ^
""",
    ),
    "text_of_value": (
        """
def f(x):
    return float(f"{x}")
""",
        """
model.py:2:12: text of values that are not known when traced is used as a number
    return float(f"{x}")
           ^
""",
    ),
    "decorated_inside": (
        """
def f(x):
    @staticmethod
    def g(v):
        return v
    return g(x)
""",
        """
model.py:2:6: 'staticmethod' cannot be traced
    @staticmethod
     ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "number_is_called": (
        """
def f(x):
    return x(2)
""",
        """
model.py:2:12: a real number is called
    return x(2)
           ^
""",
    ),
    "string_arithmetic": (
        """
def f(x):
    return x + "1"
""",
        """
model.py:2:12: '+' of a real number and a string
    return x + "1"
           ^
""",
    ),
    "type_of_value": (
        """
def f(x):
    return 1.0 if type(x) == float else x
""",
        """
model.py:2:19: 'type' cannot be traced
    return 1.0 if type(x) == float else x
                  ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "walrus_in_comprehension": (
        """
def f(x):
    return sum([(y := x * k) for k in range(3)]) + y
""",
        """
model.py:2:18: ':=' inside of a comprehension
    return sum([(y := x * k) for k in range(3)]) + y
                 ^
hint: assign the name in a loop
""",
    ),
    "missing_module_attribute": (
        """
def f(x):
    return np.sine(x)
""",
        """
model.py:2:12: module 'numpy' has no attribute 'sine'
    return np.sine(x)
           ^
""",
    ),
    "eval_call": (
        """
def f(x):
    return eval("x * 2")
""",
        """
model.py:2:12: 'eval' cannot be traced
    return eval("x * 2")
           ^
hint: symdiff cannot see through it; write it in plain Python, or see symdiff.custom_rule
""",
    ),
    "set_of_values": (
        """
def f(x):
    return len({x, 1.0})
""",
        """
model.py:2:16: a value that is not known when traced is compared or used as a key
    return len({x, 1.0})
               ^
hint: use comparisons of numbers with 'if', or np.where
""",
    ),
    "iterator_shared_by_branches": (
        """
def f(x):
    it = iter([1.0, 2.0])
    if x > 0:
        return next(it) * x
    return next(it)
""",
        """
model.py:4:16: an iterator made outside of this branch or loop step is used up in it
    return next(it) * x
           ^
hint: make a list of it first
""",
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_exact_message(name: str) -> None:
    text, message = (part.strip("\n") for part in REFUSED[name])
    with pytest.raises(UnsupportedError) as caught:
        capture(define(text + "\n"), {})
    assert str(caught.value) == message


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


def quotient_of_numpy(x):
    try:
        return np.sin(x) / x
    except ZeroDivisionError:
        return 0.0


def test_numbers_of_numpy_raise_no_error_to_be_caught():
    with pytest.raises(UnsupportedError, match="which raises no ZeroDivisionError"):
        symgrad(quotient_of_numpy)(0.0)
