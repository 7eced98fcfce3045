// Records in other encodings: every value comes back, and no damage crashes a reader.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>
#include <sinter/record/record.h>

#include "tests/support/messages.h"
#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

using namespace sinter;
using namespace sinter::testing;
using record::Bytes;
using record::Encoding;
using record::Format;
using record::Record;

namespace {

bool has_gzip() {
  const std::string message = message_of([] { Record().to_bytes({.gzip = true}); });
  if (message != "") CHECK(contains(message, "built without zlib"));
  return message == "";
}

std::vector<Format> formats() {
  std::vector<Format> formats;
  for (const bool gzip : {false, true})
    for (const Encoding encoding : {Encoding::safetensors, Encoding::messagepack, Encoding::json})
      if (!gzip || has_gzip()) formats.push_back({encoding, gzip});
  return formats;
}

std::string error_of(std::string_view text, Format format) {
  return message_of([&] { Record::from_bytes(Bytes(std::as_bytes(std::span(text))), "file x", format); });
}
std::string json_error(std::string_view text) { return error_of(text, {Encoding::json}); }

std::string text_of(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// All bits of 16-bit floats but NaNs, and what rounding could lose of wider ones.
Record numbers() {
  Record record;
  std::vector<bfloat16> wide;
  std::vector<float16> narrow;
  for (int bits = 0; bits < 65536; ++bits) {
    const auto b = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    const auto h = float16::from_bits(static_cast<std::uint16_t>(bits));
    if (!std::isnan(static_cast<float>(b))) wide.push_back(b);
    if (!std::isnan(static_cast<float>(h))) narrow.push_back(h);
  }
  record.add("bf16", entry_of(Shape{static_cast<std::int64_t>(wide.size())}, wide));
  record.add("f16", entry_of(Shape{static_cast<std::int64_t>(narrow.size())}, narrow));
  std::vector<float> floats{0.0f, -0.0f, 0.1f, 1e-45f, 3.4028235e38f, 16777217.0f, INFINITY, -INFINITY};
  std::vector<double> doubles{0.1, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3, INFINITY, -INFINITY};
  std::uint32_t bits = 1;
  for (int i = 0; i < 2000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    floats.push_back(value);
    doubles.push_back(static_cast<double>(value) / 3);
  }
  record.add("f32", entry_of(Shape{static_cast<std::int64_t>(floats.size())}, floats));
  record.add("f64", entry_of(Shape{static_cast<std::int64_t>(doubles.size())}, doubles));
  record.add("i64", entry_of<std::int64_t>({2}, {INT64_MIN, INT64_MAX}));
  record.add("i32", entry_of<std::int32_t>({2}, {INT32_MIN, INT32_MAX}));
  record.add("u8", entry_of<std::uint8_t>({2}, {0, 255}));
  return record;
}

}  // namespace

TEST_CASE("every encoding gives the same record back") {
  Record only_texts;
  only_texts.set_text("a", "b");
  for (const Record& record : {sample_record(), numbers(), only_texts, Record()})
    for (const Format format : formats()) {
      CAPTURE(static_cast<int>(format.encoding));
      CAPTURE(format.gzip);
      const std::vector<std::byte> bytes = record.to_bytes(format);
      CHECK(equal(Record::from_bytes(bytes, "bytes", format), record));
      CHECK(record.to_bytes(format) == bytes);
    }
}

TEST_CASE("a NaN in JSON") {
  Record record;
  record.add("f32", entry_of<float>({1}, {std::numeric_limits<float>::quiet_NaN()}));
  record.add("bf16", entry_of<bfloat16>({1}, {bfloat16(std::numeric_limits<float>::quiet_NaN())}));
  const Record back = Record::from_bytes(record.to_bytes({Encoding::json}), "bytes", {Encoding::json});
  CHECK(std::isnan(values_of<float>(*back.find("f32"))[0]));
  CHECK(std::isnan(static_cast<float>(values_of<bfloat16>(*back.find("bf16"))[0])));
}

TEST_CASE("JSON that people read") {
  Record record;
  record.add("w", entry_of<float>({2, 2}, {0.1f, -2, 1e20f, INFINITY}));
  record.add("on", entry_of(DType::boolean, {2}, 0));
  record.set_text("note", "x");
  CHECK(text_of(record.to_bytes({Encoding::json})) ==
        "{\n\"format\": \"sinter.record\",\n\"texts\": {\"note\":\"x\"},\n\"tensors\": {\n"
        "\"on\": {\"dtype\": \"BOOL\", \"shape\": [2], \"data\": [false, true]},\n"
        "\"w\": {\"dtype\": \"F32\", \"shape\": [2,2], \"data\": [0.1, -2, 1e+20, \"Infinity\"]}\n}\n}\n");
}

TEST_CASE("the name of a file says its format") {
  CHECK(Format::of("model.safetensors") == Format());
  CHECK(Format::of("model") == Format());
  CHECK(Format::of("model.gz") == Format{Encoding::safetensors, true});
  CHECK(Format::of("a/model.json") == Format{Encoding::json, false});
  CHECK(Format::of("model.msgpack.gz") == Format{Encoding::messagepack, true});
  CHECK(Format::of("model.mpk") == Format{Encoding::messagepack, false});
  TemporaryFolder folder;
  for (const char* name : {"a.safetensors", "a.json", "a.msgpack", "a.json.gz", "a.safetensors.gz"}) {
    if (std::string_view(name).ends_with(".gz") && !has_gzip()) continue;
    const auto file = folder.path() / name;
    sample_record().write(file);
    CHECK(equal(Record::read(file), sample_record()));
  }
  const auto other = folder.path() / "model.bin";
  sample_record().write(other, {.format = Format{Encoding::json}});
  CHECK_THROWS_AS(Record::read(other), DataError);
  CHECK(equal(Record::read(other, {.format = Format{Encoding::json}}), sample_record()));
}

TEST_CASE("any encoding cut off after any byte") {
  for (const Format format : formats()) {
    const std::vector<std::byte> bytes = sample_record().to_bytes(format);
    // JSON ends with a line break that may be missing.
    const std::size_t whole = bytes.size() - (format == Format{Encoding::json} ? 1 : 0);
    for (std::size_t size = 0; size < whole; ++size) {
      CAPTURE(static_cast<int>(format.encoding));
      CAPTURE(size);
      CHECK_THROWS_AS(Record::from_bytes(std::span(bytes).first(size), "cut", format), DataError);
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{1});
    CHECK_THROWS_AS(Record::from_bytes(longer, "longer", format), DataError);
  }
}

TEST_CASE("any byte of any encoding changed") {
  const Record record = sample_record();
  for (const Format format : formats()) {
    std::vector<std::byte> bytes = record.to_bytes(format);
    // Plain JSON has no checksum: people may edit it.
    const bool checked = format != Format{Encoding::json};
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        bytes[at] ^= static_cast<std::byte>(change);
        try {
          const Record back = Record::from_bytes(bytes, "changed", format);
          CAPTURE(static_cast<int>(format.encoding));
          CAPTURE(format.gzip);
          CAPTURE(at);
          CAPTURE(change);
          // A change of the checksum's own key may pass: the text is there under another name.
          if (checked) CHECK(same_tensors(back, record));
        } catch (const DataError&) {
        }
        bytes[at] ^= static_cast<std::byte>(change);
      }
  }
}

