// The oracle's matrix product and convolution: the sums of their definitions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {

LibraryResult reference_matmul(const library::MatMulOp& op, std::span<const double> a,
                               std::span<const double> b) {
  LibraryResult c;
  for (std::int64_t batch = 0; batch < op.batch; ++batch)
    for (std::int64_t i = 0; i < op.m; ++i)
      for (std::int64_t j = 0; j < op.n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < op.k; ++k) {
          const double term = a[batch * op.a_batch + i * op.a_row + k * op.a_column] *
                              b[batch * op.b_batch + k * op.b_row + j * op.b_column];
          sum += term;
          magnitude += std::abs(term);
        }
        c.values.push_back(sum);
        c.magnitudes.push_back(magnitude);
      }
  return c;
}

std::int64_t input_numel(const library::Conv2dOp& op) { return op.n * op.c_in * op.h * op.w; }
std::int64_t weight_numel(const library::Conv2dOp& op) {
  return op.c_out * (op.c_in / op.groups) * op.kh * op.kw;
}
std::int64_t output_numel(const library::Conv2dOp& op) { return op.n * op.c_out * op.oh * op.ow; }

namespace {

// Calls body(x, weight, y) with the positions of every product that the convolution is made of.
template <class Body>
void for_each_product(const library::Conv2dOp& op, const Body& body) {
  const std::int64_t in = op.c_in / op.groups, out = op.c_out / op.groups;
  for (std::int64_t n = 0; n < op.n; ++n)
    for (std::int64_t co = 0; co < op.c_out; ++co)
      for (std::int64_t oy = 0; oy < op.oh; ++oy)
        for (std::int64_t ox = 0; ox < op.ow; ++ox)
          for (std::int64_t ci = 0; ci < in; ++ci)
            for (std::int64_t ky = 0; ky < op.kh; ++ky)
              for (std::int64_t kx = 0; kx < op.kw; ++kx) {
                const std::int64_t y = oy * op.stride[0] - op.padding[0] + ky * op.dilation[0];
                const std::int64_t x = ox * op.stride[1] - op.padding[1] + kx * op.dilation[1];
                if (y < 0 || y >= op.h || x < 0 || x >= op.w) continue;
                const std::int64_t channel = co / out * in + ci;
                body(((n * op.c_in + channel) * op.h + y) * op.w + x,
                     ((co * in + ci) * op.kh + ky) * op.kw + kx,
                     ((n * op.c_out + co) * op.oh + oy) * op.ow + ox);
              }
}

}  // namespace

LibraryResult reference_conv2d(const library::Conv2dOp& op, std::span<const double> first,
                               std::span<const double> second) {
  using Direction = library::Conv2dOp::Direction;
  LibraryResult result;
  const auto resize = [&](std::int64_t numel) {
    result.values.resize(numel);
    result.magnitudes.resize(numel);
  };
  const auto add = [&](std::int64_t at, double term) {
    result.values[at] += term;
    result.magnitudes[at] += std::abs(term);
  };
  switch (op.direction) {
    case Direction::Forward:
      resize(output_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(y, first[x] * second[w]); });
      break;
    case Direction::BackwardInput:
      resize(input_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(x, first[y] * second[w]); });
      break;
    case Direction::BackwardWeight:
      resize(weight_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(w, first[x] * second[y]); });
      break;
  }
  return result;
}

LibraryResult reference_sort_indices(const library::SortIndicesOp& op, std::span<const double> index) {
  std::vector<std::size_t> order(static_cast<std::size_t>(op.count));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return index[a] < index[b]; });
  LibraryResult result;
  result.values.assign(static_cast<std::size_t>(op.rows), static_cast<double>(op.count));
  for (std::size_t place = order.size(); place-- > 0;)
    result.values[static_cast<std::size_t>(index[order[place]])] = static_cast<double>(place);
  for (const std::size_t position : order) result.values.push_back(index[position]);
  for (const std::size_t position : order) result.values.push_back(static_cast<double>(position));
  result.magnitudes.assign(result.values.size(), 0);
  return result;
}

