// Long traces and histories in a thread with a small stack: nothing may go as deep as they are long.
// usage: chains_test views|null_views|mixed_views|ops|history|reports COUNT
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <pthread.h>

#include <sinter/sinter.h>

#include "tests/ends/check.h"

namespace {

using namespace sinter;

constexpr std::size_t kStack = 256 * 1024;

void on_a_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ends::require(pthread_attr_setstacksize(&attributes, kStack) == 0, "a small stack");
  pthread_t thread;
  const int made = pthread_create(
      &thread, &attributes,
      [](void* given) -> void* {
        try {
          (*static_cast<std::function<void()>*>(given))();
        } catch (const std::exception& error) {
          ends::require(false, error.what());
        }
        return nullptr;
      },
      &work);
  ends::require(made == 0, "a thread");
  pthread_join(thread, nullptr);
}

/// Views over one tensor, each over the one before, then one op. SINTER_TRACE_LIMIT lets all be one trace.
void views(const Device& device, int count) {
  auto x = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device);
  for (int i = 0; i < count; ++i) x = i % 3 == 2 ? x.flip({0}) : x.transpose(0, 1);
  const auto y = x + 1.0;
  ends::require(y.sum().item() == 27, "an op over many views");
}

/// Views and reshapes that no strides express, each followed by an op.
void mixed_views(const Device& device, int count) {
  auto x = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device) * 2.0;
  for (int i = 0; i < count; ++i) x = x.transpose(0, 1).reshape({2, 3}) * 1.0;
  std::vector<float> expected{2, 4, 6, 8, 10, 12};
  for (int i = 0; i < count; ++i) {
    const std::vector<float> from = expected;
    for (std::size_t at = 0; at < 6; ++at) expected[at] = from[at % 2 * 3 + at / 2];
  }
  ends::require(x.to_vector<float>() == expected, "ops over views of views");
}

void ops(const Device& device, int count) {
  auto x = Tensor<1>::full({4}, 1, device);
  for (int i = 0; i < count; ++i) x = i % 2 == 0 ? x * 2.0 : x * 0.5;
  ends::require(x.sum().item() == (count % 2 == 0 ? 4 : 8), "a chain of ops");
}

/// A history that is used, and one that is only destroyed.
void history(int count) {
  const Device device = Device::host().autodiff();
  const auto leaf = Tensor<1>::full({2}, 1, device).require_grad();
  auto dropped = leaf * 1.0;
  for (int i = 0; i < count; ++i) dropped = dropped + 1.0;
  dropped = Tensor<1>();
  auto x = leaf * 1.0;
  for (int i = 0; i < count; ++i) x = -x;
  const Gradients gradients = x.sum().backward();
  ends::require(gradients.get(leaf)->sum().item() == (count % 2 == 0 ? 2 : -2), "a gradient far back");
  // Through a chain of views, and from many uses of one value.
  auto y = Tensor<2>::full({2, 3}, 1, device).require_grad();
  auto z = y.transpose(0, 1);
  for (int i = 1; i < count / 10; ++i) z = z.transpose(0, 1);
  ends::require(z.sum().backward().get(y)->sum().item() == 6, "a gradient through views");
}

/// What reads a trace: reports, and the text of a plan.
void reports(int count) {
  const Device device = Device::host();
  const Report report = explain([&] {
    auto x = Tensor<1>::full({4}, 1, device);
    for (int i = 0; i < count; ++i) x = x + 1.0;
    x.sync();
  });
  ends::require(!report.to_text().empty() && !report.to_json().empty() && !report.to_svg().empty(),
                "a report");
}

}  // namespace

int main(int count, char** arguments) {
  ends::hang_after(200);
  if (count != 3) return 2;
  const std::string what = arguments[1];
  const int length = std::atoi(arguments[2]);
  on_a_small_stack([&] {
    if (what == "views") views(Device::host(), length);
    if (what == "null_views") {
      auto x = Tensor<2>::full({2, 3}, 1, Device::null());
      for (int i = 0; i < length; ++i) x = x.transpose(0, 1);
      (x + 1.0).sync();
    }
    if (what == "mixed_views") mixed_views(Device::host(), length);
    if (what == "ops") ops(Device::host(), length);
    if (what == "history") history(length);
    if (what == "reports") reports(length);
  });
}