namespace {

/// Bytes with up to six edits: others, taken out, put in twice, words that mean something to a reader.
std::vector<std::byte> edited(std::vector<std::byte> bytes, std::mt19937& random) {
  const char* const words[] = {"18446744073709551615", "-1",   "1e400", "null", "[]",   "{}",
                               "9223372036854775807",  "[[[[", "F64",   "BOOL", "\xff", "__metadata__"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t edits = 1 + below(6); edits > 0 && !bytes.empty(); --edits) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size()));
    const auto end =
        at + std::min<std::ptrdiff_t>(1 + static_cast<std::ptrdiff_t>(below(40)), bytes.end() - at);
    switch (below(4)) {
      case 0: *at = static_cast<std::byte>(random()); break;
      case 1: bytes.erase(at, end); break;
      case 2: {
        const std::vector<std::byte> part(at, end);
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())), part.begin(),
                     part.end());
        break;
      }
      default: {
        const auto word = std::as_bytes(std::span(std::string_view(words[below(std::size(words))])));
        bytes.insert(at, word.begin(), word.end());
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("any encoding with several edits at once is a record or an error") {
  std::mt19937 random(5);
  std::size_t read = 0, refused = 0;
  for (const Format format : formats()) {
    const std::vector<std::byte> bytes = sample_record().to_bytes(format);
    for (int i = 0; i < 3000; ++i) {
      try {
        // What is read can be written: its sizes and bytes belong together.
        const Record record = Record::from_bytes(edited(bytes, random), "edited", format);
        record.to_bytes({Encoding::json});
        ++read;
      } catch (const DataError&) {  // any other exception ends the test
        ++refused;
      }
    }
  }
  CHECK(read > 0);
  CHECK(refused > 10 * read);
}

TEST_CASE("MessagePack that would exhaust the stack or the memory") {
  const Format format{Encoding::messagepack};
  CHECK(contains(error_of(std::string(200000, '\x91'), format), "nested deeper"));
  CHECK(contains(error_of("\xdd\xff\xff\xff\xff", format), "not MessagePack"));
  CHECK(contains(error_of("\xc6\xff\xff\xff\xff", format), "not MessagePack"));
  CHECK(contains(error_of("\x90", format), "no map of names"));
  CHECK(contains(error_of("\x82\xa1"
                          "a\x01\xa1"
                          "a\x01",
                          format),
                 "twice"));
}

TEST_CASE("each kind of mistake in JSON has its message") {
  const auto tensor = [](const std::string& description) {
    return json_error(R"({"format": "sinter.record", "texts": {}, "tensors": {"t": )" + description + "}}");
  };
  CHECK(tensor(R"({"dtype": "F32", "shape": [2], "data": [1, 2.5]})") == "");
  CHECK(contains(json_error("7"), "file x: the file is not a record"));
  CHECK(contains(json_error("{}"), "the file has no format"));
  CHECK(contains(json_error(R"({"format": "x"})"), "the format is \"x\", expected sinter.record"));
  CHECK(contains(json_error(R"({"format": "sinter.record", "texts": {}})"), "no tensors"));
  CHECK(contains(json_error(R"({"format": "sinter.record", "tensors": {}})"), "no texts"));
  CHECK(contains(json_error(R"({"format": "sinter.record", "texts": {}, "tensors": []})"), "tensors is not"));
  CHECK(contains(json_error(R"({"format": "sinter.record", "x": 1})"), "unknown entry \"x\""));
  CHECK(contains(tensor("1"), "tensor \"t\" is not described"));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [2]})"), "no data"));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [2], "data": [1]})"),
                 "2 elements, its data is a list of 1"));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [2], "data": "AAAA"})"), "its data is no list"));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [1], "data": ["x"]})"), "of f32 has the element \"x\""));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [1], "data": [1e39]})"), "has the element 1e+39"));
  CHECK(contains(tensor(R"({"dtype": "F16", "shape": [1], "data": [70000]})"), "has the element 70000"));
  CHECK(contains(tensor(R"({"dtype": "U8", "shape": [1], "data": [256]})"), "of u8 has the element 256"));
  CHECK(contains(tensor(R"({"dtype": "I32", "shape": [1], "data": [1.5]})"), "of i32 has the element 1.5"));
  CHECK(contains(tensor(R"({"dtype": "I64", "shape": [1], "data": [9223372036854775808]})"),
                 "9223372036854775808"));
  CHECK(contains(tensor(R"({"dtype": "BOOL", "shape": [1], "data": [1]})"), "of bool has the element 1"));
  CHECK(contains(tensor(R"({"dtype": "F32", "shape": [4611686018427387904], "data": []})"), "more than fit"));
}

TEST_CASE("bytes that are not copied") {
  const std::vector<std::byte> bytes = sample_record().to_bytes();
  const auto inside = [&](const Record& record) {
    const std::byte* data = record.find("layers.0.weight")->bytes.data();
    return data >= bytes.data() && data < bytes.data() + bytes.size();
  };
  const Record viewed = Record::from_bytes(Bytes::view(bytes));
  CHECK(inside(viewed));
  CHECK(inside(Record(viewed)));
  CHECK_FALSE(inside(Record::from_bytes(bytes)));
}
