// Configurations: structs to JSON and back, from command lines, and what is said of mistakes.
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/config.h>
#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/nn.h>
#include <sinter/optim.h>

#include "tests/support/messages.h"
#include "tests/support/temporary_folder.h"

using namespace sinter;
using namespace sinter::testing;
using config::Value;

namespace {

enum class Mode : std::uint8_t { slow, fast = 5, far = 200 };
enum Plain { kFirst, kSecond };

struct Layer {
  std::int64_t width = 8;
  std::string name = "layer";
  friend bool operator==(const Layer&, const Layer&) = default;
};

struct Model {
  int layers = 2;
  double rate = 1e-3;
  float scale = 0.5f;
  bool bias = true;
  Mode mode = Mode::fast;
  std::optional<double> clip = std::nullopt;
  std::optional<Layer> extra = std::nullopt;
  std::vector<Layer> parts = {};
  std::array<std::int64_t, 2> kernel{3, 3};
  std::map<std::string, double> weights = {};
  std::vector<bool> flags = {};
  std::filesystem::path file = "out";
  Layer first = {};
  DType dtype = DType::bf16;
  friend bool operator==(const Model&, const Model&) = default;
};

Model other() {
  return {.layers = -7,
          .rate = 0.1,
          .scale = 3.25f,
          .bias = false,
          .mode = Mode::slow,
          .clip = 2,
          .extra = Layer{1, "e"},
          .parts = {{1, "a"}, {2, "\"b\"\n"}},
          .kernel = {1, 5},
          .weights = {{"cat", 0.5}, {"dog", 1e300}},
          .flags = {true, false},
          .file = "a/b",
          .first = {3, "c"},
          .dtype = DType::f16};
}

struct Numbers {
  std::int8_t i8 = 0;
  std::uint8_t u8 = 0;
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  float f32 = 0;
  double f64 = 0;
  Mode mode = Mode::slow;
  Plain plain = kFirst;
};

struct Hidden {
  explicit Hidden(int value = 1) : value_(value) {}
  SINTER_FIELDS(value_)
  int value() const { return value_; }

 private:
  int value_;
};

template <class T>
std::string json_error(std::string_view json) {
  return message_of([&] { config::from_json<T>(json); });
}

template <class T>
std::vector<std::string> parse(T& target, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return config::parse_arguments(target, static_cast<int>(arguments.size()), arguments.data());
}

template <class T>
std::string argument_error(const T& target, std::vector<const char*> arguments) {
  T copy = target;
  const std::string message = message_of([&] { parse(copy, arguments); });
  CHECK(config::to_json(copy) == config::to_json(target));
  return message;
}

}  // namespace

TEST_CASE("JSON and back") {
  CHECK(config::to_json(Layer{3, "x"}, -1) == R"({"width":3,"name":"x"})");
  for (const Model& model : {Model{}, other()}) {
    CHECK(config::from_json<Model>(config::to_json(model)) == model);
    CHECK(config::from_json<Model>(config::to_json(model, -1)) == model);
  }
  const std::string json = config::to_json(other(), -1);
  CHECK(contains(json, R"("mode":"slow")"));
  CHECK(contains(json, R"("dtype":"f16")"));
  CHECK(contains(json, R"("flags":[true,false])"));
  CHECK(contains(config::to_json(Model{}, -1), R"("clip":null,"extra":null,"parts":[])"));
  CHECK(config::from_json<Hidden>(R"({"value_": 4})").value() == 4);
  CHECK(config::from_json<Value>("[1, null]").size() == 2);
}

