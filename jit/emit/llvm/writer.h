// Text of one LLVM function: values, vectors, memory, loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sinter/dtype.h>

namespace sinter::emit {

/// Declarations and internal functions that the functions of a module share.
struct LlvmModule {
  bool typed_pointers = false;
  std::set<std::string> declarations;
  std::map<std::string, std::string> functions;  // by name
};

/// "float"; a truth value is i1.
const char* llvm_type(DType dtype);
/// The element type in memory: a truth value is a byte.
const char* llvm_memory_type(DType dtype);
/// "f32", as intrinsics are named after their types.
const char* llvm_suffix(DType dtype);
/// A constant; floats in the hexadecimal form that loses nothing.
std::string llvm_real(DType dtype, double value);

/// Something carried from one pass of a loop to the next.
struct LlvmCarried {
  std::string type, value;
};

class LlvmWriter {
 public:
  LlvmWriter(LlvmModule& module, int lanes) : module_(module), lanes_(lanes), most_lanes_(lanes) {}

  int lanes() const { return lanes_; }
  /// Vectors from here on. Names of vectors that were made before are of no use while it is another number.
  void set_lanes(int lanes) {
    lanes_ = lanes;
    most_lanes_ = std::max(most_lanes_, lanes);
  }
  /// What memory for vectors has to have room for.
  int most_lanes() const { return most_lanes_; }
  LlvmModule& module() { return module_; }

  // --- values
  /// "%v7 = instruction"; gives the name.
  std::string value(const std::string& instruction);
  /// The same under a name that tells what it is: "%whole7".
  std::string named(const std::string& name, const std::string& instruction);
  /// Writes what `emit` writes into the block that the function starts with, whose values are at hand
  /// everywhere.
  template <class Emit>
  auto in_entry(Emit emit) {
    const bool before = std::exchange(to_entry_, true);
    auto result = emit();
    to_entry_ = before;
    return result;
  }
  void line(const std::string& instruction);

  std::string vector_of(const std::string& type) const { return vector_of(type, lanes_); }
  static std::string vector_of(const std::string& type, int lanes) {
    return "<" + std::to_string(lanes) + " x " + type + ">";
  }
  std::string type(DType dtype, bool vector) const {
    return vector ? vector_of(llvm_type(dtype)) : llvm_type(dtype);
  }
  std::string suffix(DType dtype, bool vector) const {
    return (vector ? "v" + std::to_string(lanes_) : "") + llvm_suffix(dtype);
  }
  /// All lanes equal to a scalar; numbers become constants.
  std::string splat(const std::string& type, const std::string& scalar);
  /// <0, 1, 2, ...>.
  std::string iota(const std::string& type) const;
  /// A floating constant, in all lanes if `vector`.
  std::string real(DType dtype, bool vector, double number);
  std::string integer(DType dtype, bool vector, std::int64_t number);
  /// Calls an intrinsic or a function that takes and gives values of the types named; declares it.
  std::string intrinsic(const std::string& name, const std::string& result,
                        const std::vector<std::pair<std::string, std::string>>& arguments);
  std::string first_lane(const std::string& vector_type, const std::string& vector);

  // --- memory
  std::string pointer_to(const std::string& type) const {
    return module_.typed_pointers ? type + "*" : "ptr";
  }
  /// Part of an intrinsic's name: a pointer to elements of `dtype`, or to vectors of them.
  std::string pointer_suffix(const std::string& pointee) const {
    return module_.typed_pointers ? "p0" + pointee : "p0";
  }
  std::string cast_pointer(const std::string& from, const std::string& to, const std::string& pointer);
  std::string element(const std::string& type, const std::string& pointer, const std::string& index);
  std::string load(const std::string& type, const std::string& pointer, int align);
  /// `streams`: past the caches.
  void store(const std::string& type, const std::string& value, const std::string& pointer, int align,
             bool streams = false);
  /// Memory of the function's own, aligned for any vector; a pointer to bytes.
  std::string local(std::size_t bytes);

  // --- control
  /// for (i = begin; i < end; i += step) carried = body(i, carried); gives what is carried in the end. The
  /// loop's labels begin with `name`.
  using Names = std::vector<std::string>;
  Names loop(const std::string& begin, const std::string& end, const std::string& step,
             const std::vector<LlvmCarried>& carried,
             const std::function<Names(const std::string&, const Names&)>& body,
             const std::string& name = "L");
  /// if (condition) body(); nothing that body defines may be used behind it. A body that returns does not go
  /// on.
  void when(const std::string& condition, const std::function<void()>& body, bool goes_on = true);

  /// if (condition) yes(); else no(); nothing that either defines may be used behind it.
  void choose(const std::string& condition, const std::function<void()>& yes,
              const std::function<void()>& no);

  /// condition ? yes() : otherwise, computing yes() only where it is wanted.
  std::string either(const std::string& condition, const std::string& type,
                     const std::function<std::string()>& yes, const std::string& otherwise);
  /// condition ? yes() : no(), computing only one of them.
  std::string pick(const std::string& condition, const std::string& type,
                   const std::function<std::string()>& yes, const std::function<std::string()>& no);

  /// "define ... { ... }" around all that was written.
  std::string function(const std::string& head) const;

 private:
  std::string label(const std::string& name = "L") { return name + std::to_string(labels_++); }

  LlvmModule& module_;
  int lanes_, most_lanes_;
  std::string entry_, body_;
  bool to_entry_ = false;
  int values_ = 0, labels_ = 0;
  std::map<std::string, std::string> constants_;
};

}  // namespace sinter::emit
