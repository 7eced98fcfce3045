// A cuBLASLt for the emulated driver: products are sums in double precision over the emulated memory. Built
// as libcublasLt.so.13 and found through LD_LIBRARY_PATH. It is stricter than NVIDIA's. Errors are: a handle
// or a descriptor that was destroyed, an attribute of another size, a leading dimension that is too small, an
// algorithm that was suggested for another product, addresses that are no such multiples as it was asked for,
// matrices and workspace that are not inside of allocations, a result within the workspace.
//
// It suggests three algorithms: a sum in one go, one that is not possible, and a sum in two parts, which are
// added from the workspace. Of f32 it cuts off what tf32 does not have. Of f64 the
// sum in two parts comes first, since the first one is taken.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <sinter/half.h>

#include "services.h"

namespace {

using namespace sinter_emulation;

constexpr int kSuccess = 0, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15;
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBF16 = 14;
constexpr int kSumOfF32 = 68, kSumOfF64 = 70, kSumOfTF32 = 77;
constexpr std::uint64_t kOneGo = 1, kTwoParts = 2;
constexpr std::uint32_t kReduceInWorkspace = 2;

struct Handle {};
struct Operation {
  std::int32_t compute, scale, transpose_a = 0, transpose_b = 0, bias_type = -1;
  std::uint32_t epilogue = 1;
  std::uint64_t bias = 0;
};
struct Layout {
  std::int32_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batches = 1;
  std::int64_t batch_stride = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t schemes = 7, alignment[4] = {256, 256, 256, 256};
};
struct Algorithm {
  std::uint64_t way = 0, product = 0, alignment[3] = {}, unused[3] = {};
};
struct Suggestion {
  Algorithm algorithm;
  std::size_t workspace = 0;
  int status = kSuccess;
  float waves = 1;
  int reserved[4] = {};
};
static_assert(sizeof(Suggestion) == 96);

std::mutex mutex;
std::set<const void*> alive;

bool is_alive(const void* object) {
  const std::lock_guard lock(mutex);
  return alive.count(object) > 0;
}
template <class T>
int make(T** to, const T& value) {
  const std::lock_guard lock(mutex);
  alive.insert(*to = new T(value));
  ++services().control().library_objects;
  return kSuccess;
}
template <class T>
int end(T* object) {
  const std::lock_guard lock(mutex);
  if (alive.erase(object) == 0) return kInvalidValue;
  delete object;
  --services().control().library_objects;
  return kSuccess;
}

/// Writes an attribute of exactly this size.
template <class T>
int write(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof to || !value) return kInvalidValue;
  std::memcpy(&to, value, sizeof to);
  return kSuccess;
}

std::size_t size_of(int type) { return type == kF64 ? 8 : type == kF32 ? 4 : 2; }

double number_at(int type, std::uint64_t address) {
  if (type == kF64) {
    double value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
  }
  if (type == kF32) {
    std::uint32_t bits;
    std::memcpy(&bits, reinterpret_cast<const void*>(address), sizeof bits);
    return static_cast<double>(std::bit_cast<float>(bits & ~std::uint32_t{0x1fff}));
  }
  std::uint16_t bits;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), sizeof bits);
  return static_cast<double>(type == kF16 ? sinter::detail::float16_value(bits)
                                          : sinter::detail::bfloat16_value(bits));
}
void put(int type, std::uint64_t address, double wide) {
  if (type == kF64) {
    std::memcpy(reinterpret_cast<void*>(address), &wide, sizeof wide);
    return;
  }
  const auto value = static_cast<float>(wide);
  if (type == kF32) {
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
    return;
  }
  const std::uint16_t bits =
      type == kF16 ? sinter::detail::float16_bits(value) : sinter::detail::bfloat16_bits(value);
  std::memcpy(reinterpret_cast<void*>(address), &bits, sizeof bits);
}

/// result (m x n) = op(a) * op(b), column-major.
struct Product {
  Operation operation;
  Layout a, b, result;

