// Indexed loads and stores, indices and bounds of a block, run by run.
#include "src/runtime/host/interpreter/step.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "src/runtime/host/interpreter/random.h"
#include "src/runtime/host/products/gemm.h"

namespace sinter::runtime::host {
namespace {

/// Calls f with an unsigned integer of the element size.
template <class F>
void with_element(std::size_t size, F&& f) {
  if (size == 4)
    f(std::uint32_t{});
  else if (size == 8)
    f(std::uint64_t{});
  else if (size == 2)
    f(std::uint16_t{});
  else
    f(std::uint8_t{});
}

void load_run(std::byte* out, const std::byte* from, std::int64_t stride, std::size_t size, std::size_t n) {
  if (stride == 1) {
    if (n * size <= 32) {  // short rows: calling memcpy costs more than the copy
      with_element(size, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t i = 0; i < n; ++i)
          reinterpret_cast<T*>(out)[i] = reinterpret_cast<const T*>(from)[i];
      });
    } else {
      std::memcpy(out, from, n * size);
    }
  } else if (stride == 0) {
    fill(out, from, size, n);
  } else {
    gather_strided(out, from, stride, size, n);
  }
}

}  // namespace

template <class Run>
void Step::runs(const Instruction& i, Run&& run) const {
  if (i.consecutive) {
    std::int64_t position = code.space.maps[i.map].offset;
    for (std::size_t k = 0; k < code.space.rank(); ++k) position += at[k] * code.space.maps[i.map].strides[k];
    run(std::size_t{0}, position, std::int64_t{1}, static_cast<std::size_t>(n));
    return;
  }
  std::size_t done = 0;
  for_each_run(code.space, code.space.maps[i.map], at, code.blocks.first, code.blocks.last, i.single ? 1 : n,
               [&](std::int64_t position, std::int64_t stride, std::int64_t count) {
                 run(done, position, stride, static_cast<std::size_t>(count));
                 done += static_cast<std::size_t>(count);
               });
}

void Step::run(const Instruction& i, std::byte** slots) const {
  const std::size_t count = i.single ? 1 : static_cast<std::size_t>(n);
  switch (i.kind) {
    case InstructionKind::Call: return;  // the caller runs these
    case InstructionKind::Accumulate: return i.accumulate(slots[i.out], slots[i.a], count);
    case InstructionKind::Fill: return fill(slots[i.out], slots[i.a], i.size, count);
    case InstructionKind::Copy: {
      std::memcpy(slots[i.out], slots[i.a], count * i.size);
      return;
    }
    case InstructionKind::Load: return load(i, slots);
    case InstructionKind::LoadAt: return load_at(i, slots);
    case InstructionKind::InBounds: return in_bounds(i, slots);
    case InstructionKind::Index: {
      std::int64_t* out = reinterpret_cast<std::int64_t*>(slots[i.out]);
      return runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
        for (std::size_t k = 0; k < m; ++k) out[done + k] = position + static_cast<std::int64_t>(k) * stride;
      });
    }
    case InstructionKind::Offsets: {
      std::int32_t* out = reinterpret_cast<std::int32_t*>(slots[i.out]);
      std::int64_t origin = 0;
      return runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
        if (done == 0) origin = position;
        for (std::size_t k = 0; k < m; ++k)
          out[done + k] =
              static_cast<std::int32_t>(position - origin + static_cast<std::int64_t>(k) * stride);
      });
    }
    case InstructionKind::Tile: return tile(i, slots);
    case InstructionKind::Gather: {
      const std::int32_t* offsets = reinterpret_cast<const std::int32_t*>(slots[i.a]);
      return with_element(i.size, [&](auto zero) {
        using T = decltype(zero);
        const T* from = reinterpret_cast<const T*>(slots[i.b]);
        T* out = reinterpret_cast<T*>(slots[i.out]);
        for (std::size_t k = 0; k < count; ++k) out[k] = from[offsets[k]];
      });
    }
    case InstructionKind::Random:
    case InstructionKind::RandomNormal: return random(i, slots);
    case InstructionKind::Store: {
      std::byte* base = bases[i.buffer];
      return runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
        std::byte* to = base + position * i.size;
        const std::byte* from = slots[i.a];
        if (i.single_a) {
          for (std::size_t k = 0; k < m; ++k)
            std::memcpy(to + static_cast<std::int64_t>(k) * stride * i.size, from, i.size);
        } else if (stride == 1) {
          std::memcpy(to, from + done * i.size, m * i.size);
        } else {
          scatter_strided(to, from + done * i.size, stride, i.size, m);
        }
      });
    }
  }
}

