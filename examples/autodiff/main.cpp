// Gradients: leaves, histories, derivatives of gradients, functions, what throws. docs/autodiff.md walks
// through it.
#include <iostream>
#include <string>
#include <tuple>
#include <utility>

#include <sinter/sinter.h>

namespace sn = sinter;
using Vector = sn::Tensor<1>;

namespace {

/// Prints what `program` throws, without the place in the source at its end.
template <class Program>
void expect_error(Program program) {
  try {
    program();
  } catch (const sn::AutodiffError& error) {
    const std::string text = error.what();
    const std::size_t place = text.rfind(" (");
    std::cout << (text.ends_with(')') && text.find(".cpp:", place) != text.npos ? text.substr(0, place)
                                                                                : text)
              << "\n";
  }
}

}  // namespace

void leaves_and_gradients(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device).require_grad();  // a leaf
  const auto unused = Vector::ones({3}, device).require_grad();
  const auto constant = Vector::from_data({10, 20, 30}, device);  // no leaf

  const sn::Gradients gradients = (x * x * x + constant).sum().backward();
  std::cout << "of x " << *gradients.get(x) << "\n";
  std::cout << "of the unused leaf: " << (gradients.get(unused) ? "a tensor" : "nothing") << "\n";
  std::cout << "of the constant: " << (gradients.get(constant) ? "a tensor" : "nothing") << "\n";
  std::cout << gradients.size() << " gradient, on a device "
            << (gradients.get(x)->device().is_autodiff() ? "with" : "without") << " autodiff\n";
}

void gradients_are_values(const sn::Device& device) {
  auto w = Vector::from_data({1, 1.5}, device).require_grad();
  auto sgd = sn::optim::SgdConfig{}.init();

  // Two losses: who wants their gradients added up adds them, and clips the sum to a norm of 1.
  sn::Gradients gradients = w.sum().backward();
  const sn::Gradients others = (w * w).sum().backward();
  const Vector sum = *gradients.get(w) + *others.get(w);
  const auto norm = sum.square().sum().sqrt();
  gradients.set(w, sum / sn::maximum(norm, 1.0));
  std::cout << "clipped " << *gradients.get(w) << "\n";
  sgd.step(0.5, w, std::move(gradients));
  std::cout << "after a step " << w << "\n";
}

void what_has_a_history(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device).require_grad();
  const auto said = [](const char* what, const auto& tensor) {
    std::cout << what << ": " << (tensor.requires_grad() ? "history" : "no history") << ", "
              << (tensor.device().is_autodiff() ? "autodiff" : "plain") << " device\n";
  };
  said("x * 2", x * 2.0);
  said("x.floor()", x.floor());
  said("x.argmax(0)", x.argmax(0));
  said("x.detach()", x.detach());
  said("x.inner()", x.inner());
  said("x + x.inner()", x + x.inner());

  // What is detached is a constant to whatever follows: of x^2 * c only x^2 is differentiated.
  const auto square = x * x;
  std::cout << "with a constant factor " << *(square * square.detach()).sum().backward().get(x) << "\n";
}

void derivatives_of_gradients(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device).require_grad();
  const auto w = sn::Tensor<0>::full({}, 2, device).require_grad();
  const auto y = (x * x * x).sum() * w;
  const auto [dx, dw] = sn::gradient(y, std::tie(x, w));
  std::cout << "of x " << dx << ", of w " << dw << "\n";
  std::cout << "second " << sn::gradient(dx.sum(), x) << ", mixed " << sn::gradient(dx.sum(), w) << "\n";

  // By a result on the way, of a result that is not one number, from a gradient of one's own.
  const auto square = x * x, tilted = square * x;
  const auto seed = Vector::from_data({1, 0, -1}, device);
  std::cout << "with a seed " << sn::gradient(tilted, square, {.seed = seed}) << "\n";

  // Two losses over one trunk.
  const auto trunk = x.exp();
  const auto first = trunk.log().sum(), second = (trunk * trunk).log().sum();
  std::cout << "one loss " << *first.backward({.keep_history = true}).get(x) << ", the other "
            << *second.backward().get(x) << "\n";
}

void products(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device.inner());  // needs no history, and no autodiff
  const auto v = Vector::from_data({1, 0, -1}, device.inner());
  const auto f = [](const Vector& x) { return x * x.sum(); };
  std::cout << "J v " << sn::jvp(f, x, v).second << "\n";
  std::cout << "v J " << sn::vjp(f, x, v).second << "\n";
  std::cout << "H v " << sn::hvp([](const Vector& x) { return (x * x * x).sum(); }, x, v) << "\n";
}

void functions_and_scopes(const sn::Device& device) {
  const auto x = Vector::from_data({-1, 0.5, 3}, device).require_grad();

  // Rounds, and lets gradients through as if it had not: twice those, to be seen.
  const sn::CustomFunction quantise(
      "quantise",
      [](sn::Saved& saved, const Vector& x) {
        saved.keep(x);
        return x.round();
      },
      [](const sn::Saved& saved, const Vector& g) { return g * saved.get<1>(0).ones_like() * 2.0; });
  std::cout << quantise(x) << " with the gradient " << *quantise(x).sum().backward().get(x) << "\n";

  // Nothing of exp and sin is kept: both run again in the backward pass.
  const auto y = sn::checkpoint([](const Vector& x) { return x.exp().sin(); }, x);
  const auto same = x.exp().sin();
  const auto difference = *y.sum().backward().get(x) - *same.sum().backward().get(x);
  std::cout << "gradients through a checkpoint differ by " << difference.abs().max().item() << "\n";

  {
    const sn::NoGrad no_grad;
    std::cout << "under NoGrad: " << ((x * 2.0).requires_grad() ? "history" : "no history") << "\n";
  }
  const sn::DetectAnomaly detect;
  expect_error([&] { ((x + 1.0).sqrt() * 2.0).sum().backward(); });
}

void what_throws(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device).require_grad();
  expect_error([&] { (x * x).backward(); });
  expect_error([&] { x.inner().sum().backward(); });
  expect_error([&] { x.detach().sum().backward(); });
  expect_error([&] { Vector::ones({3}, device.inner()).require_grad(); });
  expect_error([&] {
    const auto loss = (x * x).sum();
    loss.backward();
    loss.backward();
  });
  expect_error([&] {
    const auto y = x * x;
    y.sum().backward().get(y);
  });
  expect_error([&] { (x * x * x).sum().backward().get(x)->sum().backward(); });  // has no history
}

int main() {
  sn::set_print_options({.facts = false});  // values alone
  const sn::Device device = sn::Device::host().autodiff();
  leaves_and_gradients(device);
  gradients_are_values(device);
  what_has_a_history(device);
  derivatives_of_gradients(device);
  products(device);
  functions_and_scopes(device);
  what_throws(device);
}
