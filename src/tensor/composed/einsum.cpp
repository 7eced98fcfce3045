// Einstein's summation: letters become axes, pairs of operands become matrix products.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sinter/functions/linalg.h>

#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

/// The axes behind "..." count as labels of their own: the last one has the largest of these numbers.
constexpr int kRestEnd = 64;
constexpr int kLabels = kRestEnd;
using Labels = std::vector<int>;

int label_of(char letter) {
  if (letter >= 'a' && letter <= 'z') return letter - 'a';
  if (letter >= 'A' && letter <= 'Z') return 26 + (letter - 'A');
  return -1;
}
bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// One operand, an axis for each label.
struct Factor {
  A tensor;
  Labels labels;
};

class Summation {
 public:
  Summation(std::string_view formula, std::span<const A> operands, const Location& where)
      : formula_(formula), where_(where) {
    std::string text;
    for (const char c : formula)
      if (c != ' ') text += c;
    const std::size_t arrow = text.find("->");
    const std::string inputs = text.substr(0, arrow);
    std::vector<std::string> terms(1);
    for (const char c : inputs) {
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    }
    if (operands.empty() || terms.size() != operands.size())
      fail("names " + std::to_string(terms.size()) + " operands, " + std::to_string(operands.size()) +
           " are given");
    for (std::size_t i = 0; i < terms.size(); ++i) add(terms[i], operands[i]);
    if (arrow == std::string::npos)
      name_result();
    else
      result_ = labels_of(text.substr(arrow + 2), rest_);
    for (std::size_t i = 0; i < result_.size(); ++i) {
      if (size_[result_[i]] < 0) fail("names " + name(result_[i]) + " in its result alone");
      if (std::count(result_.begin(), result_.end(), result_[i]) > 1)
        fail("names " + name(result_[i]) + " twice in its result");
    }
    for (Factor& factor : factors_) widen(factor);
  }

  A run() {
    for (std::size_t i = 0; i < factors_.size(); ++i) sum_alone(i);
    while (factors_.size() > 1) {
      const auto [a, b] = cheapest_pair();
      Factor product = multiply(factors_[a], factors_[b]);
      factors_.erase(factors_.begin() + static_cast<std::ptrdiff_t>(b));
      factors_[a] = std::move(product);
      sum_alone(a);
    }
    return arranged(factors_[0], result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ShapeError("[einsum] \"" + std::string(formula_) + "\" " + what, where_);
  }
  static std::string name(int label) {
    if (label >= 52) return "an axis of \"...\"";
    return std::string("'") + static_cast<char>(label < 26 ? 'a' + label : 'A' + (label - 26)) + "'";
  }

  /// The labels of a term, in which "..." stands for `rest` axes.
  Labels labels_of(const std::string& term, std::size_t rest) const {
    Labels labels;
    bool open = false;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (term[i] == '.') {
        if (open || term.compare(i, 3, "...") != 0) fail("has a dot that is not of one \"...\"");
        open = true;
        i += 2;
        for (std::size_t r = rest; r > 0; --r) labels.push_back(kRestEnd - static_cast<int>(r));
        continue;
      }
      const int label = label_of(term[i]);
      if (label < 0) fail(std::string("has '") + term[i] + "', which is no letter");
      labels.push_back(label);
    }
    return labels;
  }

  void add(const std::string& term, const A& operand) {
    const Shape shape = tensor::value_of("einsum", operand, where_).shape;
    const bool open = term.find('.') != std::string::npos;
    const std::size_t named = labels_of(term, 0).size();
    if (open ? named > shape.rank() : named != shape.rank())
      fail("names " + std::to_string(named) + " axes of shape " + to_string(shape));
    const std::size_t rest = shape.rank() - named;
    rest_ = std::max(rest_, rest);
    Factor factor{operand, labels_of(term, rest)};
    for (std::size_t i = 0; i < factor.labels.size(); ++i) {
      std::int64_t& size = size_[factor.labels[i]];
      if (size < 0 || size == 1) {
        size = shape[i];
      } else if (shape[i] != size && shape[i] != 1) {
        fail("gives " + name(factor.labels[i]) + " the sizes " + std::to_string(size) + " and " +
             std::to_string(shape[i]));
      }
    }
    factors_.push_back(std::move(factor));
  }

  void name_result() {
    std::array<int, kLabels> count{};
    for (const Factor& factor : factors_)
      for (const int label : factor.labels) ++count[static_cast<std::size_t>(label)];
    for (std::size_t r = rest_; r > 0; --r) result_.push_back(kRestEnd - static_cast<int>(r));
    // NumPy's order: upper case first.
    for (const auto& [first, last] : {std::pair{26, 52}, std::pair{0, 26}})
      for (int label = first; label < last; ++label)
        if (count[static_cast<std::size_t>(label)] == 1) result_.push_back(label);
  }

