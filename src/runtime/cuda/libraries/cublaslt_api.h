// The part of cuBLASLt's interface that Sinter uses. The library is opened at run time, at the first need,
// and the declarations are our own, so that building needs no toolkit. Without it nothing is missing but a
// second way of computing products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/exit_gate.h"
#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

using LtStatus = int;  // cublasStatus_t
inline constexpr LtStatus kLtSuccess = 0;

struct LtHandleTag;
struct LtMatmulTag;
struct LtLayoutTag;
struct LtPreferenceTag;
using LtHandle = LtHandleTag*;          // cublasLtHandle_t
using LtMatmul = LtMatmulTag*;          // cublasLtMatmulDesc_t
using LtLayout = LtLayoutTag*;          // cublasLtMatrixLayout_t
using LtPreference = LtPreferenceTag*;  // cublasLtMatmulPreference_t

/// cudaDataType.
enum class LtType : std::int32_t { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };
/// cublasComputeType_t: sums of f32 of what factors of 16 bits are, or of f32 as tf32; sums of f64.
enum class LtCompute : std::int32_t { F32 = 68, F64 = 70, F32FromTF32 = 77 };
/// cublasOperation_t.
enum class LtTranspose : std::int32_t { No = 0, Yes = 1 };
/// cublasLtEpilogue_t.
enum class LtEpilogue : std::uint32_t { None = 1, Bias = 4 };

/// cublasLtMatmulDescAttributes_t, with the types of the values.
enum class LtMatmulAttribute : int {
  TransposeA = 3,  // LtTranspose
  TransposeB = 4,
  Epilogue = 7,      // LtEpilogue
  BiasPointer = 8,   // DevicePointer
  BiasDataType = 26  // LtType
};
/// cublasLtMatrixLayoutAttribute_t. Matrices are column-major.
enum class LtLayoutAttribute : int {
  BatchCount = 5,  // std::int32_t
  BatchStride = 6  // std::int64_t, elements
};
/// cublasLtMatmulPreferenceAttributes_t.
enum class LtPreferenceAttribute : int {
  MostWorkspaceBytes = 1,  // std::uint64_t
  ReductionSchemes = 3,    // std::uint32_t, kLtReduceInWorkspace
  AlignmentA = 5,          // std::uint32_t, bytes
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};
/// cublasLtReductionScheme_t: parts of a sum are written to the workspace in the dtype of sums, and a kernel
/// of its own adds them. Of all schemes the one that neither depends on the order in which parts are done nor
/// rounds in between.
inline constexpr std::uint32_t kLtReduceInWorkspace = 2;

/// cublasLtMatmulAlgo_t.
struct LtAlgorithm {
  std::uint64_t words[8] = {};
};
/// cublasLtMatmulHeuristicResult_t.
struct LtSuggestion {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  LtStatus status = kLtSuccess;
  float waves = 0;
  int reserved[4] = {};
};
static_assert(sizeof(LtSuggestion) == 96);

struct LtApi {
  std::uint32_t version = 0;  // 130101: 13.1.1

  LtStatus (*create)(LtHandle*) = nullptr;
  LtStatus (*destroy)(LtHandle) = nullptr;
  const char* (*status_name)(LtStatus) = nullptr;
  LtStatus (*matmul_create)(LtMatmul*, LtCompute, LtType scale) = nullptr;
  LtStatus (*matmul_destroy)(LtMatmul) = nullptr;
  LtStatus (*matmul_set)(LtMatmul, LtMatmulAttribute, const void*, std::size_t) = nullptr;
  LtStatus (*layout_create)(LtLayout*, LtType, std::uint64_t rows, std::uint64_t columns,
                            std::int64_t leading) = nullptr;
  LtStatus (*layout_destroy)(LtLayout) = nullptr;
  LtStatus (*layout_set)(LtLayout, LtLayoutAttribute, const void*, std::size_t) = nullptr;
  LtStatus (*preference_create)(LtPreference*) = nullptr;
  LtStatus (*preference_destroy)(LtPreference) = nullptr;
  LtStatus (*preference_set)(LtPreference, LtPreferenceAttribute, const void*, std::size_t) = nullptr;
  LtStatus (*suggest)(LtHandle, LtMatmul, LtLayout a, LtLayout b, LtLayout c, LtLayout d, LtPreference,
                      int most, LtSuggestion*, int* found) = nullptr;
  LtStatus (*matmul)(LtHandle, LtMatmul, const void* alpha, DevicePointer a, LtLayout, DevicePointer b,
                     LtLayout, const void* beta, DevicePointer c, LtLayout, DevicePointer d, LtLayout,
                     const LtAlgorithm*, DevicePointer workspace, std::size_t workspace_bytes,
                     Stream) = nullptr;
};

/// The library, opened at the first call; null where there is none that works, which a line of the log
/// (SINTER_LOG=device) says once.
const LtApi* cublaslt();

/// Stands before every call of the library: it has static objects of its own, which end with the process.
base::ExitGate& cublaslt_gate();

/// "13.1.1".
std::string cublaslt_name(std::uint32_t version);

}  // namespace sinter::runtime::cuda
