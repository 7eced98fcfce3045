// Text for the host: whole vectors are loaded and stored without masks. Masked loads do not train the
// prefetcher of some processors, and masked stores are slow on others.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "jit/emit/llvm/emit.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
using ir::ExprId;
using testing::KernelBuilder;
using testing::KernelCase;

/// What a text does with rows in memory.
struct Accesses {
  int plain_loads = 0, plain_stores = 0;    // of vectors
  int rest_masks = 0;                       // where less than a vector is left
  std::vector<std::string> masks_of_whole;  // masked loads and stores that whole vectors go through
};

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// Follows the blocks of the kernel's function. Less than a vector is left in the loops named "rest", and
/// where a branch asks "whole" and is told no.
Accesses accesses_of(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  Accesses found;
  std::set<std::string> for_the_rest;  // labels
  std::string block, rest_loop;
  while (std::getline(lines, line)) {
    if (starts_with(line, "define ")) block = rest_loop = "";
    if (!line.empty() && line[0] != ' ' && line.back() == ':') {
      block = line.substr(0, line.size() - 1);
      if (starts_with(block, "rest") && rest_loop.empty()) rest_loop = block.substr(0, block.find('.'));
      if (!rest_loop.empty() && block == rest_loop + ".exit") rest_loop.clear();
    }
    // br i1 %whole7, label %L8.then, label %L8.else
    if (starts_with(line, "  br i1 %whole")) for_the_rest.insert(line.substr(line.rfind('%') + 1));
    const bool masked = line.find("call") != std::string::npos &&
                        line.find("@llvm.masked.") != std::string::npos &&
                        line.find("gather") == std::string::npos && line.find("scatter") == std::string::npos;
    const bool in_rest = !rest_loop.empty() || for_the_rest.count(block) > 0;
    if (masked && in_rest) ++found.rest_masks;
    if (masked && !in_rest) found.masks_of_whole.push_back(block + ":" + line);
    if (in_rest) continue;
    found.plain_loads += line.find(" = load <") != std::string::npos;
    found.plain_stores += starts_with(line, "  store <");
  }
  return found;
}

/// y = ((x op x) op x) ... with `operations` operations and, from 3 on, a second operand.
KernelCase chain(DType dtype, int operations) {
  constexpr std::int64_t kSize = 1000;
  KernelBuilder k({kSize});
  const std::vector<double> zeros(kSize);
  const bool half = size_of(dtype) == 2;
  auto load = [&] {
    const ExprId bits = k.load(k.input(dtype, zeros), k.all());
    return half ? k.cast(DType::f32, bits) : bits;
  };
  const bool truth = dtype == DType::boolean;
  const ExprId x = load(), a = operations > 2 ? load() : x;
  ExprId y = x;
  for (int i = 0; i < operations; ++i)
    y = truth ? k.op(i % 2 == 0 ? Op::And : Op::Or, y, a) : k.op(i % 2 == 0 ? Op::Mul : Op::Add, y, a);
  k.store(k.output(dtype, kSize), k.all(), half ? k.cast(dtype, y) : y);
  return k.finish("chain of " + std::to_string(operations));
}

/// Reductions along rows, with `operations` operations before them; `softmax` goes over each row three times.
KernelCase rows(DType dtype, int operations, bool softmax, bool stores_row) {
  constexpr std::int64_t kRows = 5, kRow = 300;
  KernelBuilder k({kRows}, {kRow});
  const bool half = size_of(dtype) == 2;
  ExprId x = k.load(k.input(dtype, std::vector<double>(kRows * kRow)), k.all());
  if (half) x = k.cast(DType::f32, x);
  for (int i = 0; i < operations; ++i) x = k.op(i % 2 == 0 ? Op::Mul : Op::Add, x, x);
  if (softmax) {
    const ExprId e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
    x = k.op(Op::Div, e, k.reduce(Op::Sum, e));
  } else {
    const ExprId sum = k.reduce(Op::Sum, x);
    x = stores_row ? k.op(Op::Sub, x, sum) : sum;
  }
  if (half) x = k.cast(dtype, x);
  const bool row = softmax || stores_row;
  k.store(k.output(dtype, row ? kRows * kRow : kRows), row ? k.all() : k.outer(), x);
  return k.finish("rows");
}

std::vector<emit::LlvmTarget> targets() {
  std::vector<emit::LlvmTarget> all;
  for (const int bytes : {16, 32, 64})
    for (const std::size_t long_body : {std::size_t{0}, std::size_t{12}, emit::LlvmTarget{}.long_body}) {
      emit::LlvmTarget target;
      target.vector_bytes = bytes;
      target.has_gather = bytes > 16;
      target.has_fma = bytes > 16;
      target.long_body = long_body;
      all.push_back(target);
    }
  return all;
}