  std::uint64_t m() const { return result.rows; }
  std::uint64_t n() const { return result.columns; }
  int sum_type() const { return a.type == kF64 ? kF64 : kF32; }
  std::uint64_t depth() const { return operation.transpose_a ? a.rows : a.columns; }
  std::size_t parts_bytes() const {
    return 2 * m() * n() * static_cast<std::size_t>(result.batches) * size_of(sum_type());
  }

  bool is_possible() const {
    for (const Layout* layout : {&a, &b, &result})
      if (layout->leading < static_cast<std::int64_t>(layout->rows) || layout->batches != result.batches ||
          layout->rows == 0 || layout->columns == 0 || layout->leading <= 0)
        return false;
    if ((operation.transpose_a ? a.columns : a.rows) != m() ||
        (operation.transpose_b ? b.rows : b.columns) != n() ||
        (operation.transpose_b ? b.columns : b.rows) != depth())
      return false;
    if (a.type != b.type || operation.scale != sum_type()) return false;
    const int compute = a.type == kF64 ? kSumOfF64 : a.type == kF32 ? kSumOfTF32 : kSumOfF32;
    if (operation.compute != compute || (a.type == kF64 && operation.epilogue != 1)) return false;
    if (result.type != a.type && result.type != kF32) return false;
    if (operation.epilogue == 4)
      return operation.bias != 0 && (operation.bias_type == -1 || operation.bias_type == result.type);
    return operation.epilogue == 1;
  }

  /// The same for equal products, whatever the address of the bias.
  std::uint64_t hash() const {
    std::uint64_t hash = 17;
    const auto add = [&](auto value) {
      hash = hash * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(value);
    };
    add(operation.compute), add(operation.transpose_a), add(operation.transpose_b), add(operation.epilogue);
    for (const Layout* layout : {&a, &b, &result})
      add(layout->type), add(layout->rows), add(layout->columns), add(layout->leading), add(layout->batches),
          add(layout->batch_stride);
    return hash;
  }

  /// From the first element to the last.
  static std::size_t bytes_of(const Layout& layout) {
    return size_of(layout.type) *
           ((layout.columns - 1) * static_cast<std::uint64_t>(layout.leading) + layout.rows +
            static_cast<std::uint64_t>((layout.batches - 1) * layout.batch_stride));
  }
  /// True iff all elements are inside of one allocation.
  static bool is_inside(const Layout& layout, std::uint64_t address) {
    return services().inside(address, bytes_of(layout));
  }
};

struct Addresses {
  std::uint64_t a, b, result, workspace;
};

/// The sum over some of the depth.
double sum(const Product& p, const Addresses& at, std::uint64_t batch, std::uint64_t i, std::uint64_t j,
           std::uint64_t from, std::uint64_t to) {
  double total = 0;
  const auto element = [&](const Layout& layout, std::uint64_t address, std::uint64_t row,
                           std::uint64_t column) {
    const std::uint64_t position = batch * static_cast<std::uint64_t>(layout.batch_stride) + row +
                                   column * static_cast<std::uint64_t>(layout.leading);
    return number_at(layout.type, address + position * size_of(layout.type));
  };
  for (std::uint64_t k = from; k < to; ++k)
    total += (p.operation.transpose_a ? element(p.a, at.a, k, i) : element(p.a, at.a, i, k)) *
             (p.operation.transpose_b ? element(p.b, at.b, j, k) : element(p.b, at.b, k, j));
  return total;
}

