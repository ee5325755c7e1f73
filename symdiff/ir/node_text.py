"""Programs as text that parses back to the same program.

    loop_program name=f tree=0 {
      parameter name=x type=f[$n]
      loop index=i count=$n trips=trips {
        carried name=s type=f init=0 next=%2 result=total
        %0 = load @x, $i
        %1 = exp %0
        %2 = add s, %1
      }
    } outputs=(total)

A line is a node, a record or a closing brace; `#` starts a comment. Nodes are numbered in the order
in which they are needed, children first. Leaves are written where they are used: reals by their
names, integers as `$n`, arrays as `@x`, or `@k:i` and `@m:b` by their kinds, constants by their
values. `0.1` is the double, `1/10` the rational. Names that are not ASCII words are quoted.

Records are the dataclasses of programs and statements: their fields are written in order, those that
have their default are left out. So a new field needs no code here, and an operation is known by its name in
the table. An operation that a pass made for one program (`Op.remake`) is declared by its arguments, as in
`!0 = completed(%3, (0), 1)`; its maker is in `MAKERS`.

`program_text`   a program as text
`parse_program`  the program of a text

Places in the source (`Location`) are not written.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from symdiff.errors import ParseError, SymdiffError
from symdiff.ir import loop_program as loops
from symdiff.ir.loop_program import ARRAY, INDEX, LoopProgram, Type
from symdiff.ir.nodes import BOOL, CONST, MAKERS, VAR, Expr, Op, const, op_named, raw, topological
from symdiff.ir.program import Corner, Made, OptimizedProgram, Program
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Program_ = Program | LoopProgram | OptimizedProgram
PROGRAMS: dict[str, type] = {
    "program": Program, "loop_program": LoopProgram, "optimized": OptimizedProgram,
}  # fmt: skip
STATEMENTS = {c.__name__.lower(): c for c in get_args(loops.Statement)}
_PARTS: tuple[type, ...] = (loops.Carried, loops.Save, loops.Restore, loops.Parameter, Corner)
PARTS: dict[str, type] = {c.__name__.lower(): c for c in _PARTS}
"""Records that have lines of their own inside of others."""
RECORDS = PROGRAMS | STATEMENTS | PARTS
_KEYWORDS = {c: k for k, c in RECORDS.items()}
INSIDE = {
    loops.Build: ("value",), loops.Loop: ("condition",), loops.Carried: ("next",), loops.Save: ("value",),
}  # fmt: skip
"""Fields whose expressions are evaluated in the block; in programs all fields are."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TOKENS = re.compile(
    r"""\s*(?:\#.*|(?P<token>
    [$@]?"(?:[^"\\]|\\.)*"(?::[fib]\b)?     # names that are quoted
    | [%!]\d+                               # nodes, operations
    | \$[A-Za-z_]\w* | @[A-Za-z_]\w*(?::[fib]\b)?
    | [+-]?(?:inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:/\d+)?)(?![\w.])
    | [A-Za-z_]\w*(?::[A-Za-z_]\w*)*        # words, operations such as plain:mul
    | [][(){}=,:]
    ))""",
    re.VERBOSE | re.ASCII,
)  # fmt: skip


_known_fields: dict[Any, dict[str, tuple[Any, Any]]] = {}


def fields_of(record: Any) -> dict[str, tuple[Any, Any]]:
    """The fields of a record that are written: their types, and the defaults."""
    if record in _known_fields:
        return _known_fields[record]
    hints, found = get_type_hints(record), dict[str, tuple[Any, Any]]()
    for f in dataclasses.fields(record):
        if f.name not in ("location", "locations"):
            made = f.default_factory
            default = f.default if made is dataclasses.MISSING else made()
            found[f.name] = hints[f.name], default
    return _known_fields.setdefault(record, found)


def _is_part(hint: Any) -> bool:
    """Whether a field holds records that have lines of their own."""
    return get_origin(hint) is tuple and get_args(hint)[0] in _KEYWORDS


def _is_block(name: str, hint: Any) -> bool:
    return name in ("body", "block") and get_origin(hint) is tuple


