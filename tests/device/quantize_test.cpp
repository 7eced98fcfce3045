// Weights in few bits: values, errors and memory of each scheme, layers of a model that have them, low-rank
// matrices beside them, records.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autocast.h>
#include <sinter/describe.h>
#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/quantize.h>
#include <sinter/record.h>

#include "tests/pytorch/quantization.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/values.h"

using namespace sinter;
namespace ref = reference::quantization;

namespace {

Device training() { return Device::best().autodiff(); }

constexpr QuantScheme kSchemes[] = {QuantScheme::int8, QuantScheme::int4, QuantScheme::nf4, QuantScheme::fp8};
constexpr QuantGranularity kGranularities[] = {QuantGranularity::tensor, QuantGranularity::channel,
                                               QuantGranularity::block};

Tensor<2> weight() { return Tensor<2>::from_data(ref::weight, {5, 37}, Device::best()); }

std::vector<float> back(const QuantizedTensor& x) { return values_of(dequantize(x, DType::f32)); }

/// Half of the largest distance of two numbers, as a part of the largest number that shares a scale.
double error_of(QuantScheme scheme) {
  if (scheme == QuantScheme::int8) return 0.5 / 127;
  if (scheme == QuantScheme::int4) return 0.5 / 7;
  if (scheme == QuantScheme::fp8) return 16.0 / 448;
  double widest = 0;
  for (std::size_t i = 1; i < ref::normal_float.size(); ++i)
    widest = std::max(widest, ref::normal_float[i] - ref::normal_float[i - 1]);
  return widest / 2;
}

/// What records have: a module's buffers.
std::size_t bytes_of(const QuantizedTensor& x) {
  std::size_t bytes = 0;
  visit_buffers(x, [&](const std::string&, const auto& buffer) {
    bytes += static_cast<std::size_t>(buffer.shape().numel()) * size_of(buffer.dynamic().dtype());
  });
  return bytes;
}

}  // namespace

TEST_CASE("the numbers of NF4 are the quantiles that its paper defines") {
  // 1 is in each row, so that the scales are 1; the others are near a number of NF4 each.
  std::vector<float> values;
  for (const double number : ref::normal_float) values.push_back(static_cast<float>(number * 0.999));
  values.back() = 1;
  const auto found = back(quantize(Tensor<1>::from_data(values, {16}, Device::best()), {.block = 16}));
  for (std::size_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    // The paper's table was rounded to f32 several times on its way.
    CHECK(std::abs(found[i] - ref::normal_float[i]) < 2e-7);
  }
}

TEST_CASE("values of each scheme against a reference") {
  const auto check = [](const QuantOptions& options, const std::vector<float>& expected) {
    CAPTURE(name_of(options.scheme));
    CAPTURE(static_cast<int>(options.granularity));
    check_close(back(quantize(weight(), options)), expected, 5e-7);
  };
  const std::vector<float>* const expected[3][3] = {{&ref::int8_tensor, &ref::int8_channel, &ref::int8_block},
                                                    {&ref::int4_tensor, &ref::int4_channel, &ref::int4_block},
                                                    {&ref::nf4_tensor, &ref::nf4_channel, &ref::nf4_block}};
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t g = 0; g < 3; ++g)
      check({.scheme = kSchemes[s], .granularity = kGranularities[g], .block = 16}, *expected[s][g]);
  check({.block = 16, .double_quantization = true}, ref::nf4_double);
}

TEST_CASE("numbers of 8-bit floats times their scale") {
  const auto before = values_of(weight().dynamic());
  const QuantizedTensor q = quantize(weight(), {QuantScheme::fp8, QuantGranularity::channel});
  CHECK(q.numbers.dynamic().dtype() == DType::f8_e4m3);
  const auto after = back(q);
  for (std::size_t row = 0; row < 5; ++row) {
    float largest = 0;
    for (std::size_t i = row * 37; i < row * 37 + 37; ++i) largest = std::max(largest, std::abs(before[i]));
    const float scale = largest * static_cast<float>(1 / 448.0);
    for (std::size_t i = row * 37; i < row * 37 + 37; ++i) {
      CHECK(after[i] ==
            doctest::Approx(static_cast<float>(float8_e4m3(before[i] / scale)) * scale).epsilon(1e-6));
      // Small numbers have as many digits as large ones.
      if (std::abs(before[i]) > largest / 28672)
        CHECK(std::abs(after[i] - before[i]) <= 0x1.01p-4 * std::abs(before[i]));
    }
  }
}