/// With sums of T.
template <class T>
int compute(const Product& p, const Addresses& at, std::uint64_t way) {
  T* const parts = reinterpret_cast<T*>(at.workspace);
  const std::uint64_t half = way == kTwoParts ? p.depth() / 2 : p.depth();
  std::size_t number = 0;
  const auto for_all = [&](const auto& work) {
    number = 0;
    for (std::uint64_t batch = 0; batch < static_cast<std::uint64_t>(p.result.batches); ++batch)
      for (std::uint64_t j = 0; j < p.n(); ++j)
        for (std::uint64_t i = 0; i < p.m(); ++i, ++number) work(batch, i, j);
  };
  if (way == kTwoParts)
    for_all([&](std::uint64_t batch, std::uint64_t i, std::uint64_t j) {
      parts[2 * number] = static_cast<T>(sum(p, at, batch, i, j, 0, half));
      parts[2 * number + 1] = static_cast<T>(sum(p, at, batch, i, j, half, p.depth()));
    });
  for_all([&](std::uint64_t batch, std::uint64_t i, std::uint64_t j) {
    T value = way == kTwoParts ? parts[2 * number] + parts[2 * number + 1]
                               : static_cast<T>(sum(p, at, batch, i, j, 0, p.depth()));
    if (p.operation.epilogue == 4)
      value += static_cast<T>(number_at(p.result.type, p.operation.bias + i * size_of(p.result.type)));
    const std::uint64_t position = batch * static_cast<std::uint64_t>(p.result.batch_stride) + i +
                                   j * static_cast<std::uint64_t>(p.result.leading);
    put(p.result.type, at.result + position * size_of(p.result.type), static_cast<double>(value));
  });
  return kSuccess;
}

/// A number of the host's as sums are.
double scale(const Product& p, const void* value) {
  if (p.sum_type() == kF64) return *static_cast<const double*>(value);
  return static_cast<double>(*static_cast<const float*>(value));
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130005; }

const char* cublasLtGetStatusName(int status) {
  return status == kSuccess           ? "CUBLAS_STATUS_SUCCESS"
         : status == kInvalidValue    ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == kExecutionFailed ? "CUBLAS_STATUS_EXECUTION_FAILED"
         : status == kNotSupported    ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                      : "CUBLAS_STATUS_ALLOC_FAILED";
}

int cublasLtCreate(Handle** handle) { return make(handle, Handle{}); }
int cublasLtDestroy(Handle* handle) { return end(handle); }

int cublasLtMatmulDescCreate(Operation** operation, int compute, int scale) {
  return make(operation, Operation{compute, scale});
}
int cublasLtMatmulDescDestroy(Operation* operation) { return end(operation); }
int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value,
                                   std::size_t bytes) {
  if (!is_alive(operation)) return kInvalidValue;
  switch (attribute) {
    case 3: return write(operation->transpose_a, value, bytes);
    case 4: return write(operation->transpose_b, value, bytes);
    case 7: return write(operation->epilogue, value, bytes);
    case 8: return write(operation->bias, value, bytes);
    case 26: return write(operation->bias_type, value, bytes);
    default: return kInvalidValue;
  }
}

int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
  if (type != kF32 && type != kF64 && type != kF16 && type != kBF16) return kInvalidValue;
  return make(layout, Layout{type, rows, columns, leading});
}
int cublasLtMatrixLayoutDestroy(Layout* layout) { return end(layout); }
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value, std::size_t bytes) {
  if (!is_alive(layout)) return kInvalidValue;
  if (attribute == 5) return write(layout->batches, value, bytes);
  return attribute == 6 ? write(layout->batch_stride, value, bytes) : kInvalidValue;
}

int cublasLtMatmulPreferenceCreate(Preference** preference) { return make(preference, Preference{}); }
int cublasLtMatmulPreferenceDestroy(Preference* preference) { return end(preference); }
int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value,
                                         std::size_t bytes) {
  if (!is_alive(preference)) return kInvalidValue;
  if (attribute == 1) return write(preference->workspace, value, bytes);
  if (attribute == 3) return write(preference->schemes, value, bytes);
  return attribute >= 5 && attribute <= 8 ? write(preference->alignment[attribute - 5], value, bytes)
                                          : kInvalidValue;
}

