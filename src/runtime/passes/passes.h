// Library ops that are a few short kernels, one after the other, and the same on every GPU: the bodies are
// written in what CUDA C++ and GLSL have in common (kernels/*.inc), each device adds the head of its
// language. Of a workgroup that works together the head has BARRIER, and TEAM_BARRIER for 32 lanes in a row;
// ATOMIC_ADD and ATOMIC_OR of its memory. ADD_TO adds to an i32 that others add to, RAISE_TO makes it as
// great, or a Key. Of a list that joins the head has ADD_TERM_TO, which adds to a T or to a Wide, an integer
// of 64 bits, and what its devices have besides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/library/counting.h"
#include "jit/library/custom.h"
#include "jit/library/fourier.h"
#include "jit/library/indexed_join.h"
#include "jit/library/indexed_sum.h"
#include "jit/library/scan.h"
#include "jit/library/segments.h"
#include "jit/library/sort.h"
#include "src/runtime/library_table.h"

namespace sinter::runtime {

/// A buffer as a pass sees it; its body reads and writes element i as `name(i)`.
struct PassBuffer {
  enum class Of : std::uint8_t { Operand, Result, Workspace };
  std::string name;
  DType dtype = DType::f32;
  Of of = Of::Operand;
  std::size_t number = 0;             // of the operand or the result
  std::int64_t first = 0, numel = 0;  // elements of it that the pass sees, from `first` on
  bool written = false;
  bool shared = false;  // read, or written by atomic operations, too
};

/// One kernel. Each lane has one `row` and up to kColumns columns: `column`, `column + width`, ...
struct Pass {
  std::string name;  // of its entry: sinter_ and this
  std::string body;  // file in kernels/; none: the texts below
  std::string defines;
  std::vector<PassBuffer> buffers;
  std::int64_t rows = 0, columns = 1;
  std::vector<std::pair<std::string, std::int64_t>> ints;  // constants that the body knows by name
  std::int64_t most_rounds = 0;                            // of all loops, for one lane
  int lanes = 256;                                         // of a workgroup
  std::string cuda = {}, glsl = {};                        // bodies that are made, or came with a program
  int shared_words = 0;                                    // of 32 bits, that a workgroup has as `memory`
  int least_groups = 1;                                    // that a multiprocessor has registers for

  static constexpr int kColumns = 4;
  /// log2 of the lanes that share a row.
  int width_bits() const;
  /// Workgroups that share a row.
  std::int64_t tiles() const;
  /// All workgroups; 0: nothing to do.
  std::int64_t groups() const;
};

struct PassList {
  DType dtype = DType::f32;  // the bodies' T
  // What the bodies call, in what both languages have in common; with T and Key, a signed integer of T's
  // size. May itself call functions of the prelude (jit/emit/dialects/prelude.h).
  std::string functions;
  std::vector<Pass> passes;
  bool joins = false;  // the head has what joins terms in memory
  // CUDA: a product and a sum may be one instruction, which rounds once.
  bool contracts = false;
  std::size_t workspace_bytes = 0;
  std::size_t results = 1;
};

/// What passes ask of a device.
struct PassDevice {
  // A workgroup may wait for one that has begun, which goes on meanwhile. CUDA promises that, Vulkan does
  // not.
  bool waits = false;
  // Of a workgroup: words of 32 bits of its memory, and lanes. Every device has as many.
  std::int64_t shared_words = 4096, most_lanes = 256;
  bool adds_wide = false;  // atomic operations of 64 bits
  bool adds_floats = false,
       adds_doubles = false;  // atomically, in memory; else they are compared and swapped
  bool adds_fours = false;    // likewise, and four neighbours with one instruction where the device has one
};

/// Functions of the op and the device alone, so that results have the same bits on every run.
PassList passes_of(const library::SortIndicesOp& op);
PassList passes_of(const library::SegmentSumOp& op);
PassList passes_of(const library::IndexedSumOp& op);
PassList passes_of(const library::IndexedJoinOp& op, PassDevice device = {});
PassList passes_of(const library::CountingOp& op);
PassList passes_of(const library::ScanOp& op, PassDevice device = {});
PassList passes_of(const library::FourierOp& op, PassDevice device = {});
PassList passes_of(const library::SortOp& op, PassDevice device = {});
PassList passes_of(const library::SearchSortedOp& op);
PassList passes_of(const library::CustomOp& op);

/// Functions for bodies: `Key key_of(T x)`, which orders numbers as its results are ordered: NaN last, both
/// zeros alike. `Key reversed_key_of(T x)` orders them the other way round, NaN last again where `nan_last`.
std::string key_functions(DType dtype, bool nan_last);

/// Fills a buffer with a number, or with zeros, which a pass after it counts on.
Pass fill(PassBuffer buffer, const std::string& number);
Pass fill_zeros(PassBuffer buffer);

/// A pass over all elements of `buffer`, four for each lane, which its body writes as `shown`.
Pass over_all(const std::string& name, const std::string& body, PassBuffer buffer);

/// The other way round, of T's that are stored as Keys: `function` gives a T of a Key.
Pass numbers_of_keys(PassBuffer keys, const std::string& function);

/// The text of a file in kernels/, with those that it includes.
std::string body_text(const std::string& file);

/// Kind to passes.
LibraryTable<PassList(const library::LibraryOp&, PassDevice)>& pass_table();

}  // namespace sinter::runtime
