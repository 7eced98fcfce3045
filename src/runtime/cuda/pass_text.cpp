// Writes the heads of passes.
#include "src/runtime/cuda/pass_text.h"

#include <algorithm>
#include <set>

#include "jit/emit/dialects/cuda/cuda.h"
#include "jit/emit/dialects/prelude.h"

namespace sinter::runtime::cuda {
namespace {

const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i32: return "int";
    default: return "long long";
  }
}

/// How terms are added to numbers in memory.
constexpr const char* kJoins =
    "SN_FN void sn_add_term(int* at, int x) { atomicAdd(at, x); }\n"
    "SN_FN void sn_add_term(Wide* at, Wide x) {\n"
    "  atomicAdd((unsigned long long*)at, (unsigned long long)x);\n"
    "}\n"
    "SN_FN void sn_add_term(float* at, float x) { atomicAdd(at, x); }\n"
    "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n"
    "SN_FN void sn_add_term(double* at, double x) { atomicAdd(at, x); }\n"
    "#endif\n"
    "#define ADD_TERM_TO(place, x) sn_add_term(&(place), x)\n"
    // Four neighbours with one instruction, where they lie as it takes them.
    "SN_FN float4 sn_four_at(const float* at) {\n"
    "  return ((unsigned long long)at & 15) == 0 ? *(const float4*)at\n"
    "                                            : make_float4(at[0], at[1], at[2], at[3]);\n"
    "}\n"
    "SN_FN void sn_add_four(float* at, float4 x) {\n"
    "#if defined(SINTER_ADDS_FOURS) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)\n"
    "  if (((unsigned long long)at & 15) == 0) {\n"
    "    atomicAdd((float4*)at, x);\n"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "  atomicAdd(at, x.x);\n"
    "  atomicAdd(at + 1, x.y);\n"
    "  atomicAdd(at + 2, x.z);\n"
    "  atomicAdd(at + 3, x.w);\n"
    "}\n";

std::string entry(const Pass& pass) {
  std::string text = pass.defines + "#define LANES " + std::to_string(pass.lanes) + "\n",
              end = "#undef LANES\n";
  for (const PassBuffer& buffer : pass.buffers) {
    text += "#define " + buffer.name + "(i) " + buffer.name + "_at[i]\n";
    end += "#undef " + buffer.name + "\n";
  }
  text += "extern \"C\" __global__ void __launch_bounds__(LANES" +
          (pass.least_groups > 1 ? ", " + std::to_string(pass.least_groups) : "") + ") sinter_" + pass.name +
          "(\n    ";
  // Without a promise that nobody writes what is read: the compiler would take it out of a cache that does
  // not see what the kernel before this one is still writing (sn_follow).
  for (const PassBuffer& buffer : pass.buffers)
    text += std::string(buffer.written ? "" : "const ") + type_of(buffer.dtype) +
            (buffer.written ? "* __restrict__ " : "* ") + buffer.name + "_at, ";
  text += "const int width_bits, const unsigned tiles";
  for (const auto& [name, value] : pass.ints) text += ", const Index " + name;
  text +=
      ") {\n"
      "sn_follow();\n"
      "const Index row = Index(blockIdx.x / tiles) * (LANES >> width_bits) + (threadIdx.x >> width_bits);\n"
      "const Index width = 1 << width_bits;\n"
      "const Index column = (Index(blockIdx.x % tiles) * COLUMNS << width_bits) + (threadIdx.x & "
      "((1 << width_bits) - 1));\n";
  if (pass.shared_words > 0) text += "__shared__ Word memory[" + std::to_string(pass.shared_words) + "];\n";
  text += pass.body.empty() ? pass.cuda : body_text(pass.body);
  text += "}\n" + end;
  for (std::size_t at = 0; (at = pass.defines.find("#define ", at)) != std::string::npos;) {
    at += 8;
    text += "#undef " + pass.defines.substr(at, pass.defines.find_first_of(" (\n", at) - at) + "\n";
  }
  return text;
}

}  // namespace

