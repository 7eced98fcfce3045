#include "files.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>

namespace llama {
namespace {

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : name_(path.string()), file_(path, std::ios::binary) {
    if (!file_) throw sn::DataError(name_ + " cannot be opened");
    left_ = static_cast<std::int64_t>(std::filesystem::file_size(path));
  }

  template <class T>
  T number() {
    T value{};
    read(&value, sizeof value);
    return value;
  }
  sn::Tensor<1> vector(std::int64_t size, const sn::Device& device) {
    return sn::Tensor<1>::from_data(numbers(size, 1), {size}, device);
  }
  sn::Tensor<2> matrix(std::int64_t rows, std::int64_t columns, const sn::Device& device) {
    return sn::Tensor<2>::from_data(numbers(rows, columns), {rows, columns}, device);
  }
  std::string text(std::int64_t length) {
    if (length < 0 || length > left_) fail();
    std::string value(static_cast<std::size_t>(length), '\0');
    read(value.data(), length);
    return value;
  }
  // Before memory is asked for by a number from the file.
  void expect(std::int64_t bytes) const {
    if (bytes > left_) fail();
  }
  void skip(std::int64_t bytes) {
    expect(bytes);
    file_.seekg(bytes, std::ios::cur);
    left_ -= bytes;
  }
  std::int64_t left() const { return left_; }

