// Checkpoints: a training goes on where it was, old versions load, and what fails changes nothing.
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/random.h>
#include <sinter/record.h>

#include "tests/support/failing_backend.h"
#include "tests/support/messages.h"
#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;
using record::Checkpoint;
using record::Record;

namespace {

struct Config {
  std::int64_t width = 4;
  double rate = 0.01;
  friend bool operator==(const Config&, const Config&) = default;
};

struct Net {
  nn::Linear body, head;
};

// A whole training, with everything that its next step depends on.
struct Run {
  Device device;
  Config config;
  Net net;
  optim::Optimizer adam = optim::AdamWConfig{}.init();
  optim::WeightAverage average = optim::EmaConfig{.decay = 0.9}.init();
  optim::ReduceOnPlateau plateau{.rate = 0.05, .patience = 1};
  std::int64_t step = 0;
  std::string note = "begun";

  explicit Run(std::uint64_t seed, const Device& on = test_device()) : device(on.autodiff()) {
    device.seed(seed);
    net = {nn::LinearConfig{.d_in = 3, .d_out = 4}.init(device),
           nn::LinearConfig{.d_in = 4, .d_out = 1}.init(device)};
  }
  Run(const Run&) = delete;

  float advance() {
    const auto x = Tensor<2>::normal({5, 3}, 0, 1, device);
    const auto loss = (net.head.forward(relu(net.body.forward(x))) - 1.0).square().mean();
    const float value = static_cast<float>(loss.item());
    adam.step(plateau.next(value), net, loss.backward());
    average.update(net);
    ++step;
    return value;
  }

  Checkpoint checkpoint(std::int64_t version = 1) {
    Checkpoint checkpoint(version);
    checkpoint.config("config", config);
    checkpoint.module("net", net);
    checkpoint.state("adam", adam, device);
    checkpoint.state("average", average, device);
    checkpoint.config("plateau", plateau);
    checkpoint.config("step", step);
    checkpoint.config("note", note);
    checkpoint.random("random", device);
    return checkpoint;
  }
};

std::string load_error(Run& training, const Record& record, std::int64_t version = 1) {
  const Record before = training.checkpoint(version).to_record();
  const std::string message = message_of([&] { training.checkpoint(version).load_record(record); });
  CHECK(equal(training.checkpoint(version).to_record(), before));
  return message;
}

}  // namespace

TEST_CASE("a training goes on as if it had never stopped") {
  TemporaryFolder folder;
  const auto file = folder.path() / "run.safetensors";
  Run training(7);
  for (int i = 0; i < 3; ++i) training.advance();
  training.config.width = 5;
  training.note = "\"three\" steps";
  training.checkpoint().save(file);
  std::vector<float> expected;
  for (int i = 0; i < 3; ++i) expected.push_back(training.advance());

  Run other(99);
  other.advance();
  other.checkpoint().load(file);
  CHECK(other.step == 3);
  CHECK(other.config.width == 5);
  CHECK(other.note == "\"three\" steps");
  std::vector<float> found;
  for (int i = 0; i < 3; ++i) found.push_back(other.advance());
  CHECK(found == expected);
  CHECK(equal(other.checkpoint().to_record(), training.checkpoint().to_record()));
  CHECK(other.net.body.weight.requires_grad());

  // The model alone.
  Net net = Run(1).net;
  training.checkpoint().save(file);
  const auto report = record::load(net, file, {.prefix = "net"});
  CHECK(report.used.size() == 4);
  CHECK(report.unexpected.empty());
  CHECK(nn::equal(net, training.net));
}

TEST_CASE("random numbers go on where they were") {
  const Device device = test_device();
  device.seed(3, 5);
  AnyTensor::normal({4}, 0, 1, device).sync();
  const RandomState state = random_state(device);
  CHECK(state.seed == 3);
  const auto draw = [&] { return values_of(AnyTensor::normal({4}, 0, 1, device)); };
  const std::vector<float> first = draw(), second = draw();
  CHECK(first != second);
  CHECK_FALSE(random_state(device) == state);
  device.seed(8);
  set_random_state(device, state);
  CHECK(random_state(device) == state);
  CHECK(draw() == first);
  CHECK(draw() == second);
}