void Step::tile(const Instruction& i, std::byte** slots) const {
  const BlockSpace& blocks = code.blocks;
  const BoundMap& map = code.space.maps[i.map];
  const std::size_t row = blocks.last - 1;
  const std::int64_t in_group = at[row - 1] % blocks.group;
  if (in_group == 0) {
    std::int64_t position = map.offset;
    for (std::size_t k = 0; k < code.space.rank(); ++k) position += at[k] * map.strides[k];
    const std::byte* from = bases[i.buffer] + position * i.size;
    // Only moves bits, whatever the dtype.
    if (i.size == 4)
      pack_panel(reinterpret_cast<float*>(slots[i.a]), reinterpret_cast<const float*>(from), map.strides[row],
                 1, n, i.extent, blocks.group);
    else
      pack_panel(reinterpret_cast<double*>(slots[i.a]), reinterpret_cast<const double*>(from),
                 map.strides[row], 1, n, i.extent, blocks.group);
  }
  slots[i.out] = slots[i.a] + in_group * i.extent * i.size;
}

void Step::random(const Instruction& i, std::byte* const* slots) const {
  RandomKey key;
  std::memcpy(&key.seed, slots[i.a], 8);
  std::memcpy(&key.stream, slots[i.b], 8);
  const bool normal = i.kind == InstructionKind::RandomNormal;
  float* out = reinterpret_cast<float*>(slots[i.out]);
  if (i.extent > 0) {
    const BoundMap& map = code.space.maps[i.map];
    std::int64_t first = map.offset;
    for (std::size_t k = 0; k < code.space.outer; ++k) first += at[k] * map.strides[k];
    random_block(out, static_cast<std::uint64_t>(first), static_cast<std::size_t>(i.extent), key, normal);
    return;
  }
  // Collects elements that are not consecutive: a vector computes the counters of many at once.
  constexpr std::size_t kMost = 256;
  constexpr std::size_t kConsecutive = 48;
  std::uint64_t elements[kMost];
  std::size_t collected = 0, begin = 0;
  auto flush = [&] {
    if (collected > 0) random_elements(out + begin, elements, collected, key, normal);
    collected = 0;
  };
  runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
    if (stride == 1 && m >= kConsecutive) {
      flush();
      random_block(out + done, static_cast<std::uint64_t>(position), m, key, normal);
      return;
    }
    for (std::size_t k = 0; k < m; ++k, position += stride) {
      if (collected == kMost) flush();
      if (collected == 0) begin = done + k;
      elements[collected++] = static_cast<std::uint64_t>(position);
    }
  });
  flush();
}

void Step::load(const Instruction& i, std::byte* const* slots) const {
  const std::byte* base = bases[i.buffer];
  std::byte* out = slots[i.out];
  if (i.a == kNoSlot) {
    return runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
      load_run(out + done * i.size, base + position * i.size, stride, i.size, m);
    });
  }
  const std::uint8_t* wanted = reinterpret_cast<const std::uint8_t*>(slots[i.a]);
  const std::size_t count = i.single ? 1 : static_cast<std::size_t>(n);
  if (i.single_a && wanted[0] == 0) {
    std::memset(out, 0, count * i.size);
    return;
  }
  runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
    // The predicate is mostly constant over long runs.
    for (std::size_t begin = 0; begin < m;) {
      const std::uint8_t first = i.single_a ? 1 : wanted[done + begin];
      std::size_t end = begin + 1;
      if (i.single_a)
        end = m;
      else
        while (end < m && wanted[done + end] == first) ++end;
      std::byte* to = out + (done + begin) * i.size;
      if (first != 0) {
        const std::byte* from = base + (position + static_cast<std::int64_t>(begin) * stride) * i.size;
        load_run(to, from, stride, i.size, end - begin);
      } else {
        std::memset(to, 0, (end - begin) * i.size);
      }
      begin = end;
    }
  });
}

