"""Regression, networks, losses, clusters, reinforcement learning."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp, softmax

from tests.programs.case import Case


def logistic_loss(w, X, y, l2=0.1):
    z = X @ w[:-1] + w[-1]
    ll = np.sum(y * np.log(expit(z)) + (1 - y) * np.log(1 - expit(z)))
    return -ll / len(y) + l2 * np.sum(w[:-1] ** 2)


def relu(x):
    return np.where(x > 0, x, 0.1 * x)


ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": relu,
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}


class Dense:
    def __init__(self, W, b, activation=None):
        self.W = W
        self.b = b
        self.activation = activation

    def __call__(self, x):
        out = x @ self.W + self.b
        return out if self.activation is None else ACTIVATIONS[self.activation](out)


def mlp_cross_entropy(params, X, labels):
    names = ["gelu", "relu", None]
    layers = [Dense(p["W"], p["b"], name) for p, name in zip(params, names)]
    h = X
    for layer in layers:
        h = layer(h)
    logp = h - logsumexp(h, axis=1, keepdims=True)
    return -np.mean(logp[np.arange(len(labels)), labels])


def lstm_loss(Wx, Wh, b, xs, targets):
    """One-layer LSTM as in the textbooks: gates in one matrix, squared loss on the hidden state."""

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    hidden = Wh.shape[0]
    h = np.zeros(hidden)
    c = np.zeros(hidden)
    loss = 0.0
    for x, target in zip(xs, targets):
        z = x @ Wx + h @ Wh + b
        i, f, o, g = np.split(z, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        loss += ((h - target) ** 2).mean()
    return loss


def attention_loss(x, Wq, Wk, Wv):
    """Single-head causal self-attention with layer norm."""
    n, d = x.shape
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    xn = (x - mean) / np.sqrt(var + 1e-5)
    q, k, v = xn @ Wq, xn @ Wk, xn @ Wv
    scores = q @ k.T / np.sqrt(d)
    scores = np.where(np.tril(np.ones((n, n))) == 0, -1e9, scores)
    att = softmax(scores, axis=-1)
    return ((att @ v - x) ** 2).sum()


def contrastive_loss(z1, z2, temperature):
    """NT-Xent of SimCLR."""
    z = np.concatenate([z1, z2])
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    sim = z @ z.T / temperature
    n = len(z1)
    np.fill_diagonal(sim, -np.inf)
    loss = 0
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        loss += logsumexp(sim[i]) - sim[i, j]
    return loss / (2 * n)


def svm_objective(w, b, X, y, C=1.0):
    margins = y * (np.dot(X, w) + b)
    hinge = np.maximum(0, 1 - margins)
    return 0.5 * np.dot(w, w) + C * hinge.sum()


def kmeans_loss(centres, X):
    total = 0.0
    for x in X:
        d = [np.sum((x - c) ** 2) for c in centres]
        total += min(d)
    return total / len(X)


def ctc_loss(logits, labels):
    """Forward algorithm of connectionist temporal classification, in logs, blank 0."""
    T, _ = logits.shape
    logp = logits - logsumexp(logits, axis=1)[:, None]
    ext = [0]
    for c in labels:
        ext += [c, 0]
    S = len(ext)
    alpha = np.full((T, S), -1e30)
    alpha[0, 0] = logp[0, ext[0]]
    alpha[0, 1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            terms = [alpha[t - 1, s]]
            if s > 0:
                terms.append(alpha[t - 1, s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                terms.append(alpha[t - 1, s - 2])
            alpha[t, s] = logsumexp(terms) + logp[t, ext[s]]
    return -np.logaddexp(alpha[-1, -1], alpha[-1, -2])


def value_iteration(rewards, gamma, temperature):
    """Soft value iteration on a line of states with moves left and right."""
    n = len(rewards)
    V = np.zeros(n)
    for sweep in range(20):
        Q = []
        for move in (-1, 0, 1):
            nxt = np.clip(np.arange(n) + move, 0, n - 1)
            Q.append(rewards + gamma * V[nxt])
        V = temperature * logsumexp(np.array(Q) / temperature, axis=0)
    return V[0]


def conv_net(image, kernels, weights):
    """Two by two pooling after a 3x3 convolution by loops, then a linear layer."""
    H, W = image.shape
    features = []
    for k in kernels:
        out = np.zeros((H - 2, W - 2))
        for i in range(H - 2):
            for j in range(W - 2):
                out[i, j] = np.sum(image[i : i + 3, j : j + 3] * k)
        out = np.maximum(out, 0)
        pooled = out.reshape((H - 2) // 2, 2, (W - 2) // 2, 2).max(axis=(1, 3))
        features.append(pooled.ravel())
    h = np.hstack(features)
    return np.tanh(h @ weights)


def focal_dice_loss(logits, mask, gamma=2.0):
    p = 1 / (1 + np.exp(-logits))
    pt = np.where(mask == 1, p, 1 - p)
    focal = -((1 - pt) ** gamma * np.log(pt)).mean()
    inter = (p * mask).sum()
    dice = 1 - (2 * inter + 1) / (p.sum() + mask.sum() + 1)
    return focal + dice


def adam_hypergradient(log_lr, w0, X, y):
    """Loss after 10 steps of Adam, as a function of its learning rate and start."""
    lr = 10**log_lr
    beta1, beta2, eps = 0.9, 0.999, 1e-8
    w, m, v = w0, np.zeros_like(w0), np.zeros_like(w0)
    for t in range(1, 11):
        g = X.T @ (X @ w - y) / len(y)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        w = w - lr * m_hat / (np.sqrt(v_hat) + eps)
    return np.mean((X @ w - y) ** 2)


def matrix_factorisation(U, V, ratings):
    """Ratings as (user, item, stars) triples."""
    err = 0.0
    for u, i, r in ratings:
        pred = U[u] @ V[i]
        err += (r - pred) ** 2
    reg = 0.1 * (np.sum(U**2) + np.sum(V**2))
    return err + reg


def policy_gradient_surrogate(theta, states, actions, rewards, old_logp):
    """Clipped PPO objective with discounted, standardised returns."""
    returns = []
    G = 0.0
    for r in reversed(rewards):
        G = r + 0.95 * G
        returns.insert(0, G)
    returns = np.array(returns)
    adv = (returns - returns.mean()) / (returns.std() + 1e-8)
    logits = states @ theta
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    chosen = np.array([logp[t, a] for t, a in enumerate(actions)])
    ratio = np.exp(chosen - old_logp)
    return -np.minimum(ratio * adv, np.clip(ratio, 0.8, 1.2) * adv).mean()


def tree_ensemble(x, thresholds, leaves, sharpness):
    """Soft decision trees of depth two."""
    out = 0.0
    for (t0, t1, t2), (l0, l1, l2, l3) in zip(thresholds, leaves):
        gate = lambda v, t: 1 / (1 + np.exp(-sharpness * (v - t)))
        root = gate(x[0], t0)
        left, right = gate(x[1], t1), gate(x[2], t2)
        out += root * (right * l3 + (1 - right) * l2) + (1 - root) * (left * l1 + (1 - left) * l0)
    return out


_rng = np.random.default_rng(3)
_X = _rng.normal(size=(12, 3))
_y = (_rng.random(12) > 0.5).astype(float)


def _n(*shape):
    return 0.5 * _rng.normal(size=shape)


PROGRAMS = [
    Case(logistic_loss, (_n(4), _X, _y), ("w",)),
    Case(
        mlp_cross_entropy,
        ([{"W": _n(3, 5), "b": _n(5)}, {"W": _n(5, 4), "b": _n(4)}, {"W": _n(4, 3), "b": _n(3)}], _X, np.array([0, 2, 1, 1, 0, 2, 2, 1, 0, 0, 1, 2])),
        ("params",),
    ),
    Case(lstm_loss, (_n(2, 12), _n(3, 12), _n(12), _n(5, 2), _n(5, 3)), ("Wx", "Wh", "b")),
    Case(attention_loss, (_n(5, 4), _n(4, 4), _n(4, 4), _n(4, 4))),
    Case(contrastive_loss, (_n(4, 3), _n(4, 3), 0.5)),
    Case(svm_objective, (_n(3), 0.1, _X, 2 * _y - 1), ("w", "b", "X")),
    Case(kmeans_loss, (_n(3, 3), _X)),
    Case(ctc_loss, (_n(6, 4), [1, 3, 3]), ("logits",), ("labels",)),
    Case(value_iteration, (np.array([0.0, 0.1, -0.5, 0.2, 1.0]), 0.9, 0.3)),
    Case(conv_net, (_n(6, 6), _n(2, 3, 3), _n(8))),
    Case(focal_dice_loss, (_n(4, 5), (_rng.random((4, 5)) > 0.6).astype(float)), ("logits",)),
    Case(adam_hypergradient, (-1.5, _n(3), _X, _y), ("log_lr", "w0")),
    Case(matrix_factorisation, (_n(4, 2), _n(3, 2), [(0, 1, 4.0), (1, 2, 3.5), (3, 0, 1.0), (2, 2, 5.0)]), ("U", "V")),
    Case(policy_gradient_surrogate, (_n(3, 2), _n(6, 3), [0, 1, 1, 0, 1, 0], [1.0, 0.0, -0.5, 0.3, 1.2, 0.1], np.log(np.full(6, 0.5))), ("theta", "rewards")),
    Case(tree_ensemble, ([0.3, -0.2, 0.8], [(0.1, 0.2, 0.5), (-0.4, 0.0, 1.0)], [(1.0, 2.0, -1.0, 0.5), (0.3, 0.2, 0.1, -2.0)], 3.0)),
]  # fmt: skip