TEST_CASE("no number changes by more than its scheme allows, whatever the sizes") {
  const Device device = Device::best();
  device.seed(1);
  for (const std::int64_t columns : {1, 2, 15, 16, 17, 64, 65})
    for (const QuantScheme scheme : kSchemes)
      for (const QuantGranularity granularity : kGranularities)
        for (const bool twice : {false, true}) {
          CAPTURE(columns);
          CAPTURE(name_of(scheme));
          CAPTURE(static_cast<int>(granularity));
          CAPTURE(twice);
          const auto x = Tensor<2>::randn({3, columns}, device);
          const QuantizedTensor q = quantize(x, {scheme, granularity, 16, twice});
          if (scheme == QuantScheme::fp8) {
            CHECK(q.numbers.shape()[1] == columns);
            CHECK_FALSE(q.codes.defined());
          } else {
            CHECK(q.codes.shape()[1] == (scheme == QuantScheme::int8 ? columns : (columns + 1) / 2));
          }
          const auto before = values_of(x.dynamic()), after = back(q);
          REQUIRE(after.size() == before.size());
          const auto size = static_cast<std::size_t>(columns);
          const auto largest_of = [&](std::size_t i) {
            std::size_t begin = 0, end = before.size();
            if (granularity != QuantGranularity::tensor) begin = i / size * size, end = begin + size;
            if (granularity == QuantGranularity::block) {
              begin += (i - begin) / 16 * 16;
              end = std::min(end, begin + 16);
            }
            float largest = 0;
            for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(before[k]));
            return largest;
          };
          float all = 0;
          for (const float value : before) all = std::max(all, std::abs(value));
          for (std::size_t i = 0; i < before.size(); ++i) {
            // A scale in 8 bits is wrong by half of a 127th of the largest difference from the mean.
            const double allowed =
                error_of(scheme) * largest_of(i) + (twice ? all * (0.5 / 127) : 0) + 1e-6 * all;
            CHECK(std::abs(after[i] - before[i]) <= allowed);
          }
        }
}

TEST_CASE("shapes, dtypes, zeros, and large and small numbers") {
  const Device device = Device::best();
  const QuantizedTensor row = quantize(Tensor<1>::ones({3}, device), {.scheme = QuantScheme::int8});
  CHECK(row.codes.shape() == Shape{1, 3});
  const QuantizedTensor volume = quantize(Tensor<3>::ones({2, 3, 5}, device).cast(DType::bf16));
  CHECK(volume.codes.shape() == Shape{2, 8});
  CHECK(dequantize(volume).shape() == Shape{2, 3, 5});
  CHECK(dequantize(volume).dtype() == DType::bf16);
  CHECK(dequantize(volume, DType::f32).dtype() == DType::f32);
  for (const QuantScheme scheme : kSchemes)
    for (const QuantGranularity granularity : kGranularities)
      for (const bool twice : {false, true}) {
        const QuantOptions options{scheme, granularity, 16, twice};
        CHECK(back(quantize(Tensor<2>::zeros({2, 17}, device), options)) == std::vector<float>(34, 0));
        // A block of zeros beside one of ones stays one of zeros.
        const auto half =
            Tensor<2>::cat({Tensor<2>::ones({1, 16}, device), Tensor<2>::zeros({1, 16}, device)}, 1);
        const auto found = back(quantize(half, options));
        for (std::size_t i = 16; i < 32; ++i) CHECK(found[i] == 0);
        check_close(std::vector<float>(found.begin(), found.begin() + 16), std::vector<float>(16, 1), 5e-3);
        for (const double size : {1e30, 1e-30}) {
          const auto large = back(quantize(weight() * size, options));
          const auto plain = back(quantize(weight(), options));
          for (std::size_t i = 0; i < plain.size(); ++i)
            CHECK(std::abs(large[i] / size - plain[i]) <= 1e-5 * std::max(1.0f, std::abs(plain[i])));
        }
      }
}

TEST_CASE("memory: bits of a number") {
  const auto x = Tensor<2>::randn({256, 512}, Device::best());
  const auto bits = [&](const QuantOptions& options) {
    return 8.0 * bytes_of(quantize(x, options)) / (256 * 512);
  };
  CHECK(bits({.scheme = QuantScheme::int8, .granularity = QuantGranularity::channel}) == 8 + 32.0 / 512);
  CHECK(bits({.scheme = QuantScheme::fp8, .granularity = QuantGranularity::channel}) == 8 + 32.0 / 512);
  CHECK(bits({.scheme = QuantScheme::int4, .block = 32}) == 4 + 32.0 / 32);
  CHECK(bits({}) == 4.5);
  // The paper's 0.127 bits for the scales (section 3), and the mean.
  CHECK(bits({.double_quantization = true}) == 4 + 8.0 / 64 + 32.0 / (64 * 256) + 32.0 / (256 * 512));
}

