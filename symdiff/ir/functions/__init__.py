"""The elementary functions: one table entry each, nothing about them elsewhere.

An entry says how the function is called in Python, its derivative, its real
domain and kinks, and how each target evaluates it. A test samples every entry
because it is in the table of its family. A new function is an entry in the file of
its family and its name in `ENTRIES` there (docs/extending.md). Formulas: NIST DLMF, chapters 4 to 10 and 19.

`columns`         columns that entries of several families share
`named_numbers`   numbers with names
`roots_and_norms`  cube roots and norms
`trigonometric`   sine and related functions
`hyperbolic`      hyperbolic functions
`selection`       steps and selections
`sinc`            sines of multiples of pi
`exponential`     exponentials, logarithms, and products with these
`normal`          error functions and the normal distribution
`gamma`           the gamma function and the derivatives of its logarithm
`bessel`          Bessel functions
`incomplete`      incomplete gamma and beta functions
`integrals`       exponential integrals, and those of sines and cosines
`elliptic`        elliptic integrals
`airy`            Airy functions
`zeta`            Hurwitz's zeta function
`faddeeva`        Faddeeva's function
`hypergeometric`  hypergeometric functions
`shares`          shares of distributions of the plane and of the circle
`lambert`         Lambert's W
`marks`           operations that passes put into formulas and that nobody calls
`all_functions`   all of them in one table, and the domain of each
`composites`      names that are shorthands for combinations of entries
"""

from symdiff.ir.functions.airy import *  # noqa: F403
from symdiff.ir.functions.all_functions import BUILTIN as BUILTIN
from symdiff.ir.functions.all_functions import TABLE as TABLE
from symdiff.ir.functions.all_functions import domain as domain
from symdiff.ir.functions.bessel import *  # noqa: F403
from symdiff.ir.functions.composites import *  # noqa: F403
from symdiff.ir.functions.elliptic import *  # noqa: F403
from symdiff.ir.functions.exponential import *  # noqa: F403
from symdiff.ir.functions.faddeeva import *  # noqa: F403
from symdiff.ir.functions.gamma import *  # noqa: F403
from symdiff.ir.functions.hyperbolic import *  # noqa: F403
from symdiff.ir.functions.hypergeometric import *  # noqa: F403
from symdiff.ir.functions.incomplete import *  # noqa: F403
from symdiff.ir.functions.integrals import *  # noqa: F403
from symdiff.ir.functions.lambert import *  # noqa: F403
from symdiff.ir.functions.marks import *  # noqa: F403
from symdiff.ir.functions.named_numbers import *  # noqa: F403
from symdiff.ir.functions.normal import *  # noqa: F403
from symdiff.ir.functions.roots_and_norms import *  # noqa: F403
from symdiff.ir.functions.selection import *  # noqa: F403
from symdiff.ir.functions.shares import *  # noqa: F403
from symdiff.ir.functions.sinc import *  # noqa: F403
from symdiff.ir.functions.trigonometric import *  # noqa: F403
from symdiff.ir.functions.zeta import *  # noqa: F403