def _inside(record: Any) -> Collection[str]:
    """The fields of a record whose nodes belong to its block."""
    return fields_of(record) if record in PROGRAMS.values() else INSIDE.get(record, ())


# ---------------------------------------------------------------------- printing
def program_text(program: Program_) -> str:
    """A program as text.

    Raises
    SymdiffError : if it has an operation that cannot be written as text.
    """
    printer = _Printer()
    printer.record(program, "")
    return "\n".join(printer.lines)


class _Printer:
    """Lines of a program; a node gets its number in the block that uses it first."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._labels: dict[Any, str] = {}
        self._nodes = self._ops = 0

    def record(self, r: Any, pad: str) -> None:
        """A program or statement, with the nodes that it needs before it."""
        kind, inside = type(r), _inside(type(r))
        if kind in STATEMENTS.values():
            self._needed(r, pad, lambda c, name: name not in _inside(c))
        start, known = len(self.lines), dict(self._labels)
        self.lines.append("")
        own, fields = pad + "  ", fields_of(kind)
        head, tail, parts = [_KEYWORDS[kind]], list[str](), list[Any]()
        for name, (hint, _) in fields.items():
            if _is_part(hint):
                parts += getattr(r, name)
            elif _is_block(name, hint):
                for s in getattr(r, name):
                    self.record(s, own)
        self._needed(r, own, lambda c, name: name in _inside(c) or kind in PROGRAMS.values())
        for name, (hint, default) in fields.items():
            value = getattr(r, name)
            written = not (_is_part(hint)) and not _is_block(name, hint)
            if written and not _same(value, default):
                late = name in inside and _has_nodes(hint)
                (tail if late else head).append(f"{name}={self.value(value, hint)}")
        lines = [own + self._flat(p) for p in parts]
        if lines or len(self.lines) > start + 1 or kind in PROGRAMS.values():
            self.lines[start] = f"{pad}{' '.join(head)} {{"
            self.lines[start + 1 : start + 1] = lines
            self.lines.append(f"{pad}{' '.join(['}', *tail])}")
        else:
            self.lines[start] = pad + " ".join(head + tail)
        self._labels = known

    def _flat(self, part: Any) -> str:
        texts = [
            f"{name}={self.value(v, hint)}" for name, (hint, default) in fields_of(type(part)).items()
            if not _same(v := getattr(part, name), default)
        ]  # fmt: skip
        return " ".join([_KEYWORDS[type(part)], *texts])

    def _needed(self, r: Any, pad: str, wanted: Callable[[type, str], bool]) -> None:
        """Lines for the nodes in the wanted fields of a record and of its parts."""
        for name, (hint, _) in fields_of(type(r)).items():
            value = getattr(r, name)
            if _is_part(hint):
                for p in value:
                    self._needed(p, pad, wanted)
            elif not _is_block(name, hint) and wanted(type(r), name):
                self._nodes_of(_roots(value), pad)

    def _nodes_of(self, roots: Sequence[Expr], pad: str) -> None:
        for e in topological(roots, self._labels):
            if _is_leaf(e):
                continue
            op = self._op(e.op, pad)
            args = ", ".join(self._expr(a) for a in e.args)
            value = "" if e.value is None else f" value={_literal(e.value)}"
            self._labels[e] = f"%{self._nodes}"
            self._nodes += 1
            self.lines.append(f"{pad}{self._labels[e]} = {f'{op} {args}'.rstrip()}{value}")

    def _op(self, op: Op, pad: str) -> str:
        if op.remake is None:
            return _quoted(op.name, all(map(_WORD.match, op.name.split(":"))))
        if op not in self._labels:
            make, args = op.remake
            found = [(k, m) for k, m in MAKERS.items() if m.make == make]
            if not found:
                raise SymdiffError(f"the operation {op.name} has no text: nothing makes it again")
            (name, maker), roots = found[0], _roots(args)
            self._nodes_of(roots, pad)
            texts = [self.value(a, t) for a, t in zip(args, maker.types, strict=True)]
            self._labels[op] = f"!{self._ops}"
            self._ops += 1
            self.lines.append(f"{pad}{self._labels[op]} = {name}({', '.join(texts)})")
        return self._labels[op]

    def _expr(self, e: Expr) -> str:
        return _leaf(e) if _is_leaf(e) else self._labels[e]

    def value(self, value: Any, hint: Any) -> str:
        """The text of a value of this type."""
        origin, args = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            if value is None:
                return "none"
            hint = next(a for a in args if a is not type(None))
            return self.value(value, hint)
        if hint is Expr:
            return self._expr(value)
        if hint is str:
            return _name(value)
        if hint is Type:
            shape = ", ".join(map(self._expr, value.shape))
            return f"{value.kind}[{shape}]" if value.shape else str(value.kind)
        if origin is tuple:
            hints = [args[0]] * len(value) if args[-1] is ... else args
            return "(" + ", ".join(map(self.value, value, hints)) + ")"
        if isinstance(value, Mapping) and args:
            items = (
                f"{self.value(k, args[0])}: {self.value(v, args[1])}" for k, v in value.items()
            )
            return "{" + ", ".join(items) + "}"
        if dataclasses.is_dataclass(hint):
            known = fields_of(hint)
            return (
                "("
                + ", ".join(self.value(getattr(value, n), t) for n, (t, _) in known.items())
                + ")"
            )
        return _literal(value)


def _has_nodes(hint: Any) -> bool:
    return hint is Expr or hint is Corner or any(map(_has_nodes, get_args(hint)))


def _roots(value: Any) -> list[Expr]:
    """The expressions in a value of a field."""
    if isinstance(value, Expr):
        return [value]
    if isinstance(value, (tuple, list)) and not isinstance(value, Made):
        return [e for v in value for e in _roots(v)]
    if dataclasses.is_dataclass(value) and not isinstance(value, (type, Op)):
        return [e for name in fields_of(type(value)) for e in _roots(getattr(value, name))]
    return []


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and value == default


def _is_leaf(e: Expr) -> bool:
    return e.op in (CONST, VAR, BOOL, INDEX, ARRAY)


def _leaf(e: Expr) -> str:
    if e.op is CONST:
        return number_text(e.value)
    if e.op is BOOL:
        return "true" if e.value else "false"
    if e.op is VAR:
        return _name(e.value)
    if e.op is INDEX:
        return "$" + _quoted(e.value, bool(_WORD.match(e.value)))
    name, kind = e.value
    return "@" + _quoted(name, bool(_WORD.match(name))) + ("" if kind == "f" else f":{kind}")


def number_text(q: Fraction | float) -> str:
    """A constant: a rational as a quotient unless it is a double, which is written with a point."""
    if isinstance(q, float):
        return repr(q)
    if q.denominator == 1 and abs(q) < 2**53:
        return str(q.numerator)
    try:
        exact = Fraction(float(q)) == q
    except OverflowError:
        exact = False
    return repr(float(q)) if exact else str(q)


def _name(text: str) -> str:
    return _quoted(text, bool(_WORD.match(text)) and text not in _RESERVED)


def _quoted(text: str, plain: bool) -> str:
    return text if plain else json.dumps(text)


_CONSTANTS = {"true": True, "false": False, "none": None, "nan": math.nan, "inf": math.inf}
_RESERVED = {*_CONSTANTS, "array", "made", *RECORDS}


def _literal(value: Any) -> str:
    """A value without expressions: numbers, texts, and how results nest."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, np.ndarray):
        shape, flat = (
            ", ".join(map(str, value.shape)),
            ", ".join(map(_literal, value.ravel().tolist())),
        )
        return f"array {value.dtype.name} ({shape}) ({flat})"
    if isinstance(value, Made):
        made_of = f"{value.made_of.__module__}.{value.made_of.__qualname__}"
        return f"made {json.dumps(made_of)} ({', '.join(map(_literal, value))})"
    if isinstance(value, (tuple, list)):
        text = ", ".join(map(_literal, value))
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float, np.integer)):
        return repr(value) if isinstance(value, float) else str(int(value))
    raise SymdiffError(f"a {type(value).__name__} has no text")