TEST_CASE("what cannot be quantized") {
  const Device device = Device::best();
  auto values = ref::weight;
  values[7] = std::numeric_limits<float>::infinity();
  values[9] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(quantize(Tensor<2>::from_data(values, {5, 37}, device)),
                       doctest::Contains("of the 185 numbers 2 are NaN or infinite"), Error);
  for (const std::int64_t block : {0, 8, 48, -16})
    CHECK_THROWS_WITH_AS(quantize(weight(), {.block = block}), doctest::Contains("expected a power of two"),
                         Error);
  CHECK_THROWS_AS(quantize(Tensor<2>::zeros({0, 4}, device)), ShapeError);
  CHECK_THROWS_AS(quantize(Tensor<2>::zeros({4, 0}, device)), ShapeError);
  CHECK_THROWS_AS(quantize(Tensor<0>::full({}, 1, device)), ShapeError);
  CHECK_THROWS_AS(quantize(Tensor<2>()), Error);
  CHECK_THROWS_AS(dequantize(QuantizedTensor()), Error);
}

namespace {

struct Net {
  nn::Embedding table;
  nn::TransformerEncoder encoder;
  nn::Linear head;
  Tensor<3> forward(const Tensor<2, Int>& x) const { return head.forward(encoder.forward(table.forward(x))); }
};

Net make(const Device& device) {
  device.seed(5);
  return {
      .table = nn::EmbeddingConfig{.n_embedding = 7, .d_model = 16}.init(device),
      .encoder =
          nn::TransformerConfig{.d_model = 16, .d_feed_forward = 24, .heads = 2, .layers = 2, .dropout = 0}
              .init_encoder(device),
      .head = nn::LinearConfig{.d_in = 16, .d_out = 3, .bias = false}.init(device)};
}

Tensor<2, Int> tokens() {
  return Tensor<2, Int>::from_data(std::vector<std::int64_t>{0, 1, 6, 3, 2, 5, 4, 1}, {2, 4}, Device::best());
}

std::vector<std::string> paths_of(const record::Record& record) {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : record.entries()) paths.push_back(path);
  return paths;
}

bool has(const std::vector<std::string>& paths, const std::string& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

}  // namespace

TEST_CASE("layers of a model: which have few bits, what they compute, and back") {
  const Net plain = make(training());
  const Net net = nn::quantize(plain, {"encoder.*.query", "head"}, {.block = 16});
  CHECK(net.head.quantized.has_value());
  CHECK_FALSE(net.head.weight.dynamic().defined());
  std::vector<std::string> buffers;
  visit_buffers(net, [&](const std::string& path, const auto&) { buffers.push_back(path); });
  CHECK(buffers == std::vector<std::string>{"encoder.layers.0.self_attention.query.quantized.nf4",
                                            "encoder.layers.0.self_attention.query.quantized.scales",
                                            "encoder.layers.1.self_attention.query.quantized.nf4",
                                            "encoder.layers.1.self_attention.query.quantized.scales",
                                            "head.quantized.nf4", "head.quantized.scales"});
  CHECK(num_parameters(net) == num_parameters(plain) - 2 * 16 * 16 - 3 * 16);
  CHECK(describe(net.head).find("quantized: QuantizedTensor, buffer nf4 (3, 8), buffer scales (3, 1)") !=
        std::string::npos);

  const Net again = nn::dequantize(net);
  CHECK_FALSE(again.head.quantized);
  CHECK_FALSE(again.head.weight.requires_grad());
  CHECK(again.head.weight.device() == training());
  check_close(again.head.weight.inner().dynamic(), back(*net.head.quantized), 0);
  CHECK(num_parameters(again) == num_parameters(plain));
  check_close(net.forward(tokens()).inner().dynamic(), values_of(again.forward(tokens()).inner().dynamic()),
              1e-5);
  // The same function roughly, and not the same.
  const auto before = values_of(plain.forward(tokens()).inner().dynamic());
  const auto after = values_of(net.forward(tokens()).inner().dynamic());
  check_close(after, before, 0.5);
  CHECK(after != before);
  const Net fine = nn::quantize(plain, {"*"}, {.scheme = QuantScheme::int8, .block = 16});
  check_close(fine.forward(tokens()).inner().dynamic(), before, 0.05);

  CHECK_THROWS_WITH_AS(nn::quantize(net, {"head"}), doctest::Contains("the layer head is quantized already"),
                       Error);
  CHECK_THROWS_WITH_AS(nn::quantize(net, {"tail", "table"}),
                       doctest::Contains("no Linear has a path that fits \"tail\", \"table\""), Error);
  CHECK_THROWS_WITH_AS(nn::dequantize(plain), doctest::Contains("no layer of the model is quantized"), Error);
}

