// Modules through records: renaming, casts, parts, and loads that fail without a trace.
#include "tests/support/records.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/record.h>

#include "tests/support/messages.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;
using record::LoadReport;
using record::Record;

namespace {

using Names = std::vector<std::string>;

struct Net {
  nn::Linear body, head;
};

Net make(double value, const Device& device = test_device().autodiff()) {
  const auto linear = [&](std::int64_t in, std::int64_t out, double v) -> nn::Linear {
    const auto bias = Tensor<1>::full({out}, v + 1, device);
    const auto weight = Tensor<2>::full({out, in}, v, device);
    if (!device.is_autodiff()) return {weight, bias};
    return {weight.require_grad(), bias.require_grad()};
  };
  return {linear(2, 3, value), linear(3, 1, value + 2)};
}

float first_of(const AnyTensor& tensor) { return values_of(tensor.cast(DType::f32))[0]; }

}  // namespace

TEST_CASE("a load reports what it did") {
  Net net = make(0);
  const LoadReport report = record::load_record(net, record::to_record(make(1)));
  CHECK(report.used == Names{"body.weight", "body.bias", "head.weight", "head.bias"});
  CHECK(report.cast.empty());
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  CHECK(report.to_text() == "4 used, 0 of them cast; missing: none; unexpected: none");
  CHECK(nn::equal(net, make(1)));
  CHECK(net.body.weight.requires_grad());
}

TEST_CASE("names become paths") {
  Record old;
  const Record now = record::to_record(make(1));
  for (const auto& [name, entry] : now.entries())
    old.add("bert.layers." + (name.starts_with("body") ? "0" + name.substr(4) : "1" + name.substr(4)), entry);
  old.add("bert.steps", entry_of(DType::i64, {}, 1));

  SUBCASE("by patterns") {
    Net net = make(0);
    const auto report = record::load_record(
        net, old,
        {.rename = {
             {"^bert\\.(.*)", "$1"}, {"layers\\.0", "body"}, {"layers\\.1", "head"}, {"^steps$", ""}}});
    CHECK(report.used.size() == 4);
    CHECK(nn::equal(net, make(1)));
  }
  SUBCASE("by a function") {
    Net net = make(0);
    const auto report = record::load_record(net, old, {.rename = [](std::string_view name) -> std::string {
                                              if (name == "bert.steps") return "";
                                              const bool body = name.substr(12, 1) == "0";
                                              return (body ? "body" : "head") + std::string(name.substr(13));
                                            }});
    CHECK(report.unexpected.empty());
    CHECK(nn::equal(net, make(1)));
  }
  SUBCASE("of a part of the record") {
    Net net = make(0);
    const auto report = record::load_record(
        net, old, {.prefix = "bert.layers", .rename = {{"^0", "body"}, {"^1", "head"}}, .strict = false});
    CHECK(report.unexpected.empty());
    CHECK(nn::equal(net, make(1)));
  }
  SUBCASE("two would be one") {
    Net net = make(0);
    CHECK(contains(message_of([&] {
                     record::load_record(net, old, {.rename = {{"^bert\\.layers\\.[01]", "body"}}});
                   }),
                   "\"bert.layers.0.bias\" and \"bert.layers.1.bias\" would both be \"body.bias\""));
  }
  SUBCASE("what is no pattern, or too long for one") {
    Net net = make(0);
    CHECK(contains(message_of([&] {
                     record::load_record(net, old, {.rename = {{"(", ""}}});
                   }),
                   "\"(\" is no regular expression"));
    Record record;
    record.add(std::string(1025, 'a'), entry_of(DType::u8, {1}, 1));
    CHECK(contains(message_of([&] {
                     record::load_record(net, record, {.rename = {{"(a|b)*", ""}}});
                   }),
                   "too long for patterns"));
  }
  SUBCASE("a difference names both") {
    Net net = make(0);
    Record wide;
    wide.add("x", entry_of<float>({1, 2}, {1, 2}));
    CHECK(contains(message_of([&] {
                     record::load_record(net, wide, {.rename = {{"x", "body.weight"}}, .strict = false});
                   }),
                   "different: body.weight (\"x\") is f32 (1, 2) but the module has f32 (3, 2)"));
  }
}

TEST_CASE("what a record lacks or has beyond") {
  Record record = record::to_record(make(1));
  record.rename("head.bias", "tail.bias");
  Net net = make(0);
  CHECK(contains(message_of([&] { record::load_record(net, record); }),
                 "does not fit the module; missing: head.bias f32 (1); unexpected: tail.bias"));
  CHECK(nn::equal(net, make(0)));
  const auto report = record::load_record(net, record, {.strict = false});
  CHECK(report.used == Names{"body.weight", "body.bias", "head.weight"});
  CHECK(report.missing == Names{"head.bias"});
  CHECK(report.unexpected == Names{"tail.bias"});
  CHECK(report.to_text() == "3 used, 0 of them cast; missing: head.bias; unexpected: tail.bias");
  CHECK(first_of(net.head.bias->dynamic()) == 3);
  CHECK(first_of(net.head.weight.dynamic()) == 3);

  // Nothing at all is no load.
  Record other;
  other.add("x", entry_of(DType::f32, {1}, 1));
  CHECK(contains(message_of([&] { record::load_record(net, other, {.strict = false}); }),
                 "the record has nothing of the module; missing: body.weight"));
}