TEST_CASE("the numbers at the ends of their ranges") {
  const Numbers least{-128,      0,      INT64_MIN, 0, -3.4028235e38f, -std::numeric_limits<double>::max(),
                      Mode::far, kSecond};
  const Numbers most{127, 255, INT64_MAX, UINT64_MAX, 1e-45f, 5e-324, Mode::slow, kFirst};
  for (const Numbers& numbers : {least, most}) {
    const auto back = config::from_json<Numbers>(config::to_json(numbers));
    CHECK(back.i8 == numbers.i8);
    CHECK(back.u8 == numbers.u8);
    CHECK(back.i64 == numbers.i64);
    CHECK(back.u64 == numbers.u64);
    CHECK(back.f32 == numbers.f32);
    CHECK(back.f64 == numbers.f64);
    CHECK(back.mode == numbers.mode);
    CHECK(back.plain == numbers.plain);
  }
  Numbers special;
  special.f32 = std::numeric_limits<float>::quiet_NaN();
  special.f64 = -std::numeric_limits<double>::infinity();
  const auto back = config::from_json<Numbers>(config::to_json(special));
  CHECK(std::isnan(back.f32));
  CHECK(back.f64 == special.f64);

  const auto update = [](const char* json) {
    Numbers numbers;
    return message_of([&] { config::update(numbers, json); });
  };
  CHECK(contains(update(R"({"i8": 128})"), "i8 is 128, expected an integer from -128 to 127"));
  CHECK(contains(update(R"({"i8": -129})"), "i8 is -129, expected"));
  CHECK(contains(update(R"({"u8": -1})"), "u8 is -1, expected an integer from 0 to 255"));
  CHECK(contains(update(R"({"u8": 256})"), "u8 is 256"));
  CHECK(contains(update(R"({"i64": 9223372036854775808})"), "i64 is 9223372036854775808"));
  CHECK(contains(update(R"({"i64": 1.0})"), "i64 is 1.0, expected an integer"));
  CHECK(contains(update(R"({"f32": 1e39})"), "f32 is 1e+39, expected a number up to"));
  CHECK(contains(update(R"({"f64": "nan"})"), "f64 is \"nan\", expected a number"));
  CHECK(contains(update(R"({"mode": 1})"), "mode is 1, expected one of slow, fast"));
  CHECK(contains(update(R"({"mode": 256})"), "mode is 256, expected an integer from 0 to 255"));
  CHECK(contains(update(R"({"mode": -1})"), "mode is -1"));
  CHECK(contains(update(R"({"mode": "fats"})"), "mode is \"fats\", expected one of slow, fast"));
  CHECK(update(R"({"f64": 3, "u64": 18446744073709551615, "mode": "fast"})") == "");
}

TEST_CASE("everything that is wrong, at once") {
  Value value = config::to_value(other());
  value.erase("layers");
  value["rate"] = "fast";
  value["first"]["nmae"] = 1;
  value["parts"].items()[1].rename("width", "size");
  value["kernel"].push_back(1);
  value["weights"]["cat"] = true;
  CHECK(message_of([&] { config::from_value<Model>(value, "\"train.json\""); }) ==
        "[config] \"train.json\": layers is missing; rate is \"fast\", expected a number; "
        "parts.1.width is missing; parts.1.size is unknown; kernel is [1,5,1], expected a list of 2; "
        "weights.cat is true, expected a number; first.nmae is unknown, did you mean name?");
  CHECK(contains(json_error<Layer>(R"({"width": 1, "name": 2})"), "config: name is 2, expected a text"));
  CHECK(contains(json_error<Layer>("3"), "the whole is 3, expected a table of settings"));
  CHECK(contains(json_error<Layer>("{"), "[config] config: the text is not JSON"));
  CHECK(contains(json_error<Layer>(R"({"width": 1, "width": 2})"), "has the name \"width\" twice"));
  CHECK(contains(json_error<Layer>(std::string(100000, '[')), "nested deeper"));
  CHECK(contains(json_error<Layer>("[\"" + std::string(58, 'a') + "\u00e4\"]"), "aaa..., expected"));
  CHECK(contains(json_error<std::vector<int>>("{}"), "the whole is {}, expected a list"));
}

TEST_CASE("only what is there") {
  Model model = other();
  config::update(model, R"({"layers": 3, "first": {"name": "z"}, "clip": null, "extra": {"width": 9}})");
  Model expected = other();
  expected.layers = 3;
  expected.first.name = "z";
  expected.clip = std::nullopt;
  expected.extra->width = 9;
  CHECK(model == expected);
  CHECK_THROWS_AS(config::update(model, R"({"layers": 4, "rate": null})"), DataError);
  CHECK(model == expected);
}

TEST_CASE("JSON cut off after any byte, and any byte changed") {
  const std::string json = config::to_json(other());
  for (std::size_t size = 0; size < json.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(config::from_json<Model>(std::string_view(json).substr(0, size)), DataError);
  }
  for (std::size_t at = 0; at < json.size(); ++at)
    for (int change : {1, 2, 4, 8, 16, 32, 64, 128}) {
      std::string changed = json;
      changed[at] = static_cast<char>(changed[at] ^ change);
      json_error<Model>(changed);  // any other exception ends the test
    }
}

