// Describes products to cuBLASLt and asks it for algorithms.
#include "src/runtime/cuda/libraries/lt_products.h"

#include <algorithm>
#include <limits>
#include <string>

#include <sinter/error.h>

namespace sinter::runtime::cuda {

namespace {

// Of buffers, and of what plans place in them.
constexpr std::uint64_t kBufferAlignment = 256;
constexpr std::size_t kMostProducts = 256;  // that are remembered, with some KiB each

LtType type_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return LtType::F64;
    case DType::f32: return LtType::F32;
    case DType::f16: return LtType::F16;
    default: return LtType::BF16;
  }
}

/// Bytes that the address of a matrix's first element is a multiple of.
std::uint32_t alignment_of(const ir::PlainProduct& product, const ir::PlainMatrix& matrix) {
  if (product.anywhere) return static_cast<std::uint32_t>(size_of(matrix.dtype));
  const std::uint64_t bytes = static_cast<std::uint64_t>(matrix.offset) * size_of(matrix.dtype);
  return static_cast<std::uint32_t>(bytes == 0 ? kBufferAlignment
                                               : std::min(bytes & -bytes, kBufferAlignment));
}

DeviceError failure(const LtApi& api, LtStatus status, const char* what) {
  return DeviceError(std::string("[cuda] ") + what + " failed: " + api.status_name(status) +
                     "; SINTER_CUBLASLT=0 does without this library");
}

/// Keeps the library from ending as long as it lives.
class Inside {
 public:
  Inside() : entry_(cublaslt_gate()) {
    if (!entry_) throw DeviceError("[cuda] cuBLASLt cannot be used any more: the process ends");
  }

 private:
  const base::ExitGate::Entry entry_;
};

}  // namespace

LtProduct::LtProduct(const LtApi& api, LtHandle handle, const ir::PlainProduct& product)
    : api_(api), handle_(handle), product_(product) {
  const Inside inside;
  // The library's matrices are column-major: it is told of the transposed product, of which the columns'
  // factor is the first, and gives the transposed result.
  LtMatmul matmul = nullptr;
  const bool rounds = product_.a.dtype == DType::f32 && !product_.exact;
  const LtCompute compute = is_wide() ? LtCompute::F64 : rounds ? LtCompute::F32FromTF32 : LtCompute::F32;
  check(api_.matmul_create(&matmul, compute, is_wide() ? LtType::F64 : LtType::F32),
        "cublasLtMatmulDescCreate");
  matmul_ = decltype(matmul_)(matmul, {&api_});
  set(LtMatmulAttribute::TransposeA, product_.b_along_sum ? LtTranspose::Yes : LtTranspose::No);
  set(LtMatmulAttribute::TransposeB, product_.a_along_sum ? LtTranspose::No : LtTranspose::Yes);
  if (product_.has_bias) {
    set(LtMatmulAttribute::Epilogue, LtEpilogue::Bias);
    set(LtMatmulAttribute::BiasDataType, type_of(product_.bias.dtype));
    // Of this one only how it is aligned is looked at.
    set(LtMatmulAttribute::BiasPointer, kBufferAlignment + alignment_of(product_, product_.bias));
  }
  const auto& p = product_;
  a_ = p.a_along_sum ? layout(p.a, p.depth, p.rows) : layout(p.a, p.rows, p.depth);
  b_ = p.b_along_sum ? layout(p.b, p.depth, p.columns) : layout(p.b, p.columns, p.depth);
  result_ = layout(p.result, p.columns, p.rows);
  if (p.batches <= std::numeric_limits<std::int32_t>::max()) find_ways();
  cublaslt_gate().renew();
}

void LtProduct::check(LtStatus status, const char* what) const {
  if (status != kLtSuccess) throw failure(api_, status, what);
}