LibraryResult reference_segment_sum(const library::SegmentSumOp& op, std::span<const double> values,
                                    std::span<const double> sorted) {
  LibraryResult result;
  const auto columns = static_cast<std::size_t>(op.columns), rows = static_cast<std::size_t>(op.rows),
             count = static_cast<std::size_t>(op.count);
  result.values.assign(static_cast<std::size_t>(op.results()) * columns, 0);
  result.magnitudes = result.values;
  for (std::size_t place = 0; place < count; ++place) {
    const auto row = static_cast<std::size_t>(sorted[rows + place]),
               from = static_cast<std::size_t>(sorted[rows + count + place]);
    const std::size_t to = op.dense ? row : static_cast<std::size_t>(sorted[row]);
    for (std::size_t c = 0; c < columns; ++c) {
      double& sum = result.values[to * columns + c];
      const double term = values[from * columns + c];
      const bool first = place == 0 || sorted[rows + place] != sorted[rows + place - 1];
      using library::SegmentReduction;
      switch (first ? SegmentReduction::Sum : op.reduction) {
        case SegmentReduction::Sum: sum += term; break;
        case SegmentReduction::Prod: sum *= term; break;
        case SegmentReduction::Max: sum = std::isnan(sum) || sum >= term ? sum : term; break;
        case SegmentReduction::Min: sum = std::isnan(sum) || sum <= term ? sum : term; break;
      }
      result.magnitudes[to * columns + c] += std::abs(values[from * columns + c]);
    }
  }
  return result;
}

LibraryResult reference_indexed_sum(const library::IndexedSumOp& op, std::span<const double> values,
                                    std::span<const double> row_of) {
  LibraryResult result;
  const auto columns = static_cast<std::size_t>(op.columns), rows = static_cast<std::size_t>(op.rows);
  result.values.assign(static_cast<std::size_t>(op.stretches) * rows * columns, 0);
  result.magnitudes = result.values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.count); ++i) {
    const std::size_t to =
        i / static_cast<std::size_t>(op.stretch()) * rows + static_cast<std::size_t>(row_of[i]);
    for (std::size_t c = 0; c < columns; ++c) {
      result.values[to * columns + c] += values[i * columns + c];
      result.magnitudes[to * columns + c] += std::abs(values[i * columns + c]);
    }
  }
  return result;
}

LibraryResult reference_indexed_join(const library::IndexedJoinOp& op, std::span<const double> values,
                                     std::span<const double> row_of) {
  // Each result on its own: the terms that go to its row, in their order.
  LibraryResult result;
  for (std::int64_t o = 0; o < op.outer; ++o) {
    const std::size_t begin = result.values.size();
    const double none = op.dtype == DType::i32 ? library::none_of<std::int32_t>(op.reduction)
                        : op.dtype == DType::i64
                            ? static_cast<double>(library::none_of<std::int64_t>(op.reduction))
                            : library::none_of<double>(op.reduction);
    result.values.resize(begin + static_cast<std::size_t>(op.rows * op.columns), none);
    result.magnitudes.resize(result.values.size(), 0);
    for (std::int64_t i = 0; i < op.count * op.columns; ++i) {
      const auto row = static_cast<std::int64_t>(row_of[static_cast<std::size_t>(i / op.columns)]);
      const auto at = static_cast<std::size_t>(row * op.columns + i % op.columns);
      const double term = values[static_cast<std::size_t>(o * op.count * op.columns + i)];
      double& joined = result.values[begin + at];
      using library::SegmentReduction;
      switch (op.reduction) {
        case SegmentReduction::Sum: joined += term; break;
        case SegmentReduction::Prod: joined *= term; break;
        case SegmentReduction::Max: joined = std::isnan(joined) || joined >= term ? joined : term; break;
        case SegmentReduction::Min: joined = std::isnan(joined) || joined <= term ? joined : term; break;
      }
      result.magnitudes[begin + at] += std::abs(term);
      if (op.reduction == SegmentReduction::Prod)
        result.magnitudes[begin + at] = std::max(result.magnitudes[begin + at], std::abs(joined));
    }
  }
  return result;
}

