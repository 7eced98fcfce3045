// Texts of attention: the copy engine's loads, the descriptors and the registers of one tile, followed by a
// model of what compute capability 9.0 does with them. That tensor cores get each score of a lane as the
// weight of the column that it is of follows from the three together, and no device is needed to see it.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "jit/emit/attention/attention.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Names = std::map<std::string, std::int64_t>;

/// The value of an expression of integers: + - * / %, parentheses, and int(..), which changes nothing.
class Evaluation {
 public:
  Evaluation(const std::string& text, const Names& names) : text_(text), names_(names) {}
  std::int64_t value() {
    const std::int64_t sum = this->sum();
    REQUIRE_MESSAGE(at_ == text_.size(), text_);
    return sum;
  }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::int64_t sum() {
    std::int64_t left = product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      ++at_;
      const std::int64_t right = product();
      left = c == '+' ? left + right : left - right;
    }
    return left;
  }
  std::int64_t product() {
    std::int64_t left = term();
    for (char c = next(); c == '*' || c == '/' || c == '%'; c = next()) {
      ++at_;
      const std::int64_t right = term();
      left = c == '*' ? left * right : c == '/' ? left / right : left % right;
    }
    return left;
  }
  std::int64_t term() {
    if (next() == '(') {
      ++at_;
      const std::int64_t inner = sum();
      REQUIRE(next() == ')');
      ++at_;
      return inner;
    }
    std::string word;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      word += text_[at_++];
    if (word == "int") return term();
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0]))) return std::stoll(word);
    REQUIRE_MESSAGE(names_.count(word) == 1, text_);
    return names_.at(word);
  }

  const std::string& text_;
  const Names& names_;
  std::size_t at_ = 0;
};

/// What is called in a line: the arguments of `function`, which may have parentheses; empty: it is not
/// called.
std::vector<std::string> arguments_of(const std::string& line, const std::string& function) {
  std::vector<std::string> arguments;
  std::size_t at = line.find(function);
  if (at == std::string::npos || line.find("SN_FN") != std::string::npos) return arguments;
  at = line.find('(', at) + 1;
  std::string argument;
  for (int depth = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (depth == 0 && (c == ',' || c == ')')) {
      arguments.push_back(argument.substr(argument.find_first_not_of(' ')));
      argument.clear();
      if (c == ')') break;
      continue;
    }
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    argument += c;
  }
  return arguments;
}

/// What memory holds: any number that follows from where it is.
double element(std::uint16_t buffer, std::int64_t at) {
  return std::sin(static_cast<double>(at) * 0.7 + buffer * 11.0) +
         0.3 * std::cos(static_cast<double>(at * at % 97));
}

/// One workgroup's tile of rows at `row_of_tile`, and of columns at `from`, of the third product of the
/// batch.
class Tile {
 public:
  Tile(const ir::Kernel& kernel, const std::vector<std::int64_t>& ints, std::int64_t row_of_tile,
       std::int64_t from)
      : kernel_(kernel),
        ints_(ints),
        maps_(emit::attention_maps(kernel, ints)),
        row_of_tile_(row_of_tile),
        from_(from),
        bytes_(static_cast<std::int64_t>(size_of(kernel.exprs[emit::rows_of(kernel)[0]].dtype))),
        shared_(std::size_t{1} << 18, std::nan("")) {
    std::istringstream text(emit::emit(kernel, hopper()).text);
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
    names_ = {{"to_rows", 0},     {"own_rows", 0}, {"to", kSlot},
              {"columns", kSlot}, {"from", from_}, {"row_of_tile", row_of_tile_},
              {"x0", kBatch}};
  }

  void run() {
    find_columns();
    load();
    const std::vector<std::vector<double>> scores = multiplied("tc_dot_");
    check_scores(scores);
    check_sums(scores);
  }

 private:
  static constexpr std::int64_t kSlot = 1 << 17, kBatch = 2;