template <class T>
void LtProduct::set(LtMatmulAttribute attribute, const T& value) const {
  check(api_.matmul_set(matmul_.get(), attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
}

/// Neighbours lie along `along` elements.
LtProduct::OwnedLayout LtProduct::layout(const ir::PlainMatrix& matrix, std::int64_t along,
                                         std::int64_t lines) const {
  LtLayout made = nullptr;
  check(api_.layout_create(&made, type_of(matrix.dtype), static_cast<std::uint64_t>(along),
                           static_cast<std::uint64_t>(lines), matrix.leading),
        "cublasLtMatrixLayoutCreate");
  OwnedLayout layout(made, {&api_});
  if (product_.batches == 1) return layout;
  const auto set = [&](LtLayoutAttribute attribute, const auto& value) {
    check(api_.layout_set(made, attribute, &value, sizeof value), "cublasLtMatrixLayoutSetAttribute");
  };
  set(LtLayoutAttribute::BatchCount, static_cast<std::int32_t>(product_.batches));
  set(LtLayoutAttribute::BatchStride, matrix.batch_stride);
  return layout;
}

void LtProduct::find_ways() {
  LtPreference made = nullptr;
  check(api_.preference_create(&made), "cublasLtMatmulPreferenceCreate");
  const LtOwned<LtPreference, &LtApi::preference_destroy> preference(made, {&api_});
  const auto set = [&](LtPreferenceAttribute attribute, const auto& value) {
    check(api_.preference_set(made, attribute, &value, sizeof value), "cublasLtMatmulPreferenceSetAttribute");
  };
  set(LtPreferenceAttribute::MostWorkspaceBytes, std::uint64_t{kMostWorkspaceBytes});
  set(LtPreferenceAttribute::ReductionSchemes, kLtReduceInWorkspace);
  set(LtPreferenceAttribute::AlignmentA, alignment_of(product_, product_.b));
  set(LtPreferenceAttribute::AlignmentB, alignment_of(product_, product_.a));
  set(LtPreferenceAttribute::AlignmentC, alignment_of(product_, product_.result));
  set(LtPreferenceAttribute::AlignmentD, alignment_of(product_, product_.result));
  // Some of them may not be possible.
  std::vector<LtSuggestion> suggestions(4 * kMostWays);
  int found = 0;
  const LtStatus status =
      api_.suggest(handle_, matmul_.get(), b_.get(), a_.get(), result_.get(), result_.get(), made,
                   static_cast<int>(suggestions.size()), suggestions.data(), &found);
  constexpr LtStatus kNotSupported = 15;
  if (status == kNotSupported) return;
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  suggestions.resize(static_cast<std::size_t>(std::max(found, 0)));
  for (const LtSuggestion& suggestion : suggestions)
    if (suggestion.status == kLtSuccess && suggestion.workspace_bytes <= kMostWorkspaceBytes &&
        ways_.size() < kMostWays)
      ways_.push_back(suggestion);
}

void LtProduct::start(int way, const LtAddresses& at, Stream stream) const {
  const Inside inside;
  const auto require_aligned = [&](DevicePointer address, const ir::PlainMatrix& matrix) {
    if (const std::uint32_t alignment = alignment_of(product_, matrix); address % alignment != 0)
      throw Error("[cuda] a matrix for cuBLASLt begins at an address that is no multiple of " +
                  std::to_string(alignment) + " bytes");
  };
  require_aligned(at.a, product_.a);
  require_aligned(at.b, product_.b);
  require_aligned(at.result, product_.result);
  if (product_.has_bias) {
    require_aligned(at.bias, product_.bias);
    set(LtMatmulAttribute::BiasPointer, at.bias);
  }
  constexpr float kOne = 1, kZero = 0;
  constexpr double kWideOne = 1, kWideZero = 0;
  const void* const one = is_wide() ? static_cast<const void*>(&kWideOne) : &kOne;
  const void* const zero = is_wide() ? static_cast<const void*>(&kWideZero) : &kZero;
  const LtSuggestion& chosen = ways_.at(static_cast<std::size_t>(way) - 1);
  check(
      api_.matmul(handle_, matmul_.get(), one, at.b, b_.get(), at.a, a_.get(), zero, at.result, result_.get(),
                  at.result, result_.get(), &chosen.algorithm, at.workspace, chosen.workspace_bytes, stream),
      "cublasLtMatmul");
}

LtProducts::~LtProducts() {
  const base::ExitGate::Entry entry(cublaslt_gate());
  if (!entry || !handle_) return;
  products_.clear();
  cublaslt()->destroy(handle_);
}

/// With the mutex held.
const LtApi& LtProducts::library() {
  const LtApi* api = cublaslt();
  if (!api) throw DeviceError("[cuda] there is no cuBLASLt that works; SINTER_LOG=device says why");
  const Inside inside;
  cuda::check(api_.context_set_current(context_), "cuCtxSetCurrent");
  if (handle_) return *api;
  if (const LtStatus status = api->create(&handle_); status != kLtSuccess) {
    handle_ = nullptr;
    throw failure(*api, status, "cublasLtCreate");
  }
  return *api;
}

std::shared_ptr<const LtProduct> LtProducts::prepare(const ir::PlainProduct& product) {
  const std::lock_guard lock(mutex_);
  if (const auto known = products_.find(product); known != products_.end()) return known->second;
  const LtApi& api = library();
  auto made = std::make_shared<const LtProduct>(api, handle_, product);
  if (products_.size() >= kMostProducts) products_.clear();
  products_.emplace(product, made);
  return made;
}

}  // namespace sinter::runtime::cuda