namespace {

/// NaN counts as the largest number.
bool stands_before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

}  // namespace

LibraryResult reference_counting(const library::CountingOp& op, std::span<const double> x) {
  LibraryResult result;
  std::vector<double>& values = result.values;
  values.assign(static_cast<std::size_t>(op.results), 0);
  double before = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.length); ++i) {
    const auto number = static_cast<std::size_t>(x[i]);
    switch (op.counting) {
      case library::Counting::Indices: ++values[number]; break;
      case library::Counting::LastPositions: values[number] = static_cast<double>(i + 1); break;
      case library::Counting::Steps:
        if (x[i] > before) values[number - 1] = static_cast<double>(i);
        before = x[i];
    }
  }
  result.magnitudes.assign(values.size(), 0);
  return result;
}

LibraryResult reference_sort(const library::SortOp& op, std::span<const double> x) {
  LibraryResult result;
  std::vector<std::int64_t> order(static_cast<std::size_t>(op.length));
  for (std::int64_t sequence = 0; sequence < op.sequences(); ++sequence) {
    const auto value = [&](std::int64_t place) {
      return x[static_cast<std::size_t>(sequence / op.inner * op.x_outer + place * op.x_step +
                                        sequence % op.inner * op.x_inner)];
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return op.descending ? stands_before(value(b), value(a)) : stands_before(value(a), value(b));
    });
    result.values.insert(result.values.end(), order.begin(), order.begin() + op.keep);
    for (std::int64_t k = 0; op.with_values && k < op.keep; ++k)
      result.second.push_back(value(order[static_cast<std::size_t>(k)]));
  }
  result.second_dtype = op.x_dtype;
  result.magnitudes.assign(result.values.size(), 0);
  return result;
}

LibraryResult reference_search_sorted(const library::SearchSortedOp& op, std::span<const double> sorted,
                                      std::span<const double> values) {
  LibraryResult result;
  for (std::int64_t i = 0; i < op.rows * op.count; ++i) {
    const std::int64_t row = op.shared ? 0 : i / op.count * op.length;
    const double value = values[static_cast<std::size_t>(i)];
    std::int64_t place = 0;
    for (std::int64_t j = 0; j < op.length; ++j) {
      const double own = sorted[static_cast<std::size_t>(row + j)];
      place += op.right ? !stands_before(value, own) : stands_before(own, value);
    }
    result.values.push_back(static_cast<double>(place));
  }
  result.magnitudes.assign(result.values.size(), 0);
  return result;
}

LibraryResult reference_scan(const library::ScanOp& op, std::span<const double> x) {
  using library::ScanKind;
  LibraryResult result;
  result.values.assign(static_cast<std::size_t>(op.numel()), 0);
  result.magnitudes = result.values;
  for (std::int64_t slice = 0; slice < op.outer; ++slice)
    for (std::int64_t column = 0; column < op.inner; ++column) {
      const auto at = [&](std::int64_t j) { return op.reverse ? op.length - 1 - j : j; };
      const auto value = [&](std::int64_t place) {
        return x[static_cast<std::size_t>(slice * op.x_outer + place * op.x_step + column * op.x_inner)];
      };
      double all = op.scan == ScanKind::Prod ? 1 : 0, magnitude = 0;
      if (op.scan == ScanKind::LogSumExp) all = -std::numeric_limits<double>::infinity();
      std::int64_t extreme = at(0);
      for (std::int64_t j = 0; j < op.length; ++j) {
        const double own = value(at(j)), before = all, most = value(extreme);
        switch (op.scan) {
          case ScanKind::Sum: all += own, magnitude += std::abs(own); break;
          case ScanKind::Prod: all *= own, magnitude = std::abs(all) * static_cast<double>(j + 1); break;
          case ScanKind::LogSumExp: {
            const double high = std::max(all, own), low = std::min(all, own);
            if (std::isnan(all) || std::isnan(own))
              all = std::numeric_limits<double>::quiet_NaN();
            else
              all = high == low ? high + std::log(2.0) : high + std::log1p(std::exp(low - high));
            magnitude += std::abs(all) + 1;
            break;
          }
          case ScanKind::MaxPosition:
            if (std::isnan(own) || (!std::isnan(most) && own >= most)) extreme = at(j);
            break;
          case ScanKind::MinPosition:
            if (std::isnan(own) || (!std::isnan(most) && own <= most)) extreme = at(j);
            break;
        }
        const auto to = static_cast<std::size_t>((slice * op.length + at(j)) * op.inner + column);
        result.values[to] = library::gives_positions(op.scan) ? static_cast<double>(extreme)
                            : op.exclusive                    ? before
                                                              : all;
        result.magnitudes[to] = magnitude;
      }
    }
  return result;
}

