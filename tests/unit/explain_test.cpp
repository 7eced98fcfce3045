// Reports of how a program was planned, on the null device.
#include <filesystem>
#include <fstream>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sinter/sinter.h>

#include "src/base/env.h"

using namespace sinter;

namespace {

const Device device = Device::null();

Tensor<2> blank(std::int64_t rows, std::int64_t columns) {
  return Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * columns)), {rows, columns},
                              device);
}

std::uint32_t here(std::source_location where = std::source_location::current()) { return where.line(); }

/// The access of a launch with that label; a failure otherwise.
const ReportAccess& find(const ReportLaunch& launch, const std::string& label) {
  for (const ReportAccess& access : launch.accesses)
    if (access.label == label) return access;
  throw std::runtime_error("no " + label);
}

}  // namespace

TEST_CASE("a softmax is one launch with its lines and bytes") {
  const Tensor<2> x = blank(64, 100);
  std::uint32_t first = 0;
  const Report report = explain([&] {
    first = here();
    const Tensor<2> e = (x - x.max(1)).exp();
    return e / e.sum(1);
  });
  REQUIRE(report.traces.size() == 1);
  CHECK(report.launches() == 1);
  const ReportTrace& trace = report.traces[0];
  CHECK(trace.device == "null");
  CHECK(trace.times == 1);
  CHECK(trace.fused);
  REQUIRE(trace.launches.size() == 1);
  const ReportLaunch& launch = trace.launches[0];
  CHECK(launch.kind == ReportLaunch::Kind::Kernel);
  CHECK(launch.ops == std::vector<std::string>{"max", "sub", "exp", "sum", "div"});
  REQUIRE(launch.lines.size() == 2);
  CHECK(launch.lines[0].file.ends_with("explain_test.cpp"));
  CHECK(launch.lines[0].line == first + 1);
  CHECK(launch.lines[0].ops == std::vector<std::string>{"max", "sub", "exp"});
  CHECK(launch.lines[1].line == first + 2);
  CHECK(launch.bytes_read == 64 * 100 * 4);
  CHECK(launch.bytes_written == 64 * 100 * 4);
  CHECK(trace.bytes_moved == 2 * 64 * 100 * 4);
  CHECK(trace.least_bytes == trace.bytes_moved);
  CHECK(trace.input_bytes == 64 * 100 * 4);
  CHECK(trace.output_bytes == 64 * 100 * 4);
  CHECK(trace.temporary_bytes == 0);
  CHECK(trace.peak_bytes == 2 * 64 * 100 * 4);
  REQUIRE(launch.accesses.size() == 2);
  CHECK(find(launch, "in0").shape == Shape{64, 100});
  CHECK_FALSE(find(launch, "in0").written);
  CHECK(find(launch, "out0").op == "div");
  CHECK(find(launch, "out0").over.empty());
}

TEST_CASE("views read what they show, broadcasts once") {
  const Tensor<2> x = blank(64, 100), row = blank(1, 100);
  const ReportLaunch slice = explain([&] { return x.narrow(0, 3, 10) * 2.0; }).traces.at(0).launches.at(0);
  CHECK(slice.bytes_read == 10 * 100 * 4);
  CHECK(slice.least_bytes == slice.bytes_read + slice.bytes_written);
  const ReportLaunch wide = explain([&] { return x + row; }).traces.at(0).launches.at(0);
  CHECK(wide.bytes_read == (64 * 100 + 100) * 4);
  const ReportLaunch twice = explain([&] { return x + x.flip({0}); }).traces.at(0).launches.at(0);
  CHECK(twice.bytes_read == 64 * 100 * 4);
  const ReportLaunch shifted =
      explain([&] { return x.narrow(0, 0, 63) + x.narrow(0, 1, 63); }).traces.at(0).launches.at(0);
  CHECK(shifted.bytes_read == 64 * 100 * 4);
}

TEST_CASE("writing in place is told, with what it takes the place of") {
  Tensor<2> x = blank(64, 32);
  device.sync();
  const Report report = explain([&] { x = x * 2.0 + 1.0; });
  const ReportTrace& trace = report.traces.at(0);
  REQUIRE(trace.launches.size() == 1);
  CHECK(trace.launches[0].in_place_bytes == 64 * 32 * 4);
  CHECK(find(trace.launches[0], "out0").over == "in0");
  CHECK(trace.output_bytes == 0);
  CHECK(trace.peak_bytes == 64 * 32 * 4);
  CHECK(report.to_text().find("in place of in0") != std::string::npos);
}

