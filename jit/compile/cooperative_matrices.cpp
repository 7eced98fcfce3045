// Translates SPIR-V, word by word.
#include "jit/compile/cooperative_matrices.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <sinter/error.h>

#include "jit/emit/contraction/matrix_scopes.h"

namespace sinter::compile {
namespace {

using emit::MatrixUse;
using Words = std::span<const std::uint32_t>;

constexpr std::uint32_t kMagic = 0x07230203, kHeader = 5, kIdBound = 3;

// Instructions, as the specification of SPIR-V and those of its extensions number them.
enum Op : std::uint32_t {
  kExtension = 10,
  kCapability = 17,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeArray = 28,
  kTypePointer = 32,
  kConstantTrue = 41,
  kConstantFalse = 42,
  kConstant = 43,
  kFunction = 54,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kConvert = 115,
  kTypeMatrixNv = 5358,
  kLoadNv = 5359,
  kStoreNv = 5360,
  kMulAddNv = 5361,
  kLengthNv = 5362,
  kTypeMatrixKhr = 4456,
  kLoadKhr = 4457,
  kStoreKhr = 4458,
  kMulAddKhr = 4459,
  kLengthKhr = 4460,
};
constexpr std::uint32_t kMatrixNv = 5357, kMatrixKhr = 6022;  // capabilities
constexpr std::uint32_t kBf16Type = 5116, kBf16Matrix = 5118;
constexpr std::uint32_t kBf16Encoding = 0;  // of floats
constexpr std::uint32_t kRowMajor = 0, kColumnMajor = 1;
constexpr std::string_view kNvName = "SPV_NV_cooperative_matrix", kKhrName = "SPV_KHR_cooperative_matrix",
                           kBf16Name = "SPV_KHR_bfloat16";

[[noreturn]] void refuse(const std::string& what) {
  throw CompileError("[vulkan] cooperative matrices: " + what);
}

/// Calls for each instruction, the first word of which has its length and its number.
template <class Visit>
void for_instructions(Words module, Visit visit) {
  if (module.size() < kHeader || module[0] != kMagic) refuse("the module is no SPIR-V");
  for (std::size_t at = kHeader; at < module.size();) {
    const std::size_t length = module[at] >> 16;
    if (length == 0 || at + length > module.size()) refuse("an instruction goes beyond the module's end");
    visit(module[at] & 0xffff, module.subspan(at, length));
    at += length;
  }
}

/// Throws where an instruction has fewer words.
void need(Words words, std::size_t count) {
  if (words.size() < count)
    refuse("an instruction " + std::to_string(words[0] & 0xffff) + " with too few operands");
}

std::string_view text_of(Words words) {
  const auto* text = reinterpret_cast<const char*>(words.data());
  return {text, std::find(text, text + words.size_bytes(), '\0')};
}

class Translation {
 public:
  explicit Translation(Words module) : module_(module) {
    for_instructions(module, [&](std::uint32_t op, Words words) { note(op, words); });
  }

  std::vector<std::uint32_t> result() {
    to_.assign(module_.begin(), module_.begin() + kHeader);
    for_instructions(module_, [&](std::uint32_t op, Words words) { translate(op, words); });
    to_[kIdBound] += new_ids_;
    return std::move(to_);
  }

 private:
  struct Marked {
    MatrixUse use;
    bool is_bf16;
  };

  void note(std::uint32_t op, Words words) {
    if (op == kConstant && words.size() == 4) constants_[words[2]] = {words[1], words[3]};
    if (op == kConstantTrue) truths_[words[2]] = true;
    if (op == kConstantFalse) truths_[words[2]] = false;
    if (op == kTypeInt && words[2] == 32 && words[3] == 0) uint_type_ = words[1];
    if (op == kTypeFloat && words.size() == 3) floats_[words[1]] = words[2];
    if (op == kTypeMatrixNv && marked(words).is_bf16) bf16_matrices_.insert(words[1]);
    note_elements(op, words);
  }