TEST_CASE("dtypes of inputs, mixed precision, other devices") {
  const Device device = training();
  const nn::Linear layer =
      nn::quantize(nn::LinearConfig{.d_in = 20, .d_out = 4}.init(device), {"*"}, {.block = 16});
  const auto x = Tensor<2>::randn({3, 20}, device.inner());
  const auto expected = values_of(nn::dequantize(layer).forward(x).inner().dynamic());
  check_close(layer.forward(x).inner().dynamic(), expected, 1e-5);
  const nn::Linear half = nn::to_dtype(layer, DType::bf16);
  const auto y = half.forward(x.cast(DType::bf16));
  CHECK(y.dtype() == DType::bf16);
  check_close(y.inner().cast(DType::f32).dynamic(), expected, 4e-2);
  {
    const Autocast mixed;
    check_close(layer.forward(x).inner().cast(DType::f32).dynamic(), expected, 4e-2);
  }
  const nn::Linear there = nn::to_device(layer, Device::host());
  check_close(there.forward(x.to_device(Device::host())).inner().dynamic(), expected, 1e-5);
  CHECK(nn::equal(there, nn::to_device(nn::fork(layer), Device::host())));
  // No rows, and one.
  CHECK(layer.forward(Tensor<2>::zeros({0, 20}, device.inner())).shape() == Shape{0, 4});
  CHECK(layer.forward(Tensor<1>::zeros({20}, device.inner())).shape() == Shape{4});
}

TEST_CASE("QLoRA: low-rank matrices learn beside weights in few bits") {
  const std::vector<std::string> layers{"encoder.*.query", "encoder.*.value", "head"};
  const Net base = nn::quantize(make(training()), {"*"}, {.block = 16, .double_quantization = true});
  Net net = nn::add_lora(base, layers, {.rank = 2});
  check_close(net.forward(tokens()).inner().dynamic(), values_of(base.forward(tokens()).inner().dynamic()),
              0);
  const auto loss_of = [](const Net& of) { return (of.forward(tokens()) - 1.0).square().mean(); };
  Gradients gradients = loss_of(net).backward();
  std::size_t trained = 0;
  visit_parameters(net, [&](const std::string& path, const auto& tensor) {
    CAPTURE(path);
    CHECK(tensor.requires_grad() == (path.find(".lora.") != std::string::npos));
    trained += tensor.requires_grad();
  });
  CHECK(gradients.size() == trained);
  CHECK(trained == 10);
  // As though the weights were plain ones of the same values.
  const Net same = nn::add_lora(nn::dequantize(base), layers, {.rank = 2});
  const Net with_same = nn::load_lora(same, nn::lora_record(net));
  Gradients others = loss_of(with_same).backward();
  check_close(gradients.get(net.head.lora->b)->dynamic(),
              values_of(others.get(with_same.head.lora->b)->dynamic()), 1e-5);

  const double before = loss_of(net).item();
  auto adam = optim::AdamConfig{}.init();
  for (int step = 0; step < 40; ++step) adam.step(0.05, net, loss_of(net).backward());
  CHECK(loss_of(net).item() < 0.5 * before);
  CHECK(nn::equal(nn::remove_lora(net), base));

  const Net merged = nn::merge_lora(net);
  CHECK_FALSE(merged.head.quantized);
  CHECK(merged.encoder.layers[0].feed_forward.linear_inner.quantized.has_value());
  check_close(merged.forward(tokens()).inner().dynamic(), values_of(net.forward(tokens()).inner().dynamic()),
              1e-4);
  // Of layers without another parameter, and for inference alone.
  const nn::Linear lone = nn::add_lora(nn::quantize(make(training()).head));
  CHECK(lone.lora->a.requires_grad());
  const Net still = nn::add_lora(nn::quantize(make(Device::best())), {"head"});
  CHECK_FALSE(still.head.lora->a.requires_grad());
  CHECK_FALSE(still.forward(tokens()).device().is_autodiff());
}