TEST_CASE("values between launches say where they come from") {
  const Tensor<2> a = blank(64, 32), b = blank(32, 16);
  const ReportTrace trace = explain([&] { return relu(a.matmul(b) + 1.0); }).traces.at(0);
  REQUIRE(trace.launches.size() == 2);
  CHECK(trace.launches[0].kind == ReportLaunch::Kind::Library);
  CHECK(trace.launches[0].ops == std::vector<std::string>{"matmul"});
  CHECK(trace.launches[0].bytes_read == (64 * 32 + 32 * 16) * 4);
  CHECK(trace.launches[0].bytes_written == 64 * 16 * 4);
  // The operations of another launch are not among the operations of the launch that reads its result.
  CHECK(trace.launches[1].ops == std::vector<std::string>{"add", "maximum"});
  const ReportAccess& product = find(trace.launches[1], "tmp0");
  CHECK(product.written_by == std::optional<std::size_t>(0));
  CHECK(product.op == "matmul");
  CHECK(find(trace.launches[1], "out0").written);
  CHECK(trace.bytes_moved == trace.least_bytes + 2 * 64 * 16 * 4);
  CHECK(trace.temporary_bytes >= 64 * 16 * 4);
  CHECK(trace.peak_bytes == trace.input_bytes + trace.output_bytes + trace.temporary_bytes);
}

TEST_CASE("a concatenation without a kernel says of how many pieces it is, and who wrote the last") {
  const Tensor<2> x = blank(4, 16), weight = blank(16, 16);
  const Report report = explain([&] {
    std::vector<Tensor<2>> states;
    for (int s = 0; s < 12; ++s) states.push_back(((s == 0 ? x : states.back()).matmul(weight) + x).tanh());
    // Of two parts, which are one piece of memory.
    const Tensor<2> early = Tensor<2>::cat(std::vector(states.begin(), states.begin() + 9), 0);
    const Tensor<2> late = Tensor<2>::cat(std::vector(states.begin() + 9, states.end()), 0);
    return Tensor<2>::cat({early, late}, 0).matmul(weight);
  });
  const ReportTrace& trace = report.traces.at(0);
  REQUIRE(trace.launches.size() == 25);
  const ReportLaunch& last = trace.launches.back();
  const auto joined =
      std::find_if(last.accesses.begin(), last.accesses.end(),
                   [](const ReportAccess& access) { return access.op == "cat of 12 pieces"; });
  REQUIRE(joined != last.accesses.end());
  CHECK(joined->shape == Shape{48, 16});
  CHECK(joined->written_by == std::optional<std::size_t>(23));
  for (const ReportLaunch& launch : trace.launches)
    CHECK(std::find(launch.ops.begin(), launch.ops.end(), "slice_assign") == launch.ops.end());
  CHECK(report.to_text().find(joined->label + " = cat of 12 pieces (48, 16)") != std::string::npos);
  CHECK(report.to_svg().find(">" + joined->label + "<") != std::string::npos);
}

TEST_CASE("the peak is what the device then uses") {
  const Tensor<2> a = blank(2048, 1024), b = blank(1024, 3000);
  device.sync();
  const auto before = static_cast<std::int64_t>(device.statistics().bytes_in_use);
  const ReportTrace trace =
      explain([&] { return softmax(relu(a.matmul(b) + 1.0).matmul(b.transpose(0, 1)), 1); }).traces.at(0);
  CHECK(trace.input_bytes == (2048 * 1024 + 1024 * 3000) * 4);
  CHECK(trace.temporary_bytes > 0);
  // This trace is the program's largest, so its peak is the device's.
  CHECK(static_cast<std::int64_t>(device.statistics().peak_bytes_in_use) ==
        before + trace.output_bytes + trace.temporary_bytes);
}

TEST_CASE("explains of several threads get along") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      const Tensor<2> x = blank(16, 16);
      for (int i = 0; i < 50; ++i) {
        const Report report = explain([&] { return x.exp() + 1.0; });
        if (report.launches() < 1) throw std::runtime_error("nothing was seen");
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(explain([] {}).traces.empty());
}

TEST_CASE("cuts have their lines and a reason") {
  const Tensor<2> x = blank(300, 200);
  std::uint32_t line = 0;
  const Report report = explain([&] {
    const Tensor<2> rows = x.exp().sum(1);
    line = here() - 1;
    return (x * rows).sum(0);
  });
  const ReportTrace& trace = report.traces.at(0);
  REQUIRE(trace.launches.size() == 2);
  REQUIRE(trace.cuts.size() == 1);
  CHECK(trace.cuts[0].producer == "sum");
  CHECK(trace.cuts[0].producer_line.line == line);
  CHECK(trace.cuts[0].consumer_line.line == line + 2);
  CHECK_FALSE(trace.cuts[0].reason.empty());
  CHECK(report.to_text().find(trace.cuts[0].reason) != std::string::npos);
}