int cublasLtMatmulAlgoGetHeuristic(Handle* handle, Operation* operation, Layout* a, Layout* b, Layout* c,
                                   Layout* result, Preference* preference, int most, Suggestion* suggestions,
                                   int* found) {
  for (const void* object : {static_cast<void*>(handle), static_cast<void*>(operation), static_cast<void*>(a),
                             static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(result),
                             static_cast<void*>(preference)})
    if (!is_alive(object)) return kInvalidValue;
  const Product product{*operation, *a, *b, *result};
  if (most < 1 || !product.is_possible()) return kInvalidValue;
  *found = 0;
  if (services().control().library_finds_nothing) return kNotSupported;
  const auto suggest = [&](std::uint64_t way, std::size_t workspace, int status) {
    if (*found == most) return;
    Suggestion& suggestion = suggestions[(*found)++] = {};
    suggestion.algorithm = {way,
                            product.hash(),
                            {preference->alignment[0], preference->alignment[1], preference->alignment[3]},
                            {}};
    suggestion.workspace = workspace;
    suggestion.status = status;
  };
  const bool has_parts =
      (preference->schemes & kReduceInWorkspace) != 0 && product.parts_bytes() <= preference->workspace;
  const bool is_wide = product.sum_type() == kF64;
  if (has_parts && is_wide) suggest(kTwoParts, product.parts_bytes(), kSuccess);
  suggest(kOneGo, 0, kSuccess);
  suggest(0, 0, kNotSupported);
  if (has_parts && !is_wide) suggest(kTwoParts, product.parts_bytes(), kSuccess);
  return kSuccess;
}

int cublasLtMatmul(Handle* handle, Operation* operation, const void* alpha, std::uint64_t a, Layout* of_a,
                   std::uint64_t b, Layout* of_b, const void* beta, std::uint64_t c, Layout* of_c,
                   std::uint64_t result, Layout* of_result, const Algorithm* algorithm,
                   std::uint64_t workspace, std::size_t workspace_bytes, void* stream) {
  for (const void* object :
       {static_cast<void*>(handle), static_cast<void*>(operation), static_cast<void*>(of_a),
        static_cast<void*>(of_b), static_cast<void*>(of_c), static_cast<void*>(of_result)})
    if (!is_alive(object)) return kInvalidValue;
  Control& control = services().control();
  ++control.library_calls;
  if (control.fail_library > 0 && control.fail_library-- > 0) return kExecutionFailed;
  const Product product{*operation, *of_a, *of_b, *of_result};
  if (!product.is_possible() || scale(product, alpha) != 1 || scale(product, beta) != 0 || c != result ||
      of_c != of_result)
    return kInvalidValue;
  if (algorithm->product != product.hash() || (algorithm->way != kOneGo && algorithm->way != kTwoParts))
    return kInvalidValue;
  if (a % algorithm->alignment[0] != 0 || b % algorithm->alignment[1] != 0 ||
      result % algorithm->alignment[2] != 0)
    return kExecutionFailed;
  if (!Product::is_inside(*of_a, a) || !Product::is_inside(*of_b, b) ||
      !Product::is_inside(*of_result, result))
    return kExecutionFailed;
  if (operation->epilogue == 4 && !services().inside(operation->bias, product.m() * size_of(of_result->type)))
    return kExecutionFailed;
  if (algorithm->way == kTwoParts &&
      (workspace_bytes < product.parts_bytes() || workspace % 256 != 0 ||
       !services().inside(workspace, workspace_bytes) ||
       (workspace < result + Product::bytes_of(*of_result) && result < workspace + workspace_bytes)))
    return kInvalidValue;
  const Addresses at{a, b, result, workspace};
  const std::uint64_t way = algorithm->way;
  const auto work = [=] {
    return product.sum_type() == kF64 ? compute<double>(product, at, way) : compute<float>(product, at, way);
  };
  return services().enqueue(stream, work) == 0 ? kSuccess : kExecutionFailed;
}

}  // extern "C"