  std::int64_t evaluate(const std::string& text) const { return Evaluation(text, names_).value(); }
  std::int64_t columns() const { return kernel_.attention.columns; }
  std::int64_t number(ir::IntRef ref) const {
    return ref.is_zero() ? 0 : ref.is_one() ? 1 : ints_[ref.index];
  }
  std::int64_t extent(std::size_t loop) const { return number(kernel_.extents[loop]); }

  /// Addresses are swizzled by 128 bytes.
  double& shared(std::int64_t address) {
    return shared_[static_cast<std::size_t>((address ^ (address >> 7 & 7) << 4) / bytes_)];
  }

  void load() {
    bool by_eights = false;
    for (const std::string& line : lines_) {
      if (line.find("for (int eight") != std::string::npos) by_eights = true;
      if (line.find('}') != std::string::npos) by_eights = false;
      const std::vector<std::string> arguments = arguments_of(line, "tc_load_");
      if (arguments.empty()) continue;
      for (std::int64_t eight = 0; eight < (by_eights ? columns() / 8 : 1); ++eight) {
        names_["eight"] = eight;
        std::vector<std::int64_t> corner;
        for (std::size_t k = 3; k < arguments.size(); ++k) corner.push_back(evaluate(arguments[k]));
        copy(maps_.at(static_cast<std::size_t>(std::stoi(arguments[1].substr(2)))), corner,
             evaluate(arguments[0]));
      }
    }
  }

