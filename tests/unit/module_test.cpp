// Visiting the tensors of a module and their paths, with a stand-in for the tensor class.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/describe.h>
#include <sinter/module.h>

namespace {

// A cube with edges of one length.
struct Size {
  int rank, length;
  std::int64_t numel() const { return rank == 0 ? 1 : length * Size{rank - 1, length}.numel(); }
};
std::string to_string(const Size& size) {
  return '[' + std::to_string(size.rank) + ',' + std::to_string(size.length) + ']';
}

template <int Rank>
struct Parameter {
  explicit Parameter(int value) : value(value) {}
  int value;
  bool defined() const { return value != 0; }
  Size shape() const { return {Rank, value}; }
};

}  // namespace

namespace sinter {
template <int Rank>
inline constexpr bool is_tensor_v<Parameter<Rank>> = true;
}  // namespace sinter

namespace {

using sinter::visit_parameters;
using Found = std::vector<std::pair<std::string, int>>;

template <class M>
Found found_in(M& module) {
  Found found;
  visit_parameters(module, [&](std::string path, auto& tensor) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(tensor)>> == std::is_const_v<M>);
    found.emplace_back(std::move(path), tensor.value);
  });
  return found;
}

// The paths must not depend on constness.
template <class M>
Found found(M& module) {
  Found result = found_in(module);
  CHECK(found_in(std::as_const(module)) == result);
  return result;
}

struct Linear {
  Parameter<2> weight{1};
  std::optional<Parameter<1>> bias = Parameter<1>(2);
  std::int64_t features = 4;
};

enum class Mode { kTrain, kInfer };
struct Relu {};

TEST_CASE("tensors of every rank and kind are leaves") {
  CHECK(sinter::IsTensor<sinter::Tensor<2, sinter::Float>>);
  CHECK(sinter::IsTensor<const sinter::Tensor<0, sinter::Int>>);
  CHECK(sinter::IsTensor<sinter::Tensor<5, sinter::Bool>>);
  CHECK(!sinter::IsTensor<Linear>);
  CHECK(!sinter::IsTensor<int>);
  CHECK(!sinter::IsTensor<sinter::Tensor<2, sinter::Float>*>);
}

TEST_CASE("paths are names joined by dots, in declaration order") {
  struct Block {
    Linear up, down;
    Relu activation;
  };
  struct Model {
    double dropout = 0.1;
    Block block;
    std::string name = "model";
    Mode mode = Mode::kTrain;
    Linear head;
  };
  Model model;
  CHECK(found(model) == Found{{"block.up.weight", 1},
                              {"block.up.bias", 2},
                              {"block.down.weight", 1},
                              {"block.down.bias", 2},
                              {"head.weight", 1},
                              {"head.bias", 2}});
}

TEST_CASE("a tensor, or nothing, as the whole module") {
  Parameter<3> tensor{7};
  Relu relu;
  int number = 1;
  CHECK(found(tensor) == Found{{"", 7}});
  CHECK(found(relu).empty());
  CHECK(found(number).empty());
}

TEST_CASE("an optional counts when engaged") {
  Linear linear;
  linear.bias.reset();
  CHECK(found(linear) == Found{{"weight", 1}});
  struct Outer {
    std::optional<Linear> inner;
  };
  Outer outer;
  CHECK(found(outer).empty());
  outer.inner.emplace();
  CHECK(found(outer) == Found{{"inner.weight", 1}, {"inner.bias", 2}});
}

