// Records: written values come back, and no damage to a file goes unnoticed or crashes the reader.
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include <sinter/error.h>
#include <sinter/record.h>

#include "tests/support/messages.h"
#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

using namespace sinter;
using namespace sinter::testing;
using record::Record;

namespace {

// A file made by hand: header and elements as given.
std::vector<std::byte> by_hand(const std::string& header, std::size_t data_bytes) {
  std::uint64_t length = header.size();
  std::vector<std::byte> bytes(8 + header.size() + data_bytes);
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  try {
    Record::from_bytes(bytes, "file x");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a record comes back from its bytes") {
  Record record = sample_record();
  std::vector<std::byte> bytes = record.to_bytes();
  Record back = Record::from_bytes(bytes);
  CHECK(equal(record, back));
  REQUIRE(back.find_text("note"));
  CHECK(*back.find_text("note") == "a \"text\" of two\nlines");
  CHECK(back.find_text("sinter.checksum") == nullptr);
  CHECK(back.to_bytes() == bytes);
  CHECK(equal(Record(), Record::from_bytes(Record().to_bytes())));
}

TEST_CASE("elements start at a multiple of eight, the widest first") {
  std::vector<std::byte> bytes = sample_record().to_bytes();
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  CHECK(bytes.size() == 8 + length + 24 + 24 + 5 + 3 + 8 + 8 + 6 + 3 + 5);
}

TEST_CASE("a file that another program wrote") {
  std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},)"
      R"( "a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}   )";
  Record record = Record::from_bytes(by_hand(header, 11));
  REQUIRE(record.find("a"));
  REQUIRE(record.find("b"));
  CHECK(record.find("b")->shape == Shape{2});
  CHECK(record.find("c") == nullptr);
}

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
// Length, header, and zeros for elements.
std::vector<std::byte> file_of(const char* length, const std::string& header, std::size_t data_bytes) {
  return bytes_of(std::string(length) + std::string(8 - std::string(length).size(), '\0') + header +
                  std::string(data_bytes, '\0'));
}

}  // namespace

TEST_CASE("files byte by byte as Hugging Face's library writes them") {
  // Those that its own tests expect of its writer: a space ends the header where it has to be aligned.
  const std::string six_floats("\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@", 24);
  const auto expect_floats = [&](const char* length, const std::string& header, const char* name,
                                 Shape shape) {
    std::vector<std::byte> file = file_of(length, header, 0);
    const auto elements = bytes_of(six_floats);
    file.insert(file.end(), elements.begin(), elements.end());
    const Record record = Record::from_bytes(file);
    REQUIRE(record.find(name));
    CHECK(record.find(name)->shape == shape);
    CHECK(values_of<float>(*record.find(name)) == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(record.entries().size() == 1);
  };
  expect_floats("@", R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})", "attn.0",
                {1, 2, 3});
  expect_floats("H", R"({"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}       )", "attn0",
                {1, 1, 2, 3});
  CHECK(Record::from_bytes(file_of("\x08", "{}      ", 0)).entries().empty());
  const Record texts = Record::from_bytes(file_of("(", R"({"__metadata__":{"framework":"pt"}}     )", 0));
  CHECK(*texts.find_text("framework") == "pt");
  // Those that its tests expect its reader to take: a number, nothing, any white space of JSON behind the
  // header.
  const Record number =
      Record::from_bytes(file_of("8", R"({"test":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})", 4));
  CHECK(number.find("test")->shape == Shape());
  const Record nothing =
      Record::from_bytes(file_of("<", R"({"test":{"dtype":"I32","shape":[2,0],"data_offsets":[0, 0]}})", 0));
  CHECK(nothing.find("test")->shape == Shape{2, 0});
  CHECK(Record::from_bytes(file_of("\x06", "{}\r \t\n", 0)).entries().empty());
  // And those that it refuses.
  const std::string four = R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})";
  CHECK(error_of(file_of("<", four, 16)) == "");
  CHECK(contains(error_of(file_of("<", four, 14)), "take 16 bytes, the file has 14"));
  CHECK(contains(error_of(file_of("<", four, 50)),
                 "take 16 bytes, the file has 50"));  // another file behind it
  CHECK(contains(error_of(file_of("<", "", 0)), "said to have 60 bytes"));
  CHECK(contains(error_of(file_of("\x01", "\xff", 0)), "does not start with {"));
  CHECK(contains(error_of(file_of("\x01", "{", 0)), "not JSON"));
  CHECK(contains(error_of(file_of("<", R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0, 4]}})", 4)),
                 "takes 16 bytes, but its offsets are 0 to 4"));
  CHECK(contains(
      error_of(file_of(
          "O", R"({"test":{"dtype":"I32","shape":[2,18446744073709551614],"data_offsets":[0,16]}})", 16)),
      "more than fit"));
  CHECK(contains(
      error_of(file_of(
          "N", R"({"test":{"dtype":"I32","shape":[2,9223372036854775807],"data_offsets":[0,16]}})", 16)),
      "more than fit"));
}

