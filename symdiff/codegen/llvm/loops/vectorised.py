"""Vectorised loops in LLVM IR: a loop on vectors between two without SIMD.

The loop on vectors runs where its loads are within their arrays; the iterations before it,
the ones after it, and those too few for a vector, are made one by one, in a loop that is
printed once and entered twice. What a loop collects is collected in each lane, and put
together after the loop on vectors, or after each block of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.codegen.common.liveness import Point, last_uses
from symdiff.codegen.llvm.loops.body import FIRST_CHECK
from symdiff.codegen.llvm.loops.cost import INNER, Plan
from symdiff.codegen.llvm.loops.interrupts import PATIENCE, period
from symdiff.codegen.llvm.loops.lanes import Vectors
from symdiff.codegen.llvm.loops.row_blocks import ROWS, together
from symdiff.codegen.llvm.loops.scoped import Scope, Slot, Stored
from symdiff.codegen.llvm.loops.tapes import Tape
from symdiff.ir import TRUE, Expr
from symdiff.ir.loop_program import Build, Check, Loop, Statement, Update, index
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import SUMMED, Reduction, long_sums, reduction

TILES, LARGE = (8, 2), 40.0
"""How many vectors tiles have, as long as a term of their sums costs no more than this."""
DEAR = 20.0
"""What a vector costs from which on the last iterations, too few for one, are made in some of its lanes."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Several vectors of a build at once: the index of each in place of the build's, and
    what prints them."""

    places: tuple[str, ...]
    print: Callable[[], None]


def _nothing() -> None:
    """Prints nothing."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is printed before and after a loop on vectors, and between its blocks if it has any."""

    before: Callable[[], None] = _nothing
    after: Callable[[], None] = _nothing
    between: Callable[[], None] | None = None


NOTHING = Around()