runtime::LibraryTable<Evaluate(const library::LibraryOp&)>& reference_table() {
  using Direction = library::Conv2dOp::Direction;
  using Operands = std::span<const std::span<const double>>;
  const auto matmul = [](const library::LibraryOp& any) -> Evaluate {
    return [op = library::as<library::MatMulOp>(any)](Operands operands) {
      return reference_matmul(op, operands[0], operands[1]);
    };
  };
  const auto conv2d = [](const library::LibraryOp& any) -> Evaluate {
    return [op = library::as<library::Conv2dOp>(any)](Operands operands) {
      return reference_conv2d(op, operands[0], operands[1]);
    };
  };
  static auto* table = new runtime::LibraryTable<Evaluate(const library::LibraryOp&)>{
      {&library::matmul(), matmul},
      {&library::conv2d(Direction::Forward), conv2d},
      {&library::conv2d(Direction::BackwardInput), conv2d},
      {&library::conv2d(Direction::BackwardWeight), conv2d},
      {&library::sort_indices(),
       [](const library::LibraryOp& any) -> Evaluate {
         return [op = library::as<library::SortIndicesOp>(any)](Operands operands) {
           return reference_sort_indices(op, operands[0]);
         };
       }},
      {&library::segment_sum(),
       [](const library::LibraryOp& any) -> Evaluate {
         return [op = library::as<library::SegmentSumOp>(any)](Operands operands) {
           return reference_segment_sum(op, operands[0], operands[1]);
         };
       }},
      {&library::indexed_join(),
       [](const library::LibraryOp& any) -> Evaluate {
         return [op = library::as<library::IndexedJoinOp>(any)](Operands operands) {
           return reference_indexed_join(op, operands[0], operands[1]);
         };
       }},
      {&library::indexed_sum(),
       [](const library::LibraryOp& any) -> Evaluate {
         return [op = library::as<library::IndexedSumOp>(any)](Operands operands) {
           return reference_indexed_sum(op, operands[0], operands[1]);
         };
       }},
  };
  [[maybe_unused]] static const bool countings = [] {
    for (const library::Counting counting : library::kCountings)
      table->add(library::counting(counting), [](const library::LibraryOp& any) -> Evaluate {
        return [op = library::as<library::CountingOp>(any)](Operands operands) {
          return reference_counting(op, operands[0]);
        };
      });
    return true;
  }();
  [[maybe_unused]] static const bool sorts = [] {
    for (const library::Kind* kind : {&library::sort(), &library::sort_with_values()})
      table->add(*kind, [](const library::LibraryOp& any) -> Evaluate {
        return [op = library::as<library::SortOp>(any)](Operands operands) {
          return reference_sort(op, operands[0]);
        };
      });
    table->add(library::search_sorted(), [](const library::LibraryOp& any) -> Evaluate {
      return [op = library::as<library::SearchSortedOp>(any)](Operands operands) {
        return reference_search_sorted(op, operands[0], operands[1]);
      };
    });
    return true;
  }();
  [[maybe_unused]] static const bool scans = [] {
    for (std::size_t kind = 0; kind < library::kScanKinds; ++kind)
      table->add(library::scan(static_cast<library::ScanKind>(kind)),
                 [](const library::LibraryOp& any) -> Evaluate {
                   return [op = library::as<library::ScanOp>(any)](Operands operands) {
                     return reference_scan(op, operands[0]);
                   };
                 });
    return true;
  }();
  return *table;
}

}  // namespace sinter::testing
