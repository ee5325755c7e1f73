"""A SymPy expression becomes the source of a Python function, to be traced like any other.

Before: `x*sin(x*y) + sin(x*y)**2` of the symbols x, y
After: `def f(x, y): t0 = np.sin(x*y); return x*t0 + t0**2`
Requires: expressions over the reals, of symbols, `IndexedBase`s and functions of the table
Ensures: one assignment per shared subexpression; the walk is linear in the number of objects,
    however many nodes the tree has; every constant is exact

The result is a Python function, and not a `Program`, so that all other parts apply to
expressions too: the law of arguments, loops (`Sum`, `Product`), arrays (`Indexed`), and the
comparison with plain Python.
"""

from __future__ import annotations

import functools
import itertools
import keyword
import linecache
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError, optional
from symdiff.frontend.signature import Array
from symdiff.frontend.sympy.queries import (
    check_real,
    chosen_parameter,
    is_inverse,
    is_leaf,
    is_loop,
    is_whole,
    listed_parameters,
    rebuilt,
    short_text,
    unknown_node,
)
from symdiff.frontend.sympy.table import (
    ASSUMED,
    CONSTANT_NAMES,
    RELATIONS,
    by_short_name,
    constants,
    formulas,
    python_names,
    qualified,
)
from symdiff.frontend.trace.values import ExactReal

