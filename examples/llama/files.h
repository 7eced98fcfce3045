// The files of llama2.c: a model in one file of f32, and the tokens' texts in another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model.h"

namespace llama {

// Seven numbers of 32 bits, then weights. Throws sn::DataError where the file is no such model.
Llama load(const std::filesystem::path& path, const sn::Device& device);

// Texts of tokens. Token 1 begins a text, 2 ends it, 3 to 258 are single bytes.
class Tokenizer {
 public:
  static constexpr std::int64_t kBegin = 1, kEnd = 2;

  // Throws sn::DataError where the file has not `vocabulary` tokens.
  Tokenizer(const std::filesystem::path& path, std::int64_t vocabulary);

  // What follows `before`.
  std::string text_of(std::int64_t token, std::int64_t before) const;
  // Byte pair encoding: neighbours are joined as long as there is a token for them, the best ones first.
  std::vector<std::int64_t> encode(std::string_view text) const;

 private:
  std::int64_t find(std::string_view text) const;  // -1: no such token

  std::vector<std::string> texts_;
  std::vector<float> scores_;
  std::vector<std::int64_t> by_text_;
};

}  // namespace llama
