// Modules: any struct that holds tensors. Visits the tensors in it, at any depth, with their names. A class
// whose tensors cannot be found does not compile as part of one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/detail/shared.h>
#include <sinter/reflect.h>

namespace sinter {

struct Float;
struct Int;
struct Bool;
template <std::size_t Rank, class Kind>
class Tensor;
template <std::size_t Rank, class Kind>
class Buffer;
class Training;

/// True for the types that visit_parameters() reports.
template <class T>
inline constexpr bool is_tensor_v = false;
template <std::size_t Rank, class Kind>
inline constexpr bool is_tensor_v<Tensor<Rank, Kind>> = true;

template <class T>
concept IsTensor = is_tensor_v<std::remove_cv_t<T>>;

/// True for the types that visit_buffers() reports.
template <class T>
inline constexpr bool is_buffer_v = false;
template <std::size_t Rank, class Kind>
inline constexpr bool is_buffer_v<Buffer<Rank, Kind>> = true;

template <class T>
concept IsBuffer = is_buffer_v<std::remove_cv_t<T>>;

/// A class that says that no tensors of the module are in it: `using not_a_module = void;`. For a class that
/// is not yours: template <> inline constexpr bool sinter::not_a_module<TheirClass> = true;
template <class T>
inline constexpr bool not_a_module = requires {
  typename T::not_a_module;
};

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

// std::vector, std::array, std::deque and the like. Elements of sets are not mutable, and a std::vector<bool>
// has no elements at all.
template <class T>
concept Sequence = reflect::detail::Container<T> &&
    std::is_lvalue_reference_v<decltype(*std::declval<T&>().begin())> && !requires {
  typename T::key_type;
};

// std::map and std::unordered_map, by key.
template <class T>
concept Map = reflect::detail::Container<T> && requires {
  typename T::key_type;
  typename T::mapped_type;
};
template <class T>
concept Hashed = requires {
  typename T::hasher;
};

// std::variant: what it holds.
template <class T>
concept Variant = requires(const T& object) {
  { object.valueless_by_exception() } -> std::same_as<bool>;
  { object.index() } -> std::same_as<std::size_t>;
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

// What cannot hold a tensor whoever wrote it: a tensor has to be destroyed. Pointers and references own
// nothing, and are no part of a module.
template <class T>
struct Tensorless : std::bool_constant<not_a_module<T> || std::is_trivially_destructible_v<T>> {};
template <class T>
requires(!std::is_trivially_destructible_v<T> && reflect::detail::Container<T> &&
         !std::is_same_v<typename T::value_type, T>)  // as that of a path
    struct Tensorless<T> : std::bool_constant<not_a_module<T> || Tensorless<typename T::value_type>::value> {
};
// Arrays that a pointer owns.
template <class T>
requires(!std::is_trivially_destructible_v<T>) && requires {
  typename T::element_type;
  requires std::is_object_v<typename T::element_type>;
  std::declval<T&>()[0];
}
struct Tensorless<T>
    : std::bool_constant<not_a_module<T> || std::is_trivially_destructible_v<typename T::element_type>> {};

// std::visit, found by the argument: <variant> need not be included here.
template <class V, class F>
void visit_alternative(V& variant, F&& f) {
  visit(f, variant);
}

// A class that is visited field by field, and is no wrapper or collection of something else.
template <class T>
concept Fielded = VisitsItself<std::remove_const_t<T>> ||
    (reflect::Reflectable<T> && !Sequence<T> && !Optional<T> && !OwningPointer<T> && !TupleLike<T> &&
     !not_a_module<std::remove_const_t<T>>);

template <class Leaf, class M, class F>
void visit_map(M& map, std::string& path, F& f) {
  using Mapped = typename M::mapped_type;
  if constexpr (Tensorless<Mapped>::value && !IsTensor<Mapped> && !Fielded<Mapped>) return;
  const auto visit_one = [&](auto& entry) {
    if constexpr (std::is_convertible_v<const typename M::key_type&, std::string_view>) {
      PathPart part(path, std::string_view(entry.first));
      visit<Leaf>(entry.second, path, f);
    } else {
      static_assert(std::is_integral_v<typename M::key_type>,
                    "the keys of a map in a module are texts or integers: they are parts of paths");
      PathPart part(path, std::to_string(entry.first));
      visit<Leaf>(entry.second, path, f);
    }
  };
  if constexpr (Hashed<M>) {
    // In the order of the keys, which lasts.
    std::vector<decltype(&*map.begin())> entries;
    for (auto& entry : map) {
      std::size_t at = entries.size();
      entries.push_back(&entry);
      for (; at > 0 && entry.first < entries[at - 1]->first; --at) entries[at] = entries[at - 1];
      entries[at] = &entry;
    }
    for (auto* entry : entries) visit_one(*entry);
  } else {
    for (auto& entry : map) visit_one(entry);
  }
}

template <class T, class F>
void visit_fields_of(T& object, F& f) {
  if constexpr (VisitsItself<T>) {
    object.visit_fields(f);
  } else if constexpr (VisitsItself<std::remove_const_t<T>>) {
    static_assert(VisitsItself<T>, "this class needs a visit_fields() const as well, for const modules");
  } else {
    static_assert(reflect::names_known<T>,
                  "the names of this aggregate's fields cannot be found, since one is a reference or the "
                  "compiler is not known: list them, SINTER_FIELDS(a, b, ...), or, where it holds no tensor, "
                  "write using not_a_module = void;");
    reflect::for_each_field(object, f);
  }
}

template <class Leaf, class T, class F>
void visit(T& object, std::string& path, F& f) {
  if constexpr (Leaf::template matches<std::remove_cv_t<T>>) {
    f(std::as_const(path), object);
  } else if constexpr (IsTensor<T> || IsBuffer<T> || not_a_module<std::remove_cv_t<T>>) {
    // Nothing that is looked for.
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
  } else if constexpr (Map<T>) {
    visit_map<Leaf>(object, path, f);
  } else if constexpr (Variant<T>) {
    if (!object.valueless_by_exception())
      visit_alternative(object, [&](auto& held) { visit<Leaf>(held, path, f); });
  } else {
    static_assert(Tensorless<std::remove_cv_t<T>>::value,
                  "this class is part of a module and does not say which tensors it holds: write "
                  "SINTER_FIELDS(names of its fields) in it, or visit_fields(), or, if it holds none, "
                  "using not_a_module = void;");
  }
}

struct TensorLeaf {
  template <class T>
  static constexpr bool matches = is_tensor_v<T>;
};
struct BufferLeaf {
  template <class T>
  static constexpr bool matches = is_buffer_v<T>;
};
struct StateLeaf {
  template <class T>
  static constexpr bool matches = is_tensor_v<T> || is_buffer_v<T>;
};
struct TrainingLeaf {
  template <class T>
  static constexpr bool matches = std::is_same_v<T, Training>;
};

// Which tensors were seen: a parameter that is reached on several paths (tied weights) is one.
class SINTER_API SeenOnce {
 public:
  template <class T>
  bool is_new(const T& tensor) {
    if constexpr (requires { tensor.dynamic().node(); }) {
      return add({tensor.dynamic().value().get(), tensor.dynamic().node().get()});
    } else {
      return true;
    }
  }
  /// The same of objects, such as layers that several pointers lead to.
  bool is_new_object(const void* object) { return add({object, nullptr}); }

 private:
  using Identity = std::pair<const void*, const void*>;
  bool add(const Identity& identity);
  std::vector<Identity> seen_;  // sorted
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
/// Visited: aggregates of up to 32 fields, arrays, std::vector and other sequences, std::map and
/// std::unordered_map (a part of the path is the key, in the order of the keys), std::pair, std::tuple,
/// std::optional when engaged, std::variant, std::unique_ptr and std::shared_ptr when not null, and classes
/// that list their fields, as those with constructors, private fields, base classes or more fields must:
///
///   SINTER_FIELDS(weight_, bias_)
///
/// or, to name them otherwise, offer for both const and non-const objects
///
///   template <class F> void visit_fields(F&& f) { f("weight", weight_); f("bias", bias_); }
///
/// Numbers, texts, raw pointers and classes with a trivial destructor hold no tensors. Any other class does
/// not compile unless it says that it holds none: see not_a_module.
template <class M, class F>
void visit_parameters(M& module, F&& f) {
  visit_leaves<detail::TensorLeaf>(module, f);
}

/// The same for buffers (see state.h), and for tensors and buffers together: what a module is saved as.
template <class M, class F>
void visit_buffers(M& module, F&& f) {
  visit_leaves<detail::BufferLeaf>(module, f);
}
template <class M, class F>
void visit_state(M& module, F&& f) {
  visit_leaves<detail::StateLeaf>(module, f);
}

namespace detail {

// Not any OwningPointer: others that can be copied may copy what they point to.
template <class T>
concept SharedPointer = OwningPointer<T> && requires {
  typename T::weak_type;
};

struct SharedLeaf {
  template <class T>
  static constexpr bool matches = SharedPointer<T> && !not_a_module<T>;
};
struct ChangedLeaf {
  template <class T>
  static constexpr bool matches = StateLeaf::matches<T> || TrainingLeaf::matches<T>;
};

[[noreturn]] SINTER_API void throw_not_copied(const std::string& path);

// For each std::shared_ptr to what others use as well: replaces it by one to a copy, the same for all that
// pointed to one object.
class Unsharing {
 public:
  template <class P>
  void operator()(const std::string& path, P& pointer) {
    if constexpr (!std::is_const_v<P> && !std::is_const_v<typename P::element_type>) {
      if (!pointer) return;
      for (const Shared<Known>& known : known_)
        if (known->type == &kType<P> && known->object == pointer.get()) {
          pointer = static_cast<const KnownAs<P>&>(*known).copy;
          return;
        }
      if (pointer.use_count() > 1) {
        bool changes = false;
        visit_leaves<ChangedLeaf>(*pointer, [&](const std::string&, auto&) { changes = true; });
        if (!changes) return;
        P copy = copy_of(*pointer, path, pointer);
        known_.push_back(Shared<Known>::of(KnownAs<P>(pointer, copy)));
        pointer = std::move(copy);
      }
      std::string inner = path;
      visit<SharedLeaf>(*pointer, inner, *this);
    }
  }

 private:
  template <class P>
  static constexpr char kType = 0;
  struct Known {
    Known(const void* type, const void* object) : type(type), object(object) {}
    virtual ~Known() = default;
    const void *type, *object;
  };
  template <class P>
  struct KnownAs final : Known {
    KnownAs(P old, P copy) : Known(&kType<P>, old.get()), old(std::move(old)), copy(std::move(copy)) {}
    P old, copy;  // the old one is kept so that no other object gets its address
  };

  template <class T, class P>
  static P copy_of(const T& object, const std::string& path, const P&) {
    if constexpr (requires { P(object.clone()); }) {
      return P(object.clone());
    } else if constexpr (std::is_copy_constructible_v<T>) {
      // The copy of a base class would be a part of the object.
      if constexpr (std::is_polymorphic_v<T> && !std::is_final_v<T>) {
#ifdef __cpp_rtti
        if (typeid(object) != typeid(T)) throw_not_copied(path);
#else
        throw_not_copied(path);
#endif
      }
      return P(new T(object));
    } else {
      throw_not_copied(path);
    }
  }

  std::vector<Shared<Known>> known_;
};

/// Gives a module that was copied objects of its own, where its std::shared_ptrs point to tensors, buffers or
/// Training that others use as well: what changes the copy then leaves those alone. Throws Error where one
/// cannot be copied.
template <class M>
void unshare(M& module) {
  visit_leaves<SharedLeaf>(module, Unsharing());
}

}  // namespace detail

/// Whether a path fits a pattern, in which `*` stands for any text, dots included, and `?` for one character:
/// "encoder.*", "*.bias".
SINTER_API bool path_matches(std::string_view pattern, std::string_view path);

/// Number of elements of all tensors within `module`. Buffers do not count; a parameter that is reached on
/// several paths counts once.
template <class M>
std::int64_t num_parameters(const M& module) {
  std::int64_t count = 0;
  detail::SeenOnce seen;
  visit_parameters(module, [&](const std::string&, const auto& tensor) {
    if (tensor.defined() && seen.is_new(tensor)) count += tensor.shape().numel();
  });
  return count;
}

}  // namespace sinter
