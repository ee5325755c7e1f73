// The saddle of `saddle`, with the gradients written by hand: that of the largest value is 2*x, as where it is does
// not depend on x.

#include <cmath>
#include <cstddef>

namespace {

// A minimum by the descent of `descent.py`, of two numbers.
template <class F, class G>
void descend(F value_of, G slope_of, const double* start, double* x) {
  double slope[2], moved[2], step = 1e-5, value;
  x[0] = start[0];
  x[1] = start[1];
  value = value_of(x);
  slope_of(x, slope);
  int gone = 0;
  while (std::sqrt(slope[0] * slope[0] + slope[1] * slope[1]) > 1e-5) {
    if (gone == 10) {
      step *= 2;
      gone = 0;
      continue;
    }
    for (int i = 0; i < 2; i++) moved[i] = x[i] - step * slope[i];
    double a = x[0] - moved[0], b = x[1] - moved[1];
    if (std::sqrt(a * a + b * b) <= 1e-5) break;
    double there = value_of(moved);
    if (there < value) {
      x[0] = moved[0];
      x[1] = moved[1];
      value = there;
      slope_of(x, slope);
      gone++;
    } else {
      step /= 2;
      gone = 0;
    }
  }
}

double height(const double* x, const double* y) {
  return x[0] * x[0] + x[1] * x[1] - (y[0] * y[0] + y[1] * y[1]);
}

void twice(const double* x, double* slope) {
  slope[0] = 2 * x[0];
  slope[1] = 2 * x[1];
}

}  // namespace

extern "C" void gradient(const double* start, size_t, size_t, double* result) {
  auto highest = [&](const double* x, double* y) {
    descend([&](const double* at) { return -height(x, at); }, twice, start, y);
  };
  auto ridge = [&](const double* x) {
    double y[2];
    highest(x, y);
    return height(x, y);
  };
  descend(ridge, twice, start, result);
  highest(result, result + 2);
}
