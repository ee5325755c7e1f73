"""The Python interface: what each callable takes and returns."""

import math
import pickle
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

import symdiff
from symdiff import SymdiffError, custom_rule, symgrad


@symgrad
def h(x):
    return (x**2 - 4) / (x - 2)


@symgrad
def energy(x, y):
    return x**2 * y + np.sin(y)


@symgrad(wrt="x")
def only_x(x, y):
    return x * y**2


@symgrad
def powers(x, n: int, shift=False):
    return x**n + (1 if shift else 0)


def plain(x):
    return math.exp(-x * x)


class TestCalling:
    def test_the_quotient_of_the_paper(self):
        assert (h(2.0), h.grad(2.0), h.hessian(2.0)) == (4.0, 1.0, 0.0)
        assert h.value_and_grad(2.0) == (4.0, 1.0)

    def test_scalars_in_floats_out(self):
        for result in (h(3), h(3.0), h(np.bool_(True)), h.grad(True)):
            assert isinstance(result, float)

    def test_arrays_are_elementwise(self):
        x = np.linspace(0, 4, 5)
        np.testing.assert_array_equal(h(x), x + 2)
        np.testing.assert_array_equal(h.grad(x), np.ones(5))

    def test_broadcasting(self):
        x, y = np.linspace(0, 1, 3)[:, None], np.linspace(1, 2, 4)
        assert energy(x, y).shape == (3, 4)
        gx, gy = energy.grad(x, y)
        np.testing.assert_allclose(gx, 2 * x * y, rtol=1e-15)
        np.testing.assert_allclose(gy, x**2 + np.cos(y), rtol=1e-15)
        assert h.grad(np.ones((2, 0))).shape == (2, 0)

    def test_constant_derivatives_have_the_full_shape(self):
        assert h.grad(np.ones((2, 3))).shape == (2, 3)

    def test_dtypes(self):
        assert h(np.ones(3, np.float32)).dtype == np.float32
        assert h(np.arange(3)).dtype == np.float64
        assert energy(np.ones(3, np.float32), np.float32(2)).dtype == np.float32
        assert energy(np.ones(3, np.float32), 2.0).dtype == np.float64  # as np.sin(2.0) is
        assert symgrad(plain, dtype=np.float32)(np.ones(3)).dtype == np.float32

    def test_keywords_and_defaults(self):
        f = symgrad(lambda x, y=3.0: x * y)
        assert f(2.0) == f(x=2.0) == f(2.0, y=3.0) == 6.0
        with pytest.raises(TypeError):
            f()

    def test_out(self):
        x, out = np.linspace(1, 2, 4), np.empty(4)
        assert h(x, out=out) is out
        np.testing.assert_array_equal(out, x + 2)
        value, slopes = np.empty(4), (np.empty(4), np.empty(4))
        energy.value_and_grad(x, 2.0, out=(value, slopes))
        np.testing.assert_allclose(slopes[0], 4 * x)
        with pytest.raises(SymdiffError):
            energy.grad(x, x, out=(np.empty(4),))

    def test_arguments_are_not_modified(self):
        x = np.linspace(0, 4, 9)
        before = x.copy()
        h.value_and_grad(x)
        np.testing.assert_array_equal(x, before)

    def test_static_parameters_specialise(self):
        assert powers(2.0, 3) == 8.0
        assert powers.grad(2.0, 3) == 12.0
        assert powers.grad(2.0, n=2) == 4.0
        assert powers(2.0, 3, shift=True) == 9.0
        f = symgrad(lambda x, k: x * k["a"], static="k")
        assert f.grad(1.0, {"a": 3}) == 3.0

    def test_unsupported_arguments(self):
        with pytest.raises(SymdiffError):
            h(np.clongdouble(1j))
        with pytest.raises(SymdiffError):
            h("2")


