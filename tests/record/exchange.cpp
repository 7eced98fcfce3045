// The C++ side of exchange.py. usage: exchange write FOLDER | exchange read FILE | exchange infer FILE
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include <sinter/error.h>
#include <sinter/nn.h>
#include <sinter/record.h>

namespace {

namespace rec = sinter::record;
using sinter::DType;

template <class T>
void add(rec::Record& record, const char* name, sinter::Shape shape, std::initializer_list<T> values) {
  record.add(name, {sinter::dtype_of<T>, shape, std::as_bytes(std::span(values.begin(), values.size()))});
}

rec::Record sample() {
  rec::Record record;
  add<float>(record, "layers.0.weight", {2, 3}, {1, -2, 0.1f, 1e-45f, 3e38f, -0.0f});
  add<double>(record, "f64", {2}, {0.1, -1e300});
  add<sinter::bfloat16>(record, "bf16", {2}, {sinter::bfloat16(1.5f), sinter::bfloat16(-3e38f)});
  add<sinter::float16>(record, "f16", {3},
                       {sinter::float16(1.5f), sinter::float16(65504.0f), sinter::float16(6e-8f)});
  add<std::int32_t>(record, "i32", {1, 2}, {-7, 2147483647});
  add<std::int64_t>(record, "i64", {}, {-5'000'000'000});
  add<std::uint8_t>(record, "u8", {3}, {0, 128, 255});
  add<float>(record, "empty", {0, 4}, {});
  const bool flags[] = {true, false, true};
  record.add("bool \u00e4", {DType::boolean, {3}, std::as_bytes(std::span(flags))});
  record.set_text("format", "pt");
  record.set_text("note", "\"\u00e4\" and\nmore");
  return record;
}

// One line for each tensor, with its bytes: the other side compares texts.
void print(const rec::Record& record) {
  for (const auto& [key, text] : record.texts()) std::printf("text %s %zu\n", key.c_str(), text.size());
  for (const auto& [name, entry] : record.entries()) {
    std::printf("%s %s %s ", name.c_str(), std::string(sinter::name_of(entry.dtype)).c_str(),
                to_string(entry.shape).c_str());
    for (const std::byte byte : entry.bytes) std::printf("%02x", static_cast<unsigned>(byte));
    std::printf("\n");
  }
}

/// A layer of each kind that has tensors, under PyTorch's names.
struct Model {
  sinter::nn::Embedding words;
  sinter::nn::Lstm lstm;
  sinter::nn::Conv2d conv;
  sinter::nn::BatchNorm norm;
  sinter::nn::LayerNorm last;
  sinter::nn::Linear head;

  sinter::Tensor<2> forward(const sinter::Tensor<2, sinter::Int>& ids) const {
    const auto y = lstm.forward(words.forward(ids)).output;
    const auto image = sinter::relu(norm.forward(conv.forward(y.unsqueeze(1))));
    return head.forward(last.forward(image.mean(3).mean(2).flatten<2>()));
  }
};

Model make_model() {
  const auto device = sinter::Device::best();
  device.seed(3);
  Model model{
      .words = sinter::nn::EmbeddingConfig{.n_embedding = 11, .d_model = 4}.init(device),
      .lstm =
          sinter::nn::LstmConfig{.d_in = 4, .d_hidden = 5, .layers = 2, .bidirectional = true}.init(device),
      .conv = sinter::nn::Conv2dConfig{.channels = {1, 3}, .kernel = {3, 2}, .stride = {1, 2}}.init(device),
      .norm = sinter::nn::BatchNormConfig{.channels = 3}.init(device),
      .last = sinter::nn::LayerNormConfig{.d_model = 3}.init(device),
      .head = sinter::nn::LinearConfig{.d_in = 3, .d_out = 2}.init(device)};
  model.norm.running_mean.set(sinter::Tensor<1>::randn({3}, device) * 0.1);
  model.norm.running_var.set(sinter::Tensor<1>::rand({3}, device) + 0.5);
  model.last.bias = sinter::Tensor<1>::randn({3}, device);
  return model;
}

void infer(const char* file) {
  Model model = make_model();
  // PyTorch's batch norms count their batches, ours do not.
  rec::load(model, file, {.rename = {{".*num_batches_tracked", ""}}});
  const auto ids =
      sinter::Tensor<1, sinter::Int>::arange(0, 12, 1, sinter::Device::best()).reshape({2, 6}) % 11;
  for (const float value : model.forward(ids).to_vector<float>())
    std::printf("%.9g\n", static_cast<double>(value));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  try {
    if (what == "write") {
      const std::string folder = argv[2] + std::string("/");
      for (const char* name : {"a.safetensors", "a.msgpack", "a.json", "a.json.gz", "a.safetensors.gz"})
        sample().write(folder + name);
      sample().write(folder + "parts.safetensors", {.max_shard_bytes = 20});
      rec::save(make_model(), folder + "model-of-sinter.safetensors");
    } else if (what == "read") {
      print(rec::Record::read(argv[2]));
    } else if (what == "infer") {
      infer(argv[2]);
    } else {
      std::fprintf(stderr, "usage: exchange write FOLDER | exchange read FILE | exchange infer FILE\n");
      return 2;
    }
  } catch (const sinter::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