void check(const KernelCase& c, const char* dtype, int operations, bool stores_row) {
  for (const emit::LlvmTarget& target : targets()) {
    const Accesses found = accesses_of(emit::emit_llvm(c.kernel, target).text);
    INFO(c.name << " of " << dtype << ", " << operations << " operations, vectors of " << target.vector_bytes
                << " bytes, one loop from " << target.long_body << " expressions on");
    CHECK_MESSAGE(found.masks_of_whole.empty(), found.masks_of_whole.size()
                                                    << " masks, first " << found.masks_of_whole.front());
    CHECK(found.plain_loads > 0);
    CHECK((!stores_row || found.plain_stores > 0));
    CHECK(found.rest_masks > 0);  // the rest must not be read or written beyond its end
  }
}

constexpr int kOperations[] = {1, 2, 5, 9, 12, 13, 20, 40};

}  // namespace

TEST_CASE("whole vectors are loaded and stored without masks") {
  for (const DType dtype :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64, DType::boolean})
    for (const int operations : kOperations)
      check(chain(dtype, operations), std::string(name_of(dtype)).c_str(), operations, true);
}

TEST_CASE("rows are reduced without masks, but for their rest") {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i32})
    for (const int operations : kOperations) {
      const std::string name(name_of(dtype));
      check(rows(dtype, operations, false, false), name.c_str(), operations, false);
      check(rows(dtype, operations, false, true), name.c_str(), operations, true);
      if (is_float(dtype)) check(rows(dtype, operations, true, true), name.c_str(), operations, true);
    }
}

TEST_CASE("maths takes eight registers of 64 bytes at a time, which ask ahead, and two of what is left") {
  for (const int operations : {1, 20}) {
    KernelBuilder k({1000});
    ExprId y = k.load(k.input(DType::f32, std::vector<double>(1000)), k.all());
    for (int i = 0; i < operations; ++i) y = k.op(i == 0 ? Op::Tanh : Op::Neg, y);
    k.store(k.output(DType::f32, 1000), k.all(), y);
    const KernelCase c = k.finish("maths");
    emit::LlvmTarget target;
    target.has_gather = target.has_fma = true;
    target.long_body = 12;
    const auto count = [&](int bytes, const std::string& what) {
      target.vector_bytes = bytes;
      const std::string text = emit::emit_llvm(c.kernel, target).text;
      int found = 0;
      for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
      return found;
    };
    CHECK(count(64, " = load <128 x float>") == 1);
    CHECK(count(64, "@llvm.masked.load.v32f32.p0(ptr %") == 1);
    CHECK(count(64, "call void @llvm.prefetch.p0(") == 8);  // lines of 64 bytes
    CHECK(count(32, " = load <16 x float>") == 1);          // there are half as many registers
    CHECK(count(32, "call void @llvm.prefetch.p0(") == 0);
  }
}

TEST_CASE("rows of maths are reduced four registers at a time, and what is left of them one") {
  const KernelCase c = rows(DType::f32, 1, true, true);
  emit::LlvmTarget target;
  target.vector_bytes = 64;
  target.has_gather = target.has_fma = true;
  target.long_body = 0;
  const std::string text = emit::emit_llvm(c.kernel, target).text;
  CHECK(text.find("phi <64 x float>") != std::string::npos);
  CHECK(text.find("phi <16 x float>") != std::string::npos);
  CHECK(text.find("phi <16 x double>") != std::string::npos);  // totals have the lanes of what is left
  CHECK(text.find("phi <64 x double>") == std::string::npos);
}

TEST_CASE("sums of columns ask for the rows ahead, where a row is more than one step of them away") {
  constexpr std::int64_t kRows = 300, kColumns = 512;
  const auto prefetches = [](bool windows) {
    KernelBuilder k = windows ? KernelBuilder({kColumns}, {3, 100}, ir::Schedule::LanesOuter)
                              : KernelBuilder({kColumns}, {kRows}, ir::Schedule::LanesOuter);
    const std::uint16_t across = windows ? k.map({1, 100 * kColumns, kColumns}) : k.map({1, kColumns});
    const ExprId x = k.load(k.input(DType::f32, std::vector<double>(kRows * kColumns)), across);
    k.store(k.output(DType::f32, kColumns), k.outer(), k.reduce(Op::Sum, x));
    emit::LlvmTarget target;
    target.vector_bytes = 64;
    const std::string text = emit::emit_llvm(k.finish("columns").kernel, target).text;
    return text.find("call void @llvm.prefetch.p0(") != std::string::npos;
  };
  CHECK(prefetches(false));
  CHECK_FALSE(prefetches(true));  // several loops are mostly short ones, such as windows
}

TEST_CASE("a long body is written once where the target asks for it") {
  // What compiling takes follows the length of the text.
  const KernelCase c = chain(DType::f32, 40);
  emit::LlvmTarget target;
  target.vector_bytes = 64;
  const std::string twice = emit::emit_llvm(c.kernel, target).text;
  target.long_body = 12;
  const std::string once = emit::emit_llvm(c.kernel, target).text;
  const auto products = [](const std::string& text) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(" fmul ", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(products(once) == 20);
  CHECK(products(twice) == 40);
}