class TestDerivatives:
    def test_several_parameters_give_a_tuple(self):
        assert energy.grad(1.0, 2.0) == pytest.approx((4.0, 1 + math.cos(2.0)))
        hess = energy.hessian(1.0, 2.0)
        assert hess[0][1] == hess[1][0] == 2.0

    def test_wrt(self):
        assert only_x.grad(3.0, 2.0) == 4.0
        assert symgrad(plain, wrt=0).grad(0.0) == 0.0
        assert symgrad(lambda x, y: x * y, wrt=("y", "x")).grad(2.0, 3.0) == (3.0, 2.0)
        with pytest.raises(SymdiffError, match="unknown parameter 'z'"):
            symgrad(lambda x: x, wrt="z").grad(1.0)
        with pytest.raises(SymdiffError, match="static parameter 'n'"):
            symgrad(powers, wrt="n").grad(1.0, 2)

    def test_diff_of_any_mixed_order(self):
        assert energy.diff("x", "x", "y")(5.0, 2.0) == 2.0
        assert energy.diff("x").diff("y")(5.0, 2.0) == 10.0
        assert energy.diff(0, 0)(5.0, 2.0) == 4.0
        sixth = symgrad(lambda x: x**6).diff(*"x" * 6)
        assert sixth(0.3) == 720.0

    def test_products(self):
        assert energy.jvp((1.0, 2.0), (1.0, 0.0)) == pytest.approx((2 + math.sin(2.0), 4.0))
        value, (gx, gy) = energy.vjp((1.0, 2.0), 2.0)
        assert (value, gx) == pytest.approx((2 + math.sin(2.0), 8.0))
        assert energy.hvp((1.0, 2.0), (1.0, 1.0)) == pytest.approx((6.0, 2 - math.sin(2.0)))
        assert h.jvp(2.0, 3.0) == (4.0, 3.0)
        with pytest.raises(SymdiffError, match="2 entries, not 1"):
            energy.jvp((1.0, 2.0), (1.0,))

    def test_cotangents_are_nested_as_the_result(self):
        f = symgrad(lambda x, y: {"p": x * x, "q": y**3})
        for cotangents in ({"p": 1.0, "q": 0.0}, {"q": 0.0, "p": 1.0}):
            assert f.vjp((1.0, 2.0), cotangents)[1] == (2.0, 0.0)
        with pytest.raises(SymdiffError, match="dict with the keys"):
            f.vjp((1.0, 2.0), {"p": 1.0})
        vector = symgrad(lambda x: np.array([x, x**2]))
        assert vector.vjp(3.0, np.array([1.0, 2.0]))[1] == 13.0
        assert energy.jvp((1.0, 2.0), np.array([1.0, 0.0]))[1] == 4.0
        assert energy.jvp(primals=(1.0, 2.0), tangents=(1.0, 0.0))[1] == 4.0

    def test_products_inside_traced_functions(self):
        f = symgrad(lambda x, y: energy.jvp((x, y), (1.0, 0.0))[1])
        assert f.grad(1.0, 2.0) == (4.0, 2.0)
        g = symgrad(lambda x, y: energy.hvp((x, y), (1.0, 0.0))[0])
        assert g(1.0, 2.0) == 4.0

    def test_out_may_be_an_argument(self):
        a, t = np.linspace(0.5, 2, 9), np.empty(9)
        truth = energy.grad(a, 2.0)
        energy.grad(a, 2.0, out=(a, t))
        np.testing.assert_array_equal((a, t), truth)

    def test_products_of_arrays(self):
        x = np.linspace(0, 1, 5)
        _, tangent = energy.jvp((x, 2.0), (np.ones(5), 0.0))
        np.testing.assert_allclose(tangent, 4 * x)
        with pytest.raises(SymdiffError, match="the vector by y has the shape"):
            energy.jvp((x, 2.0), (np.ones(5), np.zeros(5)))  # the tangent of a number is a number

    def test_jacobians(self):
        polar = symgrad(lambda r, t: (r * np.cos(t), r * np.sin(t)))
        j = polar.jacobian(2.0, 0.0)
        assert j == ((1.0, 0.0), (0.0, 2.0))
        vector = symgrad(lambda x: np.array([x, x**2]))
        np.testing.assert_array_equal(vector(3.0), [3.0, 9.0])
        np.testing.assert_array_equal(vector.jacobian(3.0), [1.0, 6.0])
        assert vector.jacobian(np.ones(7)).shape == (2, 7, 7)  # as `vector` of an array is (2, 7)
        named = symgrad(lambda x: {"a": x, "b": [2 * x]})
        assert named.jacobian(1.0) == {"a": 1.0, "b": [2.0]}
        with pytest.raises(SymdiffError, match="use jacobian"):
            polar.grad(1.0, 1.0)

    def test_derivatives_nest(self):
        assert h.grad.grad(3.0) == 0.0
        third = symgrad(lambda x: math.sin(x)).grad.grad.grad
        assert third(0.5) == pytest.approx(-math.cos(0.5), rel=1e-15)

    def test_composition(self):
        f = symgrad(lambda x: h.grad(x) * x + h(x) + h.value_and_grad(x)[1])
        assert str(f.expr) == "2*x + 3"
        assert f.grad(2.0) == 2.0
        outside = symgrad(lambda x: x * root(x - 1))
        assert math.isnan(outside(0.5))

    def test_a_function_is_of_no_other_kind(self):
        assert type(energy).__mro__ == (type(energy), object)
        assert not {"func", "args", "keywords"} & set(dir(energy))
        assert callable(energy.grad) and "__call__" in dir(energy)

    def test_functional_twins(self):
        assert symdiff.grad(plain)(0.5) == pytest.approx(-math.exp(-0.25))
        assert symdiff.value_and_grad(plain)(0.0) == (1.0, 0.0)
        assert symdiff.hessian(plain)(0.0) == -2.0
        assert symdiff.grad(symdiff.grad(plain))(0.0) == -2.0
        assert symdiff.jacobian(lambda x: (x, 2 * x))(1.0) == (1.0, 2.0)
        assert symdiff.jvp(plain, 0.0, 1.0) == (1.0, 0.0)
        assert symdiff.vjp(plain, 0.0, 1.0) == (1.0, 0.0)
        assert symdiff.grad(lambda x, y: x * y, wrt="y")(2.0, 3.0) == 2.0

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64])
    def test_a_direction_of_integers_is_one_of_reals(self, dtype):
        x, v = np.array([1.0, 2.0]), np.array([1, 0], dtype)
        for f in (symgrad(lambda x: np.sum(x**3)).hvp, symgrad(lambda x: 3 * x**2).jvp):
            found, expected = f(x, v), f(x, v.astype(float))
            np.testing.assert_array_equal(found[-1], expected[-1])
            assert found[-1].dtype == np.float64

    def test_options_that_are_not_given_are_those_of_the_function(self):
        f = symgrad(only_x.__wrapped__, accuracy="strict", dtype=np.float32)
        g = symdiff.grad(f, "y")
        assert (g._options.accuracy, g._options.wrt) == ("strict", ("y",))
        assert g(np.ones(2), np.ones(2)).dtype == np.float32
        for given in ({"domain": "x > 0"}, {"static": "x"}):
            with pytest.raises(SymdiffError, match="where the plain function is decorated"):
                symgrad(f, **given)