  /// Where elements of matrices of bf16 are written, one by one.
  void note_elements(std::uint32_t op, Words words) {
    switch (op) {
      case kTypeArray:
        need(words, 3);
        if (bf16_matrices_.count(words[2])) bf16_matrices_.insert(words[1]);
        break;
      case kTypePointer:
        need(words, 4);
        points_to_[words[1]] = words[3];
        break;
      case kVariable:
        need(words, 4);
        if (bf16_matrices_.count(points_to_[words[1]])) bf16_variables_.insert(words[2]);
        break;
      case kAccessChain:
        need(words, 4);
        if (bf16_variables_.count(words[3]) && is_half(points_to_[words[1]])) bf16_elements_.insert(words[2]);
        break;
      case kConvert:
        need(words, 4);
        if (is_half(words[1])) rounded_[words[2]] = words[3];
        break;
      default: break;
    }
  }
  bool is_half(std::uint32_t type) const {
    const auto width = floats_.find(type);
    return width != floats_.end() && width->second == 16;
  }

  /// What the type says by its scope.
  Marked marked(Words type) const {
    need(type, 6);
    const auto found = constants_.find(type[3]);
    if (found == constants_.end()) refuse("a type whose scope is no constant");
    const std::uint32_t scope = found->second.value;
    for (const MatrixUse use : {MatrixUse::A, MatrixUse::B, MatrixUse::Sum})
      for (const bool is_bf16 : {false, true})
        if (scope == emit::marked_scope(use, is_bf16)) {
          if (is_bf16 && !is_half(type[2])) refuse("a type of bf16 that has no 16 bits");
          return {use, is_bf16};
        }
    refuse("a type of scope " + std::to_string(scope) + ", which says of no use");
  }

  void translate(std::uint32_t op, Words words) {
    switch (op) {
      case kCapability:
        if (words[1] != kMatrixNv) break;
        put(kCapability, {kMatrixKhr});
        if (has_bf16()) put(kCapability, {kBf16Type}), put(kCapability, {kBf16Matrix});
        return;
      case kExtension:
        if (text_of(words.subspan(1)) != kNvName) break;
        put_extension(kKhrName);
        if (has_bf16()) put_extension(kBf16Name);
        return;
      case kTypeMatrixNv: return put_type(words);
      case kFunction:
        // Layouts are constants, which stand before all functions.
        if (!std::exchange(are_layouts_there_, true)) put_layouts();
        break;
      case kLoadNv: return put_load(words);
      case kStoreNv: return put_store(words);
      case kMulAddNv: return put_renumbered(kMulAddKhr, words);
      case kLengthNv: return put_renumbered(kLengthKhr, words);
      case kTypePointer:
        to_.insert(to_.end(), words.begin(), words.end());
        if (has_bf16() && is_half(words[3])) put_bf16_pointer(words);
        return;
      case kAccessChain:
        if (bf16_elements_.count(words[2])) return put_bf16_access(words);
        break;
      case kLoad:
        need(words, 4);
        if (bf16_elements_.count(words[3])) refuse("an element of bf16 that is read");
        break;
      case kStore:
        need(words, 3);
        if (bf16_elements_.count(words[1])) return put_bf16_store(words);
        break;
      default: break;
    }
    to_.insert(to_.end(), words.begin(), words.end());
  }

  /// Scope and use are constants that the module may lack.
  void put_type(Words words) {
    const Marked type = marked(words);
    const std::uint32_t scope = constant(emit::kSubgroupScope),
                        use = constant(static_cast<std::uint32_t>(type.use));
    put(kTypeMatrixKhr, {words[1], type.is_bf16 ? bf16_type() : words[2], scope, words[4], words[5], use});
  }

  std::uint32_t bf16_type() {
    if (bf16_type_ == 0) {
      bf16_type_ = new_id();
      put(kTypeFloat, {bf16_type_, 16, kBf16Encoding});
    }
    return bf16_type_;
  }