class Spans(Vectors):
    """Prints builds and loops on vectors where that pays.

    Attributes
    ----------
    unrolls : how many vectors a step of a loop has, by its index, where other loops say so: a sum
        of a row alone has the order of one that is made with others.
    """

    names: Names
    unrolls: dict[str, int]

    # -------------------------------------------------------------------- spans
    def spans(
        self, v: str, count: Expr, plan: Plan, one: Callable[[], None], packed: Callable[[], None],
        around: Around = NOTHING, part: tuple[str, str] | None = None, tiles: Sequence[Tile] = (),
    ) -> None:  # fmt: skip
        """Iterations of an index over an axis, or a part of it: `packed` prints those of all
        lanes, `one` a single one, `around` what stands around the loop on vectors. With
        tiles there is one on each before it, and the last vector may overlap the one before."""
        start, total = part or ("0", self.at_least_zero(count))
        if not plan.bounds:
            length = self.emit("i64", f"sub i64 {total}, {start}")
            whole = self.emit("i64", f"and i64 {length}, {-self.width}")
            middle = self.emit("i64", f"add i64 {start}, {whole}")
            dear = plan.cost * self.width >= DEAR
            past = total if dear and not tiles else ""
            self.lanes(v, count, plan, start, middle, packed, around, tiles, past)
            if tiles:
                middle = self.overlapping(v, count, plan, start, middle, total, packed)
                self.short(v, count, plan, middle, total, packed)
            elif not dear:
                self.singles(v, count, middle, total, one)
            return
        low, high = self.interior(v, plan, start, total)
        length = self.emit("i64", f"sub i64 {high}, {low}")
        whole = self.emit("i64", f"and i64 {length}, {-self.width}")
        middle = self.emit("i64", f"add i64 {low}, {whole}")
        c = self.begin("2")
        self.test(c, ())
        again = self.emit("i1", f"icmp eq i64 {c.order}, 1")
        first = self.emit("i64", f"select i1 {again}, i64 {middle}, i64 {start}")
        last = self.emit("i64", f"select i1 {again}, i64 {total}, i64 {low}")
        self.singles(v, count, first, last, one)
        with self.branch(self.emit("i1", f"icmp eq i64 {c.order}, 0")):
            self.lanes(v, count, plan, low, middle, packed, around, tiles)
        self.finish(c)

    def interior(self, v: str, plan: Plan, start: str, total: str) -> tuple[str, str]:
        """The iterations in which what the lanes load is within its array."""
        low, high = start, total
        for b in plan.bounds:
            at = self.scalar(ir.substitute((b.at,), {index(v): ir.ZERO})[0])
            size = self.scalar(b.size)
            if b.step == 1:  # 0 <= at + v < size
                least = self.emit("i64", f"sub i64 0, {at}")
                past = self.emit("i64", f"sub i64 {size}, {at}")
            else:  # 0 <= at - v < size
                past = self.emit("i64", f"add i64 {at}, 1")
                least = self.emit("i64", f"sub i64 {past}, {size}")
            low = self.emit("i64", f"call i64 @llvm.smax.i64(i64 {low}, i64 {least})")
            high = self.emit("i64", f"call i64 @llvm.smin.i64(i64 {high}, i64 {past})")
        low = self.emit("i64", f"call i64 @llvm.smin.i64(i64 {low}, i64 {total})")
        high = self.emit("i64", f"call i64 @llvm.smax.i64(i64 {high}, i64 {low})")
        return low, high

    def singles(
        self, v: str, count: Expr, first: str, last: str, one: Callable[[], None],
        alike: bool = True,
    ) -> None:  # fmt: skip
        """The loop over single iterations, which compute what the lanes do."""
        c = self.begin(last, first)
        c.scope.names[v] = c.order
        c.scope.ranges[v] = count
        c.scope.alike = alike
        self.test(c, ())
        one()
        self.finish(c)

    def lanes(
        self, v: str, count: Expr, plan: Plan, first: str, last: str, packed: Callable[[], None],
        around: Around = NOTHING, tiles: Sequence[Tile] = (), past: str = "",
    ) -> None:  # fmt: skip
        """The loops on whole vectors, several in a step and then one, and on a part of one if it ends `past`
        them: in blocks if something stands between these; nothing around them if there is none."""

        def all_() -> None:
            self.steps(v, count, plan, first, last, packed, around, tiles)
            if past:
                self.short(v, count, plan, last, past, packed)
                if around.between is not None:
                    around.between()

        if around is NOTHING:
            all_()
            return
        with self.branch(self.emit("i1", f"icmp slt i64 {first}, {past or last}")):
            around.before()
            all_()
            around.after()

    def steps(
        self, v: str, count: Expr, plan: Plan, first: str, last: str, packed: Callable[[], None],
        around: Around, tiles: Sequence[Tile],
    ) -> None:  # fmt: skip
        for tile in tiles:
            first = self.tile(count, plan, first, last, tile)
        step, middle = self.width * plan.unroll, last
        if plan.unroll > 1:
            length = self.emit("i64", f"sub i64 {last}, {first}")
            whole = self.emit("i64", f"and i64 {length}, {-step}")
            middle = self.emit("i64", f"add i64 {first}, {whole}")
        if around.between is None:
            self.vectors(v, count, plan, first, middle, packed)
        else:
            size = SUMMED * step
            c = self.begin(middle, first)
            self.test(c, ())
            end = self.emit("i64", f"add nsw i64 {c.order}, {size}")
            end = self.emit("i64", f"call i64 @llvm.smin.i64(i64 {end}, i64 {middle})")
            self.vectors(v, count, plan, c.order, end, packed)
            around.between()
            self.finish(c, str(size))
        if plan.unroll > 1:
            self.vectors(v, count, replace(plan, unroll=1), middle, last, packed)
            if around.between is not None:
                around.between()

    def vectors(
        self, v: str, count: Expr, plan: Plan, first: str, last: str, packed: Callable[[], None]
    ) -> None:
        """The loop itself; signals interrupt it unless memory limits how long it is."""
        c = self.begin(last, first)
        self.test(c, ())
        short = count in self.sizes or (count.op is ir.CONST and count.value < PATIENCE)
        if not (self.outlined or short):
            every = period(1 + int(plan.cost))
            passed = self.emit("i64", f"and i64 {c.order}, {every - 1}")
            self.ask(self.emit("i1", f"icmp ult i64 {passed}, {self.width * plan.unroll}"))
        for k in range(plan.unroll):
            part = Scope(c.scope)
            self.scope = part
            self.name_index(v, count, plan, c.order, k)
            self.part = k
            packed()
            self.scope = c.scope
            c.scope.lines += part.lines
        self.finish(c, str(self.width * plan.unroll))

    def overlapping(
        self, v: str, count: Expr, plan: Plan, start: str, middle: str, total: str,
        packed: Callable[[], None],
    ) -> str:  # fmt: skip
        """The last vector, if there are iterations left and at least a vector of them in all;
        returns where it ends."""
        least = self.emit("i64", f"sub i64 {total}, {self.width}")
        some = self.emit("i1", f"icmp slt i64 {middle}, {total}")
        enough = self.emit("i1", f"icmp sge i64 {least}, {start}")
        both = self.emit("i1", f"and i1 {some}, {enough}")
        first = self.emit("i64", f"select i1 {both}, i64 {least}, i64 {total}")
        self.lanes(v, count, plan, first, total, packed)
        return self.emit("i64", f"select i1 {enough}, i64 {total}, i64 {middle}")

    def short(
        self, v: str, count: Expr, plan: Plan, first: str, total: str, packed: Callable[[], None]
    ) -> None:
        """Iterations that are fewer than a vector has, in some of its lanes."""
        whole = f"<{self.width} x i64>"
        left = self.emit("i64", f"sub i64 {total}, {first}")
        with self.branch(self.emit("i1", f"icmp sgt i64 {left}, 0")):
            lanes = ", ".join(f"i64 {k}" for k in range(self.width))
            most = self.spread("i64", left, self.scope)
            test = f"icmp ult {whole} <{lanes}>, {most}"
            self.mask = self.emit(self.packed.condition, test)
            self.name_index(v, count, plan, first, 0)
            self.part = 0
            packed()
            self.mask = ""

    def name_index(self, v: str, count: Expr, plan: Plan, order: str, k: int) -> None:
        """Let an index have its values of the k-th vector in the lanes."""
        base = self.emit("i64", f"add nuw nsw i64 {order}, {k * self.width}")
        self.scope.names[v] = base
        self.scope.varying.add(v)
        self.scope.ranges[v] = count
        self.scope.assumed.update((b.at, b.size) for b in plan.bounds)

    def tile(self, count: Expr, plan: Plan, first: str, last: str, tile: Tile) -> str:
        """The loop on several vectors at once; returns where it ends."""
        step = self.width * len(tile.places)
        length = self.emit("i64", f"sub i64 {last}, {first}")
        whole = self.emit("i64", f"and i64 {length}, {-step}")
        middle = self.emit("i64", f"add i64 {first}, {whole}")
        c = self.begin(middle, first)
        self.test(c, ())
        for k, place in enumerate(tile.places):
            self.name_index(place, count, plan, c.order, k)
        tile.print()
        self.finish(c, str(step))
        return middle

    # ------------------------------------------------------------------- builds
    def elements_of(
        self, s: Build, a: Stored, axis: int, part: tuple[str, str] | None = None
    ) -> None:
        last = axis == len(s.indices) - 1
        plan = self.plan_build(s) if last else None
        if plan is None or not self.better(s, plan):
            if not (last and self.rows_of(s, a, part)):
                super().elements_of(s, a, axis, part)
            return
        places = [index(i) for i in s.indices]

        def one() -> None:
            self.block(s.body, (s.value,))
            value = self.typed(s.value, a.kind)
            self.store(a.kind, value, self.place(a, places))

        def packed() -> None:
            self.inner(s.body, (s.value,))
            value = self.packed_as(s.value, a.kind)
            self.store_lanes(a.kind, value, self.place(a, places))

        term = plan.cost * self.width / INNER
        sizes = [k for k in TILES if k * term <= LARGE and not plan.bounds]
        tiles = [t for k in sizes if (t := self.tile_of(s, a, k)) is not None]
        plan = replace(plan, unroll=1) if tiles else plan
        self.spans(s.indices[-1], s.type.shape[-1], plan, one, packed, part=part, tiles=tiles)

    def tile_of(self, s: Build, a: Stored, size: int) -> Tile | None:
        """How the vectors of a build that is a sum are made several at once."""
        places = [self.names.fresh(s.indices[-1]) for _ in range(size)]
        found = together(s, places, self.names)
        if found is None:
            return None
        loop, values = found

        def print_() -> None:
            self.inner((loop,), values)
            for place, value in zip(places, values, strict=True):
                at = [*map(index, s.indices[:-1]), index(place)]
                self.store_lanes(a.kind, self.packed_as(value, a.kind), self.place(a, at))

        return Tile(tuple(places), print_)

    def rows_of(self, s: Build, a: Stored, part: tuple[str, str] | None) -> bool:
        """Print a build whose elements are sums several elements at a time, if it is one."""
        v, count = s.indices[-1], s.type.shape[-1]
        places = [self.names.fresh(v) for _ in range(ROWS)]
        found = together(s, places, self.names)
        if found is None:
            return False
        loop, values = found
        with self.trial({**dict(zip(s.indices, s.type.shape, strict=True)),
                         **dict.fromkeys(places, count)}, ()):  # fmt: skip
            plan = self.plan_loop(loop)
            if plan is None or plan.bounds:
                return False  # with bounds of several rows a sum would have another order
        start, total = part or ("0", self.at_least_zero(count))
        length = self.emit("i64", f"sub i64 {total}, {start}")
        whole = self.emit("i64", f"and i64 {length}, {-ROWS}")
        middle = self.emit("i64", f"add i64 {start}, {whole}")
        c = self.begin(middle, start)
        self.test(c, ())
        for k, place in enumerate(places):
            c.scope.names[place] = self.emit("i64", f"add nsw i64 {c.order}, {k}")
            c.scope.ranges[place] = count
        self.block((loop,), values)
        for place, value in zip(places, values, strict=True):
            at = [*map(index, s.indices[:-1]), index(place)]
            self.store(a.kind, self.typed(value, a.kind), self.place(a, at))
        self.finish(c, str(ROWS))

        def one() -> None:
            self.block(s.body, (s.value,))
            value = self.typed(s.value, a.kind)
            self.store(a.kind, value, self.place(a, [index(i) for i in s.indices]))

        (alone,) = s.body
        assert isinstance(alone, Loop)
        self.unrolls[alone.index] = plan.unroll
        self.singles(v, count, middle, total, one, alike=False)
        return True

    def better(self, s: Build, plan: Plan) -> bool:
        """Whether a build is better vectorised itself than the loops in it."""
        loops = [b for b in s.body if isinstance(b, Loop)]
        if not loops:
            return True
        ranges = dict(zip(s.indices, s.type.shape, strict=True))
        with self.trial(ranges, (), s.body):
            inside = [self.plan_loop(b) for b in loops]
        if any(p is None for p in inside):
            return True
        return plan.cost < 1.1 * sum(16.0 * p.cost for p in inside if p is not None)

    # -------------------------------------------------------------------- loops
    def loop(self, s: Loop, point: Point) -> None:
        plan = self.plan_loop(s)
        if plan is None and s.index in self.unrolls:
            plan = Plan(0.0, 1, ())
        if plan is None or s.count is None:
            super().loop(s, point)
            return
        plan = replace(plan, unroll=self.unrolls.get(s.index, plan.unroll))
        count = s.count
        places = [self.start(s, k, point) for k in range(len(s.carried))]
        tapes = self.open_tapes(s, self.at_least_zero(count))
        sums = {c.name: found for c in s.carried if (found := reduction(c)) is not None}
        lanes = {
            name: [self.variable(self.lane_type(r.carried)) for _ in range(plan.unroll)]
            for name, r in sums.items()
        }
        variable = {c.name: p for c, p in zip(s.carried, places, strict=True)}

        around = self.collecting(s, sums, lanes, variable)

        def one() -> None:
            self.single(s, places, tapes)

        def packed() -> None:
            self.packed_iteration(s, places, tapes, sums, lanes)

        self.spans(s.index, count, plan, one, packed, around)
        for c, place in zip(s.carried, places, strict=True):
            self.scope.names[c.result] = self.held(c, place)
        self.close_tapes(s, tapes)
        self.scope.names[s.trips] = self.at_least_zero(count)

    def collecting(
        self, s: Loop, sums: Mapping[str, Reduction], lanes: Mapping[str, Sequence[str]],
        variable: Mapping[str, str | Slot],
    ) -> Around:  # fmt: skip
        """What begins the lanes of reductions, and puts them together; long sums have blocks."""
        blocked = [c.name for c in long_sums(s, self.scope.parent is None)]
        totals = {
            name: [self.variable(self.lane_type(sums[name].carried)) for _ in lanes[name]]
            for name in blocked
        }

        def before() -> None:
            for name, r in sums.items():
                for place in (*lanes[name], *totals.get(name, ())):
                    self.scope.lines.append(
                        f"store {self.lane_type(r.carried)} {self.neutral(r, variable[name])}, "
                        f"ptr {place}"
                    )

        def between() -> None:
            for name, places in totals.items():
                of = self.lane_type(sums[name].carried)
                for place, total in zip(lanes[name], places, strict=True):
                    block = self.emit(of, f"load {of}, ptr {place}")
                    old = self.emit(of, f"load {of}, ptr {total}")
                    new = self.emit(of, f"fadd {of} {old}, {block}")
                    self.scope.lines.append(f"store {of} {new}, ptr {total}")
                    self.scope.lines.append(f"store {of} zeroinitializer, ptr {place}")

        def after() -> None:
            for name, r in sums.items():
                self.together(r, totals.get(name, lanes[name]), str(variable[name]))

        return Around(before, after, between if totals else None)

    def single(self, s: Loop, places: Sequence[str | Slot], tapes: Mapping[str, Tape]) -> None:
        """One iteration of a loop whose order does not matter."""
        at = self.scalar(index(s.index))
        for c, place in zip(s.carried, places, strict=True):
            self.scope.names[c.name] = self.held(c, place)
        for r in s.restores:
            of = self.element_type(r.type.kind)
            address = self.slice(tapes[r.tape], at)
            self.scope.names[r.name] = self.emit(of, self.load(r.type.kind, address))
        self.block(s.body, (*(c.next for c in s.carried), *(v.value for v in s.saves)))
        for v in s.saves:
            value = self.typed(v.value, v.type.kind)
            self.store(v.type.kind, value, self.slice(tapes[v.tape], at))
        for c, place in zip(s.carried, places, strict=True):
            if not c.type.shape:
                value = self.typed(c.next, c.type.kind)
                self.scope.lines.append(
                    f"store {self.element_type(c.type.kind)} {value}, ptr {place}"
                )

    def packed_iteration(
        self, s: Loop, places: Sequence[str | Slot], tapes: Mapping[str, Tape],
        sums: Mapping[str, Reduction], lanes: Mapping[str, Sequence[str]],
    ) -> None:  # fmt: skip
        """As many iterations of a loop as there are lanes."""
        at = self.scalar(index(s.index))
        for c, place in zip(s.carried, places, strict=True):
            if c.type.shape:
                self.scope.names[c.name] = self.held(c, place)
        for r in s.restores:
            address = self.slice(tapes[r.tape], at)
            self.name_lanes(r.name, r.type.kind, self.load_lanes(r.type.kind, address))
        roots = [r.term for r in sums.values()]
        roots += [c.next for c in s.carried if c.type.shape] + [v.value for v in s.saves]
        part = self.part
        self.inner(s.body, roots)
        for v in s.saves:
            value = self.packed_as(v.value, v.type.kind)
            self.store_lanes(v.type.kind, value, self.slice(tapes[v.tape], at))
        for name, found in sums.items():
            of, place = self.lane_type(found.carried), lanes[name][part]
            old = self.emit(of, f"load {of}, ptr {place}")
            term = self.packed_as(found.term, found.carried.type.kind)
            new = self.collect(found, old, term, of)
            if self.mask:
                new = self.emit(
                    of, f"select {self.packed.condition} {self.mask}, {of} {new}, {of} {old}"
                )
            self.scope.lines.append(f"store {of} {new}, ptr {place}")

    def inner(self, block: Sequence[Statement], roots: Sequence[Expr]) -> None:
        """The statements of a vectorised body."""
        last = last_uses(tuple(block), roots)
        for k, s in enumerate(block):
            point = Point(tuple(block), k, tuple(roots), last)
            if isinstance(s, Loop):
                self.inner_loop(s)
            elif isinstance(s, Update):
                self.update_lanes(s, point)
            elif isinstance(s, Check):
                self.check_lanes(s)
            else:
                raise TypeError(f"{type(s).__name__} in a vectorised loop")

    def inner_loop(self, s: Loop) -> None:
        """A sum over all iterations, of vectors."""
        assert s.count is not None
        of = self.packed.value
        variables = []
        for c in s.carried:
            variables.append(self.variable(of))
            self.scope.lines.append(f"store {of} {self.reals(c.init)}, ptr {variables[-1]}")
        lane = f"{self.element_type('f')} -0.0"
        long = self.long(s, variables, of, f"<{', '.join([lane] * self.width)}>")
        counter = self.begin(self.at_least_zero(s.count))
        for c, variable in zip(s.carried, variables, strict=True):
            self.name_lanes(c.name, "f", self.emit(of, f"load {of}, ptr {variable}"))
        self.test(counter, ())
        self.scope.names[s.index] = self.position(s, counter)
        self.scope.ranges[s.index] = s.count
        self.inner(s.body, [c.next for c in s.carried])
        values = [self.reals(c.next) for c in s.carried]
        for value, variable in zip(values, variables, strict=True):
            self.scope.lines.append(f"store {of} {value}, ptr {variable}")
        self.end_block(counter, long)
        self.finish(counter)
        self.end_sums(long)
        for c, variable in zip(s.carried, variables, strict=True):
            self.name_lanes(c.result, "f", self.emit(of, f"load {of}, ptr {variable}"))
        self.scope.names[s.trips] = self.at_least_zero(s.count)

    def update_lanes(self, s: Update, point: Point) -> None:
        """Elements that lie side by side, replaced or added to."""
        value = self.packed_as(s.value, s.type.kind)
        guard = None if s.guard is TRUE else self.vector(s.guard)
        a = self.stored(s.source)
        changeable = self.dies(s.source, point)
        assert changeable
        self.scope.names[s.name] = a
        address, of = self.first_of(a, s.index), self.lane_type_of(a.kind)
        backwards = self.step(s.index[-1], self.lane_index(s.index[-1])) == -1
        if s.add or guard is not None:
            old = self.load_lanes(a.kind, address, backwards=backwards)
            old = self.reversed_lanes(old, of) if backwards else old
            if s.add:
                value = self.emit(of, f"{'fadd' if a.kind == 'f' else 'add'} {of} {old}, {value}")
            if guard is not None:
                choice = f"select {self.packed.condition} {guard}, {of} {value}, {of} {old}"
                value = self.emit(of, choice)
        value = self.reversed_lanes(value, of) if backwards else value
        self.store_lanes(a.kind, value, address, backwards)

    def check_lanes(self, s: Check) -> None:
        if self.proved(s.condition):
            return
        if not self.varies(s.condition):
            self.check(s)
            return
        name = f"llvm.vector.reduce.and.v{self.width}i1"
        mask = self.packed.condition
        self.packed.declared[name] = f"declare i1 @{name}({mask})"
        good = self.emit("i1", f"call i1 @{name}({mask} {self.vector(s.condition)})")
        self.require(f"icmp eq i1 {good}, true", FIRST_CHECK + self.checks.index(s))

    # ----------------------------------------------------------------- collecting
    def neutral(self, r: Reduction, place: object) -> str:
        """What the lanes collect from at first."""
        kind = r.carried.type.kind
        element = self.element_type(kind)
        if r.kind == "add":
            return "zeroinitializer"
        if r.kind == "mul":
            text = "1.0" if kind == "f" else "1"
            return f"<{', '.join([f'{element} {text}'] * self.width)}>"
        value = self.emit(element, f"load {element}, ptr {place}")
        return self.spread(element, value, self.scope)

    def collect(self, r: Reduction, old: str, new: str, of: str) -> str:
        """A term put to what was collected, in vectors or in numbers."""
        real = r.carried.type.kind == "f"
        if r.kind in ("add", "mul"):
            return self.emit(of, f"{'f' if real else ''}{r.kind} {of} {old}, {new}")
        greater = r.kind == "max"
        if real:
            test = f"fcmp {'ogt' if greater else 'olt'} {of} {new}, {old}"
        else:
            test = f"icmp {'sgt' if greater else 'slt'} {of} {new}, {old}"
        mask = f"<{self.width} x i1>" if of.startswith("<") else "i1"
        better = self.emit(mask, test)
        best = self.emit(of, f"select {mask} {better}, {of} {new}, {of} {old}")
        if not r.nan:
            return best
        lost = self.emit(mask, f"fcmp uno {of} {new}, {new}")
        return self.emit(of, f"select {mask} {lost}, {of} {new}, {of} {best}")

    def together(self, r: Reduction, lanes: Sequence[str], place: str) -> None:
        """Put what the lanes collected into the carried value."""
        of, element = self.lane_type(r.carried), self.element_type(r.carried.type.kind)
        values = [self.emit(of, f"load {of}, ptr {v}") for v in lanes]
        parts = self.pairwise(r, values, of)
        numbers = [
            self.emit(element, f"extractelement {of} {parts}, i64 {k}") for k in range(self.width)
        ]
        found = self.pairwise(r, numbers, element)
        old = self.emit(element, f"load {element}, ptr {place}")
        self.scope.lines.append(
            f"store {element} {self.collect(r, old, found, element)}, ptr {place}"
        )

    def pairwise(self, r: Reduction, values: Sequence[str], of: str) -> str:
        """Values collected two by two."""
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            odd = list(values[-1:]) if len(values) % 2 else []
            values = [self.collect(r, a, b, of) for a, b in pairs] + odd
        return values[0]
