// A text as tokens, one for each byte, and batches of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include <sinter/tensor.h>

namespace gpt {

namespace sn = sinter;

class Text {
 public:
  // A file, or all .txt files of a folder. The last tenth is kept for validation. Throws sn::DataError.
  Text(const std::filesystem::path& path, const sn::Device& device);

  struct Batch {
    sn::Tensor<2, sn::Int> input;    // (batch, time)
    sn::Tensor<1, sn::Int> targets;  // (batch * time): the tokens that follow
  };
  // Windows at random places. The text lies on the device; a batch is an indexed read.
  Batch batch(std::int64_t count, std::int64_t time, bool validation, std::mt19937_64& random) const;

  // Whether a window of this many tokens fits.
  bool has(std::int64_t time, bool validation) const {
    return (validation ? size() - training_ : training_) > time + 1;
  }
  std::int64_t size() const { return tokens_.shape()[0]; }

 private:
  sn::Tensor<1, sn::Int> tokens_;
  std::int64_t training_ = 0;  // tokens before the validation's
};

}  // namespace gpt