TEST_CASE("settings of every type") {
  Model model;
  const std::vector<std::string> others =
      parse(model, {"in.txt", "--layers=12", "--rate=1e-4", "--scale=2", "--bias=false", "--mode=slow",
                    "--clip=0.5", "--extra.width=7", "--parts=[{\"width\":1},{}]", "--parts.1.name=a=b",
                    "--kernel.1=7", "--weights.cat=2", "--flags=[true]", "--file=a b",
                    "--first.name=", "--dtype=f64", "-v", "--", "--layers=1"});
  CHECK(others == std::vector<std::string>{"in.txt", "-v", "--layers=1"});
  Model expected{.layers = 12,
                 .rate = 1e-4,
                 .scale = 2,
                 .bias = false,
                 .mode = Mode::slow,
                 .clip = 0.5,
                 .extra = Layer{7, "layer"},
                 .parts = {{1, "layer"}, {8, "a=b"}},
                 .kernel = {3, 7},
                 .weights = {{"cat", 2}},
                 .flags = {true},
                 .file = "a b",
                 .first = {8, ""},
                 .dtype = DType::f64};
  CHECK(model == expected);
  parse(model, {"--bias", "--clip=null", "--extra=null", "--layers=3", "--layers=4", "--mode=200"});
  CHECK(model.bias);
  CHECK(model.clip == std::nullopt);
  CHECK(model.extra == std::nullopt);
  CHECK(model.layers == 4);
  CHECK(model.mode == Mode::far);
  CHECK(parse(model, {}).empty());

  // What is printed as arguments is read as the same.
  Model copy;
  const std::vector<std::string> arguments = config::to_arguments(other());
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  CHECK(arguments.front() == "--layers=-7");
  CHECK(parse(copy, pointers).empty());
  CHECK(copy == other());
}

TEST_CASE("keys of maps that cannot be parts of paths") {
  for (const char* key : {"a.b", "a=b", "", "."}) {
    CAPTURE(key);
    const Model model{.weights = {{key, 2}, {"cat", 3}}};
    std::vector<const char*> pointers;
    const std::vector<std::string> arguments = config::to_arguments(model);
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    Model copy;
    CHECK(parse(copy, pointers).empty());
    CHECK(copy == model);
    const std::map<std::string, int> map{{key, 1}};
    CHECK(contains(message_of([&] { config::to_arguments(map); }),
                   "the key \"" + std::string(key) + "\" cannot be part of an argument's path"));
  }
}

TEST_CASE("mistakes on the command line change nothing") {
  const Model model = other();
  CHECK(
      argument_error(model, {"--layers=1", "--layres=2", "--rate=x", "--first.nmae=3"}) ==
      "[config] command line: layres is no setting, did you mean layers?; rate is \"x\", expected a number; "
      "first.nmae is no setting, did you mean first.name?");
  CHECK(contains(argument_error(model, {"--layers"}), "layers is \"true\", expected an integer"));
  CHECK(contains(argument_error(model, {"--layers=1e3"}), "layers is 1000.0, expected an integer"));
  CHECK(contains(argument_error(model, {"--layers=99999999999999999999"}), "expected an integer"));
  CHECK(contains(argument_error(model, {"--bias=yes"}), "bias is \"yes\", expected true or false"));
  CHECK(contains(argument_error(model, {"--mode=quick"}), "mode is \"quick\", expected one of slow, fast"));
  CHECK(contains(argument_error(model, {"--parts=[1"}), "parts is not JSON"));
  CHECK(contains(argument_error(model, {"--parts.2.width=1"}), "parts.2.width is no setting"));
  CHECK(contains(argument_error(model, {"--kernel.2=1"}), "kernel.2 is no setting"));
  CHECK(contains(argument_error(model, {"--rate=inf"}), "rate is \"inf\""));
  for (const char* argument :
       {"--=1", "--.=1", "--first.=1", "--first..name=1", "--layers.x=1", "--clip.x=1"})
    CHECK(contains(argument_error(model, {argument}), "is no setting"));
}