TEST_CASE("only some paths") {
  const Record record = record::to_record(make(1));
  Net net = make(0);
  const auto report = record::load_record(net, record, {.only = {"body.*", "*.bias"}});
  CHECK(report.used == Names{"body.weight", "body.bias", "head.bias"});
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  CHECK(first_of(net.head.weight.dynamic()) == 2);
  CHECK(first_of(net.head.bias->dynamic()) == 4);
  // What is not to be loaded may also be missing.
  Record part = record;
  part.erase("head.weight");
  CHECK(record::load_record(net, part, {.only = {"body.*"}}).missing.empty());
  CHECK(contains(message_of([&] {
                   record::load_record(net, record, {.only = {"body.*", "none*"}});
                 }),
                 "no path of the module fits the pattern \"none*\""));
}

TEST_CASE("half of the bytes in the file, and back") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  for (const DType dtype : {DType::bf16, DType::f16, DType::f64}) {
    record::save(make(1), file, {.dtype = dtype, .texts = {{"format", "pt"}}});
    const Record record = Record::read(file);
    CHECK(record.find("body.weight")->dtype == dtype);
    CHECK(*record.find_text("format") == "pt");
    Net net = make(0);
    CHECK(
        contains(message_of([&] { record::load(net, file, {}); }),
                 "body.weight is " + std::string(name_of(dtype)) + " (3, 2) but the module has f32 (3, 2)"));
    const auto report = record::load(net, file, {.cast = true});
    CHECK(report.cast.size() == 4);
    CHECK(nn::equal(net, make(1)));
  }
  CHECK_THROWS_AS(record::save(make(1), file, {.dtype = DType::i32}), DataError);
  Net large = make(70000);
  CHECK(contains(message_of([&] { record::save(large, file, {.dtype = DType::f16}); }),
                 "of f32 has the value 70000, which f16 does not hold"));
  record::save(large, file, {.max_shard_bytes = 30});
  CHECK(nn::equal(record::load(make(0), file), large));
}

TEST_CASE("buffers keep their precision") {
  const Device device = test_device();
  const auto norm = nn::BatchNormConfig{.channels = 2}.init(device);
  const Record record = record::to_record(norm, DType::bf16);
  CHECK(record.find("weight")->dtype == DType::bf16);
  CHECK(record.find("running_var")->dtype == DType::f32);
}

TEST_CASE("casts of records") {
  Record record;
  record.add("d", entry_of<double>({4}, {1.0 + 0x1p-8 + 0x1p-40, 1.0 + 0x1p-11 + 0x1p-40, 1e300, -0.0}));
  record.add("f", entry_of<float>({3}, {0.1f, INFINITY, 65519.0f}));
  record.add("i", entry_of<std::int64_t>({2}, {-1, 300}));
  record.add("b", entry_of(DType::boolean, {2}, 0));
  // To the nearest, not by way of f32, which would round to a tie first.
  Record copy = record;
  CHECK(contains(message_of([&] { copy.cast("d", DType::bf16); }), "has the value 1e+300, which bf16"));
  copy = Record();
  copy.add("d", entry_of<double>({2}, {1.0 + 0x1p-8 + 0x1p-40, 1.0 + 0x1p-11 + 0x1p-40}));
  Record half = copy;
  copy.cast("d", DType::bf16);
  CHECK(static_cast<float>(values_of<bfloat16>(*copy.find("d"))[0]) == 1.0f + 0x1p-7f);
  half.cast("d", DType::f16);
  CHECK(static_cast<float>(values_of<float16>(*half.find("d"))[1]) == 1.0f + 0x1p-10f);
  record.cast("f", DType::f16);
  CHECK(static_cast<float>(values_of<float16>(*record.find("f"))[1]) == INFINITY);
  CHECK(static_cast<float>(values_of<float16>(*record.find("f"))[2]) == 65504.0f);
  record.cast("f", DType::f64);
  CHECK(values_of<double>(*record.find("f"))[2] == 65504.0);
  half.cast("d", DType::f8_e4m3);
  CHECK(half.find("d")->bytes.size() == 2);
  CHECK(static_cast<float>(values_of<float8_e4m3>(*half.find("d"))[1]) == 1.0f);
  Record wide;
  wide.add("f", entry_of<float>({3}, {0.1f, INFINITY, 448.0f}));
  copy = wide;
  copy.cast("f", DType::f8_e5m2);
  CHECK(static_cast<float>(values_of<float8_e5m2>(*copy.find("f"))[1]) == INFINITY);
  CHECK(contains(message_of([&] { wide.cast("f", DType::f8_e4m3); }), "has the value inf, which f8_e4m3"));
  record.cast("i", DType::i32);
  CHECK(values_of<std::int32_t>(*record.find("i")) == std::vector<std::int32_t>{-1, 300});
  CHECK(contains(message_of([&] { record.cast("i", DType::u8); }), "tensor \"i\" of i32 has the value -1"));
  CHECK(contains(message_of([&] { record.cast("i", DType::f32); }), "cannot be cast to f32"));
  CHECK(contains(message_of([&] { record.cast("b", DType::u8); }), "cannot be cast to u8"));
}

