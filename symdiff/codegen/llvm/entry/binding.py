"""LLVM IR that brings the arguments of a call to a compiled entry, and nests what it returns.

A *form* says of one kind of call where each argument of the entry comes from: by position, by keyword,
a default, a part of a container; and how it is converted. A loop goes through its steps, so the code
is the same for all forms. A call of another form gets NotImplemented.

Each value that a step finds gets the next *slot*. The first slots are the arguments, in the order of
a vectorcall: by position, then by keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symdiff.codegen.llvm.array_loop import EXACT, loads
from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.entry.objects import ARRAY

API = ("float", "int", "str", "dict", "list", "ndarray", "dtype.float64", "dtype.int64", "PyTuple_SetItem",
       "PyList_Size", "PyList_GetItem", "PyList_New", "PyList_SetItem", "PyDict_Size", "PyDict_Next", "PyDict_New",
       "PyDict_SetItem", "PyUnicode_Compare", "PyObject_RichCompareBool", "PyLong_AsLongLongAndOverflow",
       "PyFloat_FromDouble", "PyArray_NewFromDescr", "PySequence_GetItem")  # fmt: skip
"""What `bind` needs in the table of its module, in addition to `dispatch.CALLS`."""

FORM = ("positional", "named", "keywords", "steps", "step_count", "slots", "leaves", "target",
        "results", "result_count", "depth")  # fmt: skip
"""The words of a form.

positional, named : arguments by position and by keyword. keywords : address of their names.
steps, step_count : address of rows of `STEP`. slots, leaves : values that they find, and those that go to
the entry. target : what is called with the leaves; it may return NotImplemented.
results, result_count : address of rows of `STEP` that make the result, on a stack of `depth` values; none
if the target's is returned.
"""
STEP = ("op", "slot", "a", "b")

(CONSTANT, ATTRIBUTE, TUPLE, LIST, DICT, SAME, AS_IT_IS, FLOATED, ARRAY_AS_IT_IS, NUMBER_OF_ARRAY,
 WIDENED) = range(11)  # fmt: skip
"""The steps with arguments.

CONSTANT : the object a. ATTRIBUTE : the attribute a of an object of the class b (0: any).
TUPLE : the b items of a tuple of the class a. LIST : the b items of a list.
DICT : the b values of a dict with the keys at a, in this order.
SAME : nothing; the value must be a, or equal and of the class b.
The others pass a value to the entry. AS_IT_IS : of the class b. FLOATED : an integer that is exact as a float.
ARRAY_AS_IT_IS : with the dtype a and b axes. NUMBER_OF_ARRAY : a float64 array without axes.
WIDENED : an int64 array with b axes, whose integers are exact as floats.
"""
(WHOLE, ITEM, OBJECT, NEW_TUPLE, NEW_LIST, NEW_DICT, CALL) = range(7)
"""The steps with results, on a stack.

