// Makes operations of kernels that a program brings along.
#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include <sinter/custom_kernel.h>

#include "jit/library/custom.h"
#include "jit/library/kinds.h"
#include "src/base/fork.h"
#include "src/runtime/custom_kernels.h"
#include "src/tensor/apply.h"
#include "src/trace/trace.h"

namespace sinter {

namespace {

constexpr std::size_t kMostOutputs = 8, kMostSizes = 16;
constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void fail(const std::string& name, const std::string& text) {
  throw Error("[custom_kernel] " + name + ": " + text);
}

bool is_identifier(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) || text.starts_with("gl_"))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
}

/// Names that the heads of kernels use themselves (src/runtime/cuda/pass_text.cpp and Vulkan's).
constexpr std::string_view kTaken[] = {"thread", "threads",   "Index",  "T",          "Key",   "BITS",
                                       "LANES",  "COLUMNS",   "UNROLL", "width_bits", "tiles", "row",
                                       "width",  "column",    "words",  "main",       "lane",  "u32",
                                       "SN_FN",  "workgroup", "i64",    "FROM_BITS"};

void check(const CustomKernelSource& source) {
  if (!is_identifier(source.name)) fail(source.name, "the name is no identifier");
  if (source.inputs.empty() || source.inputs.size() > trace::kMostOperands)
    fail(source.name, "a kernel has 1 to " + std::to_string(trace::kMostOperands) + " inputs, not " +
                          std::to_string(source.inputs.size()));
  if (source.outputs.empty() || source.outputs.size() > kMostOutputs)
    fail(source.name, "a kernel has 1 to " + std::to_string(kMostOutputs) + " outputs, not " +
                          std::to_string(source.outputs.size()));
  if (source.sizes.size() > kMostSizes)
    fail(source.name, "a kernel has up to " + std::to_string(kMostSizes) + " sizes, not " +
                          std::to_string(source.sizes.size()));
  std::vector<std::string> names;
  for (const std::vector<std::string>* some : {&source.inputs, &source.outputs, &source.sizes})
    for (const std::string& name : *some) {
      const bool taken = std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken) ||
                         std::find(names.begin(), names.end(), name) != names.end();
      if (!is_identifier(name) || taken)
        fail(source.name, "\"" + name + "\" " + (taken ? "is taken already" : "is no identifier"));
      names.push_back(name);
    }
  if (source.source.empty() && source.cuda.empty() && source.glsl.empty() && !source.host)
    fail(source.name, "there is neither a source nor a host function");
}

bool alike(const CustomKernelSource& a, const CustomKernelSource& b) {
  const auto texts = [](const CustomKernelSource& s) {
    return std::tie(s.inputs, s.outputs, s.sizes, s.source, s.cuda, s.glsl, s.functions);
  };
  return texts(a) == texts(b);
}

/// Kinds by name. Never destroyed: devices may outlive static objects.
struct Known {
  base::ForkMutex mutex;
  std::map<std::string, library::Custom*> kinds;
};

const library::Custom* kind_of(CustomKernelSource source) {
  static auto* known = new Known;
  const std::lock_guard lock(known->mutex);
  const auto [at, added] = known->kinds.try_emplace(source.name);
  if (!added) {
    if (!at->second || !alike(at->second->source(), source))
      fail(source.name, "there is another kernel of this name");
    return at->second;
  }
  auto* kind = new library::Custom(std::move(source));
  try {
    library::add_kind(*kind);
  } catch (...) {
    delete kind;
    known->kinds.erase(at);
    throw;
  }
  at->second = kind;
  runtime::add_rows(*kind);
  return kind;
}

}  // namespace

std::int64_t KernelArguments::size(std::size_t number) const {
  if (number >= sizes_.size())
    throw Error("[custom_kernel] there is no size " + std::to_string(number) + ", there are " +
                std::to_string(sizes_.size()));
  return sizes_[number];
}

const KernelArguments::Buffer& KernelArguments::checked(std::span<const Buffer> buffers, std::size_t number,
                                                        DType dtype) {
  if (number >= buffers.size())
    throw Error("[custom_kernel] there is no tensor " + std::to_string(number) + ", there are " +
                std::to_string(buffers.size()));
  if (buffers[number].dtype != dtype)
    throw DTypeError("[custom_kernel] tensor " + std::to_string(number) + " is " +
                     std::string(name_of(buffers[number].dtype)) + " here, not " +
                     std::string(name_of(dtype)));
  return buffers[number];
}

CustomKernel::CustomKernel(CustomKernelSource source) {
  check(source);
  kind_ = kind_of(std::move(source));
}

std::vector<AnyTensor> CustomKernel::operator()(const std::vector<AnyTensor>& inputs, const Launch& launch,
                                                Location where) const {
  const auto& kind = *static_cast<const library::Custom*>(kind_);
  const CustomKernelSource& source = kind.source();
  const auto expect = [&](const char* what, std::size_t wanted, std::size_t given) {
    if (wanted != given)
      throw Error("[" + source.name + "] has " + std::to_string(wanted) + " " + what + ", not " +
                      std::to_string(given),
                  where);
  };
  expect("inputs", source.inputs.size(), inputs.size());
  expect("outputs", source.outputs.size(), launch.outputs.size());
  expect("sizes", source.sizes.size(), launch.sizes.size());
  std::vector<std::int64_t> ints{launch.threads};
  ints.insert(ints.end(), launch.sizes.begin(), launch.sizes.end());
  for (std::size_t i = 0; i < ints.size(); ++i)
    if (ints[i] < 0 || ints[i] > kMostSize)
      throw ShapeError("[" + source.name + "] " + (i == 0 ? "threads" : source.sizes[i - 1]) + " is " +
                           std::to_string(ints[i]) + ", not between 0 and " + std::to_string(kMostSize),
                       where);
  for (const Output& output : launch.outputs) {
    ints.push_back(static_cast<std::int64_t>(output.dtype));
    ints.push_back(static_cast<std::int64_t>(output.shape.rank()));
    for (std::int64_t size : output.shape) {
      if (size < 0)
        throw ShapeError("[" + source.name + "] an output of shape " + to_string(output.shape), where);
      ints.push_back(size);
    }
  }
  const std::vector<tensor::Operand> operands(inputs.begin(), inputs.end());
  std::vector<AnyTensor> results(source.outputs.size());
  tensor::apply_library(kind, operands, ints, results, where);
  return results;
}

}  // namespace sinter