@symgrad
def root(x):
    return math.sqrt(x) ** 2 / x


class TestMeaning:
    def test_outside_the_domain_stays_nan(self):
        assert root(4.0) == 1.0
        assert root(0.0) == 1.0
        assert math.isnan(root(-4.0))

    def test_nothing_leaks_from_the_branch_not_taken(self):
        f = symgrad(lambda x, c: np.where(x > 0, x**0.5, c), wrt="x")
        for c in (0.0, 3.0):
            assert f.grad(0.0, c) == f.grad(-1.0, c) == 0.0
        assert f.grad(4.0, 0.0) == 0.25

    @pytest.mark.parametrize("pre_filter", [False, True])
    def test_masks_do_not_leak(self, pre_filter):
        def f(x, pre_filter=False):
            delta = np.array((0, 1)) * x
            if pre_filter:
                return np.sum(delta[delta > 0] ** 0.5)
            return np.sum((delta**0.5)[delta > 0])

        assert symgrad(f).grad(1.0, pre_filter) == 0.5

    def test_kinks(self):
        assert symgrad(lambda x: abs(x)).grad(0.0) == 0.0
        assert symgrad(lambda x: max(x, 0)).grad(0.0) == 0.5
        assert symgrad(lambda x, y: math.hypot(x, y)).grad(0.0, 0.0) == (0.0, 0.0)
        assert symgrad(lambda x, y: np.sqrt(x * x + y * y)).grad(0.0, 0.0) == (0.0, 0.0)

    def test_true_singularities_are_not_invented(self):
        assert symgrad(lambda x: math.sqrt(x)).grad(0.0) == math.inf
        assert symgrad(lambda x: 1 / x)(0.0) == math.inf

    def test_domain_and_assumptions(self):
        free = symgrad(lambda x: np.sqrt(x**2))
        assert str(free.expr) == "Abs(x)"
        assert str(symgrad(free.__wrapped__, domain={"x": (0, None)}).expr) == "x"
        assert str(symgrad(free.__wrapped__, domain="x > 0").expr) == "x"

        @symgrad
        def asserted(x):
            assert x > 0
            return np.sqrt(x**2)

        assert str(asserted.expr) == "x"

    def test_constants_are_exact(self):
        third = symgrad(lambda x: x * (1 / 3) * 3)
        assert str(third.expr) == "x"


