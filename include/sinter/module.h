// Modules: any struct that holds tensors. Visits the tensors in it, at any depth, with their names.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sinter/reflect.h>

namespace sinter {

struct Float;
struct Int;
struct Bool;
template <std::size_t Rank, class Kind>
class Tensor;

/// True for the types that visit_parameters() reports.
template <class T>
inline constexpr bool is_tensor_v = false;
template <std::size_t Rank, class Kind>
inline constexpr bool is_tensor_v<Tensor<Rank, Kind>> = true;

template <class T>
concept IsTensor = is_tensor_v<std::remove_cv_t<T>>;

namespace detail {

struct ProbeVisitor {
  template <class Field>
  void operator()(std::string_view, Field&) const {}
};

// A class that lists its own fields: visit_fields(f) calls f(name, field) for each.
template <class T>
concept VisitsItself = requires(T& object, ProbeVisitor visitor) {
  object.visit_fields(visitor);
};

// std::vector, std::array, std::deque and the like. Maps and sets have no lasting order or no mutable
// elements, and a std::vector<bool> has no elements at all.
template <class T>
concept Sequence = reflect::detail::Container<T> &&
    std::is_lvalue_reference_v<decltype(*std::declval<T&>().begin())> && !requires {
  typename T::key_type;
};

template <class T>
concept Optional = requires(T& object) {
  typename T::value_type;
  { object.has_value() } -> std::same_as<bool>;
  *object;
};

// std::unique_ptr and std::shared_ptr of one object.
template <class T>
concept OwningPointer = requires(T& object) {
  typename T::element_type;
  object.get();
  { *object } -> std::same_as<typename T::element_type&>;
  static_cast<bool>(object);
};

template <class T>
concept TupleLike = requires {
  std::tuple_size<std::remove_cv_t<T>>::value;
};

template <class T>
inline constexpr bool kIsNumber =
    std::is_arithmetic_v<std::remove_cv_t<T>> || std::is_enum_v<std::remove_cv_t<T>>;

// Appends a part to a path for as long as it lives.
class PathPart {
 public:
  PathPart(std::string& path, std::string_view part) : path_(path), size_(path.size()) {
    if (!path.empty()) path += '.';
    path += part;
  }
  PathPart(std::string& path, std::size_t index) : PathPart(path, std::to_string(index)) {}
  ~PathPart() { path_.resize(size_); }
  PathPart(const PathPart&) = delete;
  PathPart& operator=(const PathPart&) = delete;

 private:
  std::string& path_;
  std::size_t size_;
};

// A pointer's constness says nothing about what it points to: what a const module owns is const here.
template <class Owner, class Owned>
auto& as_const_as(Owned& owned) {
  if constexpr (std::is_const_v<Owner>) {
    return std::as_const(owned);
  } else {
    return owned;
  }
}

template <class Leaf, class T, class F>
void visit(T& object, std::string& path, F& f);

template <class Leaf, class Range, class F>
void visit_elements(Range& range, std::string& path, F& f) {
  std::size_t index = 0;
  for (auto& element : range) {
    PathPart part(path, index++);
    visit<Leaf>(element, path, f);
  }
}

template <class Leaf, class T, class F, std::size_t... I>
void visit_tuple(T& tuple, std::string& path, F& f, std::index_sequence<I...>) {
  using std::get;
  [[maybe_unused]] auto visit_one = [&](std::size_t index, auto& element) {
    PathPart part(path, index);
    visit<Leaf>(element, path, f);
  };
  (visit_one(I, get<I>(tuple)), ...);
}

// A class that is visited field by field, and is no wrapper or collection of something else.
template <class T>
concept Fielded = VisitsItself<std::remove_const_t<T>> ||
    (reflect::Reflectable<T> && !Sequence<T> && !Optional<T> && !OwningPointer<T> && !TupleLike<T>);

template <class T, class F>
void visit_fields_of(T& object, F& f) {
  if constexpr (VisitsItself<T>) {
    object.visit_fields(f);
  } else if constexpr (VisitsItself<std::remove_const_t<T>>) {
    static_assert(VisitsItself<T>, "this class needs a visit_fields() const as well, for const modules");
  } else {
    reflect::for_each_field(object, f);
  }
}

template <class Leaf, class T, class F>
void visit(T& object, std::string& path, F& f) {
  if constexpr (Leaf::template matches<std::remove_cv_t<T>>) {
    f(std::as_const(path), object);
  } else if constexpr (Fielded<T>) {
    auto visit_field = [&](std::string_view name, auto& field) {
      PathPart part(path, name);
      visit<Leaf>(field, path, f);
    };
    visit_fields_of(object, visit_field);
  } else if constexpr (std::is_array_v<T>) {
    if constexpr (!kIsNumber<std::remove_all_extents_t<T>>) visit_elements<Leaf>(object, path, f);
  } else if constexpr (Sequence<T>) {
    if constexpr (!kIsNumber<typename T::value_type>) visit_elements<Leaf>(object, path, f);
  } else if constexpr (Optional<T>) {
    if (object.has_value()) visit<Leaf>(*object, path, f);
  } else if constexpr (OwningPointer<T>) {
    if (object) visit<Leaf>(as_const_as<T>(*object), path, f);
  } else if constexpr (TupleLike<T>) {
    visit_tuple<Leaf>(object, path, f, std::make_index_sequence<std::tuple_size_v<std::remove_cv_t<T>>>{});
  }
}

struct TensorLeaf {
  template <class T>
  static constexpr bool matches = is_tensor_v<T>;
};

}  // namespace detail

/// Calls f(path, x) for each x within `module` whose type the policy accepts, `Leaf::template matches<T>`, in
/// declaration order. Otherwise like visit_parameters().
template <class Leaf, class M, class F>
void visit_leaves(M& module, F&& f) {
  std::string path;
  detail::visit<Leaf>(module, path, f);
}

/// Calls f(const std::string& path, tensor) for each tensor within `module`, in declaration order; the tensor
/// is a const reference iff the module is const. A path joins the names of fields and the indices of elements
/// with dots: "blocks.0.conv1.weight". A tensor that is reached on two paths is reported twice.
///
/// Visited: aggregates of up to 32 fields (more do not compile), arrays, std::vector and other sequences,
/// std::pair, std::tuple, std::optional when engaged, std::unique_ptr and std::shared_ptr when not null, and
/// classes that offer, for both const and non-const objects,
///
///   template <class F> void visit_fields(F&& f) { f("weight", weight_); f("bias", bias_); }
///
/// Everything else is skipped: numbers, strings, maps, variants, raw pointers, classes with private fields.
template <class M, class F>
void visit_parameters(M& module, F&& f) {
  visit_leaves<detail::TensorLeaf>(module, f);
}

/// Number of elements of all tensors within `module`. A tensor that is reached on two paths counts twice.
template <class M>
std::int64_t num_parameters(const M& module) {
  std::int64_t count = 0;
  visit_parameters(module, [&](const std::string&, const auto& tensor) { count += tensor.shape().numel(); });
  return count;
}

}  // namespace sinter