std::string pass_source(const PassList& list) {
  std::string text = std::string(emit::cuda_head()) +
                     "typedef long long Index;\ntypedef unsigned Word;\ntypedef " + type_of(list.dtype) +
                     " T;\n#define COLUMNS " + std::to_string(Pass::kColumns) +
                     "\n#define UNROLL _Pragma(\"unroll\")\n#define UNROLL_SOME _Pragma(\"unroll 8\")\n"
                     "#define ADD_TO(place, x) atomicAdd((unsigned*)&(place), x)\n"
                     "#define RAISE_TO(place, x) atomicMax(&(place), x)\n";
  if (list.joins) text += std::string("typedef long long Wide;\n") + kJoins;
  const bool shares =
      std::any_of(list.passes.begin(), list.passes.end(), [](const Pass& p) { return p.shared_words > 0; });
  if (shares)
    text +=
        "#define BARRIER __syncthreads()\n"
        "#define TEAM_BARRIER __syncwarp()\n"
        "#define ATOMIC_ADD(at, x) atomicAdd(memory + (at), x)\n"
        "#define ATOMIC_OR(at, x) atomicOr(memory + (at), x)\n"
        "#define BIT_COUNT(x) __popc(x)\n"
        // A word in 64 bits, so that nobody sees it without the bit that says that it is there.
        "typedef long long Shown;\n"
        "#define TAKE_NUMBER(place) atomicAdd((unsigned*)&(place), 1u)\n"
        "#define SHOW(place, word) (*(volatile Shown*)&(place) = Shown(1) << 32 | Shown(word))\n"
        "#define SHOWN(place) (*(const volatile Shown*)&(place))\n"
        "#define IS_THERE(shown) ((shown) != 0)\n"
        "#define SHOW_WORD(place, word) (*(volatile Word*)&(place) = (word))\n"
        "#define SHOWN_WORD(place) (*(const volatile Word*)&(place))\n"
        "#define LOW(x) Word(BITS(x))\n"
        "#define HIGH(x) Word(BITS(x) >> 32)\n"
        "#define JOINED(low, high) FROM_BITS((Key(high) << 32) | Key(low))\n";
  if (shares || !list.functions.empty())
    text += list.dtype == DType::f32   ? "typedef int Key;\n#define BITS(x) __float_as_int(x)\n"
                                         "#define FROM_BITS(x) __int_as_float(x)\n"
            : list.dtype == DType::f64 ? "typedef long long Key;\n#define BITS(x) __double_as_longlong(x)\n"
                                         "#define FROM_BITS(x) __longlong_as_double(x)\n"
                                       : "typedef T Key;\n#define BITS(x) (x)\n#define FROM_BITS(x) (x)\n";
  if (!list.functions.empty())
    text += emit::functions_for(list.functions, emit::cuda_dialect(), {}) + list.functions;
  std::set<std::string> there;
  for (const Pass& pass : list.passes)
    if (there.insert(pass.name).second) text += entry(pass);
  return text;
}