TEST_CASE("a load that fails leaves the module as it was") {
  Record record = record::to_record(make(1));
  record.erase("head.bias");
  record.add("head.bias", entry_of<double>({1}, {1e300}));
  Net net = make(0);
  CHECK(contains(message_of([&] { record::load_record(net, record, {.cast = true}); }),
                 "tensor \"head.bias\" of f64 has the value 1e+300, which f32 does not hold"));
  CHECK(nn::equal(net, make(0)));
  net.head.bias = Tensor<1>();
  CHECK(contains(message_of([&] { record::load_record(net, record); }), "head.bias of the module is empty"));
  CHECK(contains(message_of([&] { record::to_record(net); }), "head.bias of the module is empty"));
}

TEST_CASE("a module that cannot be copied, with tied parameters, under other names") {
  struct Tied {
    std::unique_ptr<nn::Linear> left;
    Tensor<2> right;
  };
  const auto tied = [](double value) {
    const Device device = test_device().autodiff();
    Tied module{std::make_unique<nn::Linear>(), Tensor<2>::full({2, 2}, value, device).require_grad()};
    module.left->weight = module.right;
    return module;
  };
  const Record record = record::to_record(tied(1));
  CHECK(record.entries().size() == 1);
  Record renamed = record;
  renamed.rename("left.weight", "old.weight");
  renamed.rename_text("tied.right", "tied.older");
  renamed.set_text("tied.older", "old.weight");
  Tied module = tied(0);
  const auto report =
      record::load_record(module, renamed, {.rename = {{"^old\\.", "left."}, {"older", "right"}}});
  CHECK(report.used == Names{"left.weight", "right"});
  CHECK(first_of(module.right.dynamic()) == 1);
  CHECK(module.left->weight.dynamic().node().get() == module.right.dynamic().node().get());
  // Where only one of the two is to change, they are tied no longer.
  module = tied(0);
  record::load_record(module, record, {.only = {"right"}});
  CHECK(first_of(module.right.dynamic()) == 1);
  CHECK(first_of(module.left->weight.dynamic()) == 0);
}

TEST_CASE("a tensor is a module of one parameter, whose path is empty") {
  const Device device = test_device().autodiff();
  const auto w = Tensor<2>::full({2, 2}, 3, device).require_grad();
  const auto zeros = [&] { return Tensor<2>::zeros({2, 2}, device).require_grad(); };
  TemporaryFolder folder;
  for (const char* name : {"w.safetensors", "w.json", "w.msgpack"}) {
    record::save(w, folder.path() / name);
    const auto loaded = record::load(zeros(), folder.path() / name);
    CHECK(first_of(loaded.dynamic()) == 3);
    CHECK(loaded.requires_grad());
  }
  const Record record = record::to_record(w);
  CHECK(record.find(""));
  CHECK(first_of(record::from_bytes(zeros(), record::to_bytes(w)).dynamic()) == 3);
  CHECK(contains(message_of([&] { record::from_record(Tensor<1>::zeros({4}, device), record); }),
                 "different: \"\" is f32 (2, 2) but the module has f32 (4)"));
  CHECK(contains(message_of([&] { record::from_record(zeros(), Record()); }), "missing: \"\" f32 (2, 2)"));

  // As a part of a record, renamed, and beside modules, which pass such a name over.
  Record whole;
  whole.add_part("w", record);
  auto other = zeros();
  record::load_record(other, whole, {.prefix = "w"});
  CHECK(first_of(other.dynamic()) == 3);
  Record renamed = record;
  renamed.rename_all({{"^x", "y"}});
  CHECK(renamed.find(""));
  Record net = record::to_record(make(1));
  net.add("", *record.find(""));
  Net loaded = make(2);
  CHECK(record::load_record(loaded, net).unexpected.empty());
}

TEST_CASE("a mapped file is uploaded") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  const Device device = test_device();
  // Large enough for several pieces of any device's staging memory, and not aligned in the file.
  std::vector<float> numbers(3'000'001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 8191);
  Record record;
  record.add("x", entry_of(Shape{3'000'001}, numbers));
  record.add("odd", entry_of(DType::u8, {3}, 5));
  record.write(file);
  const AnyTensor x = Record::read(file).tensor("x", device);
  const AnyTensor odd = Record::read(file).tensor("odd", device);
  CHECK(values_of(x) == numbers);
  CHECK(values_of<std::uint8_t>(odd) == std::vector<std::uint8_t>{5, 6, 7});
  CHECK(contains(message_of([&] { Record::read(file).tensor("y", device); }), "there is no tensor \"y\""));
}