  /// A box of a tensor, zeros beyond its ends.
  void copy(const emit::TensorMap& map, const std::vector<std::int64_t>& corner, std::int64_t to) {
    REQUIRE(corner.size() == map.sizes.size());
    REQUIRE(to % 1024 == 0);
    std::vector<std::uint32_t> at(corner.size());
    while (true) {
      std::int64_t from = map.offset_bytes / bytes_;
      bool is_inside = true;
      for (std::size_t d = 0; d < corner.size(); ++d) {
        const std::int64_t place = corner[d] + at[d];
        is_inside &= place >= 0 && place < static_cast<std::int64_t>(map.sizes[d]);
        from += place * (d == 0 ? 1 : static_cast<std::int64_t>(map.strides[d - 1]) / bytes_);
      }
      shared(to) = is_inside ? element(map.buffer, from) : 0;
      to += bytes_;
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == map.box[d]) at[d++] = 0;
      if (d == at.size()) return;
    }
  }

  /// Of a matrix that lies along the sum: (line, element of the step).
  double along(std::int64_t at, std::int64_t line, std::int64_t k) {
    return shared(at + line / 8 * 1024 + line % 8 * 128 + k * bytes_);
  }
  /// Of one that lies across it, in chunks of 64 elements, which 16-bit floats may.
  double across(std::int64_t at, std::int64_t chunk, std::int64_t element, std::int64_t k) {
    return shared(at + element / 64 * chunk + k / 8 * 1024 + k % 8 * 128 + element % 64 * bytes_);
  }

  std::int64_t descriptor(const std::string& text, std::int64_t& chunk) const {
    const std::vector<std::string> arguments = arguments_of(text, "tc_matrix");
    REQUIRE(arguments.size() == 3);
    chunk = evaluate(arguments[2]);
    return evaluate(arguments[0]) + evaluate(arguments[1]);
  }

  /// The 64 scores of the first warpgroup's rows and the tile's lines of columns.
  std::vector<std::vector<double>> multiplied(const std::string& function) {
    std::vector<std::vector<double>> sums(64, std::vector<double>(static_cast<std::size_t>(columns())));
    for (const std::string& line : lines_) {
      const std::vector<std::string> arguments = arguments_of(line, function);
      if (arguments.empty()) continue;
      std::int64_t chunk = 0;
      const std::int64_t a = descriptor(arguments[1], chunk), b = descriptor(arguments[2], chunk);
      for (std::int64_t row = 0; row < 64; ++row)
        for (std::int64_t column = 0; column < columns(); ++column) {
          double& sum = sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
          if (arguments[3] == "0") sum = 0;
          for (std::int64_t k = 0; k < 32 / bytes_; ++k) sum += along(a, row, k) * along(b, column, k);
        }
    }
    return sums;
  }

  const ir::Expr& only(ir::ExprKind kind) const {
    for (const ir::Expr& expr : kernel_.exprs)
      if (expr.kind == kind) return expr;
    FAIL("a kernel that is no attention");
    return kernel_.exprs[0];
  }

  /// An element of a Row of the kernel.
  double of_row(ir::ExprId id, std::int64_t row, std::int64_t column, std::int64_t c) const {
    const ir::Expr& expr = kernel_.exprs[id];
    const ir::MapStep& step = kernel_.maps[expr.map].steps[0];
    const std::int64_t at = number(step.offset) + number(step.strides[0]) * kBatch +
                            number(step.strides[1]) * row + number(step.strides[2]) * column +
                            number(expr.stride) * c;
    return element(expr.buffer, at);
  }
  double expected_score(std::int64_t row, std::int64_t column) const {
    const ir::Expr& dot = only(ir::ExprKind::Dot);
    double sum = 0;
    for (std::int64_t c = 0; c < kernel_.exprs[dot.args[0]].length; ++c)
      sum += of_row(dot.args[0], row, column, c) * of_row(dot.args[1], row, column, c);
    return sum;
  }

  /// A lane's score number i is of this row of the warpgroup and line of columns.
  static std::int64_t row_of(std::int64_t thread, std::int64_t i) {
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
  }
  static std::int64_t line_of(std::int64_t thread, std::int64_t i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
  }
  /// Which column it is of, as the text says.
  std::int64_t column_of(std::int64_t thread, std::int64_t i) const {
    return columns_[static_cast<std::size_t>(thread % 4 * columns() / 2 + i)];
  }
  void find_columns() {
    const auto line = std::find_if(lines_.begin(), lines_.end(), [](const std::string& text) {
      return text.find("const int of_column = ") != std::string::npos;
    });
    REQUIRE(line != lines_.end());
    const std::size_t begin = line->find('=') + 2;
    for (std::int64_t lane = 0; lane < 4; ++lane)
      for (std::int64_t i = 0; i < columns() / 2; ++i) {
        names_["i"] = i;
        names_["lane"] = lane;
        names_["column_of_lane"] = lane * 2;
        columns_.push_back(evaluate(line->substr(begin, line->size() - begin - 1)));
      }
  }

  void check_scores(const std::vector<std::vector<double>>& scores) {
    for (std::int64_t thread = 0; thread < 128; ++thread)
      for (std::int64_t i = 0; i < columns() / 2; ++i) {
        const std::int64_t row = row_of(thread, i), column = column_of(thread, i);
        if (column >= extent(2) || row_of_tile_ + row >= extent(1)) continue;
        const double found =
            scores[static_cast<std::size_t>(row)][static_cast<std::size_t>(line_of(thread, i))];
        if (std::abs(found - expected_score(row_of_tile_ + row, column)) < 1e-9) continue;
        CAPTURE(thread);
        FAIL("score " << i << " is not that of row " << row << ", column " << column);
      }
  }

  /// The order in which the instruction takes the four words of a lane's weights.
  std::vector<std::size_t> words() const {
    for (const std::string& line : lines_) {
      const std::size_t begin = line.find("}, {%");
      if (begin == std::string::npos) continue;
      std::istringstream list(line.substr(begin + 4, line.find('}', begin + 4) - begin - 4));
      std::vector<std::size_t> numbers;
      for (std::string word; std::getline(list, word, ',');)
        numbers.push_back(static_cast<std::size_t>(std::stoi(word.substr(word.find('%') + 1))));
      for (std::size_t& number : numbers) number -= static_cast<std::size_t>(only_length() / 2);
      return numbers;
    }
    FAIL("a text without weights");
    return {};
  }
  std::int64_t only_length() const { return kernel_.exprs[only(ir::ExprKind::Combine).args[1]].length; }

  /// Scores are weights here, those beyond the last column 0.
  void check_sums(const std::vector<std::vector<double>>& scores) {
    const std::int64_t depth = 32 / bytes_, of_word = 4 / bytes_, length = only_length();
    const std::vector<std::size_t> words = this->words();
    std::vector<std::vector<double>> sums(64, std::vector<double>(static_cast<std::size_t>(length)));
    for (const std::string& line : lines_) {
      const std::vector<std::string> arguments = arguments_of(line, "tc_combine_");
      if (arguments.empty()) continue;
      names_["weights"] = 0;
      const std::int64_t first = evaluate(arguments[1].substr(arguments[1].find('+') + 2));
      std::int64_t chunk = 0;
      const std::int64_t b = descriptor(arguments[2], chunk);
      std::vector<std::vector<double>> a(64, std::vector<double>(static_cast<std::size_t>(depth)));
      for (std::int64_t thread = 0; thread < 128; ++thread)
        for (std::int64_t word = 0; word < 4; ++word)
          for (std::int64_t part = 0; part < of_word; ++part) {
            const std::int64_t i =
                (first + static_cast<std::int64_t>(words[static_cast<std::size_t>(word)])) * of_word + part;
            const std::int64_t row = thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8;
            const std::int64_t k = (thread % 4 + word / 2 * 4) * of_word + part;
            const bool counts = column_of(thread, i) < extent(2);
            a[static_cast<std::size_t>(row)][static_cast<std::size_t>(k)] =
                counts ? scores[static_cast<std::size_t>(row_of(thread, i))]
                               [static_cast<std::size_t>(line_of(thread, i))]
                       : 0;
          }
      for (std::size_t row = 0; row < 64; ++row)
        for (std::int64_t c = 0; c < length; ++c)
          for (std::int64_t k = 0; k < depth; ++k)
            sums[row][static_cast<std::size_t>(c)] +=
                a[row][static_cast<std::size_t>(k)] * (bytes_ == 4 ? along(b, c, k) : across(b, chunk, c, k));
    }
    const ir::ExprId rows = only(ir::ExprKind::Combine).args[1];
    for (std::int64_t row = 0; row < 64 && row_of_tile_ + row < extent(1); ++row)
      for (std::int64_t c = 0; c < length; c += 7) {
        double sum = 0;
        for (std::int64_t column = from_; column < std::min(from_ + columns(), extent(2)); ++column)
          sum += expected_score(row_of_tile_ + row, column) * of_row(rows, row_of_tile_ + row, column, c);
        if (std::abs(sum - sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(c)]) < 1e-6) continue;
        FAIL("element " << c << " of row " << row << " is another one");
      }
  }

  const ir::Kernel& kernel_;
  const std::vector<std::int64_t>& ints_;
  const std::vector<emit::TensorMap> maps_;
  const std::int64_t row_of_tile_, from_, bytes_;
  std::vector<std::string> lines_;
  std::vector<std::int64_t> columns_;
  std::vector<double> shared_;
  Names names_;
};