TEST_CASE("random numbers are a thread's own") {
  const Device device = test_device();
  device.seed(3);
  const RandomState state = random_state(device);
  const auto draw = [&] { return values_of(AnyTensor::normal({4}, 0, 1, device)); };
  const std::vector<float> first = draw();
  std::vector<float> other;
  std::thread thread([&] {
    set_random_state(device, state);
    other = draw();
  });
  thread.join();
  CHECK(other == first);
  const RandomState after = random_state(device);
  CHECK(after.next == state.next + 1);
}

TEST_CASE("a load for which memory runs out changes nothing, wherever that is") {
  FailingDevice failing;
  Run saved(4, failing.device);
  saved.advance();
  const Record good = saved.checkpoint().to_record();
  Run other(5, failing.device);
  other.advance();
  other.advance();
  const Record before = other.checkpoint().to_record();
  int failures = 0;
  for (bool done = false; !done; ++failures) {
    REQUIRE(failures < 100);
    failing.backend->fail_at = failures;
    const std::string message = message_of([&] { other.checkpoint().load_record(good); });
    done = failing.backend->fail_at >= 0;
    failing.backend->fail_at = -1;
    if (done) continue;
    CHECK(contains(message, "no memory left"));
    CHECK(equal(other.checkpoint().to_record(), before));
  }
  CHECK(equal(other.checkpoint().to_record(), good));
  CHECK(failures > 10);
}

TEST_CASE("an older version loads with a migration") {
  struct OldConfig {
    std::int64_t hidden = 6;
  };
  struct OldNet {
    nn::Linear body, fc, gone;
  };
  Run now(1);
  now.advance();
  OldConfig old_config;
  OldNet old{now.net.body, now.net.head, now.net.head};
  Checkpoint before(1);
  before.config("config", old_config);
  before.module("net", old);
  before.state("adam", now.adam, now.device);
  before.state("average", now.average, now.device);
  before.config("step", now.step);
  Record record = before.to_record();
  record.rename("adam.head.weight.exp_avg", "adam.fc.weight.exp_avg");
  CHECK(record.find_text("net.tied.gone.weight"));

  Run training(2);
  training.config.rate = 3;
  Checkpoint checkpoint = training.checkpoint(3);
  checkpoint.migrate(1, [](Record& was) {
    was.rename_all({{"\\bgone\\..*", ""}, {"\\bfc\\.", "head."}});
    config::Value config = config::Value::parse(*was.find_text("config"));
    config.rename("hidden", "width");
    config["rate"] = 0.5;
    was.set_text("config", config.to_text());
  });
  CHECK(contains(message_of([&] { checkpoint.load_record(record); }),
                 "this is version 1, and there is no migration from version 2"));
  checkpoint.migrate(2, [](Record& was) {
    was.set_text("plateau", config::to_json(optim::ReduceOnPlateau{.rate = 7}));
    was.set_text("note", "\"migrated\"");
    was.set_text("random", R"({"seed": 1, "next": 2})");
  });
  checkpoint.load_record(record);
  CHECK(training.config == Config{6, 0.5});
  CHECK(training.plateau.rate == 7);
  CHECK(training.note == "migrated");
  CHECK(nn::equal(training.net, now.net));
  CHECK(training.adam.to_record().find("head.weight.exp_avg"));
  CHECK(record.find("net.fc.weight"));  // a copy was migrated
}

