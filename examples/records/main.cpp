// Weights from elsewhere, a training that goes on where it stopped, a file of an older version of the
// program, and settings from the command line. docs/records.md walks through it.
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct NetConfig {
  std::int64_t width = 8;
  double dropout = 0.1;
};

struct Config {
  NetConfig net;
  double rate = 0.01;
  std::optional<double> clip;
};

struct Net {
  sn::nn::Linear body, head;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const { return head.forward(sn::relu(body.forward(x))); }
};

Net make_net(const NetConfig& config, const sn::Device& device) {
  return {.body = sn::nn::LinearConfig{.d_in = 2, .d_out = config.width}.init(device),
          .head = sn::nn::LinearConfig{.d_in = config.width, .d_out = 1}.init(device)};
}

double step(Net& net, sn::optim::Optimizer& adam, const sn::Device& device) {
  const auto x = sn::Tensor<2>::normal({16, 2}, 0, 1, device);
  const auto loss = (net.forward(x) - x.sum(1)).square().mean();
  adam.step(0.01, net, loss.backward());
  return loss.item();
}

}  // namespace

void weights(const sn::Device& device, const std::filesystem::path& folder) {
  const Net net = make_net({}, device);
  // In half of the bytes, in files of at most 40 bytes each: model.safetensors.index.json says which.
  sn::record::save(net, folder / "model.safetensors", {.dtype = sn::DType::bf16, .max_shard_bytes = 40});

  // Another model: its first layer is called otherwise, and its last one is its own.
  struct Classifier {
    sn::nn::Linear encoder, classes;
  };
  Classifier model{.encoder = sn::nn::LinearConfig{.d_in = 2, .d_out = 8}.init(device),
                   .classes = sn::nn::LinearConfig{.d_in = 8, .d_out = 3}.init(device)};
  const auto report = sn::record::load(model, folder / "model.safetensors",
                                       {.rename = {{"^body\\.", "encoder."}}, .cast = true, .strict = false});
  std::cout << report.to_text() << "\n";
}

void mistakes(const sn::Device& device, const std::filesystem::path& folder) {
  Net wide = make_net({.width = 9}, device);
  try {
    sn::record::load(wide, folder / "model.safetensors", {.only = {"body.*"}, .cast = true});
  } catch (const sn::DataError& error) {
    const std::string message = error.what();
    std::cout << message.substr(message.find("the record")) << "\n";
  }
}

void formats(const sn::Device& device) {
  sn::record::Record record;
  record.add("x", sn::Tensor<2>::full({2, 2}, 0.5, device).dynamic());
  record.set_text("unit", "metres");
  const auto json = record.to_bytes({.encoding = sn::record::Encoding::json});
  std::cout << std::string(reinterpret_cast<const char*>(json.data()), json.size());
}

void train(const sn::Device& device, const std::filesystem::path& file) {
  Config config;
  Net net = make_net(config.net, device);
  auto adam = sn::optim::AdamConfig{}.init();
  std::int64_t steps = 0;

  sn::record::Checkpoint checkpoint(1);
  checkpoint.config("config", config);
  checkpoint.module("net", net);
  checkpoint.state("adam", adam, device);
  checkpoint.config("steps", steps);
  checkpoint.random("random", device);
  for (; steps < 3; ++steps) step(net, adam, device);
  checkpoint.save(file);
  const double next = step(net, adam, device);
  // Back to where it was saved: weights, moments, count, and the batches to come.
  checkpoint.load(file);
  std::cout << "the step after " << steps << " is "
            << (step(net, adam, device) == next ? "the same" : "another") << "\n";
}

void older_version(const sn::Device& device, const std::filesystem::path& file) {
  // What `config` and `net` have become: a field renamed, one added; a layer renamed.
  struct NewConfig {
    std::int64_t hidden = 8;
    std::string activation = "relu";
  };
  struct NewNet {
    sn::nn::Linear body, out;
  };
  NewConfig config;
  NewNet net{.body = sn::nn::LinearConfig{.d_in = 2, .d_out = 8}.init(device),
             .out = sn::nn::LinearConfig{.d_in = 8, .d_out = 1}.init(device)};
  auto adam = sn::optim::AdamConfig{}.init();
  std::int64_t steps = 0;

  sn::record::Checkpoint checkpoint(2);
  checkpoint.config("config", config);
  checkpoint.module("net", net);
  checkpoint.state("adam", adam, device);
  checkpoint.config("steps", steps);
  checkpoint.migrate(1, [](sn::record::Record& old) {
    old.rename_all({{"\\bhead\\.", "out."}});
    const auto was = sn::config::Value::parse(*old.find_text("config"));
    old.set_text("config",
                 sn::config::to_json(NewConfig{.hidden = was.find("net")->find("width")->as_integer()}));
    old.erase_text("random");
  });
  checkpoint.load(file);
  std::cout << "version 1 after " << steps << " steps: " << sn::config::to_json(config, -1) << "\n";
}

void settings() {
  Config config;
  sn::config::update(config, R"({"net": {"width": 64}, "rate": 0.001})");
  const char* arguments[] = {"program", "data.txt", "--net.dropout=0", "--clip=0.5"};
  const std::vector<std::string> files = sn::config::parse_arguments(config, 4, arguments);
  std::cout << files.at(0) << ": " << sn::config::to_json(config, -1) << "\n";
  for (const std::string& setting : sn::config::to_arguments(config)) std::cout << "  " << setting << "\n";
  try {
    sn::config::update(config, R"({"net": {"widht": 3}, "rate": "fast"})", "\"train.json\"");
  } catch (const sn::DataError& error) {
    std::cout << error.what() << "\n";
  }
}

int main() {
  const auto device = sn::Device::best().autodiff();
  device.seed(1);
  const auto folder = std::filesystem::temp_directory_path() / "sinter-records";
  std::filesystem::create_directories(folder);
  weights(device, folder);
  mistakes(device, folder);
  formats(device);
  train(device, folder / "run.safetensors");
  older_version(device, folder / "run.safetensors");
  settings();
  std::filesystem::remove_all(folder);
}