TEST_CASE("weights in few bits go through records") {
  const QuantOptions options{.block = 16, .double_quantization = true};
  const Net net = nn::quantize(make(training()), {"head", "encoder.*"}, options);
  TemporaryFolder folder;
  const auto file = folder.path() / "net.safetensors";
  record::save(net, file);
  const record::Record record = record::Record::read(file);
  const auto paths = paths_of(record);
  CHECK(has(paths, "head.quantized.nf4"));
  CHECK(has(paths, "head.quantized.scales.codes"));
  CHECK(has(paths, "head.quantized.scales.mean"));
  CHECK_FALSE(has(paths, "head.weight"));

  training().seed(9);
  const auto fresh = [&](const QuantOptions& with) {
    Net other = make(training());
    other.head = nn::LinearConfig{.d_in = 16, .d_out = 3, .bias = false}.init(training());
    return nn::quantize(other, {"head", "encoder.*"}, with);
  };
  CHECK_FALSE(nn::equal(fresh(options), net));
  CHECK(nn::equal(record::load(fresh(options), file), net));
  // What was made with other options is told from it.
  const auto loads_into = [&](const QuantOptions& with) { record::load(fresh(with), file); };
  CHECK_THROWS_WITH_AS(loads_into({.scheme = QuantScheme::int4, .block = 16, .double_quantization = true}),
                       doctest::Contains("missing: encoder.layers.0.self_attention.query.quantized.int4"),
                       DataError);
  CHECK_THROWS_AS(loads_into({.block = 16}), DataError);
  CHECK_THROWS_AS(record::load(make(training()), file), DataError);
  // Numbers of 8-bit floats keep their dtype, which is not that of parameters.
  const QuantOptions floats{.scheme = QuantScheme::fp8, .granularity = QuantGranularity::channel};
  const Net of_floats = nn::quantize(make(training()), {"head", "encoder.*"}, floats);
  record::save(of_floats, file);
  CHECK(record::Record::read(file).find("head.quantized.fp8")->dtype == DType::f8_e4m3);
  CHECK(nn::equal(record::load(fresh(floats), file), of_floats));
  CHECK_FALSE(nn::equal(fresh(floats), of_floats));
}

TEST_CASE("codes of a layer of another size are refused, although they take as many bytes") {
  struct Head {
    nn::Linear head;
  };
  const auto with_inputs = [](std::int64_t d_in, const QuantOptions& options) {
    return nn::quantize(Head{nn::LinearConfig{.d_in = d_in, .d_out = 3}.init(training())}, {"*"}, options);
  };
  for (const QuantScheme scheme : {QuantScheme::int4, QuantScheme::nf4}) {
    const QuantOptions options{.scheme = scheme};
    const Head odd = with_inputs(5, options);
    record::Record record = record::to_record(odd);
    CHECK(nn::equal(record::from_record(with_inputs(5, options), record), odd));
    const std::string path = "head.quantized." + std::string(scheme == QuantScheme::int4 ? "int4" : "nf4");
    CHECK(*record.find_text("unpacked." + path) == "(3, 5)");
    CHECK_THROWS_WITH_AS(
        record::from_record(with_inputs(6, options), record),
        doctest::Contains((path + " stands for (3, 5) but that of the module for (3, 6)").c_str()),
        DataError);
    // Under another name, in a part of a record, and as files that do not say were.
    Head even = with_inputs(6, options);
    record::Record other;
    other.add_part("model", record);
    CHECK_THROWS_AS(record::load_record(even, other, {.prefix = "model"}), DataError);
    other.rename_all({{"^model\\.head", "model.tail"}});
    CHECK(*other.find_text("model.unpacked.tail" + path.substr(4)) == "(3, 5)");
    CHECK_THROWS_AS(record::load_record(even, other, {.prefix = "model", .rename = {{"^tail", "head"}}}),
                    DataError);
    other.rename_all({{"^model\\.", "net."}});
    CHECK(other.find_text("net.unpacked.tail" + path.substr(4)));
    // One tensor of another name, in a part and not, and one that is gone, take what is said of them along.
    other.rename("net.tail" + path.substr(4), "net.codes");
    CHECK(*other.find_text("net.unpacked.codes") == "(3, 5)");
    other.set_text("unpacked.codes", "(1, 1)");  // of no tensor
    const auto& entries = other.entries();
    const auto codes = std::find_if(entries.begin(), entries.end(),
                                    [](const auto& entry) { return entry.first == "net.codes"; });
    REQUIRE(codes != entries.end());
    other.rename(codes->first, "codes");  // by the name that goes
    CHECK(*other.find_text("unpacked.codes") == "(3, 5)");
    other.erase("codes");
    CHECK_FALSE(other.find_text("unpacked.codes"));
    record.erase_text("unpacked." + path);
    CHECK(nn::equal(record::from_record(with_inputs(5, options), record), odd));
  }
}