TEST_CASE("elements of sequences are called by their index") {
  struct Model {
    std::vector<Linear> blocks;
    std::array<Parameter<1>, 2> array{Parameter<1>(3), Parameter<1>(4)};
    Parameter<1> c_array[2] = {Parameter<1>(5), Parameter<1>(6)};
    Parameter<1> matrix[1][2] = {{Parameter<1>(7), Parameter<1>(8)}};
    std::deque<Parameter<1>> deque;
    std::list<Parameter<1>> list;
    std::vector<std::vector<Parameter<1>>> nested;
    std::vector<float> numbers = {1, 2};
    std::vector<bool> bits = {true};
    std::vector<std::string> texts = {"a"};
    int sizes[2] = {1, 2};
  };
  Model model;
  CHECK(found(model) == Found{{"array.0", 3},
                              {"array.1", 4},
                              {"c_array.0", 5},
                              {"c_array.1", 6},
                              {"matrix.0.0", 7},
                              {"matrix.0.1", 8}});
  Model full;
  full.blocks.resize(11);
  full.deque.emplace_back(20);
  full.list.emplace_back(21);
  full.nested.resize(2);
  full.nested[1].emplace_back(22);
  Found all = found(full);
  REQUIRE(all.size() == 22 + 6 + 3);
  CHECK(all[0].first == "blocks.0.weight");
  CHECK(all[3].first == "blocks.1.bias");
  CHECK(all[20].first == "blocks.10.weight");
  CHECK(all[28] == Found::value_type{"deque.0", 20});
  CHECK(all[29] == Found::value_type{"list.0", 21});
  CHECK(all[30] == Found::value_type{"nested.1.0", 22});
}

TEST_CASE("pairs and tuples are called by index") {
  struct Model {
    std::pair<Linear, int> pair;
    std::tuple<Relu, Linear, std::string> sequential;
    std::tuple<> nothing;
  };
  Model model;
  CHECK(
      found(model) ==
      Found{{"pair.0.weight", 1}, {"pair.0.bias", 2}, {"sequential.1.weight", 1}, {"sequential.1.bias", 2}});
}

TEST_CASE("owning pointers are followed, and are as const as their owner") {
  struct Node {
    Parameter<1> value{1};
    std::unique_ptr<Node> next;
    std::shared_ptr<Parameter<1>> shared;
    std::shared_ptr<int[]> numbers;
    Parameter<1>* borrowed = nullptr;
  };
  Node node;
  Parameter<1> elsewhere{9};
  node.borrowed = &elsewhere;
  CHECK(found(node) == Found{{"value", 1}});
  node.shared = std::make_shared<Parameter<1>>(5);
  node.next = std::make_unique<Node>();
  node.next->shared = node.shared;
  CHECK(found(node) == Found{{"value", 1}, {"next.value", 1}, {"next.shared", 5}, {"shared", 5}});
}

class Hidden {
 public:
  explicit Hidden(int value) : weight_(value), secret_(0) {}
  template <class F>
  void visit_fields(F&& f) {
    f("weight", weight_);
    f("linear", linear_);
  }
  template <class F>
  void visit_fields(F&& f) const {
    f("weight", weight_);
    f("linear", linear_);
  }

 private:
  Parameter<1> weight_;
  Linear linear_;
  Parameter<1> secret_;
};

struct Renamed {
  Parameter<1> a{1};
  template <class F>
  void visit_fields(F&& f) {
    f("b", a);
  }
  template <class F>
  void visit_fields(F&& f) const {
    f("b", a);
  }
};

TEST_CASE("visit_fields() opens a class and overrules reflection") {
  struct Model {
    Hidden hidden{3};
    Renamed renamed;
  };
  Model model;
  CHECK(
      found(model) ==
      Found{{"hidden.weight", 3}, {"hidden.linear.weight", 1}, {"hidden.linear.bias", 2}, {"renamed.b", 1}});
}

class Closed {
 public:
  using not_a_module = void;
  Parameter<1> weight{1};

 private:
  std::string name_;
};

