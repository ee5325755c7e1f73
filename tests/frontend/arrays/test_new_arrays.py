"""Arrays of a few elements that functions, operators and indices make anew may be changed in place, as in
NumPy; what is a view changes what it is a view of."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check
from tests.frontend.refused import define

NEW = [
    "np.outer(v,v)", "np.cross(v,v+1)", "np.einsum('i,j->ij',v,v)", "np.cumsum(v)", "np.cumprod(v)", "np.diff(v)",
    "np.stack([v,v])", "np.concatenate([v,v])", "np.tile(v,2)", "np.repeat(v,2)", "np.flip(v)", "np.sort(v)",
    "np.where(v>0,v,0.)", "np.maximum(v,0.)", "np.clip(v,0,1)", "np.kron(v,v)", "np.diag(v)", "np.tensordot(v,v,0)",
    "np.inner(M,v)", "np.vdot(v,v)*v", "M@v", "v@M", "M@M", "np.dot(M,v)", "np.matmul(M,v)", "np.linalg.solve(M,v)",
    "np.linalg.inv(M)", "np.mean(M,axis=0)", "np.sum(M,axis=0)", "np.max(M,axis=0)", "np.roll(v,1)", "np.abs(v)",
    "np.array(v)", "np.copy(v)", "np.eye(3)*v", "np.full(3,v[0])", "np.linspace(0.,v[0],3)", "np.zeros_like(v)",
    "np.vstack([v,v])", "np.column_stack([v,v])", "np.trace(M)*v", "np.triu(M)", "np.append(v,v)", "np.gradient(v)",
    "np.interp(v,v,v)", "np.polyval(v,v)", "np.convolve(v,v)", "np.linalg.cholesky(M@M.T+np.eye(3))",
    "np.insert(v,0,1.0)", "np.delete(v,0)", "np.pad(v,1)", "np.nan_to_num(v)", "np.atleast_2d(v)", "np.sign(v)",
    "-v", "v**2", "v+v", "v[::-1].copy()", "np.array([v[0],1.,2.])", "np.array([t*2 for t in v])",
    "np.take(v,[0,1,2])", "np.choose([0,0,0],[v,v])", "np.apply_along_axis(np.sum,0,M)", "np.linalg.norm(M,axis=0)",
    "np.broadcast_to(v,(3,3)).copy()", "np.expand_dims(v,0).copy()", "np.linalg.multi_dot([M,M,v])",
    "np.linalg.matrix_power(M,2)", "np.einsum('ij,j->i',M,v)", "np.einsum('ij,jk',M,M)", "np.cov(M)",
    "np.var(M,axis=0)", "np.median(M,axis=0)", "np.floor(v)*v", "np.hypot(v,v)", "np.ediff1d(v)",
    "np.select([v>0],[v],0.)", "np.linalg.eigvalsh(M+M.T)", "np.block([[M,M]])", "np.meshgrid(v,v)[0].copy()",
    "np.split(v,3)[0].copy()", "np.swapaxes(M,0,1).copy()", "np.heaviside(v,0.5)", "np.argsort(v)*v", "v[[0,1,2]]",
    "v.repeat(2)", "v[np.array([0,2])]", "M[[0,1]]", "M[:,[0,1]]", "v[np.array([True,False,True])]", "M.sum(0)",
    "M.sum(axis=1)", "M.mean(0)", "M.dot(v)", "v.dot(M)", "M.max(axis=0)", "M.T.copy()", "v.cumsum()",
    "v.clip(0,1)", "v.round(2)*v", "M.std(0)", "M.ravel()", "M.flatten()", "M.reshape(9)", "v.astype(float)",
    "np.sum(M,axis=0,keepdims=True)", "np.mean(M,axis=(0,),keepdims=True)", "np.delete(v,1)", "np.sqrt(v)",
    "abs(v)", "np.where(x>0,v,-v)", "sum([v,v])", "max(v)*v", "np.linalg.det(M)*v", "np.ones(3)", "np.identity(3)",
    "np.arange(3.)", "np.minimum.reduce([v,v+1])", "np.add.outer(v,v)", "np.multiply.outer(v,v)",
    "np.matmul(M,M.T)", "np.tril(M)", "np.argmax(v)*v", "np.array([M[0],M[1]])", "np.asarray(v)*1", "np.square(v)",
    "np.float64(2)*v", "v//1", "v%1", "divmod(v,1)[1]", "M[np.ix_([0,1],[1,2])]",
]  # fmt: skip
VIEWS = [
    "v[:2]", "M[1]", "M.T", "M[:, 0]", "np.reshape(M, 9)", "np.transpose(M)", "v[::-1]", "np.ravel(M)",
    "np.rot90(M)", "np.split(v, 3)[1]", "np.array_split(v, 2)[0]", "np.hsplit(M, 3)[0]", "np.vsplit(M, 3)[0]",
    "np.rollaxis(M, 1)", "np.moveaxis(M, 0, 1)", "np.swapaxes(M, 0, 1)", "np.expand_dims(v, 0)", "v[None]",
    "np.atleast_3d(v)[0]", "np.real(v)", "M.swapaxes(0, 1)", "M.transpose()", "np.asarray(v)", "v.reshape(3, 1)",
    "np.flip(v)", "np.flipud(M)", "np.squeeze(v[None])", "v[...]", "M[..., 0]", "np.dsplit(M[None], 3)[0][0]",
] + ["np.matrix_transpose(M)"] * hasattr(np, "matrix_transpose")  # fmt: skip
OF_THE_USER = ["np.asarray(GIVEN)", "GIVEN[0]", "GIVEN.T", "np.ravel(GIVEN)", "np.squeeze(GIVEN)", "GIVEN"]  # fmt: skip
GIVEN = np.array([[0.5, 1.5], [2.5, 3.5]])


def program(made, number):
    """A function that changes an array that is made of a vector v and a matrix M."""
    text = f"""def f(x):
    v = np.array([{number}, 2 * {number}, 0.7])
    M = np.array([[1.0, 2.0, 0.5], [0.3, 1.5, 0.2], [0.1, 0.4, 2.0]]) * {number}
    s = {made}
    s[0] = s[0] * x
    return np.sum(s * s) + np.sum(v) + np.sum(M * M)
"""
    f = define(text, f"<{made} of {number}>")
    f.__globals__["GIVEN"] = GIVEN.copy()
    return f


@pytest.mark.sampled
@pytest.mark.parametrize("number", ["x", "1.5"])
@pytest.mark.parametrize("made", NEW + VIEWS)
def test_what_is_new_or_a_view(made, number):
    f = program(made, number)
    assert symgrad(f)(1.5) == pytest.approx(f(1.5), rel=1e-14)


@pytest.mark.parametrize("made", OF_THE_USER)
def test_arrays_of_the_user_stay_as_they_are(made):
    with pytest.raises(UnsupportedError, match="not made on this path"):
        symgrad(program(made, "x"))(1.5)


def test_a_matrix_of_the_module_in_a_loop():
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])

    def f(x):
        state = np.array([1.0, 0.5])
        for v in x:
            state = turn @ state
            state[1] += 0.01 * v
        return state[0] * state[1]

    x = np.array([1.0, 2.0, 3.0])
    check(lambda x: f(x) + 1.0, x, value=1e-14, slope=1e-7, near=1e-12)