TEST_CASE("a load that fails changes nothing") {
  Run training(4);
  training.advance();
  const Record good = training.checkpoint().to_record();
  Run other(5);
  other.advance();
  other.advance();
  const auto changed = [&](auto change) {
    Record record = good;
    change(record);
    return load_error(other, record);
  };
  CHECK(contains(load_error(other, Record()), "record: this is no checkpoint"));
  CHECK(contains(changed([](Record& r) { r.set_text("checkpoint", "2"); }),
                 "this is version 2, and what reads it is version 1"));
  CHECK(contains(changed([](Record& r) { r.set_text("checkpoint", "x"); }), "the version is \"x\""));
  CHECK(contains(changed([](Record& r) { r.set_text("checkpoint", "0"); }), "no migration from version 0"));
  CHECK(contains(changed([](Record& r) { r.erase("net.head.bias"); }),
                 "record, part \"net\": the record does not fit the module; missing: head.bias f32 (1)"));
  CHECK(contains(changed([](Record& r) { r.add("nets.x", entry_of(DType::u8, {1}, 1)); }),
                 "tensor \"nets.x\" is of no part"));
  CHECK(contains(changed([](Record& r) { r.set_text("old", ""); }), "text \"old\" is of no part"));
  CHECK(
      contains(changed([](Record& r) { r.erase_text("step"); }), "part \"step\": there is no text \"step\""));
  CHECK(contains(changed([](Record& r) { r.set_text("step", "1.5"); }),
                 "part \"step\": the whole is 1.5, expected an integer"));
  CHECK(contains(changed([](Record& r) { r.set_text("random", R"({"seed": 1})"); }),
                 "part \"random\": next is missing"));
  CHECK(contains(changed([](Record& r) { r.set_text("adam.optimizer", "sgd"); }),
                 "part \"adam\": this is a state of the optimizer sgd, expected one of adam"));
  CHECK(
      contains(changed([](Record& r) { r.erase("average.count"); }), "part \"average\": there is no count"));
  // The last part, when all others are ready.
  CHECK(contains(changed([](Record& r) { r.set_text("random", "{"); }), "not JSON"));
  other.checkpoint().load_record(good);
  CHECK(equal(other.checkpoint().to_record(), good));

  Checkpoint failing = other.checkpoint(2);
  failing.migrate(1, [](Record& r) { r.rename("none", "some"); });
  CHECK(contains(message_of([&] { failing.load_record(good, "file x"); }),
                 "file x, migrated from version 1: there is no tensor \"none\""));
}

TEST_CASE("a checkpoint cut off after any byte, and any bit flipped") {
  struct Small {
    Tensor<1> weight;
  };
  Small small{Tensor<1>::full({2}, 1, test_device())};
  std::int64_t step = 3;
  Checkpoint checkpoint;
  checkpoint.module("m", small);
  checkpoint.config("step", step);
  std::vector<std::byte> bytes = checkpoint.to_record().to_bytes();
  small.weight = Tensor<1>::full({2}, 5, test_device());
  step = 7;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(checkpoint.load_record(Record::from_bytes(std::span(std::as_const(bytes)).first(size))),
                    DataError);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      // What passes has changed the checksum's own key, which is then a text of no part.
      CHECK_THROWS_AS(checkpoint.load_record(Record::from_bytes(bytes)), DataError);
      bytes[at] ^= static_cast<std::byte>(1 << bit);
    }
  CHECK(values_of(small.weight.dynamic()) == std::vector<float>{5, 5});
  CHECK(step == 7);
  checkpoint.load_record(Record::from_bytes(bytes));
  CHECK(values_of(small.weight.dynamic()) == std::vector<float>{1, 1});
  CHECK(step == 3);
}

TEST_CASE("names and migrations that cannot be") {
  std::int64_t step = 0;
  Checkpoint checkpoint(2);
  checkpoint.config("step", step);
  CHECK(contains(message_of([&] { checkpoint.config("step", step); }), "has a part \"step\" already"));
  for (const char* name : {"", "a.b", "checkpoint"})
    CHECK(contains(message_of([&] { checkpoint.config(name, step); }), "cannot be called"));
  checkpoint.migrate(1, [](Record&) {});
  CHECK(contains(message_of([&] { checkpoint.migrate(1, [](Record&) {}); }), "from version 1 already"));
  CHECK(contains(message_of([&] { checkpoint.migrate(2, [](Record&) {}); }), "leads beyond"));

  Record tied;
  tied.set_text("a.tied.x", "y");
  CHECK(contains(message_of([&] { tied.rename_all({{"^a\\.x", "b.x"}}); }), "would leave \"a.\""));
  tied.rename_all({{"^a\\.(.)$", "a.$1$1"}});
  CHECK(*tied.find_text("a.tied.xx") == "yy");
}

TEST_CASE("a tensor and its optimizer are parts of a checkpoint") {
  const Device device = test_device().autodiff();
  const auto step = [](optim::Optimizer& adam, Tensor<1>& w) {
    adam.step(0.1, w, w.square().sum().backward());
  };
  auto w = Tensor<1>::from_data({1, -2}, device).require_grad();
  auto adam = optim::AdamConfig{}.init();
  Checkpoint checkpoint;
  checkpoint.module("w", w);
  checkpoint.state("adam", adam, device);
  step(adam, w);
  const Record record = Record::from_bytes(checkpoint.to_record().to_bytes());
  step(adam, w);
  const auto expected = values_of(w.dynamic());
  checkpoint.load_record(record);
  CHECK(values_of(w.dynamic()) != expected);
  step(adam, w);
  CHECK(values_of(w.dynamic()) == expected);
}
