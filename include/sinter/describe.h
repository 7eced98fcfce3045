// A module as text: the tree of its sub-modules, the shapes of their tensors, the number of parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/module.h>

namespace sinter {
namespace detail {

// Compilers print "auto f() [with T = ns::Name<int>]" or "auto f() [T = ns::Name<int>]": the type is between
// "T = " and the bracket. The result is `auto`, since g++ would explain the name of any alias in the
// signature there as well.
template <class T>
consteval auto spelled_type() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("T = ") + 4);
  return text.substr(0, text.rfind(']'));
}

// The name of a type without namespaces, enclosing classes and functions, also in template arguments.
SINTER_API std::string unqualified(std::string_view name);

class SINTER_API ModuleTree {
 public:
  ModuleTree();
  ~ModuleTree();
  ModuleTree(const ModuleTree&) = delete;
  ModuleTree& operator=(const ModuleTree&) = delete;

  // Returns the number of parameters within the module.
  template <class T>
  std::int64_t add_module(const std::string& path, T& module) {
    const std::size_t line = begin(path, spelled_type<std::remove_cv_t<T>>());
    std::int64_t count = 0;
    auto add_field = [&](std::string_view name, auto& field) {
      count += add_within(std::string(name), field, line);
    };
    visit_fields_of(module, add_field);
    end(line, count);
    return count;
  }

  // Adds the tensors and modules that `object` is or wraps. A tensor appears on the line of the module that
  // owns it.
  template <class T>
  std::int64_t add_within(std::string path, T& object, std::size_t owner) {
    std::int64_t count = 0;
    auto add = [&](const std::string& name, auto& found) {
      if constexpr (IsTensor<std::remove_reference_t<decltype(found)>>) {
        count += add_tensor(name, found, owner, false);
      } else if constexpr (IsBuffer<std::remove_reference_t<decltype(found)>>) {
        add_tensor(name, found, owner, true);
      } else {
        count += add_module(name, found);
      }
    };
    visit<TensorOrModule>(object, path, add);
    return count;
  }

  std::string text(std::int64_t total) const;

  static constexpr std::size_t kNoOwner = static_cast<std::size_t>(-1);

 private:
  struct Line {
    std::size_t depth;
    std::string text;
    std::int64_t count;
  };
  struct TensorOrModule {
    template <class T>
    static constexpr bool matches = IsTensor<T> || IsBuffer<T> || Fielded<T>;
  };

  // Of a module: its line, and what is known when its fields have been visited.
  std::size_t begin(const std::string& path, std::string_view type);
  void end(std::size_t line, std::int64_t count);
  void add_line(const std::string& name, const std::string& shape, std::int64_t count, std::size_t owner,
                bool is_buffer);
  template <class T>
  std::int64_t add_tensor(const std::string& name, const T& tensor, std::size_t owner, bool is_buffer) {
    const bool defined = tensor.defined();
    const bool is_tied = defined && !is_buffer && !seen_.is_new(tensor);
    const std::int64_t count = defined && !is_tied ? tensor.shape().numel() : 0;
    if constexpr (requires { tensor.requires_grad(); })
      if (defined && is_float(tensor.dtype())) (tensor.requires_grad() ? trained_ : frozen_) += count;
    const std::string shape = defined ? to_string(tensor.shape()) : std::string("empty");
    add_line(name, is_tied ? shape + " tied" : shape, count, owner, is_buffer);
    return count;
  }

  std::vector<Line> lines_;
  std::size_t depth_ = 0;
  SeenOnce seen_;
  std::int64_t trained_ = 0,
               frozen_ = 0;  // elements of floating-point tensors that require a gradient, or none
};

}  // namespace detail

/// Describes the module as a tree, a line for each sub-module: its path within its parent, its type, its own
/// tensors and buffers with their shapes, and the number of parameters in it and below. A parameter that is
/// reached on several paths is counted where it comes first, and "tied" elsewhere. Where some parameters
/// require a gradient and others none, the last line says how many are frozen. Visits the same fields as
/// visit_parameters().
///
///   Mlp, 407050 parameters
///     hidden: Linear, weight (512, 784), bias (512), 401920 parameters
///     act: Gelu, 0 parameters
///     out: Linear, weight (10, 512), bias (10), 5130 parameters
///   total: 407050 parameters
template <class M>
std::string describe(const M& module) {
  detail::ModuleTree tree;
  const std::int64_t total = tree.add_within("", module, detail::ModuleTree::kNoOwner);
  return tree.text(total);
}

}  // namespace sinter