void check(DType dtype, std::int64_t queries, std::int64_t keys, std::int64_t depth, std::int64_t columns) {
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  const Planned p = planned([&](const Device& device) {
    const AnyTensor q = input({4, queries, depth}, device, dtype), k = input({4, keys, depth}, device, dtype),
                    v = input({4, keys, columns}, device, dtype);
    return std::vector{nn::detail::attention(q, k, v, {}, Location::current())};
  });
  std::size_t found = 0;
  for (const plan::Launch& launch : p.plan.launches) {
    const auto* number = std::get_if<std::uint32_t>(&launch.what);
    if (number == nullptr || !p.plan.kernels[*number]->attention.any()) continue;
    ++found;
    const ir::Kernel& kernel = *p.plan.kernels[*number];
    const std::vector<std::int64_t> ints(launch.ints.begin(), launch.ints.end());
    const std::int64_t last = (keys - 1) / kernel.attention.columns * kernel.attention.columns;
    for (const std::int64_t from : {std::int64_t{0}, last})
      Tile(kernel, ints, (queries - 1) / kernel.attention.rows * kernel.attention.rows, from).run();
  }
  CHECK(found == 1);
}

}  // namespace

TEST_CASE("tensor cores get the scores of 16-bit floats, and their weights beside what these weigh") {
  check(DType::bf16, 128, 256, 64, 64);
  check(DType::bf16, 200, 333, 72, 40);
  check(DType::f16, 64, 64, 128, 128);
}