WHOLE : push what the target returned. ITEM : item a in place of the last. OBJECT : push a.
NEW_TUPLE, NEW_LIST, NEW_DICT : of the last b values, with the keys at a. CALL : a, with the last b values.
"""
MOST_SLOTS = 256
_ALIGNED, _READY = 0x100, 0x101


def print_binding(table: str, calls: Sequence[str], type_offset: int) -> str:
    """The function `bind(form, args, nargs, names)`, for a module with a table of addresses."""
    f = _Binding(type_offset)
    f.do(loads(table, calls, "ptr"), loads("%form", FORM, "i64"))
    f.reserve()
    _check_names(f)
    with f.loop("0", f.whole("add", "%positional", "%named")) as k:
        f.push(f.load("%args", k, "ptr"))
    steps = f.address("i64", "%steps")
    with f.loop("0", "%step_count") as k:
        step = f.words(f.place(steps, f.whole("mul", k, str(len(STEP))), "i64"), STEP)
        following, value = f.name("following"), f.load(f.slots, step["slot"], "ptr")
        for op, take in _TAKEN.items():
            with f.when(f.compare("eq", step["op"], str(op))):
                take(f, value, step["a"], step["b"])
                f.go(following)
        f.go("refuse")
        f.label(following)
    target, count = f.address("i64", "%target"), f.read("i64", f.passed)
    f.do(
        f"%found = call ptr %PyObject_Vectorcall(ptr {target}, ptr {f.flat}, i64 {count}, ptr null)"
    )
    plain = f.compare("eq", "%result_count", "0")
    lost = f.either(
        f.compare("eq", "%found", "null", "ptr"),
        f.compare("eq", "%found", "%NotImplemented", "ptr"),
    )
    f.write("ptr", "%found", f.answer)
    f.leave_if(f.either(plain, lost), "done")
    f.own("%found")
    results = f.address("i64", "%results")
    with f.loop("0", "%result_count") as k:
        step = f.words(f.place(results, f.whole("mul", k, str(len(STEP))), "i64"), STEP)
        following = f.name("following")
        for op, make in _MADE.items():
            with f.when(f.compare("eq", step["op"], str(op))):
                make(f, step["a"], step["b"])
                f.go(following)
        f.go("failed")
        f.label(following)
    f.write("ptr", f.load(f.stack, "0", "ptr"), f.answer)
    f.go("done")
    f.label("clear")
    f.do("call void %PyErr_Clear()")
    f.label("refuse")
    f.do("call void %Py_IncRef(ptr %NotImplemented)")
    f.write("ptr", "%NotImplemented", f.answer)
    f.go("done")
    f.label("failed")
    f.write("ptr", "null", f.answer)
    f.drop(f.stack, f.read("i64", f.top))
    f.label("done")
    f.drop(f.owned, f.read("i64", f.held))
    head = "ptr @bind(ptr %form, ptr %args, i64 %nargs, ptr %names)"
    return f.function(head, f"ret ptr {f.read('ptr', f.answer)}") + "\n"


class _Binding(Function):
    """The text of `bind`.

    Attributes
    ----------
    slots, flat, owned, stack : places for what steps find, what goes to the entry, what is released in
        the end, and parts of the result; each is followed by the variable that counts them.
    answer : the variable with what is returned.
    """

    def __init__(self, type_offset: int) -> None:
        super().__init__()
        self.type_offset = type_offset

    def reserve(self) -> None:
        """Make room for values."""
        most = self.whole("add", self.whole("add", "%slots", "%leaves"), "%result_count")
        most = self.whole("add", most, "1")
        self.slots, self.filled = self.room("ptr", "%slots"), self.variable("i64", "0")
        self.flat, self.passed = self.room("ptr", "%leaves"), self.variable("i64", "0")
        self.owned, self.held = self.room("ptr", most), self.variable("i64", "0")
        self.stack, self.top = self.room("ptr", "%depth"), self.variable("i64", "0")
        self.answer, self.number = self.variable("ptr", "null"), self.variable("i64", "0")
        self.key, self.item = self.variable("ptr", "null"), self.variable("ptr", "null")
        self.wide = self.variable("i32", "0")

    def type_of(self, value: str) -> str:
        return self.field(value, self.type_offset, "ptr")

    def must_be(self, value: str, kind: str) -> None:
        """Refuse an object of another class."""
        self.leave_unless(self.compare("eq", self.type_of(value), kind, "ptr"), "refuse")

    def must_equal(self, a: str, b: str, of: str = "i64") -> None:
        """Refuse another integer or address."""
        self.leave_unless(self.compare("eq", a, b, of), "refuse")

    def _put(self, value: str, places: str, count: str) -> None:
        at = self.read("i64", count)
        self.store(value, places, at, "ptr")
        self.write("i64", self.whole("add", at, "1"), count)

    def push(self, value: str) -> None:
        """The next slot."""
        self._put(value, self.slots, self.filled)

    def send(self, value: str) -> None:
        """The next argument of the entry."""
        self._put(value, self.flat, self.passed)

    def own(self, value: str) -> None:
        """Release a value in the end."""
        self._put(value, self.owned, self.held)

    def keep(self, value: str) -> None:
        """The next slot, of a value that belongs to a container: it is held, as another thread may
        change that."""
        self.do(f"call void %Py_IncRef(ptr {value})")
        self.own(value)
        self.push(value)

    def send_new(self, value: str) -> None:
        """The next argument of the entry, a new object, if there is one."""
        self.leave_if(self.compare("eq", value, "null", "ptr"), "failed")
        self.own(value)
        self.send(value)

    def stacked(self, value: str) -> None:
        """Push a part of the result, if there is one."""
        self.leave_if(self.compare("eq", value, "null", "ptr"), "failed")
        self._put(value, self.stack, self.top)

    def last(self, count: str) -> str:
        """Where the last parts of the result lie."""
        return self.place(self.stack, self.whole("sub", self.read("i64", self.top), count), "ptr")

    def forget(self, count: str) -> None:
        """Take the last parts of the result off the stack."""
        self.write("i64", self.whole("sub", self.read("i64", self.top), count), self.top)

    def drop(self, places: str, count: str) -> None:
        """Release values."""
        with self.loop("0", count) as k:
            self.do(f"call void %Py_DecRef(ptr {self.load(places, k, 'ptr')})")

    def exact(self, value: str) -> str:
        """An integer as a double; one that is not exact is refused."""
        near = self.compare("ule", self.whole("add", value, str(EXACT)), str(2 * EXACT))
        self.leave_unless(near, "refuse")
        return self.emit(f"sitofp i64 {value} to double")

    def must_be_array(self, value: str, descr: str, rank: str, flags: int) -> None:
        """Refuse arrays of other dtypes and numbers of axes, or without these flags."""
        self.must_be(value, "%ndarray")
        found = self.field(value, ARRAY["descr"], "ptr")
        self.must_equal(found, descr, "ptr")
        axes = self.emit(f"sext i32 {self.field(value, ARRAY['nd'], 'i32')} to i64")
        self.must_equal(axes, rank)
        if flags:
            found = self.emit(f"and i32 {self.field(value, ARRAY['flags'], 'i32')}, {flags}")
            self.must_equal(found, str(flags), "i32")


def _check_names(f: _Binding) -> None:
    """Refuse other counts of arguments and other keywords."""
    with f.when(f.compare("ne", "%names", "null", "ptr")):
        f.write("i64", f.emit("call i64 %PyTuple_Size(ptr %names)"), f.number)
    fits = f.compare("eq", f.read("i64", f.number), "%named")
    f.leave_unless(f.both(f.compare("eq", "%nargs", "%positional"), fits), "refuse")
    keywords = f.address("i64", "%keywords")
    with f.loop("0", "%named") as k:
        name = f.emit(f"call ptr %PyTuple_GetItem(ptr %names, i64 {k})")
        f.must_equal(name, f.load(keywords, k, "ptr"), "ptr")


# ----------------------------------------------------------------------------- arguments
def _constant(f: _Binding, value: str, a: str, b: str) -> None:
    f.push(f.address("i64", a))


def _attribute(f: _Binding, value: str, a: str, b: str) -> None:
    is_one = f.compare("eq", f.type_of(value), f.address("i64", b), "ptr")
    f.leave_unless(f.either(is_one, f.compare("eq", b, "0")), "refuse")
    found = f.emit(f"call ptr %PyObject_GetAttr(ptr {value}, ptr {f.address('i64', a)})")
    f.leave_if(f.compare("eq", found, "null", "ptr"), "clear")
    f.own(found)
    f.push(found)


def _tuple(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be(value, f.address("i64", a))
    _items(f, "Tuple", value, b)


def _list(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be(value, "%list")
    _items(f, "List", value, b)


def _items(f: _Binding, kind: str, value: str, count: str) -> None:
    f.must_equal(f.emit(f"call i64 %Py{kind}_Size(ptr {value})"), count)
    with f.loop("0", count) as k:
        f.keep(f.emit(f"call ptr %Py{kind}_GetItem(ptr {value}, i64 {k})"))


def _dict(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be(value, "%dict")
    f.must_equal(f.emit(f"call i64 %PyDict_Size(ptr {value})"), b)
    f.write("i64", "0", f.number)
    keys = f.address("i64", a)
    with f.loop("0", b) as k:
        places = f"ptr {f.number}, ptr {f.key}, ptr {f.item}"
        more = f.emit(f"call i32 %PyDict_Next(ptr {value}, {places})")
        f.leave_if(f.compare("eq", more, "0", "i32"), "refuse")
        key, expected = f.read("ptr", f.key), f.load(keys, k, "ptr")
        with f.when(f.compare("ne", key, expected, "ptr")):
            f.must_be(key, "%str")
            f.must_be(expected, "%str")
            order = f.emit(f"call i32 %PyUnicode_Compare(ptr {key}, ptr {expected})")
            f.must_equal(order, "0", "i32")
        f.keep(f.read("ptr", f.item))


def _same(f: _Binding, value: str, a: str, b: str) -> None:
    expected = f.address("i64", a)
    with f.when(f.compare("ne", value, expected, "ptr")):
        f.must_be(value, f.address("i64", b))
        call = f"call i32 %PyObject_RichCompareBool(ptr {value}, ptr {expected}, i32 2)"
        equal = f.emit(call)
        f.leave_if(f.compare("slt", equal, "0", "i32"), "clear")
        f.must_equal(equal, "1", "i32")


def _as_it_is(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be(value, f.address("i64", b))
    f.send(value)


def _floated(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be(value, "%int")
    found = f.emit(f"call i64 %PyLong_AsLongLongAndOverflow(ptr {value}, ptr {f.wide})")
    f.must_equal(f.read("i32", f.wide), "0", "i32")
    f.send_new(f.emit(f"call ptr %PyFloat_FromDouble(double {f.exact(found)})"))


def _array_as_it_is(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be_array(value, f.address("i64", a), b, 0)
    f.send(value)


def _number_of_array(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be_array(value, "%dtype.float64", "0", _ALIGNED)
    number = f.read("double", f.field(value, ARRAY["data"], "ptr"))
    f.send_new(f.emit(f"call ptr %PyFloat_FromDouble(double {number})"))


def _widened(f: _Binding, value: str, a: str, b: str) -> None:
    f.must_be_array(value, "%dtype.int64", b, _READY)
    dims, rank = f.field(value, ARRAY["dims"], "ptr"), f.field(value, ARRAY["nd"], "i32")
    f.do("call void %Py_IncRef(ptr %dtype.float64)")
    made = f.emit(
        f"call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr %dtype.float64, i32 {rank}, ptr {dims}, "
        "ptr null, ptr null, i32 0, ptr null)"
    )
    f.send_new(made)
    f.write("i64", "1", f.number)
    with f.loop("0", b) as d:
        f.write("i64", f.whole("mul", f.read("i64", f.number), f.load(dims, d, "i64")), f.number)
    read, written = (f.field(v, ARRAY["data"], "ptr") for v in (value, made))
    with f.loop("0", f.read("i64", f.number)) as k:
        f.store(f.exact(f.load(read, k, "i64")), written, k, "double")


_TAKEN: dict[int, Callable[[_Binding, str, str, str], None]] = {
    AS_IT_IS: _as_it_is, FLOATED: _floated, SAME: _same, TUPLE: _tuple, LIST: _list, DICT: _dict,
    ATTRIBUTE: _attribute, CONSTANT: _constant, ARRAY_AS_IT_IS: _array_as_it_is,
    NUMBER_OF_ARRAY: _number_of_array, WIDENED: _widened,
}  # fmt: skip


# ------------------------------------------------------------------------------- results
def _whole(f: _Binding, a: str, b: str) -> None:
    f.do("call void %Py_IncRef(ptr %found)")
    f.stacked("%found")


def _item(f: _Binding, a: str, b: str) -> None:
    place = f.last("1")
    whole = f.read("ptr", place)
    part = f.emit(f"call ptr %PySequence_GetItem(ptr {whole}, i64 {a})")
    f.leave_if(f.compare("eq", part, "null", "ptr"), "failed")
    f.write("ptr", part, place)
    f.do(f"call void %Py_DecRef(ptr {whole})")


def _object(f: _Binding, a: str, b: str) -> None:
    found = f.address("i64", a)
    f.do(f"call void %Py_IncRef(ptr {found})")
    f.stacked(found)


def _sequence(kind: str) -> Callable[[_Binding, str, str], None]:
    def make(f: _Binding, a: str, b: str) -> None:
        parts, made = f.last(b), f.emit(f"call ptr %Py{kind}_New(i64 {b})")
        f.leave_if(f.compare("eq", made, "null", "ptr"), "failed")
        with f.loop("0", b) as k:
            one = f.load(parts, k, "ptr")
            f.emit(f"call i32 %Py{kind}_SetItem(ptr {made}, i64 {k}, ptr {one})")
        f.forget(b)
        f.stacked(made)

    return make


def _new_dict(f: _Binding, a: str, b: str) -> None:
    parts, keys, made = f.last(b), f.address("i64", a), f.emit("call ptr %PyDict_New()")
    f.leave_if(f.compare("eq", made, "null", "ptr"), "failed")
    f.own(made)
    with f.loop("0", b) as k:
        entry = f"ptr {made}, ptr {f.load(keys, k, 'ptr')}, ptr {f.load(parts, k, 'ptr')}"
        failed = f.emit(f"call i32 %PyDict_SetItem({entry})")
        f.leave_if(f.compare("ne", failed, "0", "i32"), "failed")
    f.drop(parts, b)
    f.forget(b)
    f.do(f"call void %Py_IncRef(ptr {made})")
    f.stacked(made)


def _call(f: _Binding, a: str, b: str) -> None:
    parts = f.last(b)
    given = f"ptr {f.address('i64', a)}, ptr {parts}, i64 {b}, ptr null"
    made = f.emit(f"call ptr %PyObject_Vectorcall({given})")
    f.leave_if(f.compare("eq", made, "null", "ptr"), "failed")
    f.drop(parts, b)
    f.forget(b)
    f.stacked(made)


_MADE: dict[int, Callable[[_Binding, str, str], None]] = {
    WHOLE: _whole, ITEM: _item, OBJECT: _object, NEW_TUPLE: _sequence("Tuple"),
    NEW_LIST: _sequence("List"), NEW_DICT: _new_dict, CALL: _call,
}  # fmt: skip
