// The gradient of the last number of `ode`'s primal, by its adjoint: the method of Runge and Kutta forward with the
// states kept, then each step backwards, its stages computed again.

#include <cstddef>
#include <vector>

using Vector = std::vector<double>;

namespace {

void slopes(size_t n, const double* __restrict__ x, const double* __restrict__ y, double* __restrict__ k) {
  k[0] = x[0];
  for (size_t i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}

void moved(size_t n, const double* __restrict__ y, double h, const double* __restrict__ k, double* __restrict__ u) {
  for (size_t i = 0; i < n; i++) u[i] = y[i] + h * k[i];
}

// What the slopes at u, of weight k_bar, add to x_bar and y_bar; and h times it to the weight of the stage before.
void stage(size_t n, const double* __restrict__ x, const double* __restrict__ u, const double* __restrict__ k_bar,
           double h, double* __restrict__ x_bar, double* __restrict__ y_bar, double* __restrict__ before) {
  x_bar[0] += k_bar[0];
  for (size_t i = 1; i < n; i++) {
    double u_bar = k_bar[i] * x[i];
    x_bar[i] += k_bar[i] * u[i - 1];
    y_bar[i - 1] += u_bar;
    before[i - 1] += h * u_bar;
  }
}

}  // namespace

extern "C" void gradient(const double* x, size_t n, size_t s, double* x_bar) {
  const double h = 2.0 / double(s);
  Vector states((s + 1) * n), k1(n), k2(n), k3(n), k4(n), u2(n), u3(n), u4(n);
  Vector y_bar(n), next(n), b1(n), b2(n), b3(n), b4(n), none(n);
  auto stages = [&](const double* y) {
    slopes(n, x, y, k1.data());
    moved(n, y, h / 2, k1.data(), u2.data());
    slopes(n, x, u2.data(), k2.data());
    moved(n, y, h / 2, k2.data(), u3.data());
    slopes(n, x, u3.data(), k3.data());
    moved(n, y, h, k3.data(), u4.data());
  };
  for (size_t step = 0; step < s; step++) {
    const double* y = &states[step * n];
    double* after = &states[(step + 1) * n];
    stages(y);
    slopes(n, x, u4.data(), k4.data());
    for (size_t i = 0; i < n; i++) after[i] = y[i] + h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  for (size_t i = 0; i < n; i++) x_bar[i] = 0;
  y_bar[n - 1] = 1;
  for (size_t step = s; step-- > 0;) {
    const double* y = &states[step * n];
    stages(y);
    for (size_t i = 0; i < n; i++) {
      b1[i] = b4[i] = h / 6 * y_bar[i];
      b2[i] = b3[i] = h / 3 * y_bar[i];
      next[i] = y_bar[i];
    }
    stage(n, x, u4.data(), b4.data(), h, x_bar, next.data(), b3.data());
    stage(n, x, u3.data(), b3.data(), h / 2, x_bar, next.data(), b2.data());
    stage(n, x, u2.data(), b2.data(), h / 2, x_bar, next.data(), b1.data());
    stage(n, x, y, b1.data(), 0, x_bar, next.data(), none.data());
    y_bar.swap(next);
  }
}
