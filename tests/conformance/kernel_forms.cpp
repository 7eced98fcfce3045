// Marks kernels with schedules.
#include "tests/conformance/kernel_forms.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

bool is_valid(const ir::Kernel& kernel) {
  try {
    ir::verify(kernel);
    return true;
  } catch (const std::logic_error&) {
    return false;
  }
}

}  // namespace

std::vector<KernelCase> split_kernels(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases) {
    c.kernel.split = true;
    if (is_valid(c.kernel)) fitting.push_back(std::move(c));
  }
  return fitting;
}

std::vector<KernelCase> row_kernels(const std::vector<KernelCase>& cases, const ir::DeviceTraits& traits) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases) {
    std::int64_t inner = 1;
    for (std::size_t k = c.kernel.outer_rank; k < c.kernel.extents.size(); ++k)
      inner *= c.bindings.ints[c.kernel.extents[k].index];
    if (c.kernel.phases < 2 || c.kernel.schedule != ir::Schedule::LanesInner) continue;
    const auto add = [&](std::int64_t elements, std::int64_t lanes, std::int64_t cluster) {
      const std::int64_t most = elements * lanes * cluster;
      if (inner > most) return;
      c.kernel.row_elements = static_cast<std::uint16_t>(elements);
      c.kernel.row_lanes = static_cast<std::uint16_t>(lanes);
      c.kernel.row_cluster = static_cast<std::uint8_t>(cluster);
      c.kernel.row_full = inner == most;
      // By elements too where the rows are whole vectors: they are seldom something else here.
      for (const bool ragged : {false, true}) {
        c.kernel.row_ragged = ragged;
        if (is_valid(c.kernel)) fitting.push_back(c);
      }
    };
    const std::int64_t most_lanes = traits.row_lanes;
    add(inner <= most_lanes * 8    ? 8
        : inner <= most_lanes * 16 ? 16
                                   : 32,
        inner <= most_lanes * 2   ? most_lanes / 4
        : inner <= most_lanes * 4 ? most_lanes / 2
                                  : most_lanes,
        1);
    for (std::int64_t elements : {8, 16, 32})
      for (std::int64_t lanes = 32; lanes <= most_lanes; lanes *= 2)
        if (inner == elements * lanes) add(elements, lanes, 1);
    for (const std::int64_t lanes : {2, 4, 8, 16})
      if (lanes <= traits.short_row_lanes && inner <= 8 * lanes) {
        add(inner <= 4 * lanes ? 4 : 8, lanes, 1);
        break;
      }
    for (std::int64_t cluster = 2; cluster <= traits.row_cluster; cluster *= 2)
      for (const std::int64_t elements : {8, 32})
        if (inner <= elements * 64 * cluster) {
          add(elements, 64, cluster);
          break;
        }
  }
  return fitting;
}

std::vector<KernelCase> tile_kernels(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases)
    for (std::uint8_t loop = 0; loop + 1 < c.kernel.outer_rank; ++loop) {
      c.kernel.tile = loop;
      if (is_valid(c.kernel)) fitting.push_back(c);
    }
  return fitting;
}

std::vector<KernelCase> reciprocal_kernels(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases) {
    for (const std::uint16_t divisor : ir::divisors(c.kernel)) {
      if (c.bindings.ints[divisor] < 2 || c.kernel.wide) continue;
      const ir::Factor factor = ir::reciprocal_of(c.bindings.ints[divisor]);
      c.bindings.ints.push_back(factor.multiplier);
      c.bindings.ints.push_back(factor.shift);
      c.kernel.ints = static_cast<std::uint16_t>(c.kernel.ints + 2);
      c.kernel.reciprocals.push_back({divisor, static_cast<std::uint16_t>(c.kernel.ints - 2),
                                      static_cast<std::uint16_t>(c.kernel.ints - 1)});
    }
    if (!c.kernel.reciprocals.empty()) fitting.push_back(std::move(c));
  }
  return fitting;
}

std::vector<KernelCase> flat_kernels(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases) {
    const auto number = [&](ir::IntRef ref) {
      return ref.is_zero() ? 0 : ref.is_one() ? 1 : c.bindings.ints[ref.index];
    };
    for (std::size_t map = 0; map < c.kernel.maps.size() && c.kernel.inner_rank == 0; ++map) {
      const ir::MapStep& step = c.kernel.maps[map].steps.front();
      bool is_flat =
          c.kernel.maps[map].steps.size() == 1 && !step.offset.is_one() && number(step.offset) >= 0;
      std::int64_t stride = 1;
      for (std::size_t k = step.strides.size(); k-- > 0; stride *= number(c.kernel.extents[k]))
        is_flat = is_flat && number(step.strides[k]) == stride;
      if (is_flat) c.kernel.flat_maps.push_back(static_cast<std::uint16_t>(map));
    }
    if (!c.kernel.flat_maps.empty() && is_valid(c.kernel)) fitting.push_back(std::move(c));
  }
  return fitting;
}

std::vector<KernelCase> window_kernels(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> fitting;
  for (KernelCase c : cases) {
    std::int64_t points = 1;
    for (std::size_t k = c.kernel.outer_rank; k < c.kernel.extents.size(); ++k) {
      const std::int64_t size = c.bindings.ints[c.kernel.extents[k].index];
      points *= size;
      c.kernel.inner_sizes.push_back(static_cast<std::uint16_t>(size));
    }
    c.kernel.schedule = ir::Schedule::LanesOuter;
    if (c.kernel.inner_rank > 0 && points <= 32 && is_valid(c.kernel)) fitting.push_back(std::move(c));
  }
  return fitting;
}