MAX_INLINE = 12
"""Operations nested deeper than this are given a name, for readers and for Python's parser."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class FromSympy:
    """A function made from SymPy expressions.

    Attributes
    ----------
    function : a plain Python function of the parameters, with its source.
    symbols : the symbol of each of its parameters.
    """

    function: FunctionType
    symbols: Mapping[str, Any]


def is_sympy(value: Any) -> bool:
    """Whether a value is a SymPy expression or matrix, or a container of at least one."""
    sympy = sys.modules.get("sympy")
    if sympy is None:
        return False
    if isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        return True
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) is np.ndarray:
        value = list(value.flat) if value.dtype == object else []
    return isinstance(value, (list, tuple)) and any(is_sympy(v) for v in value)


def from_sympy(expr: Any, params: Sequence[Any] | None = None, name: str = "f") -> FromSympy:
    """A Python function that computes SymPy expressions.

    Parameters
    ----------
    expr : an expression, a matrix, or lists, tuples, dicts and object arrays of them.
    params : the parameters in order: symbols, `IndexedBase`s, `MatrixSymbol`s, their names, or
        lists of symbols for a parameter that is unpacked. By default all that occur, sorted by
        name.
    name : of the function.

    Returns
    -------
    FromSympy
        Assumptions of symbols (`positive=True`) are asserted at its start.

    Raises
    ------
    UnsupportedError : naming what has no meaning over the reals, or no kernel.
    """
    return _Writer(name).write(expr, params)


# ---------------------------------------------------------------------- the writer
@dataclass(slots=True)
class _Scope:
    """The body of the function, or of a loop: its lines and its computed expressions."""

    lines: list[str] = field(default_factory=list)
    made: dict[int, tuple[str, int]] = field(default_factory=dict)
    bound: dict[Any, str] = field(default_factory=dict)


class _Writer:
    """Writes one function. Objects are distinguished by identity: comparing equal but distinct
    SymPy trees with shared nodes takes exponential time."""

    def __init__(self, name: str) -> None:
        self.name = name if name.isidentifier() and not keyword.iskeyword(name) else "f"
        self.taken = {"np", "math", "scipy", "range", self.name}
        self.names: dict[Any, str] = {}
        self.alive: list[Any] = []
        self.uses: dict[int, int] = {}
        self.inner: dict[int, frozenset[Any]] = {}
        self.scopes = [_Scope()]
        self.exact: dict[str, ExactReal] = {}
        self.ranks: dict[Any, int] = {}
        self.modules: set[str] = set()
        self.whole: set[str] = set()

    def write(self, expr: Any, params: Sequence[Any] | None) -> FromSympy:
        roots: list[Any] = []
        tree = self._nested(expr, roots)
        roots = [self._prepared(r) for r in roots]
        symbols = self._parameters(roots, params)
        text = self._text(tree, [self._value(r) for r in roots])
        body = [*self._assertions(symbols), *self.scopes[0].lines, f"return {text}"]
        annotated = ", ".join(self._annotated(n, s) for n, s in symbols.items())
        lines = [f"def {self.name}({annotated}):", *(f"    {line}" for line in body)]
        return FromSympy(self._function(lines), symbols)

    def _annotated(self, name: str, symbol: Any) -> str:
        """A parameter, annotated if it is an array or a bound of loops."""
        if symbol in self.ranks:
            axes = ", ".join(f'"{name}_{k}"' for k in range(self.ranks[symbol]))
            return f"{name}: Array[{axes}]"
        return f"{name}: int" if name in self.whole else name

    def _function(self, lines: list[str]) -> FunctionType:
        import math

        path = f"<sympy {next(_numbers)}>"
        source = "\n".join(lines) + "\n"
        linecache.cache[path] = (len(source), None, source.splitlines(True), path)
        scope: dict[str, Any] = {"np": np, "math": math, "Array": Array, **self.exact}
        if "scipy" in self.modules:
            optional("scipy.special", "special functions of SymPy's need SciPy", "scipy")
            scope["scipy"] = sys.modules["scipy"]
        # The text is written above from SymPy objects; the only user text in it are names,
        # which are checked to be identifiers.
        exec(compile(source, path, "exec"), scope)
        function: FunctionType = scope[self.name]
        function.__module__ = "sympy"
        return function

    # ---------------------------------------------------------------- what is returned
    def _nested(self, value: Any, roots: list[Any]) -> Any:
        """The containers of the result, with the numbers of the roots for leaves."""
        import sympy

        if isinstance(value, (sympy.MatrixBase, sympy.NDimArray)):
            shape = value.shape
            flat = [self._nested(v, roots) for v in value.tolist()] if 0 not in shape else []
            return ("matrix", flat, shape)
        if isinstance(value, np.ndarray):
            return ("matrix", [self._nested(v, roots) for v in value.tolist()], value.shape)
        if isinstance(value, (tuple, sympy.Tuple)):
            return ("tuple", [self._nested(v, roots) for v in value])
        if isinstance(value, list):
            return ("list", [self._nested(v, roots) for v in value])
        if isinstance(value, dict):
            return ("dict", list(value), [self._nested(v, roots) for v in value.values()])
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = sympy.Integer(value) if isinstance(value, int) else sympy.Float(value)
        if not isinstance(value, (sympy.Expr, sympy.logic.boolalg.Boolean)):
            what = type(value).__name__
            raise UnsupportedError(
                f"a {what} is no real value", hint="give an expression, a matrix or a list of them"
            )
        roots.append(value)
        return len(roots) - 1

    def _text(self, tree: Any, values: list[str]) -> str:
        if isinstance(tree, int):
            return values[tree]
        kind, parts = tree[0], [self._text(t, values) for t in tree[-1 if tree[0] == "dict" else 1]]
        if kind == "matrix":
            rows = f"[{', '.join(parts)}]"
            return f"np.array({rows})" if 0 not in tree[2] else f"np.zeros({tree[2]})"
        if kind == "dict":
            return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(tree[1], parts, strict=True)) + "}"
        inside = ", ".join(parts) + ("," if len(parts) == 1 and kind == "tuple" else "")
        return f"({inside})" if kind == "tuple" else f"[{inside}]"

    # -------------------------------------------------------------------- reading
    def _prepared(self, root: Any) -> Any:
        """The expression in terms of known functions; counts the uses of each object, and records
        which symbols bound by sums occur in it."""
        done: dict[int, Any] = {}
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            e, ready = stack.pop()
            if id(e) in done:
                continue
            if not ready:
                check_real(e)
                self.alive.append(e)
                stack.append((e, True))
                if not is_leaf(e):
                    stack += [(a, False) for a in e.args if id(a) not in done]
                continue
            if is_leaf(e):
                done[id(e)] = getattr(e, "label", e) if type(e).__name__ == "Idx" else e
                continue
            args = [done[id(a)] for a in e.args]
            same = all(a is b for a, b in zip(args, e.args, strict=True))
            formula = formulas().get(type(e).__name__) if e.is_Function else None
            if formula is not None:
                made = self._prepared(formula(*args))
            else:
                made = e if same else rebuilt(e, args)
            self.alive.append(made)
            done[id(e)] = made
            done[id(made)] = made
        return done[id(root)]

    def _scan(self, roots: Iterable[Any]) -> set[Any]:
        """Count the uses of every object; return the free symbols and arrays."""
        import sympy

        free: dict[int, frozenset[Any]] = {}
        bound: set[Any] = set()
        stack = [(r, False) for r in roots]
        for r in roots:
            self.uses[id(r)] = self.uses.get(id(r), 0) + 1
        while stack:
            e, ready = stack.pop()
            if id(e) in free:
                continue
            if not ready:
                stack.append((e, True))
                stack += [] if is_leaf(e) else [(a, False) for a in e.args]
                continue
            for a in () if is_leaf(e) else e.args:
                self.uses[id(a)] = self.uses.get(id(a), 0) + 1
            if isinstance(e, (sympy.Indexed, sympy.matrices.expressions.matexpr.MatrixElement)):
                base = e.base if isinstance(e, sympy.Indexed) else e.parent
                indices = e.indices if isinstance(e, sympy.Indexed) else e.args[1:]
                self.ranks[base] = len(indices)
                found = frozenset({base}).union(*(free[id(i)] for i in indices))
            elif isinstance(e, (sympy.Symbol, sympy.IndexedBase, sympy.MatrixSymbol)):
                found = frozenset({e})
            else:
                found = frozenset().union(*(free[id(a)] for a in e.args))
            if isinstance(e, (sympy.Sum, sympy.Product)):
                index = {limit[0] for limit in e.limits}
                bound |= index
                found -= index
            free[id(e)] = found
        self.inner = {k: v & bound for k, v in free.items() if v & bound} if bound else {}
        return set().union(*(free[id(r)] for r in roots)) if roots else set()

    def _parameters(self, roots: list[Any], params: Sequence[Any] | None) -> dict[str, Any]:
        """The parameters by name. Symbols in lists are unpacked from one parameter."""
        free = self._scan(roots)
        by_name = {str(s): s for s in free}
        if params is None:
            chosen: list[Any] = [by_name[n] for n in sorted(by_name)]
        else:
            chosen = [chosen_parameter(p, by_name) for p in listed_parameters(params)]
        symbols: dict[str, Any] = {}
        for p in chosen:
            if isinstance(p, list):
                name = self._fresh(f"args{len(symbols)}")
                symbols[name] = tuple(p)
                self.ranks[tuple(p)] = 1
                for k, s in enumerate(p):
                    self.names[s] = self._fresh(str(s))
                    self.scopes[0].lines.append(f"{self.names[s]} = {name}[{k}]")
                continue
            if p in self.names:
                raise UnsupportedError(f"the parameter {p} is given twice")
            self.names[p] = self._fresh(str(p))
            symbols[self.names[p]] = p
        missing = sorted(str(s) for s in free if s not in self.names)
        if missing:
            raise UnsupportedError(
                f"{missing[0]} is not among the parameters",
                hint=f"params are {', '.join(symbols) or 'none'}; the expression also has "
                f"{', '.join(missing)}",
            )
        return symbols

    def _fresh(self, name: str) -> str:
        """An unused identifier for a name."""
        name = re.sub(r"\W", "_", name) or "_"
        name = f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
        found, n = name, 1
        while found in self.taken:
            found, n = f"{name}_{n}", n + 1
        self.taken.add(found)
        return found

    def _assertions(self, symbols: Mapping[str, Any]) -> Iterable[str]:
        """The assumptions on the symbols."""
        for name, s in symbols.items():
            if s in self.ranks:
                continue
            if s.is_extended_real is False:
                raise UnsupportedError(f"the symbol {s} is not real")
            sign = next((c for attribute, c in ASSUMED if getattr(s, attribute)), None)
            if sign is not None:
                yield f"assert {name} {sign} 0"

    # -------------------------------------------------------------------- writing
    def _value(self, root: Any) -> str:
        """The text of an expression; shared parts were given names before."""
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            e, ready = stack.pop()
            scope = self.scopes[self._depth(e)]
            if id(e) in scope.made:
                continue
            if is_loop(e):
                scope.made[id(e)] = self._loop(e), 0
                continue
            below = self._operands(e)
            if not ready:
                stack.append((e, True))
                stack += [(a, False) for a in reversed(below)]
                continue
            text, depth = (
                self._expression(e),
                1 + max([self._made(a)[1] for a in below], default=-1),
            )
            shared = below and self.uses.get(id(e), 0) > 1
            if (shared or depth > MAX_INLINE) and not e.is_Boolean:
                name = self._fresh(f"t{len(scope.made)}")
                scope.lines.append(f"{name} = {text}")
                text, depth = name, 0
            scope.made[id(e)] = text, depth
            self.alive.append(e)
        return self._made(root)[0]

    def _made(self, e: Any) -> tuple[str, int]:
        return self.scopes[self._depth(e)].made[id(e)]

    def _depth(self, e: Any) -> int:
        """The outermost scope in which an expression can be computed."""
        symbols = self.inner.get(id(e), frozenset())
        return max([k for k, s in enumerate(self.scopes) if symbols & s.bound.keys()], default=0)

    def _operands(self, e: Any) -> list[Any]:
        """The parts of an expression that have a text of their own."""
        import sympy

        if is_leaf(e):
            return []
        if isinstance(e, sympy.Indexed):
            return list(e.indices)
        if isinstance(e, sympy.matrices.expressions.matexpr.MatrixElement):
            return list(e.args[1:])
        if isinstance(e, sympy.Piecewise):
            return [part for pair in e.args for part in (pair.expr, pair.cond)]
        if e.is_Pow and e.exp.is_Rational:
            return [e.base]
        return list(e.args)

    def _loop(self, e: Any) -> str:
        """A sum or product, as loops; the first of its limits is the innermost."""
        import sympy

        is_sum = isinstance(e, sympy.Sum)
        total = self._fresh("total" if is_sum else "product")
        depth = self._depth(e)
        kept, self.scopes = self.scopes, self.scopes[: depth + 1]
        self.scopes[depth].lines.append(f"{total} = {'0.0' if is_sum else '1.0'}")
        for limit in reversed(e.limits):
            if len(limit) != 3:
                raise UnsupportedError(f"the bounds of {limit[0]} in {short_text(e)} are not given")
            index, low, high = limit
            if not (is_whole(low) and is_whole(high)):
                raise UnsupportedError(
                    f"the bounds {low} and {high} of a {type(e).__name__}",
                    hint="bounds are finite integers, or symbols that are",
                )
            first, last = self._value(low), self._value(self._prepared(high + 1))
            self.whole |= {self.names.get(s, "") for s in low.free_symbols | high.free_symbols}
            name = self._fresh(str(index))
            bounds = last if first == "0" else f"{first}, {last}"
            self.scopes.append(_Scope([f"for {name} in range({bounds}):"], bound={index: name}))
        innermost = self.scopes[-1]
        innermost.lines.append(f"{total} {'+' if is_sum else '*'}= {self._value(e.function)}")
        while len(self.scopes) > depth + 1:
            head, *body = self.scopes.pop().lines
            self.scopes[-1].lines += [head, *(f"    {line}" for line in body)]
        self.scopes = kept
        return total

    def _expression(self, e: Any) -> str:
        """One operation on operands whose text is known."""
        import sympy

        if e.is_Number or e.is_NumberSymbol or e is sympy.nan:
            return self._number(e)
        if isinstance(e, sympy.Symbol):
            for scope in reversed(self.scopes):
                if e in scope.bound:
                    return scope.bound[e]
            return self.names[e]
        if isinstance(e, sympy.IndexedBase | sympy.MatrixSymbol):
            raise UnsupportedError(f"the array {e} is used as a whole", hint=f"index it: {e}[k]")
        if isinstance(e, sympy.Indexed):
            return f"{self.names[e.base]}[{', '.join(self._made(i)[0] for i in e.indices)}]"
        if isinstance(e, sympy.matrices.expressions.matexpr.MatrixElement):
            return f"{self.names[e.parent]}[{', '.join(self._made(i)[0] for i in e.args[1:])}]"
        if isinstance(e, sympy.Piecewise):
            return self._piecewise(e)
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(e)
        if e.is_Relational:
            a, b = (self._atom(x) for x in e.args)
            return f"{a} {RELATIONS[type(e).__name__]} {b}"
        if e.is_Boolean:
            return self._junction(e)
        if isinstance(e, sympy.Mod):
            return f"{self._atom(e.args[0])} % {self._atom(e.args[1])}"
        return self._function_call(e)

    def _atom(self, e: Any) -> str:
        text = self._made(e)[0]
        simple = re.fullmatch(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])?", text) is not None
        return text if simple or (e.is_Function and text.endswith(")")) else f"({text})"

    def _sum(self, e: Any) -> str:
        """Terms with their signs, the number last."""
        terms = sorted(e.args, key=lambda a: a.is_Number)
        text = self._made(terms[0])[0]
        for term in terms[1:]:
            part = self._made(term)[0]
            negative = part.startswith("-") and (term.is_Mul or term.is_Number)
            part = part[1:] if negative else part
            text += f" - {part}" if negative else f" + {part}"
        return text

    def _product(self, e: Any) -> str:
        """Factors over those with a negative exponent."""
        above, below, sign = [], [], ""
        for a in e.args:
            if a.is_Rational and a.is_finite:
                sign = "-" if (a < 0) != (sign == "-") else ""
                above += [str(abs(a.p))] if abs(a.p) != 1 else []
                below += [str(a.q)] if a.q != 1 else []
            elif a.is_Pow and is_inverse(a) and self._made(a)[1]:
                below.append(self._powered(a.base, -a.exp, factor=True))
            else:
                above.append(self._factor(a))
        if len(below) == 1:
            return f"{sign}{' * '.join(above) or '1'} / {below[0]}"
        if below:
            return f"{sign}{' * '.join(above) or '1'} / ({' * '.join(below)})"
        return sign + " * ".join(above or ["1"])

    def _number(self, e: Any) -> str:
        import sympy

        name = type(e).__name__
        if e.is_Integer:
            return str(int(e))
        if e.is_Rational:
            return f"{e.p} / {e.q}"
        if e.is_Float:
            if e._prec <= 53:
                return repr(float(e))
            exact = sympy.Rational(e)
            return f"{exact.p} / {exact.q}"
        if name == "GoldenRatio":
            return "((1 + np.sqrt(5)) / 2)"
        if e is sympy.nan:
            return "math.nan"
        if e is sympy.oo or e is -sympy.oo:
            return "math.inf" if e is sympy.oo else "(-math.inf)"
        if name in CONSTANT_NAMES:
            short, value = CONSTANT_NAMES[name]
            found = next((k for k, v in self.exact.items() if v == value), None)
            if found is None:
                found = self._fresh(short)
                self.exact[found] = ExactReal.of(value, constants()[name])
            return found
        raise unknown_node(e)

    def _power(self, e: Any) -> str:
        if is_inverse(e):
            return f"1 / {self._powered(e.base, -e.exp, factor=True)}"
        return self._powered(e.base, e.exp)

    def _powered(self, base: Any, exponent: Any, factor: bool = False) -> str:
        """A power; as a factor in brackets if needed."""
        if exponent.is_Rational and exponent.q == 2:
            root = f"np.sqrt({self._made(base)[0]})"
            return root if exponent.p == 1 else f"{root} ** {exponent.p}"
        if exponent == 1:
            return self._factor(base)
        if exponent.is_Rational:
            n = str(exponent) if exponent.is_Integer else f"({exponent.p} / {exponent.q})"
            return f"{self._atom(base)} ** {n}"
        return f"{self._atom(base)} ** {self._atom(exponent)}"

    def _factor(self, e: Any) -> str:
        """A factor of a product: powers need no brackets."""
        text = self._made(e)[0]
        bare = e.is_Pow and not is_inverse(e) and self._made(e)[1]
        return text if bare else self._atom(e)

    def _piecewise(self, e: Any) -> str:
        text = "math.nan"
        for pair in reversed(e.args):
            value, condition = self._made(pair.expr)[0], self._made(pair.cond)[0]
            text = value if condition == "True" else f"np.where({condition}, {value}, {text})"
        return text

    def _junction(self, e: Any) -> str:
        import sympy

        if e in (sympy.true, sympy.false):
            return "True" if e is sympy.true else "False"
        parts = [self._made(a)[0] for a in e.args]
        name = {sympy.And: "logical_and", sympy.Or: "logical_or", sympy.Xor: "logical_xor"}
        if isinstance(e, sympy.Not):
            return f"np.logical_not({parts[0]})"
        if isinstance(e, sympy.ITE):
            return f"np.where({', '.join(parts)})"
        for cls, function in name.items():
            if isinstance(e, cls):
                return functools.reduce(lambda a, b: f"np.{function}({a}, {b})", parts)
        raise unknown_node(e)

    def _function_call(self, e: Any) -> str:
        import sympy

        args = [self._made(a)[0] for a in e.args]
        if isinstance(e, (sympy.Max, sympy.Min)):
            name = "np.maximum" if isinstance(e, sympy.Max) else "np.minimum"
            return functools.reduce(lambda a, b: f"{name}({a}, {b})", args)
        names = python_names().get(e.func)
        if names is None and isinstance(e, sympy.core.function.AppliedUndef):
            names = by_short_name().get(e.func.__name__) or qualified(e.func.__name__)
        if names is None:
            raise unknown_node(e)
        return f"{self._callable(names)}({', '.join(args)})"

    def _callable(self, names: Sequence[str]) -> str:
        """The name of a function that takes arrays and needs least, out of several."""
        for module in ("numpy", "math", "builtins"):
            found = next((n for n in names if n.startswith(f"{module}.")), None)
            if found is not None:
                return found.replace("numpy.", "np.", 1).removeprefix("builtins.")
        self.modules.add("scipy")
        return names[0]
