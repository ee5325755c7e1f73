"""What plain Python loses on its way by rounding, underflow and overflow is no difference."""

import math

import numpy as np
import pytest

from symdiff import VerificationError, symgrad

FOLDED = {
    "underflow, then a quotient": (lambda x: x / x - 1 / x * np.sqrt(x * x), -2.7e-284, 2.0),
    "numbers below the normal ones": (lambda x: np.sqrt(x * x) / x, -3e-160, -1.0),
    "absorbed": (lambda x: (x + 1) - 1, 1e-200, 1e-200),
    "rounded": (lambda x: (x + 1e10) - 1e10, 0.3, 0.3),
    "inverse functions of math": (lambda x: math.log(math.exp(x)), 1e-10, 1e-10),
    "inverse functions of NumPy": (lambda x: np.log(np.exp(x)), 1e-200, 1e-200),
    "an ill-conditioned inverse": (lambda x: np.exp(np.log(x)), 1e-200, 1e-200),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", FOLDED)
def test_what_rounding_explains_is_no_difference(name):
    f, x, want = FOLDED[name]
    assert symgrad(f, cache=False)(x) == want
    np.testing.assert_array_equal(symgrad(f, cache=False)(np.array([x, 1.0]))[0], want)


def test_what_rounding_does_not_explain_is_a_difference():
    def steps(x):
        return float(math.floor(x / 0.1 + 1e-10 * x)) + ((x + 1) - 1)

    f = symgrad(lambda x: ((x + 1) - 1) * 1.0, cache=False)
    f.__wrapped__ = lambda x: ((x + 1) - 1) * (1 + 1e-6)  # as if it were captured wrongly
    with pytest.raises(VerificationError):
        f(0.3)
    g = symgrad(steps, cache=False)
    g.__wrapped__ = lambda x: steps(x) + 1.0  # rounding up would take one more step, too
    with pytest.raises(VerificationError):
        g(0.3)
