// Texts of rows that lanes hold: where loads stand, on a device like an H100 that need not be there.
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

ir::DeviceTraits like_a_gpu() {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.lanes = 2048 * 132;
  traits.groups = 4 * 132;
  traits.grid_reductions = true;
  traits.row_lanes = 1024;
  traits.short_row_lanes = 32;
  traits.launch_bytes = 64.0 * 1024 * 132;
  return traits;
}

emit::Target target_of(const ir::DeviceTraits& traits) {
  emit::Target target = cuda_target(traits);
  target.subgroup = traits.short_row_lanes;
  return target;
}

/// The texts of a layer norm's gradients.
std::vector<std::string> texts_of_gradients(std::int64_t width) {
  const Planned p = planned(
      [&](const Device& plain) {
        const Device device = plain.autodiff();
        const AnyTensor x = input({4096, width}, device, DType::f32).require_grad(),
                        weight = input({width}, device, DType::f32).require_grad(),
                        dy = input({4096, width}, device, DType::f32);
        const AnyTensor centred = AnyTensor::sub(x, x.mean(1));
        const AnyTensor variance = AnyTensor::mul(centred, centred).mean(1);
        const AnyTensor y =
            AnyTensor::mul(AnyTensor::mul(centred, AnyTensor::add(variance, 1e-5).sqrt().recip()), weight);
        const AnyTensor product = AnyTensor::mul(y, dy);
        Gradients found = product.sum(product.all_axes()).backward();
        return std::vector{found.remove(x).value(), found.remove(weight).value()};
      },
      like_a_gpu());
  std::vector<std::string> texts;
  for (const plan::Launch& launch : p.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what))
      texts.push_back(emit::emit(*p.plan.kernels[*number], target_of(like_a_gpu())).text);
  return texts;
}

/// Where a text loads vectors of a row.
std::vector<std::size_t> loads_of_rows(const std::string& text) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; (at = text.find("sn_load4_f32(", at)) != std::string::npos; ++at)
    if (text.substr(at, text.find('\n', at) - at).find("x0 * ") != std::string::npos) found.push_back(at);
  return found;
}

}  // namespace

TEST_CASE("where lanes ask whether a row goes so far, all of its vectors are loaded before one is used") {
  std::size_t checked = 0;
  for (const std::string& whole : texts_of_gradients(384)) {
    const std::size_t rows = whole.find("for (u32 t = "), end = whole.find("sn_workgroup_sum", rows);
    if (rows == std::string::npos || end == std::string::npos) continue;
    const std::string text = whole.substr(rows, end - rows);
    const std::vector<std::size_t> loads = loads_of_rows(text);
    if (loads.size() < 2 || text.find("if (j < inner)") == std::string::npos) continue;
    ++checked;
    // What is computed of them has a loop over the vectors of its own.
    const std::size_t first_use = text.find("for (int k = 0; k < 4; ++k)");
    CHECK(loads.back() < first_use);
    CHECK(text.substr(loads.back(), first_use - loads.back()).find("for (int i = 0") != std::string::npos);
  }
  CHECK(checked >= 1);
}

TEST_CASE("the sums of a row's columns are joined behind a few barriers") {
  std::size_t checked = 0;
  for (const std::string& text : texts_of_gradients(384)) {
    const std::size_t begin = text.find("const u32 columns = ");
    if (begin == std::string::npos) continue;
    ++checked;
    const std::string end = text.substr(begin, text.find("else {", begin) - begin);
    std::size_t barriers = 0, sums = 0;
    for (std::size_t at = 0; (at = end.find("__syncthreads();", at)) != std::string::npos; ++at) ++barriers;
    for (std::size_t at = 0; (at = end.find("float sum = ", at)) != std::string::npos; ++at) ++sums;
    CHECK(barriers == 2 * sums);
    CHECK(sums <= 2);  // the gradient of the weight, and another sum of columns at most
  }
  CHECK(checked >= 1);
}