TEST_CASE("held values that were not asked for are told, each with the reason") {
  const Tensor<2> x = blank(1024, 1024);
  Tensor<2> left, small;
  std::uint32_t first = 0;
  const Report report = explain([&] {
    first = here();
    left = x * 2.0;
    small = left.sum(1);
    return small + 1.0;
  });
  REQUIRE(report.traces.size() == 1);
  const std::vector<ReportHeld>& held = report.traces[0].held;
  REQUIRE(held.size() == 3);
  CHECK(held[0].op == "mul");
  CHECK(held[0].line.line == first + 1);
  CHECK(held[0].shape == Shape{1024, 1024});
  CHECK_FALSE(held[0].stored);
  CHECK(held[1].op == "sum");
  CHECK(held[1].stored);
  CHECK(held[1].reason == "small");
  CHECK(held[2].reason == "asked for");

  const std::string place = "explain_test.cpp:" + std::to_string(first + 1);
  const std::string line = "mul " + place + " (1024, 1024) f32: not stored, " + held[0].reason;
  for (const std::string& text : {report.to_text(), report.to_svg()}) {
    CHECK(text.find(line) != std::string::npos);
    CHECK(text.find("asked for\n") == text.rfind("asked for\n"));  // in a head alone
  }
  const nlohmann::json json = nlohmann::json::parse(report.to_json())["traces"][0]["held"];
  REQUIRE(json.size() == 3);
  CHECK(json[0]["stored"] == false);
  CHECK(json[1]["reason"] == "small");
  CHECK(json[2]["op"] == "add");
  CHECK(json[2]["count"] == 1);
}

TEST_CASE("a copy names the operation that asks for it") {
  const Tensor<2> x = blank(30, 20);
  const ReportTrace trace = explain([&] { return x.transpose(0, 1).reshape({600}); }).traces.at(0);
  REQUIRE(trace.launches.size() == 1);
  CHECK(trace.launches[0].ops == std::vector<std::string>{"reshape"});
}

TEST_CASE("equal traces are one entry with a count") {
  Tensor<2> x = blank(8, 8);
  device.sync();
  const Report report = explain([&] {
    for (int i = 0; i < 10; ++i) {
      x = x * 1.5 + 1.0;
      device.flush();
    }
  });
  REQUIRE(report.traces.size() == 1);
  CHECK(report.traces[0].times == 10);
  CHECK(report.traces[0].built <= 1);
  CHECK(report.launches() == 10);
  // The same operations on another line are another entry.
  const Report lines = explain([&] {
    const Tensor<2> a = x + 1.0;
    device.flush();
    const Tensor<2> b = x + 1.0;
    device.flush();
  });
  CHECK(lines.traces.size() == 2);
}

TEST_CASE("each explain gets what ran while it lived") {
  const Tensor<2> x = blank(8, 8);
  const Tensor<2> before = x.exp();
  Report inner;
  const Report outer = explain([&] {
    const Tensor<2> a = x + 1.0;
    inner = explain([&] { return x.sum(0); });
    return x.tanh();
  });
  CHECK(inner.launches() == 1);
  CHECK(inner.traces.at(0).launches.at(0).ops == std::vector<std::string>{"sum"});
  CHECK(outer.launches() == 3);  // a, because the inner one flushes; the sum; tanh
  CHECK(explain([] {}).launches() == 0);
  CHECK(explain([] {}).to_text() == "nothing was handed to a device\n");
}

TEST_CASE("what is returned counts as seen, what is dropped is never computed") {
  const Tensor<2> x = blank(8, 8);
  CHECK(explain([&] { return x.exp(); }).launches() == 1);
  CHECK(explain([&] { const Tensor<2> dropped = x.exp(); }).launches() == 0);
  const std::function<void()> read = [&] { x.exp().sync(); };
  CHECK(explain(read).launches() == 1);
  const std::function<Tensor<2>()> given = [&] { return x.exp(); };
  CHECK(explain(given).launches() == 1);
}

TEST_CASE("exceptions pass through and leave nothing behind") {
  const Tensor<2> x = blank(8, 8);
  CHECK_THROWS_WITH_AS(explain([] { throw std::out_of_range("mine"); }), "mine", std::out_of_range);
  CHECK_THROWS_AS(explain([&] { return x.matmul(blank(3, 3)); }), ShapeError);
  CHECK(explain([&] { return x.exp(); }).launches() == 1);
}

TEST_CASE("work of other threads and devices is reported") {
  const Tensor<2> x = blank(8, 8);
  const Tensor<1> y = Tensor<1>::from_data({1, 2, 3}, Device::host());
  Report report = explain([&] {
    std::thread([&] {
      const Tensor<2> z = x.exp();
      device.flush();
    }).join();
    return y * 2.0;
  });
  REQUIRE(report.traces.size() == 2);
  CHECK(report.traces[0].device == "null");
  CHECK(report.traces[1].device == "host");
}

