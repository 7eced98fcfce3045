#include "text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include <sinter/error.h>

namespace gpt {
namespace {

void append(std::vector<std::int32_t>& tokens, const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw sn::DataError("the text " + file.string() + " cannot be opened");
  for (auto at = std::istreambuf_iterator<char>(in); at != std::istreambuf_iterator<char>(); ++at)
    tokens.push_back(static_cast<unsigned char>(*at));
}

std::vector<std::int32_t> read(const std::filesystem::path& path) {
  std::vector<std::int32_t> tokens;
  if (!std::filesystem::is_directory(path)) {
    append(tokens, path);
    return tokens;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) append(tokens, file);
  return tokens;
}

}  // namespace

Text::Text(const std::filesystem::path& path, const sn::Device& device) {
  const std::vector<std::int32_t> tokens = read(path);
  if (tokens.size() < 1000)
    throw sn::DataError("the text " + path.string() + " has " + std::to_string(tokens.size()) +
                        " bytes, too few to learn from");
  tokens_ = sn::Tensor<1, sn::Int>::from_data(tokens, {static_cast<std::int64_t>(tokens.size())}, device);
  training_ = size() - size() / 10;
}

Text::Batch Text::batch(std::int64_t count, std::int64_t time, bool validation,
                        std::mt19937_64& random) const {
  const std::int64_t begin = validation ? training_ : 0, end = validation ? size() : training_;
  if (!has(time, validation))
    throw sn::DataError("a window of " + std::to_string(time) + " tokens does not fit into the " +
                        std::to_string(end - begin) + " of the text's " +
                        (validation ? "last tenth" : "first part"));
  std::uniform_int_distribution<std::int64_t> place(begin, end - time - 2);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(count));
  for (std::int64_t& start : starts) start = place(random);
  const sn::Device device = tokens_.device();
  const auto first = sn::Tensor<1, sn::Int>::from_data(starts, {count}, device).unsqueeze(1);
  const auto index = first + sn::Tensor<1, sn::Int>::arange(0, time, device).unsqueeze(0);
  return {tokens_(index), tokens_(index + 1).reshape({count * time})};
}

}  // namespace gpt