std::vector<KernelCase> ragged_elementwise_kernels(const ir::DeviceTraits& traits) {
  std::vector<KernelCase> cases;
  for (const DType dtype :
       {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean, DType::bf16, DType::f8_e4m3}) {
    if (!traits.supports(dtype)) continue;
    for (const auto& [a, b, c] : std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>{
             {1, 1, 1}, {2, 3, 5}, {40, 7, 1}, {3, 33, 2}, {5, 1, 67}, {9, 31, 33}})
      for (const std::int64_t offset : {0, 8, 3}) {
        const std::int64_t numel = a * b * c;
        TestData data(static_cast<std::uint64_t>(numel + offset + static_cast<int>(dtype)));
        const auto values = [&](std::int64_t count) {
          std::vector<double> x = data.reals(static_cast<std::size_t>(count));
          for (double& value : x)
            if (!is_float(dtype)) value = dtype == DType::boolean ? value > 0 : std::trunc(value);
          return x;
        };
        KernelBuilder k({a, b, c});
        const ir::ExprId x = k.load(k.input(dtype, values(numel + offset)), k.map({b * c, c, 1}, offset)),
                         row = k.load(k.input(dtype, values(c)), k.map({0, 0, 1})),
                         middle = k.load(k.input(dtype, values(a * b)), k.map({b, 1, 0})),
                         first = k.load(k.input(dtype, values(a)), k.map({1, 0, 0}));
        const auto combine = [&](ir::ExprId left, ir::ExprId right) {
          if (dtype == DType::boolean) return k.op(Op::Xor, left, right);
          if (!is_stored_float(dtype)) return k.op(Op::Sub, left, right);
          return k.cast(dtype, k.op(Op::Sub, k.cast(DType::f32, left), k.cast(DType::f32, right)));
        };
        k.store(k.output(dtype, numel), k.all(), combine(combine(x, row), combine(middle, first)));
        k.store(k.output(DType::i64, numel + 8), k.map({b * c, c, 1}, 8),
                k.index(k.map({b * c, c, 1}, offset)));
        for (KernelCase& flat : flat_kernels({k.finish("ragged " + std::string(name_of(dtype)))})) {
          for (KernelCase& with_reciprocals : reciprocal_kernels({flat})) cases.push_back(with_reciprocals);
          cases.push_back(std::move(flat));
        }
      }
  }
  return cases;
}

std::vector<KernelCase> transposing_kernels(const ir::DeviceTraits& traits) {
  std::vector<KernelCase> cases;
  for (const DType dtype :
       {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean, DType::bf16, DType::f16, DType::i8,
        DType::i16, DType::u8, DType::u16, DType::u32, DType::u64, DType::f8_e4m3, DType::f8_e5m2}) {
    if (!traits.supports(dtype)) continue;
    for (const auto& [rest, across, last] : std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>{
             {1, 1, 1}, {2, 3, 70}, {1, 64, 64}, {3, 65, 31}, {2, 130, 67}, {1, 200, 128}, {5, 16, 33}}) {
      const std::int64_t numel = rest * across * last;
      const auto count = static_cast<std::size_t>(numel);
      TestData data(static_cast<std::uint64_t>(numel + static_cast<int>(dtype)));
      std::vector<double> x = data.reals(count), y = data.reals(count);
      if (!is_float(dtype))
        for (std::vector<double>* values : {&x, &y})
          for (double& value : *values)
            value = dtype == DType::boolean ? value > 0 : std::abs(std::trunc(value));
      KernelBuilder k({rest, across, last});
      const ir::ExprId turned = k.load(k.input(dtype, x), k.map({across * last, 1, across}));
      const ir::ExprId plain = k.load(k.input(dtype, y), k.all());
      const ir::ExprId result =
          is_stored_int(dtype)      ? turned
          : dtype == DType::boolean ? k.op(Op::And, turned, plain)
          : is_stored_float(dtype)
              ? k.cast(dtype, k.op(Op::Add, k.cast(DType::f32, turned), k.cast(DType::f32, plain)))
              : k.op(Op::Add, turned, plain);
      k.store(k.output(dtype, numel), k.all(), result);
      KernelCase c = k.finish("transposed " + std::string(name_of(dtype)));
      c.kernel.tile = 1;
      if (is_valid(c.kernel)) cases.push_back(c);
    }
  }
  return cases;
}

std::vector<KernelCase> variance_kernels(bool with_f64) {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    if (dtype == DType::f64 && !with_f64) continue;
    for (const auto& [outer, inner] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {3, 7000}, {40, 600}, {1, 20000}, {300, 5}, {2, 1}, {1, 9087}, {2, 4097}})
      for (const bool by_rows : {true, false}) {
        KernelBuilder k({outer}, {inner});
        std::vector<double> values = TestData(static_cast<std::uint64_t>(outer * 7 + inner))
                                         .reals(static_cast<std::size_t>(outer * inner));
        for (double& value : values) value += 100;
        const auto all = by_rows ? k.map({inner, 1}) : k.map({1, outer});
        const ir::ExprId x = k.load(k.input(dtype, values), all);
        k.store(k.output(dtype, outer), k.outer(),
                k.op(Op::Add, k.reduce(Op::SquaredDeviations, x), k.reduce(Op::Max, x)));
        k.store(k.output(dtype, outer), k.outer(), k.reduce(Op::Sum, x));
        KernelCase c = k.finish("moments");
        c.kernel.schedule = by_rows ? ir::Schedule::LanesInner : ir::Schedule::LanesOuter;
        cases.push_back(c);
        c.kernel.split = true;
        cases.push_back(c);
      }
  }
  return cases;
}

}  // namespace sinter::testing
