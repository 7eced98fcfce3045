// Products that cuBLASLt computes: descriptors, and the algorithms that it suggests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "jit/ir/products/plain_product.h"
#include "jit/library/library_op.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/libraries/cublaslt_api.h"

namespace sinter::runtime::cuda {

/// An object of the library's that ends with its owner.
template <class T, LtStatus (*LtApi::*destroy)(T)>
struct LtEnd {
  const LtApi* api = nullptr;
  void operator()(T of) const { (api->*destroy)(of); }
};
template <class T, LtStatus (*LtApi::*destroy)(T)>
using LtOwned = std::unique_ptr<std::remove_pointer_t<T>, LtEnd<T, destroy>>;

/// The matrices of a launch.
struct LtAddresses {
  DevicePointer a = 0, b = 0, result = 0, bias = 0, workspace = 0;
  friend bool operator==(const LtAddresses&, const LtAddresses&) = default;
};

/// One product, and in which ways the library computes it: 1 is the one that it expects to be the fastest.
/// Which they are follows from the product, the device and the library's version alone.
class LtProduct {
 public:
  static constexpr int kMostWays = 2;
  static constexpr std::size_t kMostWorkspaceBytes = std::size_t{32} << 20;

  /// Throws DeviceError where the library fails; where it has no algorithm, there are no ways.
  LtProduct(const LtApi& api, LtHandle handle, const ir::PlainProduct& product);

  const ir::PlainProduct& product() const { return product_; }
  int ways() const { return static_cast<int>(ways_.size()); }
  std::size_t workspace_bytes(int way) const {
    return ways_.at(static_cast<std::size_t>(way) - 1).workspace_bytes;
  }

  /// Puts the product on the stream. One thread at a time. Throws DeviceError, also for addresses that are no
  /// such multiples as the product says.
  void start(int way, const LtAddresses& addresses, Stream stream) const;

 private:
  using OwnedLayout = LtOwned<LtLayout, &LtApi::layout_destroy>;

  bool is_wide() const { return product_.a.dtype == DType::f64; }
  void check(LtStatus status, const char* what) const;
  template <class T>
  void set(LtMatmulAttribute attribute, const T& value) const;
  OwnedLayout layout(const ir::PlainMatrix& matrix, std::int64_t along, std::int64_t lines) const;
  void find_ways();

  const LtApi& api_;
  const LtHandle handle_;
  const ir::PlainProduct product_;
  LtOwned<LtMatmul, &LtApi::matmul_destroy> matmul_;
  OwnedLayout a_, b_, result_;
  std::vector<LtSuggestion> ways_;
};

/// One launch of a product, with what it works on.
struct LtCall {
  std::shared_ptr<const LtProduct> product;
  int way = 1;
  LtAddresses addresses;
  friend bool operator==(const LtCall&, const LtCall&) = default;
  void start(Stream stream) const { product->start(way, addresses, stream); }
};

/// The products of one device, and the library's handle for it. All functions may be called by any thread.
class LtProducts {
 public:
  LtProducts(const DriverApi& api, Context context) : api_(api), context_(context) {}
  /// No product may be started any more.
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;
  LtProducts& operator=(const LtProducts&) = delete;

  /// Throws DeviceError where the library is missing or fails.
  std::shared_ptr<const LtProduct> prepare(const ir::PlainProduct& product);

 private:
  const LtApi& library();

  const DriverApi& api_;
  const Context context_;
  std::mutex mutex_;
  LtHandle handle_ = nullptr;
  std::map<ir::PlainProduct, std::shared_ptr<const LtProduct>> products_;
};

/// A matrix product of f64 as the library computes it, by its first way; null where it has none or is not to
/// be used, of other ops, and of products that are too small to gain. Of the op's operands and result, whose
/// buffers are 0 to 2.
std::shared_ptr<const LtProduct> wide_product(const library::LibraryOp& op, LtProducts& products) noexcept;

}  // namespace sinter::runtime::cuda