  /// Gives each axis its label's size, and takes the diagonal of axes with one label.
  void widen(Factor& factor) {
    Shape wide;
    for (const int label : factor.labels) wide.push_back(size_[label]);
    factor.tensor = factor.tensor.expand(wide, where_);
    for (std::size_t i = 0; i < factor.labels.size(); ++i)
      for (std::size_t j = factor.labels.size(); j-- > i + 1;) {
        if (factor.labels[i] != factor.labels[j]) continue;
        const auto last = static_cast<std::int64_t>(factor.labels.size()) - 1;
        const A moved = factor.tensor.movedim(static_cast<std::int64_t>(j), last, where_)
                            .movedim(static_cast<std::int64_t>(i), last - 1, where_);
        factor.tensor = diagonal(moved, 0, where_).movedim(last - 1, static_cast<std::int64_t>(i), where_);
        factor.labels.erase(factor.labels.begin() + static_cast<std::ptrdiff_t>(j));
      }
  }

  /// Whether the result, or a factor other than these two, has the label.
  bool is_needed(int label, std::size_t a, std::size_t b) const {
    if (has(result_, label)) return true;
    for (std::size_t i = 0; i < factors_.size(); ++i)
      if (i != a && i != b && has(factors_[i].labels, label)) return true;
    return false;
  }

  /// Sums the axes that nobody else has.
  void sum_alone(std::size_t i) {
    Factor& factor = factors_[i];
    Dims axes;
    Labels left;
    for (std::size_t axis = 0; axis < factor.labels.size(); ++axis) {
      if (is_needed(factor.labels[axis], i, i))
        left.push_back(factor.labels[axis]);
      else
        axes.push_back(static_cast<std::int64_t>(axis));
    }
    if (axes.empty()) return;
    factor.tensor =
        factor.tensor.sum(Axes(axes), where_).cast(factor.tensor.dtype(), where_).squeeze(Axes(axes), where_);
    factor.labels = std::move(left);
  }

  /// The pair whose product takes the fewest multiplications; of equal ones the first.
  std::pair<std::size_t, std::size_t> cheapest_pair() const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    std::optional<double> least;
    for (std::size_t a = 0; a < factors_.size(); ++a)
      for (std::size_t b = a + 1; b < factors_.size(); ++b) {
        double work = 1;
        for (const int label : factors_[a].labels) work *= static_cast<double>(size_[label]);
        for (const int label : factors_[b].labels)
          if (!has(factors_[a].labels, label)) work *= static_cast<double>(size_[label]);
        if (least && work >= *least) continue;
        least = work;
        best = {a, b};
      }
    return best;
  }

  /// The factor with its axes in the order of `labels`, which are the same.
  A arranged(const Factor& factor, const Labels& labels) const {
    Dims order;
    for (const int label : labels) {
      const auto at = std::find(factor.labels.begin(), factor.labels.end(), label);
      order.push_back(at - factor.labels.begin());
    }
    return order.empty() ? factor.tensor : factor.tensor.permute(Axes(order), where_);
  }

  std::int64_t product_of(const Labels& labels) const {
    std::int64_t product = 1;
    for (const int label : labels) product *= size_[label];
    return product;
  }

  Factor multiply(const Factor& a, const Factor& b) const {
    const auto index = [&](const Factor& f) { return static_cast<std::size_t>(&f - factors_.data()); };
    Labels batch, rows, columns, summed;
    for (const int label : a.labels) {
      if (!has(b.labels, label))
        rows.push_back(label);
      else if (is_needed(label, index(a), index(b)))
        batch.push_back(label);
      else
        summed.push_back(label);
    }
    for (const int label : b.labels)
      if (!has(a.labels, label)) columns.push_back(label);

    const auto joined = [](std::initializer_list<const Labels*> parts) {
      Labels all;
      for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
      return all;
    };
    Labels labels = joined({&batch, &rows, &columns});
    Shape shape;
    for (const int label : labels) shape.push_back(size_[label]);
    const std::int64_t many = product_of(batch), m = product_of(rows), n = product_of(columns),
                       k = product_of(summed);
    const A left = arranged(a, joined({&batch, &rows, &summed})).reshape({many, m, k}, where_);
    const A right = arranged(b, joined({&batch, &summed, &columns})).reshape({many, k, n}, where_);
    A product;
    if (summed.empty())
      product = A::mul(left, right, where_);  // [many, m, 1] and [many, 1, n]
    else if (is_float(left.dtype()))
      product = left.matmul(right, where_);
    else
      product = A::mul(left.unsqueeze(-1, where_), right.unsqueeze(1, where_), where_)
                    .sum(2, where_)
                    .cast(left.dtype(), where_);
    return {product.reshape(shape, where_), std::move(labels)};
  }

  std::string_view formula_;
  Location where_;
  std::vector<Factor> factors_;
  Labels result_;
  std::size_t rest_ = 0;
  // -1: no operand has the label
  struct Sizes {
    std::array<std::int64_t, kLabels> values;
    Sizes() { values.fill(-1); }
    std::int64_t& operator[](int label) { return values[static_cast<std::size_t>(label)]; }
    std::int64_t operator[](int label) const { return values[static_cast<std::size_t>(label)]; }
  } size_;
};

}  // namespace

AnyTensor einsum(std::string_view formula, std::span<const AnyTensor> operands, Location where) {
  return Summation(formula, operands, where).run();
}

}  // namespace sinter