TEST_CASE("tensor cores get the scores of f32, and their weights beside what these weigh") {
  check(DType::f32, 128, 256, 64, 64);
  check(DType::f32, 200, 332, 72, 40);
  check(DType::f32, 70, 100, 20, 24);
  check(DType::f32, 64, 64, 128, 128);
}

namespace {

/// The texts of a causal attention with its gradients: the result, the gradient of queries, those of keys and
/// values.
std::vector<std::string> causal_texts(double dropped = 0) {
  const Planned p = planned([&](const Device& device) {
    const auto operand = [&] { return input({4, 256, 64}, device.autodiff(), DType::bf16).require_grad(); };
    const AnyTensor q = operand(), k = operand(), v = operand();
    const nn::Dropout dropout = nn::DropoutConfig{dropped}.init(device.autodiff());
    const AnyTensor y = nn::detail::attention(
        q, k, v, {.causal = true, .dropout = dropped > 0 ? &dropout : nullptr}, Location::current());
    const std::vector<AnyTensor> inputs{q, k, v};
    std::vector<AnyTensor> results = gradient(y, std::span<const AnyTensor>(inputs),
                                              {.seed = input({4, 256, 64}, device.autodiff(), DType::bf16)});
    results.push_back(y);
    for (AnyTensor& result : results) result = result.inner();
    return results;
  });
  std::vector<std::string> texts;
  for (const plan::Launch& launch : p.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what);
        number != nullptr && p.plan.kernels[*number]->attention.any())
      texts.push_back(emit::emit(*p.plan.kernels[*number], hopper()).text);
  return texts;
}

std::string after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? "" : text.substr(at);
}
bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a causal mask is a number in 32 bits to which a lane adds where its scores are") {
  const std::vector<std::string> texts = causal_texts();
  REQUIRE(texts.size() == 3);
  std::size_t of_queries = 0, of_keys = 0;
  for (const std::string& text : texts) {
    // Key j <= query i: i - j becomes less from one column to the next where these are keys.
    of_queries += has(text, "[r] - offset >= 0;") ? 1 : 0;
    of_keys += has(text, "[r] + offset >= 0;") ? 1 : 0;
    CHECK(has(text, " : -SN_INFINITY;"));
  }
  CHECK(of_queries == 2);
  CHECK(of_keys == 1);
}

TEST_CASE("numbers of columns come beside the columns, and lanes do not read them from memory") {
  std::size_t found = 0;
  for (const std::string& text : causal_texts()) {
    if (!has(text, "#define SN_VALUES 1")) continue;
    ++found;
    // The greatest score of a row, the sum of its exponentials, and the sum of its gradients.
    std::size_t copies = 0, pairs = 0;
    const std::string tiles = after(text, "while (is_there)");
    for (std::size_t at = 0; (at = text.find("tc_copy_f32(to + ", at)) != std::string::npos; ++at) ++copies;
    for (std::size_t at = 0; (at = tiles.find("= tc_values(columns_at", at)) != std::string::npos; ++at)
      ++pairs;
    CHECK(copies == 3);
    CHECK(pairs == 6);  // where all is seen, and where not
    CHECK_FALSE(has(tiles.substr(0, tiles.find("tc_begin")), "= b"));
  }
  CHECK(found == 1);
}

TEST_CASE("masked products are minus infinity only where nothing else is made of them") {
  // Exponentials alone: of the last tile's columns that do not exist, too.
  const auto is_masked = [](const std::string& text) { return has(text, "if (!is_seen)"); };
  for (const std::string& text : causal_texts()) CHECK(is_masked(text));
  // What is dropped, of the weights that are combined, reads numbers by their place, which columns that do
  // not exist have not.
  for (const std::string& text : causal_texts(0.25))
    CHECK((!is_masked(text) || !has(text, "  unsigned weights") || has(text, "from + SN_COLUMNS <= size_n")));
}
