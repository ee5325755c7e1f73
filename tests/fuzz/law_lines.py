"""The lines that random programs of the law are drawn from, and the containers that they take.

Lines are templates by what they take: `a`, `b` are names of arrays or numbers, `v` a vector, `m` a
matrix, `s` a number, `w` an array of floats that the program itself made, `z` an array of integers
or truth values, `i`, `j` small integers, `g` a helper, `c` a constant, `l` a list, `d` a dict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass
class Point:
    """A container of arguments and of results."""

    a: Any
    b: Any


class Pair(NamedTuple):
    """Another one."""

    u: Any
    v: Any


SHAPES = (
    (),
    (3,),
    (4,),
    (2, 3),
    (3, 3),
    (1,),
    (1, 3),
    (2, 1),
    (2, 2, 3),
    (0,),
    (1, 1),
    (0, 2),
    (5,),
    (3, 2),
)

MAPS = (
    "np.sin({a})", "np.cos({a})", "np.tanh({a})", "np.exp(-{a}*{a})", "-{a}", "abs({a})",
    "{a}**2", "np.sqrt(1 + {a}**2)", "{a}*0.5", "2 - {a}", "np.log(2 + np.sin({a}))", "np.sign({a})",
    "np.floor({a})", "np.arctan({a})", "np.square({a})", "{a}*2", "1/(2 + {a}**2)", "{a} % 1.5",
    "{a}//1", "np.negative({a})", "np.minimum({a}, 0.3)", "np.maximum({a}, 0)", "np.clip({a}, -1, 1)",
    "np.round({a})", "np.zeros_like({a})", "np.ones_like({a})*{s}", "np.full_like({a}, 0.5)",
    "+{a}", "np.isfinite({a})", "{a} > 0.2", "np.abs({a})**1.5", "np.expm1({a}/4)", "np.copysign({a}, -0.5)",
    "np.nan_to_num({a})", "np.asarray({a})", "np.array({a})", "np.positive({a})", "np.float64(2)*{a}",
    "np.where({a} > 0, {a}, 0.1*{a})", "np.heaviside({a}, 0.5)", "np.hypot({a}, 1)", "np.cbrt({a})",
)  # fmt: skip
PAIRS = (
    "{a} + {b}", "{a} - {b}", "{a}*{b}", "{a}/(1.5 + {b}**2)", "np.maximum({a}, {b})",
    "np.minimum({a}, {b})", "np.where({a} > {b}, {a}, {b})", "np.where({a} > 0, {b}, 0)",
    "np.arctan2({a}, {b}**2 + 1)", "np.hypot({a}, {b} + 2)", "{a} < {b}", "np.add({a}, {b})",
    "np.multiply({a}, {b})", "({a} > 0) & ({b} > 0)", "({a} > 0)*{b}", "{a} == {b}", "np.logaddexp({a}, {b})",
    "np.subtract({a}, {b})", "np.outer({a}, {b})", "np.broadcast_to({a}, np.shape({b}))",
    "np.stack([{a}, {b}])", "np.power(np.abs({a}) + 1, {b})", "np.fmax({a}, {b})", "np.true_divide({a}, 2 + {b}**2)",
)  # fmt: skip
REDUCTIONS = (
    "np.sum({a})", "np.mean({a})", "np.max({a})", "np.min({a})", "np.prod({a}*0.5)", "np.sum({a}, axis={i})",
    "np.sum({a}, axis={i}, keepdims=True)", "np.mean({a}, axis={i})", "np.max({a}, axis={i}, keepdims=True)",
    "np.min({a}, axis={i})", "np.std({a})", "np.var({a}, axis={i})", "{a}.sum()", "{a}.mean(axis={i})",
    "{a}.max()", "np.any({a} > 0)", "np.all({a} > 0, axis={i})", "np.count_nonzero({a} > 0)",
    "np.argmax({a})", "np.argmin({a}, axis={i})", "np.cumsum({a})", "np.cumsum({a}, axis={i})",
    "np.cumprod({a}*0.7)", "np.linalg.norm({a})", "np.linalg.norm({a}, axis={i})", "np.median({a})",
    "np.ptp({a})", "np.average({a})", "np.sum({a}**2, keepdims=True)", "np.diff({a})", "np.diff({a}, axis={i})",
    "np.size({a})", "{a}.size", "{a}.ndim", "len({a})", "np.sum({a} > 0)", "np.mean({a} > 0)", "np.trapezoid({a})",
    "{a}.std()", "{a}.prod()", "np.sum({a}, axis=(0, 1))", "np.sum({a}, axis=(0, -1), keepdims=True)",
)  # fmt: skip
SHAPING = (
    "{a}.T", "np.transpose({a})", "{a}.ravel()", "{a}.flatten()", "{a}.reshape(-1)", "{a}.reshape({i}, -1)",
    "np.reshape({a}, ({i}, -1))", "{a}[None]", "{a}[..., None]", "{a}[::-1]", "{a}[1:]", "{a}[:-1]", "{a}[::2]",
    "{a}[0]", "{a}[-1]", "{a}[{i}]", "{a}[:, {i}]", "{a}[..., {i}]", "{a}[:, ::-1]", "{a}[:, None]",
    "np.squeeze({a})", "np.expand_dims({a}, {i})", "np.swapaxes({a}, 0, {i})", "np.moveaxis({a}, 0, -1)",
    "np.flip({a})", "np.flip({a}, {i})", "np.roll({a}, {i})", "np.roll({a}, 1, axis={i})", "np.tile({a}, {i})",
    "np.repeat({a}, 2)", "np.repeat({a}, 2, axis={i})", "np.concatenate([{a}, {a}])", "np.stack([{a}, -{a}], axis={i})",
    "np.vstack([{a}, {a}])", "np.hstack([{a}, {a}])", "np.atleast_1d({a})", "np.atleast_2d({a})", "np.pad({a}, 1)",
    "np.array([{a}, {a}*2])", "np.concatenate(({a}, {b}))", "np.hstack(({a}, {b}))", "np.vstack(({a}, {b}))",
    "np.diag({a})", "np.triu({a})", "np.tril({a})", "np.trace({a})", "np.sort({a})", "np.sort({a}, axis={i})",
    "{a}[{a} > 0]", "{a}[np.array([0, 1, 0])]", "{a}[[1, 0]]", "{a}[np.argsort({a})]", "np.take({a}, [0, 1])",
    "np.take({a}, [0], axis={i})", "np.split({a}, 2)[0]", "np.meshgrid({a}, {a})[1]", "np.column_stack([{a}, {a}])",
    "np.append({a}, {s})", "np.insert({a}, 1, {s})", "np.delete({a}, 0)", "np.ravel({a})", "np.rot90({a})",
    "{a}.swapaxes(0, -1)", "{a}.transpose()", "{a}.copy()", "{a}.astype(float)", "{a}.item(0)", "{a}.tolist()",
    "np.nonzero({a} > 0)[0]", "np.searchsorted(np.array([-0.5, 0.0, 0.5]), {a})", "np.linspace({s}, 1, 4)",
    "np.arange(3)*{s}", "np.eye(2)*{s}", "np.zeros((2, {i}))", "np.full(3, {s})", "np.where({a} > 0)[0]",
)  # fmt: skip
PRODUCTS = (
    "{a} @ {b}", "np.dot({a}, {b})", "np.inner({a}, {b})", "np.matmul({a}, {b}.T)", "np.tensordot({a}, {b}, axes=1)",
    "np.einsum('i,i->', {v}, {v})", "np.einsum('ij,j->i', {m}, {v})", "np.einsum('ij->ji', {m})", "np.kron({a}, {b})",
    "np.vdot({a}, {b})", "np.linalg.det({m} @ {m}.T + np.eye({m}.shape[0]))", "np.convolve({v}, {v})",
    "np.linalg.solve({m} @ {m}.T + np.eye({m}.shape[0]), np.ones({m}.shape[0]))", "np.interp({a}, [-1, 0, 1], [0.5, 0, 2])",
    "np.linalg.inv({m} @ {m}.T + np.eye({m}.shape[0]))", "{m} @ {v}", "{v} @ {v}", "np.trace({m} @ {m}.T)",
    "np.einsum('ij,ij->j', {m}, {m})", "np.cross({v}, np.array([1.0, 2.0, 3.0]))", "np.polyval([1, 0.5], {a})",
)  # fmt: skip
PYTHON = (
    "float({s})", "max({s}, 0.1)", "min({s}, {s})", "sum({v})", "len({a})", "[u*2 for u in {v}]", "tuple({v})",
    "sum(u*u for u in {v})", "({a}, {b})", "[{a}, {b}]", "{{'p': {a}, 'q': {b}}}", "{l}[0]", "{l}[-1]", "{l}[::-1]",
    "{l} + [{s}]", "np.array({l})", "np.sum({l})", "{d}['p']", "{a} if {s} > 0 else {b}", "{g}({a})", "{g}({s})",
    "{g}({a}) + {g}({b})", "[{g}(u) for u in {v}]", "np.array([{g}(u) for u in {v}])", "sorted([{s}, 0.2])",
    "{c}*{a}", "{c} + {a}", "{c} @ {a}", "{a} @ {c}", "{c}[{i}]*{a}", "np.maximum({c}, {a})", "np.where({c} > 0, {a}, {s})",
    "{a}*np.arange(3)", "{a} + K", "N*{a}", "{a}/N", "{a}**N", "list(map({g}, {v}))", "list(zip({v}, {v}))",
    "dict(p={a}, q={s})", "[list(r) for r in {m}]", "abs({s})", "round({s}, 2)", "int({s})", "bool({s} > 0)",
    "{s}**2 + 1", "{s}*N", "{i}*{s}", "{i}/3", "({s}, {i}, {s} > 0)", "[[{s}, 1], [2, {s}]]",
    "(lambda t: t*{s})({a})", "{a}.shape[0]*{s}", "{{k: {s}*k for k in range(3)}}", "None", "'text'", "True",
)  # fmt: skip
BLOCKS = (
    ("{n} = np.zeros(3)", "for q in range(3):", "    {n}[q] = {s}*q"),
    ("{n} = np.zeros_like({a})", "{n}[...] = {a}*2"),
    ("{n} = {a}.copy()", "{n}[0] = 0.5", "{n} *= 2"),
    ("{n} = {a}*1", "{n}[1:] += {s}"),
    ("{n} = {a}*1.0", "{n}[{n} > 0] = 0"),
    ("{n} = 0.0", "for u in {v}:", "    {n} += u*u"),
    ("{n} = 0", "for q in range(N):", "    {n} += q*{s}"),
    ("{n} = 1", "for q in range(1, 5):", "    {n} *= q"),
    ("{n} = []", "for u in {v}:", "    {n}.append(u*{s})"),
    ("{n} = {a}", "for q in range(3):", "    {n} = np.sin({n}) + {b}*0.1"),
    ("{n} = {s}", "while {n} < 2.03:", "    {n} = {n} + 0.7"),
    ("if {s} > 0:", "    {n} = {a}", "else:", "    {n} = {a}*2"),
    ("{n} = {s}", "for q, u in enumerate({v}):", "    if u > 0:", "        {n} = {n} + q*u"),
    ("{n} = np.zeros((2, 3))", "for p in range(2):", "    for q in range(3):", "        {n}[p, q] = p + q*{s}"),
    ("{n} = np.empty(len({v}))", "for q in range(len({v})):", "    {n}[q] = {v}[q]*{v}[-1 - q]"),
    ("{n}, *_ = {v}",),
    ("{n} = {{}}", "for q in range(2):", "    {n}[str(q)] = {a}*q"),
    ("{n} = {a}*1.0", "{n} += {b}"),
    ("{n} = {a}*1.0", "{n}[..., -1] = {s}"),
    ("{n} = np.zeros({a}.shape)", "{n}[::2] = {a}[::2]"),
)  # fmt: skip
HELPERS = (
    "return u*2 + 1", "return np.sin(u)", "return np.sum(u)", "return np.sum(u)*u", "return np.where(u > 0, u, 0.0)",
    "return u/(1 + np.abs(u))", "return np.array([u, u])", "return K*u", "w = u*u\n    return w - w.mean()",
    "return u if np.sum(u) > 0 else -u", "return np.max(u) - np.min(u)", "return u.T if np.ndim(u) else u",
)  # fmt: skip
CONSTANTS = (
    "np.array([0.5, -1.0, 2.0])", "np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])", "np.arange(3)", "0.7", "2",
    "np.array([True, False, True])", "np.eye(3)", "np.array(1.5)", "np.float64(0.3)", "[1.0, 2.0, 0.5]",
)  # fmt: skip

WRITES = (
    ("{w}[0] = {s}", "{n} = {w}*1"), ("{w}[-1] += {s}", "{n} = {w} + 0"), ("{w}[::-1] *= 0.5", "{n} = {w}*2"),
    ("{n} = {w}.copy()", "{n}[{n} > 0.2] *= 0.5"), ("{w}[{w} < 0] = 0.25", "{n} = np.sum({w})"),
    ("{n} = {w}[1:]", "{n} += 1"), ("{n} = {w}[::-2]", "{n} *= {s}"), ("{w} += {b}", "{n} = {w}.sum()"),
    ("{w} -= {w}[::-1]*0.3", "{n} = {w}*1"), ("{w}[1:] = {w}[:-1].copy()", "{n} = {w} + 1"), ("{w}[1:] += {w}[:-1]", "{n} = {w}*1"),
    ("{w}[...] = {b}", "{n} = {w} - {s}"), ("{w}[[0, -1]] = 0.75", "{n} = {w}*1"), ("{w}[np.array([1, 0, 1])] += 0.5", "{n} = {w}*1"),
    ("np.add.at({w}, [0, 1, 0], {s})", "{n} = {w}*1"), ("{w}[:, 0] = {s}", "{n} = {w}*2"), ("{w}[..., {i}] = {w}[..., 0]", "{n} = {w}*1"),
    ("{w}[{i}], {w}[0] = {w}[0], {w}[{i}]", "{n} = {w}*1"), ("{n} = {w}", "{n} /= 2", "{n} = {n} + {w}"),
    ("{w}.fill({s})", "{n} = {w}*1"), ("{w}.sort()", "{n} = {w}*1"), ("{n} = {w}.reshape(-1)", "{n}[0] = 0.1", "{n} = {w}*1"),
    ("{n} = {w}.T", "{n}[0] = 0.3", "{n} = {w} + 0"), ("np.copyto({w}, {b})", "{n} = {w}*1"), ("np.put({w}, [0, 1], {s})", "{n} = {w}*1"),
    ("{n} = np.add({w}, {b}, out={w})", "{n} = {w}*1"), ("{n} = {w}.ravel()", "{n} *= 2", "{n} = np.sum({w})"),
    ("for r in {w}:", "    r *= 0.5", "{n} = {w}*1"), ("{w}[{w} > {w}.mean()] = {w}.mean()", "{n} = {w}*1"),
    ("for q in range(len({w}) - 1, 0, -1):", "    {w}[q] = {w}[q] - {w}[q - 1]*0.5", "{n} = {w}*1"),
    ("for q in range({w}.shape[0]):", "    if {w}[q] > 0:", "        {w}[q] = -{w}[q]", "{n} = {w}*1"),
    ("np.fill_diagonal({w}, {s})", "{n} = {w}*1"), ("{w}[None, :] *= 2", "{n} = {w}*1"), ("{w}[({w} > 0) & ({w} < 1)] += 0.1", "{n} = {w}*1"),
    ("{w}[~({w} > 0)] = {s}", "{n} = {w}*1"), ("{w}[np.where({w} > 0)] = 0.3", "{n} = {w}*1"), ("np.putmask({w}, {w} > 0, {s})", "{n} = {w}*1"),
)  # fmt: skip
STEPPED = (
    "{a}[::-2]", "{a}[-1:0:-1]", "{a}[-2::-1]", "{a}[{j}:]", "{a}[:{j}]", "{a}[::{j}]", "{a}[{j}::-1]", "{a}[..., ::-2]",
    "{a}[1:{j}]", "{a}[::2, ::-1]", "{a}[::-1, 0]", "{a}[-1, ::-1]", "{a}[[-1, 0], ::-1]", "{a}[:, None, ::-1]", "{a}[1:1]",
    "{a}[::-1][1:]", "{a}[::-1].T", "{a}[{j}]", "{a}[..., {j}]", "{a}[slice(None, None, -1)]", "list({v})[::-2]", "{a}[5:]",
    "np.flip({a}[1:])", "{a}[({i},)]", "{a}[{i}, ..., None]", "{a}[:, [0, -1]]", "{a}[np.ix_([0, 1], [-1, 0])]", "{a}[[0, 1], [1, 0]]",
    "{a}.reshape({a}.shape[::-1])", "{a}.reshape(-1, 1)[::-1]", "{a}[np.newaxis, ::-1]", "{a}[({a} > 0.1)]", "{m}[{m}[:, 0] > 0]",
    "{m}[:, {m}[0] > 0]", "{v}[{v} != 0][::-1]", "{v}[np.abs({v}) < 1].sum()", "{a}[{a} > 5]", "{a}[None][..., None]",
)  # fmt: skip
WHOLE = (
    "{z} + 1", "{z}*2", "{z}/2", "{z}//2", "{z} % 2", "{z}**2", "-({z}*1)", "{z}.sum()", "np.sum({z}, axis={i})", "{z}.mean()",
    "{z}*{a}", "{a} + {z}", "np.where({z}, {a}, {s})", "{z}[::-1]", "{z} > 0", "{z}.astype(float)", "np.cumsum({z})", "{z} @ {z}",
    "np.sqrt(np.abs({z}) + 1.0)", "np.prod({z}*1)", "np.max({z})", "np.minimum({z}, 1)", "{z} == 1", "np.abs({z}*1)", "{v}[{z}]",
    "{z}.astype(int)", "np.sin({z}*1.0)", "[int(u) for u in {z}]", "np.any({z})", "np.all({z})", "~({z} > 0)", "{z}.max()*{s}",
    "np.arange(4)[{z}]", "np.bincount(np.abs({z}))", "sum({z}*1)", "max({z}*1)", "{z}.dot({z}*1.0)", "np.take({v}, {z})", "np.exp({z}*0.1)",
    "np.clip({z}, 0, 2)", "np.sign({z}*1)", "np.sort({z})", "np.unique({z})", "np.diff({z}*1)", "np.hypot({z}*1.0, {s})", "{z}.argmax()",
    "np.array([u*{s} for u in {z}])", "np.floor_divide({z}*1, 2)", "np.mod({z}*1, 3)", "np.power({z}*1, 2)", "np.logical_not({z})", "{z}.item(0)",
    "np.zeros(3) + {z}", "({z} > 0).sum()", "({z} > 0)*1", "np.count_nonzero({z})", "np.flatnonzero({z})", "np.outer({z}*1, {z}*1)",
)  # fmt: skip
LOOPS = (
    ("{n} = 0.0", "for u in reversed({v}):", "    {n} = {n}*0.5 + u"),
    ("{n} = 0.0", "for u, k in zip({v}, range(5)):", "    {n} += u*k"),
    ("{n} = {s}", "for q in range(10):", "    if {n} > 1.05:", "        break", "    {n} += 0.3"),
    ("{n} = 0.0", "for u in {v}:", "    if u < 0:", "        continue", "    {n} += u"),
    ("{n} = 0.0", "for r in {m}:", "    for u in r:", "        {n} += u*r[0]"),
    ("{n} = {s}", "k = 0", "while abs({n}) > 0.1 and k < 6:", "    {n} *= 0.5", "    k += 1"),
    ("{n} = 1.0", "for q in range(N):", "    {n} = {n}*{s} + q", "else:", "    {n} = {n} + 1"),
    ("{n} = np.zeros_like({v})", "for q, u in enumerate({v}):", "    {n}[q] = h(u, {s})"),
    ("{n} = []", "for q in range(3):", "    {n} = {n} + [{s}*q]"),
    ("best = -10.0", "for u in {v}:", "    if u > best:", "        best = u", "{n} = best*2"),
    ("p, q = 0.0, 1.0", "for u in {v}:", "    p, q = q, p + u", "{n} = p*q"),
    ("{n} = {a}", "for k in (1, 2, 3):", "    {n} = np.cos({n})*k"),
    ("{n} = np.zeros(({m}.shape[0], {m}.shape[0]))", "for p in range({m}.shape[0]):", "    for q in range(p + 1):", "        {n}[p, q] = {m}[p] @ {m}[q]"),
    ("{n} = 0.0", "for k in range(len({v})):", "    for q in range(k):", "        {n} += {v}[k]*{v}[q]"),
    ("{n} = {{}}", "for k, u in zip('pq', ({a}, {b})):", "    {n}[k] = u*2"),
    ("try:", "    {n} = {v}[7]", "except IndexError:", "    {n} = {s}"),
    ("{n} = np.array({v})", "for q in range(1, len({n})):", "    {n}[q] = {n}[q - 1]*0.5 + {n}[q]"),
    ("def inner(u, c={s}):", "    return u*c + {s}", "{n} = inner({a})"),
    ("if {s} > 0 and {s} < 1:", "    {n} = {a}*2", "elif {s} > -1:", "    {n} = {a} + 1", "else:", "    {n} = {a}*0"),
    ("{n} = 0", "for u in {v}:", "    {n} += u > 0"),
    ("{n} = {s}", "for u in {v}[::-1]:", "    {n} = max({n}, u)"),
    ("{n} = np.zeros(4)", "for q in range(3, -1, -1):", "    {n}[q] = q*{s} if q % 2 else q"),
    ("rows = []", "for r in {m}:", "    rows.append(np.sum(r)*r)", "{n} = np.array(rows)"),
    ("{n} = {s}", "while True:", "    {n} = {n}*0.5 + 0.25", "    if {n} < 0.97:", "        break"),
    ("it = iter({v})", "{n} = next(it) + next(it)"), ("{n} = {a}", "{n} = {n} + {n}", "{n} *= 0.5"),
    ("w = {a}", "w = w*2", "{n} = w + {a}"), ("{n}, k = divmod({s}, 0.7)",), ("*{n}, k = {v}",),
    ("if (k := np.sum({a})) > 0:", "    {n} = k", "else:", "    {n} = -k"),
    ("state = {{'t': 0.0, 'x': {a}}}", "for q in range(2):", "    state['x'] = state['x']*0.5", "    state['t'] += {s}", "{n} = state"),
    ("{n} = Point({a}, {s})", "{n}.b = {n}.b*2"), ("k = Pair({a}, {b})", "{n} = k.u*k.v"), ("{n} = Pair({s}, {a})._replace(u=2.0)",),
)  # fmt: skip
MORE = (
    "h({a}, {b})", "h({s}, {a}, k=3)", "h({a}, {s}, 1)", "h(v={a}, u={b})", "h(g0({a}), {b})", "g1(g0({a}))", "h(*[{a}, {b}])",
    "h(**{{'u': {a}, 'v': {s}}})", "Point({a}, {b})", "Pair({a}, g0({b}))", "min({v})", "max({v})", "max({s}, {s}*2, 0.3)", "min(*{v})",
    "max([{s}, 0.2, -{s}])", "sorted({v})", "sorted({v}, reverse=True)", "sorted({v}, key=lambda u: -u)", "max({v}, key=abs)",
    "any(u > 0 for u in {v})", "all(u > -1 for u in {v})", "[u for u in {v} if u > 0]", "sum(u for u in {v} if u < 0)", "math.fsum({v})",
    "math.sin({s})", "math.hypot({s}, {s}, 1.0)", "math.prod({v})", "math.dist({v}, {v})", "math.sqrt({s}**2)", "math.floor({s})", "math.ceil({s})",
    "math.copysign(1.0, {s})", "math.isnan({s})", "math.exp({s}) + math.pi", "math.fabs({s})", "math.trunc({s})", "math.fmod({s}, 0.6)", "math.pow(2, {s})",
    "0 < {s} < 1", "not {s} > 0", "{s} if {s} > 0 else {s}*2", "({s} > 0) + ({s} < 1)", "isinstance({a}, float)", "isinstance({a}, np.ndarray)",
    "float({s} > 0)", "int({s} > 0)*{a}", "round({s})", "round({s}, 1)*2", "{s}//0.3", "{s} % 0.3", "divmod({s}, 0.3)[0]", "-{s}**2", "2**{s}",
    "abs(-{s})", "complex({s}).real", "{v}.tolist() + [{s}]", "list({v})", "tuple({v})[0]", "[*{v}, {s}]", "dict(zip('pq', {v}))", "set([1, 2]) == {{2, 1}}",
    "{a}.sum(axis=-1)", "{a}.min(axis=0)", "{a}.cumsum()", "{a}.argsort()", "{a}.clip(0, 1)", "{a}.round(1)", "{a}.any()", "{a}.nonzero()[0]", "{a}.trace()",
    "{a}.var()", "{a}.dot({a}.T)", "{a}.repeat(2)", "{a}.take([0])", "{a}.squeeze()", "{a}.argmax(axis=0)", "{a}.T @ {a}", "{a}.mean(0)", "{a}.ptp() if 0 else {a}",
    "np.select([{a} > 1, {a} > 0], [{a}*2, {a}], 0.5)", "np.piecewise({v}, [{v} > 0], [lambda u: u*2, 0.1])", "np.choose([0, 1], [{a}, {b}])", "np.digitize({a}, [-0.5, 0.5])",
    "np.quantile({v}, 0.3)", "np.percentile({a}, 40)", "np.nansum({a})", "np.nanmean({a})", "np.nanmax({a})", "np.gradient({v})", "np.cov({v}, {v})", "np.corrcoef({m})",
    "np.linalg.norm({m}, 2)", "np.linalg.norm({v}, 1)", "np.linalg.norm({v}, np.inf)", "np.linalg.eigvalsh({m} @ {m}.T)", "np.linalg.matrix_power({m} @ {m}.T, 2)",
    "np.linalg.slogdet({m} @ {m}.T + np.eye(len({m})))[1]", "np.linalg.cholesky({m} @ {m}.T + np.eye(len({m})))", "np.linalg.lstsq({m}, {v}, rcond=None)[0]",
    "np.einsum('ij,kj->ik', {m}, {m})", "np.einsum('...i->...', {a})", "np.einsum('i,j', {v}, {v})", "np.einsum('ii', {m} @ {m}.T)", "np.tensordot({a}, {a}, 2)",
    "np.dstack([{a}, {a}])", "np.block([[{m}, {m}]])", "np.array_split({a}, 2)[1]", "np.unravel_index(1, (2, 3))", "np.logspace(0, {s}, 3)", "np.geomspace(1, 2, 3)*{s}",
    "np.mgrid[0:2, 0:2][0]*{s}", "np.indices((2, 2))[0] + {s}", "np.tri(3)*{s}", "np.vander({v})", "np.fliplr({m})", "np.flipud({m})", "np.rot90({m}, 2)", "np.cumsum({a})[::-1]",
    "np.apply_along_axis(np.sum, 0, {a})", "np.vectorize(lambda u: u*2 + 1)({a})", "np.frompyfunc(abs, 1, 1)", "np.isclose({a}, {b})", "np.allclose({a}, {b})", "np.array_equal({a}, {b})",
    "np.logical_and({a} > 0, {b} > 0)", "np.logical_xor({a} > 0, {b} > 0)", "np.ones((2, 2))*{a}", "np.zeros({i})", "np.empty((0, 3)).sum() + {s}", "np.full((2, 2), {s}) @ np.ones(2)",
    "np.fmod({a}, 0.7)", "np.remainder({a}, 0.7)", "np.float64({s})", "np.asarray([{s}, 1, True])", "np.array([[{s}], [1]])", "np.array([{a}, {b}])", "np.stack([{v}, {v}], -1)",
    "np.sinc({a})", "np.deg2rad({a})", "np.log1p({a}**2)", "np.exp2({a})", "np.trunc({a})", "np.rint({a})", "np.fix({a})", "np.sinh({a})", "np.arcsinh({a})", "np.arcsin({a}/60)", "np.reciprocal({a}**2 + 1.0)",
    "np.mean({a}, axis=0, keepdims=True)", "np.sum({a}, where={a} > 0)", "np.max({a}, initial=0.0)", "np.sum({a}, initial=1.0)", "np.average({v}, weights={v}**2)", "np.argmax({a}, axis=0)",
    "np.argsort({v})", "np.partition({v}, 1)[0]", "np.median({a}, axis=0)", "np.cumprod({v})", "np.ediff1d({a})", "np.trapezoid({v}, dx=0.5)", "np.nan_to_num({a}/({a}*0 + 1))", "np.broadcast_arrays({a}, {b})[0]",
    "np.broadcast_to({s}, (2, 2))", "np.squeeze({a}[None])", "np.resize({a}, (2, 2))", "np.atleast_3d({a})", "np.concatenate([{a}, {b}], axis=-1)", "np.concatenate([{a}, {b}], axis=None)", "np.append({a}, {b})",
    "np.roll({a}, -1)", "np.roll({m}, (1, 1), (0, 1))", "np.pad({v}, (1, 2), mode='edge')", "np.pad({v}, 1, constant_values={s})", "np.diag({v}, 1)", "np.diagonal({m})", "np.triu({m}, 1)", "np.correlate({v}, {v}, 'same')", "np.convolve({v}, [1, 0.5], 'same')",
)  # fmt: skip
HELPERS_OF_TWO = (
    "return u*v + k", "return np.sum(u)*v", "return np.where(u > v, u, v)*k", "return u - v if k > 1 else v - u", "return np.maximum(u, v)**k",
    "w = u*1.0\n    w = w + v\n    return w*w", "return np.dot(u, v)", "return np.sum(u*v)/k", "for _ in range(k):\n        u = np.sin(u)*v\n    return u",
    "return g0(u) + v", "return np.array([np.sum(u), np.sum(v)*k])", "t = np.zeros(2)\n    t[0] = np.sum(u)\n    t[1] += np.max(v)\n    return t", "return np.linalg.norm(u)*v",
    "if np.sum(v) > 0:\n        return u\n    return u*k", "return sum([np.sum(u), np.sum(v)])", "return np.exp(-(u - v)**2)",
)  # fmt: skip

KINDS = (
    MAPS,
    PAIRS,
    REDUCTIONS,
    SHAPING,
    PRODUCTS,
    PYTHON,
    BLOCKS,
    WRITES,
    STEPPED,
    WHOLE,
    LOOPS,
    MORE,
)
WEIGHTS = 3, 4, 4, 4, 2, 4, 3, 4, 3, 2, 3, 6