TEST_CASE("JSON has every number") {
  const Tensor<2> a = blank(64, 32), b = blank(32, 16);
  const Report report = explain([&] {
    const Tensor<2> y = relu(a.matmul(b) + 1.0);
    return y * y.sum(0).sum(1);
  });
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("launches") == report.launches());
  REQUIRE(json.at("traces").size() == report.traces.size());
  const auto& trace = json.at("traces").at(0);
  const ReportTrace& given = report.traces[0];
  CHECK(trace.at("device") == given.device);
  CHECK(trace.at("bytes_moved") == given.bytes_moved);
  CHECK(trace.at("least_bytes") == given.least_bytes);
  CHECK(trace.at("peak_bytes") == given.peak_bytes);
  CHECK(trace.at("times") == given.times);
  REQUIRE(trace.at("launches").size() == given.launches.size());
  for (std::size_t i = 0; i < given.launches.size(); ++i) {
    const auto& launch = trace.at("launches").at(i);
    CHECK(launch.at("ops").get<std::vector<std::string>>() == given.launches[i].ops);
    CHECK(launch.at("bytes_read") == given.launches[i].bytes_read);
    REQUIRE(launch.at("accesses").size() == given.launches[i].accesses.size());
    for (std::size_t k = 0; k < given.launches[i].accesses.size(); ++k) {
      const ReportAccess& access = given.launches[i].accesses[k];
      const auto& written = launch.at("accesses").at(k);
      CHECK(written.at("label") == access.label);
      CHECK(written.at("bytes_written") == access.bytes_written);
      CHECK(written.at("shape").get<std::vector<std::int64_t>>() ==
            std::vector<std::int64_t>(access.shape.begin(), access.shape.end()));
      CHECK(written.at("written_by").is_null() == !access.written_by.has_value());
    }
  }
  REQUIRE(trace.at("cuts").size() == given.cuts.size());
}

TEST_CASE("the picture shows each launch and escapes what it is given") {
  Report report;
  ReportTrace& trace = report.traces.emplace_back();
  trace.device = "a<b>&\"c\"\x01";
  ReportLaunch& launch = trace.launches.emplace_back();
  launch.ops = {"mul"};
  launch.lines = {{"odd & <name>.cpp", 7, {"mul"}}};
  const std::string svg = report.to_svg();
  CHECK(svg.find("a&lt;b&gt;&amp;&quot;c&quot;?") != std::string::npos);
  CHECK(svg.find("odd &amp; &lt;name&gt;.cpp:7") != std::string::npos);
  CHECK(svg.find("<name>") == std::string::npos);
}

TEST_CASE("a report is saved by the name of its file, or as a folder") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sinter-explain-test-" + std::to_string(std::rand()));
  const Tensor<2> x = blank(8, 8);
  const Report report = explain([&] { return x.exp(); });
  report.save(folder);
  auto text = [](const fs::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(text(folder / "plan.txt") == report.to_text());
  CHECK(text(folder / "plan.json") == report.to_json());
  CHECK(text(folder / "plan.svg") == report.to_svg());
  report.save(folder / "one.svg");
  CHECK(text(folder / "one.svg") == report.to_svg());
  CHECK_THROWS_AS(report.save(folder / "one.svg" / "inside.txt"), Error);
  CHECK_THROWS_AS(report.save(folder / "one.svg" / "inside"), Error);
  fs::remove_all(folder);
}

TEST_CASE("without fusion each operation is a launch, and the report says so") {
  const Tensor<2> x = blank(8, 8);
  const Report fused = explain([&] { return (x + 1.0).exp(); });
  CHECK(fused.launches() == 1);
  CHECK(fused.to_text().find("without fusion") == std::string::npos);
  base::mutable_environment().fusion = false;
  const Report unfused = explain([&] { return (x + 1.0).exp(); });
  base::mutable_environment().fusion = true;
  CHECK(unfused.launches() == 2);
  CHECK_FALSE(unfused.traces.at(0).fused);
  CHECK(unfused.to_text().find("without fusion") != std::string::npos);
}

TEST_CASE("the host says how a kernel runs, and why so") {
  const Device host = Device::host();
  const auto how = [&](std::int64_t rows, std::int64_t columns, bool turned) {
    const auto x = Tensor<2>::ones({rows, columns}, host);
    host.sync();
    const Report report = explain([&] { return (turned ? x.transpose(0, 1) : x) + 1; });
    return report.traces.at(0).launches.at(0).how;
  };
  const std::string row = how(64, 64, false), turned = how(1024, 1024, true);
  INFO(row);
  INFO(turned);
  if (row.starts_with("machine code by LLVM")) {
    if (base::environment().host != "jit")
      CHECK(turned == "interpreted: the interpreter reads strided operands in tiles");
  } else {
    CHECK(row.starts_with("interpreted: "));
    CHECK(row.size() > std::string("interpreted: ").size());
    CHECK(row == turned);
  }
}