TEST_CASE("files") {
  TemporaryFolder folder;
  const auto file = folder.path() / "model.json";
  config::save(other(), file);
  CHECK(config::load<Model>(file) == other());
  config::save(Layer{}, file);
  CHECK(contains(message_of([&] { config::load<Model>(file); }), "model.json\": layers is missing"));
  CHECK(contains(message_of([&] { config::load<Model>(folder.path() / "none"); }), "[config] \""));
  CHECK(contains(message_of([&] { config::save(Layer{}, folder.path() / "no" / "file"); }),
                 "cannot be written"));
  // As records: through a link, with the permissions of the old file, and over nothing but files.
  const auto link = folder.path() / "link.json";
  std::filesystem::create_symlink("model.json", link);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  config::save(other(), link);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(config::load<Model>(file) == other());
  CHECK(std::filesystem::status(file).permissions() == std::filesystem::perms(0600));
  CHECK(contains(message_of([&] { config::save(other(), folder.path()); }), "is not a regular file"));
}

TEST_CASE("configurations of the library") {
  optim::AdamWConfig adam{.beta2 = 0.95, .options = {.groups = {{.pattern = "*.bias", .weight_decay = 0}}}};
  const auto back = config::from_json<optim::AdamWConfig>(config::to_json(adam));
  CHECK(back.beta2 == 0.95);
  CHECK(back.options.groups.at(0).pattern == "*.bias");
  CHECK(back.options.groups.at(0).weight_decay == 0.0);
  optim::ReduceOnPlateau plateau{.rate = 0.1};
  plateau.next(3);
  const auto same = config::from_json<optim::ReduceOnPlateau>(config::to_json(plateau));
  CHECK(same.best == 3);
  CHECK(same.seen == 1);
}

TEST_CASE("layers' configurations, with how their weights begin") {
  const nn::LinearConfig linear{
      .d_in = 3, .d_out = 5, .bias = false, .initializer = nn::init::xavier_normal(2)};
  const std::string text = config::to_json(linear);
  CHECK(text.find("scaled_normal") != std::string::npos);
  const auto back = config::from_json<nn::LinearConfig>(text);
  CHECK(back.d_out == 5);
  CHECK_FALSE(back.bias);
  CHECK(back.initializer.kind == nn::Initializer::Kind::scaled_normal);
  CHECK(back.initializer.fan == nn::Fan::mean);
  CHECK(back.initializer.a == 2);
  nn::TransformerConfig encoder{.d_model = 4, .d_feed_forward = 8, .heads = 2, .layers = 1};
  config::update(encoder, R"({"d_model": 8, "activation": "silu"})");
  CHECK(encoder.d_model == 8);
  CHECK(encoder.activation == nn::FeedForwardActivation::silu);
  CHECK_THROWS_WITH_AS(config::from_json<nn::TransformerConfig>(R"({"d_modell": 8})"),
                       doctest::Contains("d_modell"), DataError);
}

TEST_CASE("values") {
  Value value = Value::parse(R"({"b": [1, -2, 3.5, "x", null, true], "a": {}})");
  CHECK(value["b"].items()[1].as_integer() == -2);
  CHECK(value["b"].items()[0].as_real() == 1.0);
  CHECK(value["b"].items()[2].as_real() == 3.5);
  CHECK(value["b"].items()[3].as_text() == "x");
  CHECK(value["b"].items()[4].is_null());
  CHECK(value["b"].items()[5].as_boolean());
  value["c"]["d"] = 1;
  value.rename("c", "e");
  CHECK(value.find("e")->find("d")->as_integer() == 1);
  CHECK(value.find("c") == nullptr);
  value.erase("b");
  CHECK(value.to_text(-1) == R"({"a":{},"e":{"d":1}})");
  CHECK(contains(message_of([&] { value.as_integer(); }), "expected an integer"));
  CHECK(contains(message_of([&] { value.erase("x"); }), "there is no entry \"x\""));
  CHECK(contains(message_of([&] { value.rename("a", "e"); }), "there is an entry \"e\" already"));
  CHECK(contains(message_of([&] { Value(UINT64_MAX).as_integer(); }), "18446744073709551615"));
  CHECK(Value(INT64_MIN).as_integer() == INT64_MIN);
  CHECK(contains(message_of([&] { Value("\xff").to_text(); }), "not UTF-8"));
}