TEST_CASE("files of other formats are called what they are") {
  for (const auto& [start, what] : std::vector<std::pair<std::string, std::string>>{
           {"PK\x03\x04", "a zip archive, as those of torch.save"},
           {"\x1f\x8b\x08", "begins as gzip, and its name does not end in .gz"},
           {std::string("\x80\x02}q\0", 5), "a Python pickle"},
           {"GGUF", "a GGUF file"},
           {"{\"a\":", "begins as JSON, and its name does not end in .json"}}) {
    CAPTURE(what);
    CHECK(contains(error_of(bytes_of(start + std::string(40, 'x'))), what));
  }
}

TEST_CASE("cut off after any byte") {
  std::vector<std::byte> bytes = sample_record().to_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CAPTURE(size);
    CHECK_THROWS_AS(Record::from_bytes(cut), DataError);
  }
  bytes.push_back(std::byte{0});
  CHECK_THROWS_AS(Record::from_bytes(bytes), DataError);
}

TEST_CASE("any bit flipped") {
  const Record record = sample_record();
  std::vector<std::byte> bytes = record.to_bytes();
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      try {
        // The only undetected damage: it changed the checksum's own key, and everything else is intact.
        Record back = Record::from_bytes(bytes);
        CAPTURE(at);
        CHECK(same_tensors(record, back));
      } catch (const DataError&) {
        ++noticed;
      }
      bytes[at] ^= static_cast<std::byte>(1 << bit);
    }
  CHECK(noticed > bytes.size() * 8 * 9 / 10);
}

TEST_CASE("any byte of the header replaced by any other, without a checksum to help") {
  std::string header = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}})";
  std::vector<std::byte> bytes = by_hand(header, 11);
  REQUIRE(error_of(bytes) == "");
  for (std::size_t at = 0; at < 8 + header.size(); ++at) {
    std::byte old = bytes[at];
    for (int value = 0; value < 256; ++value) {
      bytes[at] = static_cast<std::byte>(value);
      error_of(bytes);  // any other exception ends the test
    }
    bytes[at] = old;
  }
}

TEST_CASE("each kind of damage has its message") {
  auto one = [](const std::string& tensor, std::size_t data_bytes) {
    return error_of(by_hand("{\"t\":" + tensor + "}", data_bytes));
  };
  CHECK(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 8) == "");
  CHECK(contains(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 9),
                 "file x: the tensors take 8 bytes"));
  // No checksum says so in files of others.
  CHECK(contains(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7),
                 "file x: the tensors take 8 bytes, the file has 7"));
  CHECK(contains(
      one(R"({"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]})", 4),
      "dtype F8_E8M0; the known dtypes are F32, F64, BF16, F16, I8, I16, I32, I64, U8, U16, U32, U64, BOOL, "
      "F8_E4M3, F8_E5M2"));
  CHECK(contains(one(R"({"dtype":7,"shape":[2],"data_offsets":[0,4]})", 4), "not a string"));
  CHECK(contains(one(R"({"shape":[2],"data_offsets":[0,4]})", 4), "no dtype"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", 8), "is -2"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})", 8), "is 2.0"));
  CHECK(contains(one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", 8), "not a list"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})", 4), "at most 8"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})", 8),
                 "more than fit"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]})", 0),
                 "more than fit"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", 8), "offsets are 8 to 0"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[2],"data_offsets":[1,9]})", 9), "begins at byte 1"));
  CHECK(contains(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})", 8), "not a pair"));
  CHECK(contains(one("[]", 0), "not described by an object"));
  CHECK(contains(error_of(by_hand(R"({"t":1,"t":2})", 0)), "twice"));
  CHECK(contains(error_of(by_hand(R"({"__metadata__":[]})", 0)), "__metadata__"));
  CHECK(contains(error_of(by_hand(R"({"__metadata__":{"a":1}})", 0)), "not a string"));
  CHECK(contains(error_of(by_hand("[1]", 0)), "does not start with {"));
  CHECK(contains(error_of(by_hand("{\"a\"", 0)), "not JSON"));
  CHECK(contains(error_of(by_hand(std::string("{\"a\":") + std::string(100000, '['), 0)), "not JSON"));
  std::vector<std::byte> huge(16, std::byte{0xff});
  CHECK(contains(error_of(huge), "18446744073709551615"));
  CHECK(contains(error_of({}), "at least 8 bytes"));
  std::vector<std::byte> bools = by_hand(R"({"t":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1);
  bools.back() = std::byte{2};
  CHECK(contains(error_of(bools), "a bool of value 2"));
}