struct Theirs {
  explicit Theirs(int) {}
  ~Theirs() {}
};

}  // namespace
template <>
inline constexpr bool sinter::not_a_module<Theirs> = true;
namespace {

TEST_CASE("what is not looked into") {
  struct Model {
    Closed closed;
    Theirs theirs{1};
    std::string text = "text";
    std::map<std::string, int> numbers{{"a", 1}};
    std::set<std::string> texts{"a"};
    std::vector<std::vector<std::string>> lists{{"a"}};
    std::atomic<int> atomic = 1;
    void (*function)() = nullptr;
  };
  Model model;
  CHECK(found(model).empty());
}

TEST_CASE("maps are visited in the order of their keys, which are parts of paths") {
  struct Model {
    std::map<std::string, Linear> named{{"b", Linear{}}, {"a", Linear{}}};
    std::unordered_map<std::string, Parameter<1>> hashed{
        {"y", Parameter<1>(3)}, {"z", Parameter<1>(4)}, {"x", Parameter<1>(5)}};
    std::map<int, Parameter<1>> numbered{{10, Parameter<1>(6)}, {9, Parameter<1>(7)}};
  };
  Model model;
  CHECK(found(model) == Found{{"named.a.weight", 1},
                              {"named.a.bias", 2},
                              {"named.b.weight", 1},
                              {"named.b.bias", 2},
                              {"hashed.x", 5},
                              {"hashed.y", 3},
                              {"hashed.z", 4},
                              {"numbered.9", 7},
                              {"numbered.10", 6}});
}

TEST_CASE("a variant is what it holds") {
  struct Model {
    std::variant<Relu, Linear, Parameter<1>> layer;
    std::vector<std::variant<Relu, Linear>> layers;
  };
  Model model;
  CHECK(found(model).empty());
  model.layer = Linear{};
  model.layers.resize(2);
  model.layers[1] = Linear{};
  CHECK(found(model) ==
        Found{{"layer.weight", 1}, {"layer.bias", 2}, {"layers.1.weight", 1}, {"layers.1.bias", 2}});
  model.layer = Parameter<1>(3);
  CHECK(found(model).front() == Found::value_type{"layer", 3});
}

class Listed {
 public:
  explicit Listed(int value) : weight_(value) {}
  SINTER_FIELDS(weight_, inner)

  Linear inner;

