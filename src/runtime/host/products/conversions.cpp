// 16-bit floats around programs that have f32 alone, and f32 around those whose factors are rounded.
#include <algorithm>
#include <utility>

#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host {
namespace {

constexpr std::int64_t kBlock = 64 * 1024;  // elements that a thread converts at a time

class ConvertedProgram final : public ProductProgram {
 public:
  ConvertedProgram(std::shared_ptr<ProductProgram> program, const std::array<Conversion, 3>& conversions)
      : program_(std::move(program)), conversions_(conversions) {}

  void use_threads(std::size_t most) override {
    HostExecutable::use_threads(most);
    program_->use_threads(most);
  }
  std::string describe() const override {
    return program_->describe() + ", by way of " + std::string(name_of(computed()));
  }
  std::size_t held_bytes() const override { return sizeof *this + program_->held_bytes(); }

  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override {
    std::size_t bytes = program_->workspace_bytes(ints, members);
    for (const Conversion& c : conversions_) bytes += whole_units(bytes_of(c));
    return bytes;
  }

  void compute(Workers& workers, const ProductData& data) override {
    ProductData own = data;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (conversions_[i].elements == 0) continue;
      own[i] = workers.take(bytes_of(conversions_[i]));
      const Conversion& c = conversions_[i];
      if (i < 2) convert(workers, c, c.computed, own[i], c.stored, data[i]);
    }
    program_->compute(workers, own);
    if (const Conversion& c = conversions_[2]; c.elements > 0)
      convert(workers, c, c.stored, data[2], c.computed, own[2]);
  }

 private:
  static std::size_t bytes_of(const Conversion& c) {
    return static_cast<std::size_t>(c.elements) * size_of(c.computed);
  }
  DType computed() const {
    const auto converted = [](const Conversion& c) { return c.elements > 0; };
    return std::find_if(conversions_.begin(), conversions_.end(), converted)->computed;
  }

  static void convert(Workers& workers, const Conversion& c, DType to_dtype, std::byte* to, DType from_dtype,
                      const std::byte* from) {
    const auto cast =
        block_functions().cast[static_cast<std::size_t>(from_dtype)][static_cast<std::size_t>(to_dtype)];
    const std::int64_t pieces = (c.elements + kBlock - 1) / kBlock;
    workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t) {
      const auto begin = piece * static_cast<std::size_t>(kBlock);
      const std::size_t count =
          std::min(static_cast<std::size_t>(kBlock), static_cast<std::size_t>(c.elements) - begin);
      cast(to + begin * size_of(to_dtype), from + begin * size_of(from_dtype), nullptr, nullptr, count);
    });
  }

  std::shared_ptr<ProductProgram> program_;
  std::array<Conversion, 3> conversions_;
};

}  // namespace

std::shared_ptr<ProductProgram> with_conversions(std::shared_ptr<ProductProgram> program,
                                                 const std::array<Conversion, 3>& conversions) {
  for (const Conversion& c : conversions)
    if (c.elements > 0) return std::make_shared<ConvertedProgram>(std::move(program), conversions);
  return program;
}

}  // namespace sinter::runtime::host
