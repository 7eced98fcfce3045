// Several threads on one device: a loader beside the training, results of other threads, gradients that
// travel. docs/threads.md walks through it.
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;
using Vector = sn::Tensor<1>;

void each_thread_records_for_itself(const sn::Device& device) {
  const auto x = Vector::from_data({1, 2, 3}, device);
  std::vector<std::future<double>> sums;
  for (int t = 1; t <= 3; ++t)
    sums.push_back(std::async(std::launch::async, [&device, x, t] {
      auto y = x;
      for (int step = 0; step < 100; ++step) y = y * 0.5 + t;
      return y.sum().item();
    }));
  for (auto& sum : sums) std::cout << "a thread's sum " << sum.get() << "\n";
}

void values_go_from_thread_to_thread(const sn::Device& device) {
  // Recorded there and not run: the thread's end hands it to the device, and so would a use in another
  // thread.
  Vector made;
  std::thread([&] { made = Vector::from_data({1, 2, 3}, device) * 2.0; }).join();
  std::cout << "made by another thread " << made + 1.0 << "\n";

  // A batch is prepared while the one before is used.
  const auto prepare = [&device](int batch) {
    return Vector::from_data({1.0 * batch, 2.0 * batch}, device.inner());
  };
  auto total = sn::Tensor<0>::full({}, 0, device.inner());
  std::future<Vector> next = std::async(std::launch::async, prepare, 1);
  for (int batch = 1; batch <= 3; ++batch) {
    const Vector now = next.get();
    next = std::async(std::launch::async, prepare, batch + 1);
    total = total + now.sum();
  }
  next.wait();
  std::cout << "all batches " << total.item() << "\n";
}

void a_flush_concerns_its_thread(const sn::Device& device) {
  device.sync();
  device.reset_statistics();
  std::promise<void> recorded, done;
  std::thread other([&] {
    const Vector y = Vector::ones({3}, device) + 1.0;
    recorded.set_value();
    done.get_future().wait();
    std::cout << "the other's values " << y << "\n";
  });
  recorded.get_future().wait();
  device.flush();
  std::cout << "traces that this thread's flush ran: " << device.statistics().traces << "\n";
  done.set_value();
  other.join();
}

void each_thread_has_a_stream(const sn::Device& device) {
  // Whoever comes first, and however often the others draw.
  std::vector<std::future<Vector>> drawn;
  for (unsigned worker = 0; worker < 2; ++worker)
    drawn.push_back(std::async(std::launch::async, [&device, worker] {
      device.seed(7, worker);
      return Vector::rand({2}, device);
    }));
  for (auto& numbers : drawn) std::cout << "a worker drew " << numbers.get() << "\n";
}

void gradients_travel(const sn::Device& device) {
  const auto w = Vector::from_data({1, 2}, device).require_grad();
  // Each thread differentiates what it computed from the shared leaf.
  const auto gradients_of = [&w](double scale) { return (w * w * scale).sum().backward(); };
  std::future<sn::Gradients> other = std::async(std::launch::async, gradients_of, 10.0);
  const sn::Gradients own = gradients_of(1.0);
  std::cout << "from both threads " << *own.get(w) + *other.get().get(w) << "\n";
}

void a_failure_is_told_to_who_reads(const sn::Device& device) {
  const auto table = Vector::from_data({1, 2, 3}, device);
  const auto index = sn::Tensor<1, sn::Int>::from_data({7}, device);
  Vector picked;
  std::thread([&] { picked = table.index_select(0, index); }).join();  // ends without an exception
  try {
    picked.to_vector<float>();
  } catch (const sn::ShapeError& error) {
    const std::string text = error.what();  // behind it stand the file and the line of the lookup
    std::cout << text.substr(0, text.find(" (")) << "\n";
  }
}

int main() {
  sn::set_print_options({.facts = false});  // values alone
  const sn::Device device = sn::Device::host().autodiff();
  each_thread_records_for_itself(device.inner());
  values_go_from_thread_to_thread(device);
  a_flush_concerns_its_thread(device.inner());
  each_thread_has_a_stream(device.inner());
  gradients_travel(device);
  a_failure_is_told_to_who_reads(device.inner());
}