 private:
  Parameter<1> weight_;
};

struct Scaled : Linear {
  Parameter<1> scale{7};
  SINTER_FIELDS(weight, bias, scale)
};

struct Wide {
  int a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{}, a8{}, a9{}, b0{}, b1{}, b2{}, b3{}, b4{}, b5{}, b6{},
      b7{};
  int c0{}, c1{}, c2{}, c3{}, c4{}, c5{}, c6{}, c7{}, c8{}, c9{}, d0{}, d1{}, d2{}, d3{};
  Parameter<1> first{1}, last{2};
  const int constant = 3;
  SINTER_FIELDS(a0, a1, first, constant, last)
};

TEST_CASE("a class lists its fields: private ones, those of its bases, and any number") {
  struct Model {
    Listed listed{3};
    Scaled scaled;
    Wide wide;
    const std::int64_t size = 5;
  };
  Model model;
  CHECK(found(model) == Found{{"listed.weight_", 3},
                              {"listed.inner.weight", 1},
                              {"listed.inner.bias", 2},
                              {"scaled.weight", 1},
                              {"scaled.bias", 2},
                              {"scaled.scale", 7},
                              {"wide.first", 1},
                              {"wide.last", 2}});
}

TEST_CASE("patterns of paths") {
  using sinter::path_matches;
  CHECK(path_matches("*", ""));
  CHECK(path_matches("*", "a.b"));
  CHECK(path_matches("*.bias", "blocks.0.linear.bias"));
  CHECK(path_matches("blocks.?.*", "blocks.1.weight"));
  CHECK(path_matches("a*b*c", "a.b.b.c"));
  CHECK(path_matches("a.weight", "a.weight"));
  CHECK_FALSE(path_matches("*.bias", "bias"));
  CHECK_FALSE(path_matches("a*b*c", "a.c.b"));
  CHECK_FALSE(path_matches("blocks.?.*", "blocks.10.weight"));
  CHECK_FALSE(path_matches("a", "a.weight"));
  CHECK_FALSE(path_matches("", "a"));
}

TEST_CASE("tensors can be assigned, and keep their type") {
  Linear linear;
  int rank_sum = 0;
  visit_parameters(linear, [&]<int Rank>(std::string_view path, Parameter<Rank>& tensor) {
    rank_sum += Rank;
    tensor = Parameter<Rank>(static_cast<int>(path.size()));
  });
  CHECK(rank_sum == 3);
  CHECK(linear.weight.value == 6);
  CHECK(linear.bias->value == 4);
}

TEST_CASE("an exception leaves the visit at once") {
  Linear linear;
  int calls = 0;
  auto stop = [&](const std::string&, auto&) {
    ++calls;
    throw 1;
  };
  CHECK_THROWS_AS(visit_parameters(linear, stop), int);
  CHECK(calls == 1);
}

struct IntLeaf {
  template <class T>
  static constexpr bool matches = std::is_same_v<T, std::int64_t>;
};

TEST_CASE("other leaves than tensors can be asked for") {
  std::vector<Linear> layers(2);
  std::vector<std::string> paths;
  sinter::visit_leaves<IntLeaf>(layers, [&](const std::string& path, std::int64_t& x) {
    paths.push_back(path);
    x = 5;
  });
  CHECK(paths == std::vector<std::string>{"0.features", "1.features"});
  CHECK(layers[1].features == 5);
}

TEST_CASE("parameters are counted, and those of empty optionals are not") {
  Linear linear{Parameter<2>(5), Parameter<1>(3), 0};
  CHECK(sinter::num_parameters(linear) == 28);
  linear.bias.reset();
  CHECK(sinter::num_parameters(linear) == 25);
  CHECK(sinter::num_parameters(Relu{}) == 0);
  CHECK(sinter::num_parameters(std::vector<Linear>{linear, linear}) == 50);
}

template <class T>
struct Residual {
  T inner;
};

TEST_CASE("a description is a tree with shapes and counts") {
  struct Model {
    Linear stem;
    std::vector<Residual<Linear>> blocks;
    Relu activation;
    Hidden hidden{3};
    Parameter<1> scales[2] = {Parameter<1>(1), Parameter<1>(4)};
    Parameter<2> unset{0};
    std::optional<Linear> missing;
    std::string name = "model";
  };
  Model model;
  model.blocks.resize(2);
  CHECK(sinter::describe(model) ==
        "Model, scales.0 [1,1], scales.1 [1,4], unset empty, 20 parameters\n"
        "  stem: Linear, weight [2,1], bias [1,2], 3 parameters\n"
        "  blocks.0: Residual<Linear>, 3 parameters\n"
        "    inner: Linear, weight [2,1], bias [1,2], 3 parameters\n"
        "  blocks.1: Residual<Linear>, 3 parameters\n"
        "    inner: Linear, weight [2,1], bias [1,2], 3 parameters\n"
        "  activation: Relu, 0 parameters\n"
        "  hidden: Hidden, weight [1,3], 6 parameters\n"
        "    linear: Linear, weight [2,1], bias [1,2], 3 parameters\n"
        "total: 20 parameters\n");
  Parameter<1> one{1};
  CHECK(sinter::describe(one) == "[1,1], 1 parameter\ntotal: 1 parameter\n");
  std::vector<Linear> layers(1);
  CHECK(sinter::describe(layers) ==
        "0: Linear, weight [2,1], bias [1,2], 3 parameters\n"
        "total: 3 parameters\n");
}

TEST_CASE("names of types lose what stands before them") {
  using sinter::detail::unqualified;
  CHECK(unqualified("Plain") == "Plain");
  CHECK(unqualified("a::b::Name") == "Name");
  CHECK(unqualified("{anonymous}::Name") == "Name");
  CHECK(unqualified("(anonymous namespace)::Name") == "Name");
  CHECK(unqualified("a::f(int, b::c)::Local") == "Local");
  CHECK(unqualified("a::Outer<b::X>::Inner") == "Inner");
  CHECK(unqualified("a::Pair<b::X, c::Y<d::Z> >") == "Pair<X, Y<Z>>");
  CHECK(unqualified("a::Pair<b::X<1>, 2>") == "Pair<X<1>, 2>");
}

}  // namespace