void Step::load_at(const Instruction& i, std::byte* const* slots) const {
  const std::uint8_t* wanted = i.a == kNoSlot ? nullptr : reinterpret_cast<const std::uint8_t*>(slots[i.a]);
  auto index_of = [&](std::size_t k) -> std::int64_t {
    const std::size_t from = i.single_b ? 0 : k;
    if (i.index_dtype == DType::i32) return reinterpret_cast<const std::int32_t*>(slots[i.b])[from];
    return reinterpret_cast<const std::int64_t*>(slots[i.b])[from];
  };
  bool outside = false;
  runs(i, [&](std::size_t done, std::int64_t position, std::int64_t stride, std::size_t m) {
    if (i.single_b && (wanted == nullptr || (i.single_a && wanted[0] != 0))) {
      // One index for the whole block, as for embeddings with long rows.
      const std::int64_t index = index_of(0);
      if (index >= 0 && index < i.extent) {
        load_run(slots[i.out] + done * i.size, bases[i.buffer] + (position + index * i.stride) * i.size,
                 stride, i.size, m);
        return;
      }
    }
    with_element(i.size, [&](auto zero) {
      using T = decltype(zero);
      const T* base = reinterpret_cast<const T*>(bases[i.buffer]);
      T* out = reinterpret_cast<T*>(slots[i.out]) + done;
      for (std::size_t k = 0; k < m; ++k, position += stride) {
        out[k] = 0;
        if (wanted != nullptr && wanted[i.single_a ? 0 : done + k] == 0) continue;
        const std::int64_t index = index_of(done + k);
        if (index < 0 || index >= i.extent)
          outside = true;
        else
          out[k] = base[position + index * i.stride];
      }
    });
  });
  // Other threads may set the same word.
  if (outside) std::atomic_ref(faults[i.fault]).store(1, std::memory_order_relaxed);
}

void Step::in_bounds(const Instruction& i, std::byte* const* slots) const {
  const std::vector<BoundValues>& bounds = code.bounds[i.bounds];
  std::uint8_t* out = reinterpret_cast<std::uint8_t*>(slots[i.out]);
  auto inside = [](const BoundValues& b, std::int64_t c) {
    const std::int64_t from_lower = c - b.lower;
    return from_lower >= 0 && from_lower % b.step == 0 && from_lower / b.step < b.size;
  };
  const BoundValues& last = bounds.back();
  runs(i, [&](std::size_t done, std::int64_t number, std::int64_t stride, std::size_t m) {
    while (m > 0) {
      // Within one row of the padded shape only the last coordinate changes.
      std::int64_t rest = number / last.extent;
      std::int64_t c = number - rest * last.extent;
      bool outer = true;
      for (std::size_t k = bounds.size() - 1; k-- > 0 && outer;) {
        const std::int64_t quotient = rest / bounds[k].extent;
        outer = inside(bounds[k], rest - quotient * bounds[k].extent);
        rest = quotient;
      }
      std::int64_t here = static_cast<std::int64_t>(m);
      if (stride > 0) here = std::min(here, (last.extent - 1 - c) / stride + 1);
      if (stride < 0 && c >= 0) here = std::min(here, c / -stride + 1);
      if (!outer) {
        std::memset(out + done, 0, static_cast<std::size_t>(here));
      } else if (last.step == 1) {
        for (std::int64_t k = 0; k < here; ++k) {
          const std::int64_t from_lower = c + k * stride - last.lower;
          out[done + static_cast<std::size_t>(k)] = from_lower >= 0 && from_lower < last.size;
        }
      } else {
        for (std::int64_t k = 0; k < here; ++k)
          out[done + static_cast<std::size_t>(k)] = inside(last, c + k * stride);
      }
      done += static_cast<std::size_t>(here);
      number += here * stride;
      m -= static_cast<std::size_t>(here);
    }
  });
}

}  // namespace sinter::runtime::host