 private:
  std::vector<float> numbers(std::int64_t rows, std::int64_t columns) {
    if (columns > left_ / rows) fail();  // before so much memory is asked for
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    read(values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
    return values;
  }
  void read(void* to, std::int64_t bytes) {
    if (bytes > left_ || !file_.read(static_cast<char*>(to), bytes)) fail();
    left_ -= bytes;
  }
  [[noreturn]] void fail() const { throw sn::DataError(name_ + " ends too early"); }

  std::string name_;
  std::ifstream file_;
  std::int64_t left_ = 0;
};

}  // namespace

Llama load(const std::filesystem::path& path, const sn::Device& device) {
  Reader file(path);
  std::array<std::int64_t, 7> header;
  for (std::int64_t& number : header) number = file.number<std::int32_t>();
  // A vocabulary below 0 says that the output layer is not the table of tokens.
  const bool own_output = header[5] < 0;
  const Config c{header[0], header[1], header[2],
                 header[3], header[4], header[5] < 0 ? -header[5] : header[5],
                 header[6]};
  for (const std::int64_t number :
       {c.width, c.hidden, c.layers, c.heads, c.kv_heads, c.vocabulary, c.context})
    if (number < 1)
      throw sn::DataError(path.string() + " is no model of llama2.c: a size is " + std::to_string(number));
  if (c.width % (2 * c.heads) != 0 || c.heads % c.kv_heads != 0)
    throw sn::DataError(path.string() + " is no model of llama2.c: " + std::to_string(c.heads) + " heads, " +
                        std::to_string(c.kv_heads) + " of keys, in vectors of " + std::to_string(c.width));
  const std::int64_t kv_width = c.width / c.heads * c.kv_heads;
  Llama model{
      .config = c, .tokens = file.matrix(c.vocabulary, c.width, device), .blocks = {}, .last = {}, .out = {}};
  // One kind of weight after the other, each of all layers.
  const auto vectors = [&](auto put) {
    for (Block& block : model.blocks) put(block) = file.vector(c.width, device);
  };
  const auto matrices = [&](std::int64_t rows, std::int64_t columns, auto put) {
    for (Block& block : model.blocks) put(block) = file.matrix(rows, columns, device);
  };
  file.expect(c.layers);
  model.blocks.resize(static_cast<std::size_t>(c.layers));
  vectors([](Block & b) -> auto& { return b.before_attention; });
  matrices(
      c.width, c.width, [](Block & b) -> auto& { return b.attention.q; });
  matrices(
      kv_width, c.width, [](Block & b) -> auto& { return b.attention.k; });
  matrices(
      kv_width, c.width, [](Block & b) -> auto& { return b.attention.v; });
  matrices(
      c.width, c.width, [](Block & b) -> auto& { return b.attention.out; });
  vectors([](Block & b) -> auto& { return b.before_mlp; });
  matrices(
      c.hidden, c.width, [](Block & b) -> auto& { return b.gate; });
  matrices(
      c.width, c.hidden, [](Block & b) -> auto& { return b.down; });
  matrices(
      c.hidden, c.width, [](Block & b) -> auto& { return b.up; });
  model.last = file.vector(c.width, device);
  // Cosines and sines of all positions, which are computed here.
  file.skip(c.context * (c.width / c.heads) * static_cast<std::int64_t>(sizeof(float)));
  model.out = own_output ? file.matrix(c.vocabulary, c.width, device) : model.tokens;
  if (file.left() > 0)
    throw sn::DataError(path.string() + " goes on for " + std::to_string(file.left()) +
                        " bytes behind the model");
  return model;
}

Tokenizer::Tokenizer(const std::filesystem::path& path, std::int64_t vocabulary) {
  Reader file(path);
  file.number<std::int32_t>();  // of bytes in the longest text
  for (std::int64_t token = 0; token < vocabulary; ++token) {
    scores_.push_back(file.number<float>());
    texts_.push_back(file.text(file.number<std::int32_t>()));
  }
  by_text_.resize(texts_.size());
  std::iota(by_text_.begin(), by_text_.end(), 0);
  std::stable_sort(by_text_.begin(), by_text_.end(), [&](std::int64_t a, std::int64_t b) {
    return texts_[static_cast<std::size_t>(a)] < texts_[static_cast<std::size_t>(b)];
  });
}

std::string Tokenizer::text_of(std::int64_t token, std::int64_t before) const {
  if (token < 0 || static_cast<std::size_t>(token) >= texts_.size()) return "";
  const std::string& text = texts_[static_cast<std::size_t>(token)];
  unsigned byte = 0;
  if (text.size() == 6 && std::sscanf(text.c_str(), "<0x%02X>", &byte) == 1)
    return std::string(1, static_cast<char>(byte));
  // A text does not begin with the space that its first word was given.
  return before == kBegin && text.starts_with(' ') ? text.substr(1) : text;
}

std::int64_t Tokenizer::find(std::string_view text) const {
  const auto at = std::lower_bound(
      by_text_.begin(), by_text_.end(), text,
      [&](std::int64_t a, std::string_view b) { return texts_[static_cast<std::size_t>(a)] < b; });
  return at != by_text_.end() && texts_[static_cast<std::size_t>(*at)] == text ? *at : -1;
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int64_t> tokens{kBegin};
  if (text.empty()) return tokens;
  const std::string spaced = " " + std::string(text);
  for (std::size_t i = 0; i < spaced.size();) {
    std::size_t length = 1;  // of a character in UTF-8
    while (i + length < spaced.size() && (static_cast<unsigned char>(spaced[i + length]) & 0xC0) == 0x80)
      ++length;
    const std::string_view character = std::string_view(spaced).substr(i, length);
    if (const std::int64_t token = find(character); token >= 0)
      tokens.push_back(token);
    else
      for (const char byte : character) tokens.push_back(static_cast<unsigned char>(byte) + 3);
    i += length;
  }
  for (;;) {
    std::int64_t best = -1;
    std::size_t where = 0;
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      const std::int64_t pair =
          find(texts_[static_cast<std::size_t>(tokens[i])] + texts_[static_cast<std::size_t>(tokens[i + 1])]);
      if (pair < 0 ||
          (best >= 0 && scores_[static_cast<std::size_t>(pair)] <= scores_[static_cast<std::size_t>(best)]))
        continue;
      best = pair, where = i;
    }
    if (best < 0) return tokens;
    tokens[where] = best;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

}  // namespace llama