std::vector<std::string> all_pass_sources() {
  std::vector<std::string> sources;
  for (const library::Counting counting : library::kCountings)
    for (const std::int64_t results : {10, 10000}) {
      library::CountingOp counts;
      counts.counting = counting;
      counts.length = 10000, counts.results = results;
      sources.push_back(pass_source(passes_of(counts)));
    }
  for (std::int64_t count : {10, 10000}) {
    library::SortIndicesOp sort;
    sort.count = count;
    sort.rows = 7;
    sources.push_back(pass_source(passes_of(sort)));
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64}) {
      library::IndexedSumOp direct;
      direct.dtype = dtype;
      direct.count = count;
      direct.rows = direct.columns = 7;
      sources.push_back(pass_source(passes_of(direct)));
      for (const library::SegmentReduction reduction :
           {library::SegmentReduction::Sum, library::SegmentReduction::Max, library::SegmentReduction::Min})
        for (const std::int64_t columns : {7, 8}) {
          library::IndexedJoinOp join;
          join.any_order = dtype == DType::f64 || columns == 8;
          join.dtype = dtype;
          join.reduction = reduction;
          join.outer = count > 10 ? 3 : 1;
          join.count = count;
          join.rows = 7, join.columns = columns;
          sources.push_back(pass_source(passes_of(join, kPassDevice)));
        }
      for (bool dense : {false, true}) {
        library::SegmentSumOp sum;
        sum.dtype = dtype;
        sum.count = count;
        sum.rows = sum.columns = 7;
        sum.dense = dense;
        sources.push_back(pass_source(passes_of(sum)));
      }
    }
  }
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    for (bool descending : {false, true}) {
      library::SortOp sort;
      sort.x_dtype = sort.numbers = dtype;
      sort.descending = sort.with_values = descending;
      // Several sequences to a workgroup, one, runs.
      for (const auto& [outer, length] :
           {std::pair(100, 10), std::pair(7, 1000), std::pair(1, 4096), std::pair(1, 10000)})
        for (std::int64_t keep : {length, length - 3}) {
          sort.outer = outer, sort.x_outer = length;
          sort.length = length, sort.keep = keep;
          sources.push_back(pass_source(passes_of(sort)));
        }
      sort.outer = 1, sort.with_values = false;
      // Selected by a workgroup of few lanes, of many, by several; none of them, few and many are sorted.
      for (const auto& [length, keep] : {std::pair(1000, 1), {10000, 3}, {100000, 2}, {100000, 50000}})
        for (std::int64_t step : {1, 7}) {
          sort.length = length, sort.keep = keep, sort.x_step = step;
          sources.push_back(pass_source(passes_of(sort)));
        }
    }
    for (bool with_values : {false, true}) {
      library::SortOp digits;  // long enough
      digits.x_dtype = digits.numbers = dtype;
      digits.with_values = with_values;
      for (const std::int64_t length : {1 << 20, 1 << 24})
        for (const std::int64_t step : {1, 2}) {
          digits.length = digits.keep = length, digits.x_step = step;
          sources.push_back(pass_source(passes_of(digits, {.waits = true})));
        }
    }
    for (bool right : {false, true}) {
      library::SearchSortedOp search;
      search.x_dtype = dtype;
      search.right = right;
      sources.push_back(pass_source(passes_of(search)));
    }
    for (int reduction = 1; reduction < 4; ++reduction) {
      library::SegmentSumOp joined;
      joined.dtype = dtype;
      joined.count = 10000;
      joined.rows = joined.columns = 7;
      joined.reduction = static_cast<library::SegmentReduction>(reduction);
      sources.push_back(pass_source(passes_of(joined)));
    }
  }
  using library::ScanKind;
  for (std::size_t kind = 0; kind < library::kScanKinds; ++kind)
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64})
      // A team for a sequence, a workgroup, several; lanes across the axis.
      for (const auto& [length, inner] : {std::pair(10, 1), std::pair(10000, 2), std::pair(100000, 1),
                                          std::pair(10, 8), std::pair(10000, 8)}) {
        library::ScanOp scan;
        scan.scan = static_cast<ScanKind>(kind);
        if (scan.scan == ScanKind::LogSumExp && !is_float(dtype)) continue;
        scan.x_dtype = dtype;
        scan.dtype = library::gives_positions(scan.scan) ? DType::i32 : dtype;
        scan.length = length, scan.inner = scan.x_step = inner;
        scan.exclusive = scan.scan == ScanKind::Sum;
        scan.reverse = length > 10;
        sources.push_back(pass_source(passes_of(scan, {.waits = true})));
      }
  using library::Fourier;
  const auto add_lines = [&](Fourier transform, DType dtype, std::int64_t length, std::int64_t inner) {
    library::FourierOp lines;
    lines.transform = transform;
    lines.dtype = dtype;
    lines.length = length, lines.outer = 1000, lines.inner = inner;
    lines.has_imaginary = transform != Fourier::FromReal;
    lines.scale = library::FourierScale::ByLength;
    lines.real = {1000, lines.length_in(), inner, lines.length_in() * inner, inner, inner > 1 ? 1 : 0};
    lines.imaginary = lines.real;
    sources.push_back(pass_source(passes_of(lines, kPassDevice)));
  };
  for (Fourier transform : {Fourier::Complex, Fourier::FromReal, Fourier::ToReal})
    for (DType dtype : {DType::f32, DType::f64})
      for (const auto& [length, inner] :
           {std::pair(2, 1), {30, 1}, {77, 7}, {1000, 1}, {1024, 8}, {4096, 1}, {8192, 1}, {65536, 1}})
        add_lines(transform, dtype, length, inner);
  return sources;
}

}  // namespace sinter::runtime::cuda