# ----------------------------------------------------------------------- parsing
def parse_program(text: str, classes: Mapping[str, type] | None = None) -> Program_:
    """The program of a text.

    Parameters
    ----------
    text : as `program_text` writes it.
    classes : the classes of objects that the program returns, by their modules and names.

    Raises
    ------
    ParseError : with the line, if the text is not a program.
    """
    reader = _Reader(text, classes or {})
    try:
        return reader.whole()
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError) as e:
        raise reader.error(str(e) or type(e).__name__) from e


def _tokens(line: str) -> list[str]:
    found, at = [], 0
    while line[at:].strip():
        m = _TOKENS.match(line, at)
        if m is None:
            raise ValueError(f"nothing is written as {line[at:].strip()!r}")
        if m["token"] is not None:
            found.append(m["token"])
        at = m.end()
    return found


class _Reader:
    """Reads a text line by line. A record is made where its block ends, when all nodes that it
    mentions are known."""

    def __init__(self, text: str, classes: Mapping[str, type]) -> None:
        self._lines = enumerate(text.splitlines(), start=1)
        self._classes = classes
        self._line = 0
        self._known: dict[str, Any] = {}
        self._left: list[str] = []

    def error(self, message: str) -> ParseError:
        """An error at the current line."""
        return ParseError(f"line {self._line}: {message}")

    def whole(self) -> Program_:
        """The one program of the text."""
        head = self._next()
        if not head or head[0] not in PROGRAMS:
            raise self.error("a program starts with one of " + ", ".join(PROGRAMS))
        found: Program_ = self._record(head)
        if self._next():
            raise self.error("the text goes on after the program")
        return found

    def _next(self) -> list[str]:
        for line, text in self._lines:
            self._line = line
            if found := _tokens(text):
                return found
        return []

    def _record(self, head: list[str]) -> Any:
        record, line = RECORDS[head[0]], self._line
        fields = fields_of(record).items()
        values: dict[str, Any] = {n: () for n, (h, _) in fields if _is_part(h) or _is_block(n, h)}
        if head[-1] == "{":
            parts, statements, tail = self._block()
            head = [*head[:-1], *tail]
            for name, (hint, _) in fields:
                if _is_block(name, hint):
                    values[name], statements = tuple(statements), []
                elif _is_part(hint):
                    own = [p for p in parts if RECORDS[p[0]] is get_args(hint)[0]]
                    values[name] = tuple(self._made(RECORDS[p[0]], p[1:], {}) for p in own)
                    parts = [p for p in parts if p not in own]
            if parts or statements:
                raise ValueError(f"a {head[0]} has no such lines in it")
        self._line = max(line, self._line)
        return self._made(record, head[1:], values)

    def _block(self) -> tuple[list[list[str]], list[Any], list[str]]:
        """The lines of a block: parts, not read yet; statements; and the closing line."""
        parts, statements = list[list[str]](), list[Any]()
        while line := self._next():
            if line[0] == "}":
                return parts, statements, line[1:]
            if line[0] in PARTS:
                parts.append(line)
            elif line[0] in STATEMENTS:
                statements.append(self._record(line))
            elif line[0][0] in "%!" and line[1] == "=":
                self._node(line[0], line[2:])
            else:
                raise ValueError(f"no line starts with {line[0]!r}")
        raise ValueError("a block is not closed")

    def _node(self, label: str, tokens: list[str]) -> None:
        if label in self._known:
            raise ValueError(f"{label} is defined twice")
        self._left = tokens[::-1]
        name = self._pop()
        if label[0] == "!":
            maker = MAKERS[name]
            self._known[label] = maker.make(*self._several(maker.types))
        else:
            op = self._operation(name)
            args, value = [], None
            while self._left and self._left[-2:] != ["=", "value"]:
                args.append(self.value(Expr))
                self._skip(",")
            if self._skip("value"):
                self._expect("=")
                value = self.value(Any)
            if op.arity not in (-1, len(args)):
                raise ValueError(f"{op.name} takes {op.arity} arguments, not {len(args)}")
            self._known[label] = raw(op, tuple(args), value)
        self._end()

    def _operation(self, name: str) -> Op:
        if name[0] == "!":
            found: Op = self._known[name]
            return found
        try:
            return op_named(json.loads(name) if name[0] == '"' else name)
        except KeyError:
            raise ValueError(f"there is no operation {name}") from None

    def _made(self, record: type, tokens: list[str], values: dict[str, Any]) -> Any:
        """The record with these fields, and those of the tokens."""
        self._left, known = tokens[::-1], fields_of(record)
        while self._left:
            name = self._pop()
            self._expect("=")
            if name not in known or name in values:
                raise ValueError(f"a {_KEYWORDS[record]} has no field {name} here")
            values[name] = self.value(known[name][0])
        return record(**values)

    # ---- values
    def _pop(self) -> str:
        if not self._left:
            raise ValueError("the line ends too early")
        return self._left.pop()

    def _skip(self, token: str) -> bool:
        if self._left and self._left[-1] == token:
            self._left.pop()
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise ValueError(f"{token!r} is missing")

    def _end(self) -> None:
        if self._left:
            raise ValueError(f"nothing is expected before {self._left[-1]!r}")

    def _items(self, close: str) -> Iterator[None]:
        while not self._skip(close):
            yield
            if not self._skip(",") and self._left[-1:] != [close]:
                raise ValueError(f"{close!r} is missing")

    def _several(self, hints: Sequence[Any]) -> list[Any]:
        self._expect("(")
        hints = list(hints)
        found = [self.value(hints.pop(0)) for _ in self._items(")")]
        if hints:
            raise ValueError("too few values")
        return found

    def value(self, hint: Any) -> Any:
        """The next value, of this type."""
        origin, args = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            return None if self._skip("none") else self.value(args[0])
        if hint is Expr:
            return self._expr()
        if hint is str:
            return _unquoted(self._pop())
        if hint is Type:
            kind = self._pop()
            shape = [self._expr() for _ in self._items("]")] if self._skip("[") else []
            return Type(tuple(shape), kind)
        if origin is tuple and args[-1] is ...:
            self._expect("(")
            return tuple([self.value(args[0]) for _ in self._items(")")])
        if origin is tuple:
            return tuple(self._several(args))
        if origin is not None and issubclass(origin, Mapping):
            self._expect("{")
            return dict(self._pair(*args) for _ in self._items("}"))
        if dataclasses.is_dataclass(hint):
            return hint(*self._several([t for t, _ in fields_of(hint).values()]))  # type: ignore[operator]
        return Fraction(self._pop()) if hint is Fraction else self._literal()

    def _pair(self, key: Any, value: Any) -> tuple[Any, Any]:
        k = self.value(key)
        self._expect(":")
        return k, self.value(value)

    def _expr(self) -> Expr:
        token = self._pop()
        first = token[0]
        if first == "%":
            if token not in self._known:
                raise ValueError(f"{token} is not defined")
            found: Expr = self._known[token]
            return found
        if first == "$":
            return loops.index(_unquoted(token[1:]))
        if first == "@":
            name, kind = (
                (token[1:-2], token[-1])
                if token[-2] == ":" and token[-1] != '"'
                else (token[1:], "f")
            )
            return loops.array(_unquoted(name), kind)
        if token in ("true", "false"):
            return raw(BOOL, (), token == "true")
        if token in ("nan", "inf") or first in "+-0123456789":
            return const(float(token) if re.search(r"[.en]", token) else Fraction(token))
        return raw(VAR, (), _unquoted(token))

    def _literal(self) -> Any:
        token = self._pop()
        if token == "(":
            return tuple([self._literal() for _ in self._items(")")])
        if token == "[":
            return [self._literal() for _ in self._items("]")]
        if token == "{":
            return dict(self._pair(Any, Any) for _ in self._items("}"))
        if token == "array":
            dtype, shape = np.dtype(self._pop()), self._literal()
            return np.array(self._literal(), dtype).reshape(shape)
        if token == "made":
            name = _unquoted(self._pop())
            if name not in self._classes:
                raise ValueError(f"the class {name} is not given")
            return Made.of(self._classes[name], self._literal())
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if token[0] == '"':
            return json.loads(token)
        return float(token) if re.search(r"[.en]", token) else int(token)


def _unquoted(token: str) -> str:
    if token[0] == '"':
        return str(json.loads(token))
    if not _WORD.match(token):
        raise ValueError(f"{token!r} is no name")
    return token


__all__ = ["parse_program", "program_text"]