TEST_CASE("names that cannot be") {
  Record record = sample_record();
  CHECK_THROWS_AS(record.add("mask", entry_of(DType::u8, {1}, 0)), DataError);
  CHECK_THROWS_AS(record.add("__metadata__", entry_of(DType::u8, {1}, 0)), DataError);
  CHECK_THROWS_AS(record.add("short", Record::Entry{DType::f32, {2}, std::vector<std::byte>(7)}), DataError);
  record.add("\xff", entry_of(DType::u8, {1}, 0));
  CHECK_THROWS_AS(record.to_bytes(), DataError);
}

TEST_CASE("what could not be read back is refused when it is added") {
  Record record;
  const auto added = [&](const Record::Entry& entry) { return message_of([&] { record.add("x", entry); }); };
  const auto zeros = [](std::size_t count) { return std::vector<std::byte>(count); };
  CHECK(contains(added({DType::boolean, {2}, std::vector<std::byte>{std::byte{1}, std::byte{7}}}),
                 "tensor \"x\" has a bool of value 7"));
  CHECK(contains(added({DType::u8, {-1, -4}, zeros(4)}), "tensor \"x\" has a negative size: (-1, -4)"));
  CHECK(contains(added({DType::u8, {-1, 0}, zeros(0)}), "a negative size"));
  const std::int64_t large = std::int64_t{1} << 32;
  CHECK(contains(added({DType::u8, {large, large}, zeros(0)}), "more than fit in memory"));
  CHECK(contains(added({DType::f32, {large, large / 4}, zeros(0)}), "more than fit in memory"));
  CHECK(record.entries().empty());

  CHECK(contains(message_of([&] { record.set_text("sinter.checksum", "x"); }),
                 "the key sinter.checksum of a text is reserved"));
  record.set_text("note", "x");
  CHECK(contains(message_of([&] { record.rename_text("note", "sinter.checksum"); }), "is reserved"));
  CHECK(*record.find_text("note") == "x");
  // Another program may have made JSON of what it read in a safetensors file.
  const std::string json =
      R"({"format": "sinter.record", "texts": {"sinter.checksum": "x", "a": "b"}, "tensors": {}})";
  const auto bytes = std::as_bytes(std::span(json));
  const Record read = Record::from_bytes(std::vector<std::byte>(bytes.begin(), bytes.end()), "bytes",
                                         {.encoding = record::Encoding::json});
  CHECK(read.texts().size() == 1);
}

TEST_CASE("files") {
  TemporaryFolder folder;
  auto file = folder.path() / "model.safetensors";
  Record record = sample_record();
  record.write(file);
  CHECK(equal(record, Record::read(file)));

  Record other;
  other.add("x", entry_of(DType::u8, {2}, 1));
  other.write(file);
  CHECK(equal(other, Record::read(file)));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);

  CHECK(contains(message_of([&] { Record::read(folder.path() / "none"); }),
                 "none\" cannot be opened: No such file"));
  CHECK(contains(message_of([&] { Record::read(folder.path()); }), "not a regular file"));
  CHECK(contains(message_of([&] { record.write(folder.path() / "no" / "file"); }),
                 "cannot be written: No such file"));
  CHECK(contains(message_of([&] { record.write(folder.path()); }), "cannot be written"));
  std::filesystem::resize_file(file, 20);
  CHECK(contains(message_of([&] { Record::read(file); }), "model.safetensors"));
  if (std::filesystem::exists("/dev/full")) CHECK_THROWS_AS(Record::read("/dev/full"), DataError);
}
