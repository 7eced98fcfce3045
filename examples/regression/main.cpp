// Predicts the last column of a table from the others, with a learning rate that rises and falls. Without a
// file the table is made here: Friedman's function of ten columns, of which five mean nothing (J. Friedman,
// "Multivariate adaptive regression splines", 1991).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Mlp {
  sn::nn::Linear first, second, last;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    return last.forward(silu(second.forward(silu(first.forward(x)))));
  }
};

sn::Tensor<2> friedman(std::int64_t rows, const sn::Device& device) {
  const auto x = sn::Tensor<2>::rand({rows, 10}, device);
  const auto column = [&](int i) { return x.narrow(1, i, 1); };
  const auto y = sin(column(0) * column(1) * std::numbers::pi) * 10.0 + square(column(2) - 0.5) * 20.0 +
                 column(3) * 10.0 + column(4) * 5.0;
  return sn::cat({x, y + sn::Tensor<2>::randn({rows, 1}, device)}, 1);
}

// Rows of numbers with commas between them; a first line of names is skipped.
sn::Tensor<2> read_csv(const std::string& file, const sn::Device& device) {
  std::ifstream in(file);
  if (!in) throw sn::DataError("the table " + file + " cannot be opened");
  std::vector<float> values;
  std::size_t columns = 0, line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::vector<float> row;
    const char *at = line.data(), *end = at + line.size();
    while (true) {
      float value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc() || (next != end && *next != ',')) break;
      row.push_back(value);
      at = next;
      if (at == end) break;
      ++at;
    }
    if (at != end && line_number == 1) continue;  // names
    if (at != end || (columns != 0 && row.size() != columns))
      throw sn::DataError(file + ":" + std::to_string(line_number) + ": expected " +
                          (columns == 0 ? "numbers" : std::to_string(columns) + " numbers") + ", not \"" +
                          line + "\"");
    columns = row.size();
    values.insert(values.end(), row.begin(), row.end());
  }
  if (columns < 2 || values.size() < 10 * columns)
    throw sn::DataError("the table " + file + " has fewer than 10 rows of 2 columns or more");
  const auto rows = static_cast<std::int64_t>(values.size() / columns);
  return sn::Tensor<2>::from_data(values, {rows, static_cast<std::int64_t>(columns)}, device);
}

void run(const std::string& file, std::int64_t epochs, std::int64_t batch, double learning_rate) {
  const sn::Device device = sn::Device::best();
  device.seed(1);
  const auto table = sn::shuffle(file.empty() ? friedman(1000, device) : read_csv(file, device));
  const std::int64_t rows = table.shape()[0], inputs = table.shape()[1] - 1, training = rows - rows / 5;
  batch = std::min(batch, training);

  // All columns get mean 0 and deviation 1, as far as the training part tells.
  const auto known = table.narrow(0, 0, training);
  const auto scale = known.std(0) + 1e-12;
  const auto z = (table - known.mean(0)) / scale;
  const auto x = z.narrow(1, 0, inputs), y = z.narrow(1, inputs, 1);

  const auto layer = [&](std::int64_t d_in, std::int64_t d_out) {
    return sn::nn::LinearConfig{.d_in = d_in, .d_out = d_out}.init(device.autodiff());
  };
  Mlp model{layer(inputs, 64), layer(64, 64), layer(64, 1)};
  auto adamw = sn::optim::AdamWConfig{.weight_decay = 0.01}.init();
  const std::int64_t batches = training / batch;
  const auto rate = sn::optim::schedule::one_cycle(learning_rate, epochs * batches);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const sn::Tensor<1, sn::Int> order(sn::randperm(training, device));
    sn::Tensor<0> sum = sn::Tensor<0>::zeros({}, device);
    for (std::int64_t i = 0; i < batches; ++i) {
      const auto at = order.narrow(0, i * batch, batch);
      const auto loss = sn::nn::mse(model.forward(x.index_select(0, at)), y.index_select(0, at));
      adamw.step(rate(epoch * batches + i), model, loss.backward());
      sum += loss.inner();
    }
    if ((epoch + 1) % 10 == 0 || epoch + 1 == epochs)
      std::printf("epoch %lld  loss %.4f\n", static_cast<long long>(epoch + 1),
                  sum.item() / static_cast<double>(batches));
  }

  const auto unseen = [&](const sn::Tensor<2>& t) { return t.narrow(0, training, rows - training); };
  const double error = sn::nn::mse(sn::nn::valid(model).forward(unseen(x)), unseen(y)).item();
  const double spread = unseen(y).var().item(), unit = scale.narrow(1, inputs, 1).sum().item();
  std::printf("unseen rows: off by %.3g on average, explains %.3f of the variance\n", std::sqrt(error) * unit,
              1 - error / spread);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Predicts the last column of a table from the others.", "regression");
  std::string file;
  std::int64_t epochs = 60, batch = 50;
  double learning_rate = 0.01;
  app.add_option("table", file, "a CSV file of numbers; without one a table is made");
  app.add_option("--epochs", epochs)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", learning_rate, "the greatest learning rate")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(file, epochs, batch, learning_rate);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "regression: %s\n", error.what());
    return 1;
  }
}