class TestInspection:
    def test_expr(self):
        assert str(h.expr) == "x + 2"
        assert h.grad.expr == 1
        assert str(energy.grad.expr) == "(2*x*y, x**2 + cos(y))"

    def test_sources(self):
        assert "def h(x):" in h.source()
        assert "x + 2.0" in h.source("cpu")
        assert "double" in h.source("c")
        assert "define" in h.source("llvm")
        with pytest.raises(SymdiffError):
            h.source("fortran")

    def test_latex(self):
        assert h.latex() == "x + 2"
        assert "cos" in energy.grad.latex()

    def test_report_names_what_is_filled_across_a_surface(self):
        def mean_slope(x, y):
            return (math.exp(x) - math.exp(y)) / (x - y)

        (found,) = [f for f in symgrad(mean_slope).report().findings if f.kind == "filled"]
        assert found.text == "x = y in (exp(x) - exp(y))/(x - y) with exp(y)"
        assert str(symgrad(mean_slope).expr) == "(exp(x) - exp(y))/(x - y)"

    def test_report(self):
        report = h.report()
        assert "x - 2 in (x**2 - 4)/(x - 2)" in str(report)
        data = report.to_dict()
        (cancelled,) = [f for f in data["findings"] if f["kind"] == "cancelled"]
        assert cancelled["line"] is not None
        assert data["operations"]["value before"]["divisions"] == 1
        assert data["operations"]["value"]["divisions"] == 0

    def test_wraps(self):
        assert h.__name__ == "h"
        assert h.__wrapped__(3.0) == 5.0
        assert energy.grad.__wrapped__ is energy.__wrapped__

    def test_options_are_checked(self):
        for wrong in ({"accuracy": "best"}, {"target": "tpu"}, {"parallel": "yes"},
                      {"checkpoint": -1}, {"dtype": np.int32}):  # fmt: skip
            with pytest.raises(SymdiffError):
                symgrad(plain, **wrong)

    @pytest.mark.slow
    def test_a_notebook_shows_short_formulas(self):
        f = symgrad(lambda x: np.sin(x) / x)
        assert f._repr_latex_() == r"$\displaystyle \frac{\sin{\left(x \right)}}{x}$"
        for other in (deep, lambda x: np.sum(x**2)):
            g = symgrad(other)
            g(np.ones(2))
            assert g._repr_latex_() is None

    def test_a_notebook_shows_a_report_as_tables(self):
        f = symgrad(lambda x: np.where(x < 1, np.sin(x) / x, x))
        f(0.5)
        page = f.report()._repr_html_()
        ElementTree.fromstring(f"<div>{page}</div>")  # well-formed: what is written is escaped
        assert "&lt;lambda&gt;(x)" in page and "x &lt; 1" in page and "filled" in page
        assert page.count("<table>") == page.count("</table>") == 4


def deep(v):
    for _ in range(40):
        v = np.sin(v) + np.cos(v) / 3
    return v


class TestProcesses:
    @pytest.mark.parametrize("f", [h, h.grad, h.hessian, energy.diff("x", "y")])
    def test_pickling_by_name(self, f):
        args = (1.5,) if f.__name__.startswith("h") else (1.5, 2.5)
        assert pickle.loads(pickle.dumps(f))(*args) == f(*args)

    def test_pickling_a_plain_function(self):
        f = symgrad(plain, accuracy="strict")
        assert pickle.loads(pickle.dumps(f)).grad(0.5) == f.grad(0.5)

    def test_threads_meet_it_cold(self):
        f = symgrad(lambda x: math.tanh(x) * 3)
        results = []
        threads = [threading.Thread(target=lambda: results.append(f.grad(0.25))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(results)) == 1


class TestCustomRule:
    def test_a_users_own_function(self):
        @custom_rule(derivative=lambda x: 3 * x**2)
        def cube(x):
            return x * x * x

        f = symgrad(lambda x: 2 * cube(x) + x)
        assert (f(2.0), f.grad(2.0), f.hessian(2.0)) == (18.0, 25.0, 24.0)
        np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [3.0, 18.0])
        assert cube(2.0) == 8.0

    def test_several_arguments_and_rules_that_call_rules(self):
        @custom_rule(derivative=lambda x: -sine(x))
        def cosine(x):
            return math.cos(x)

        @custom_rule(derivative=cosine)
        def sine(x):
            return math.sin(x)

        @custom_rule(derivative=[lambda x, y: y, lambda x, y: x])
        def product(x, y):
            return x * y

        f = symgrad(lambda x, y: product(sine(x), y))
        assert f.grad(0.5, 2.0) == pytest.approx((2 * math.cos(0.5), math.sin(0.5)))
        assert f.diff("x", "x")(0.5, 2.0) == pytest.approx(-2 * math.sin(0.5))

    def test_bad_rules(self):
        with pytest.raises(SymdiffError, match="2 arguments and 1 derivatives"):
            custom_rule(lambda x, y: x, derivative=lambda x, y: 1)
        with pytest.raises(SymdiffError, match="Numba cannot compile"):
            custom_rule(lambda x: open(x), derivative=lambda x: 1)