  // In the text elements are 16-bit floats of the other kind, to which numbers are rounded right before. In
  // the matrices they are bf16, and so is what these numbers are rounded to.
  void put_bf16_pointer(Words words) {
    const std::uint32_t id = new_id();
    put(kTypePointer, {id, words[2], bf16_type()});
    bf16_pointers_[words[1]] = id;
  }
  void put_bf16_access(Words words) {
    std::vector<std::uint32_t> operands(words.begin() + 1, words.end());
    operands[0] = bf16_pointers_.at(words[1]);
    put(kAccessChain, operands);
  }
  void put_bf16_store(Words words) {
    const auto number = rounded_.find(words[2]);
    if (number == rounded_.end()) refuse("an element of bf16 that is no number rounded to 16 bits");
    const std::uint32_t id = new_id();
    put(kConvert, {bf16_type(), id, number->second});
    std::vector<std::uint32_t> operands(words.begin() + 1, words.end());
    operands[1] = id;
    put(kStore, operands);
  }

  // A matrix type takes numbers, so the type of these stands before.
  std::uint32_t constant(std::uint32_t value) {
    if (uint_type_ == 0) refuse("a module without whole numbers");
    std::uint32_t& id = own_constants_[value];
    if (id == 0) {
      id = new_id();
      put(kConstant, {uint_type_, id, value});
    }
    return id;
  }

  void put_layouts() {
    for (const std::uint32_t layout : {kRowMajor, kColumnMajor}) constant(layout);
  }
  std::uint32_t layout(std::uint32_t is_column_major) {
    const auto found = truths_.find(is_column_major);
    if (found == truths_.end()) refuse("a layout that is no constant");
    return constant(found->second ? kColumnMajor : kRowMajor);
  }

  // Type, result, pointer; the layout comes before the stride; what is said of memory stays.
  void put_load(Words words) {
    need(words, 6);
    std::vector<std::uint32_t> operands = {words[1], words[2], words[3], layout(words[5]), words[4]};
    operands.insert(operands.end(), words.begin() + 6, words.end());
    put(kLoadKhr, operands);
  }
  // Pointer and matrix, likewise.
  void put_store(Words words) {
    need(words, 5);
    std::vector<std::uint32_t> operands = {words[1], words[2], layout(words[4]), words[3]};
    operands.insert(operands.end(), words.begin() + 5, words.end());
    put(kStoreKhr, operands);
  }

  void put_renumbered(std::uint32_t op, Words words) {
    put(op, std::vector<std::uint32_t>(words.begin() + 1, words.end()));
  }

  void put_extension(std::string_view name) {
    std::vector<std::uint32_t> words(name.size() / 4 + 1, 0);
    std::memcpy(words.data(), name.data(), name.size());
    put(kExtension, words);
  }

  void put(std::uint32_t op, const std::vector<std::uint32_t>& operands) {
    to_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | op);
    to_.insert(to_.end(), operands.begin(), operands.end());
  }

  std::uint32_t new_id() { return module_[kIdBound] + new_ids_++; }

  struct Constant {
    std::uint32_t type, value;
  };

  const Words module_;
  std::map<std::uint32_t, Constant> constants_;  // of 32 bits, by id
  std::map<std::uint32_t, bool> truths_;
  std::map<std::uint32_t, std::uint32_t> floats_;  // bits
  std::uint32_t uint_type_ = 0;
  bool has_bf16() const { return !bf16_matrices_.empty(); }

  std::map<std::uint32_t, std::uint32_t> points_to_;  // by pointer type
  /// Matrices of bf16, and arrays of them; variables of these types; pointers to elements.
  std::set<std::uint32_t> bf16_matrices_, bf16_variables_, bf16_elements_;
  std::map<std::uint32_t, std::uint32_t> rounded_;        // to 16-bit floats: of what number
  std::map<std::uint32_t, std::uint32_t> bf16_pointers_;  // by the type of those to the text's floats

  std::vector<std::uint32_t> to_;
  std::uint32_t new_ids_ = 0, bf16_type_ = 0;
  std::map<std::uint32_t, std::uint32_t> own_constants_;
  bool are_layouts_there_ = false;
};

}  // namespace

bool has_nv_matrices(Words module) {
  bool has = false;
  for_instructions(module, [&](std::uint32_t op, Words words) {
    has |= op == kCapability && words.size() > 1 && words[1] == kMatrixNv;
  });
  return has;
}

std::vector<std::uint32_t> with_khr_matrices(Words module) { return Translation(module).result(); }

}  // namespace sinter::compile
