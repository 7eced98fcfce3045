// Files of records: mapped, in several parts with an index, replaced as a whole.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sinter/error.h>
#include <sinter/record/record.h>

#include "tests/support/messages.h"
#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

using namespace sinter;
using namespace sinter::testing;
using record::Record;

namespace {

// The file that is mapped where a byte lies; empty where none is.
std::string mapped_file(const std::byte* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    std::string rights, offset, device, node, file;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> node >> file;
    if (wanted >= begin && wanted < end) return file;
  }
  return "";
}

void put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

nlohmann::json index_in(const TemporaryFolder& folder) {
  return nlohmann::json::parse(std::ifstream(folder.path() / "m.safetensors.index.json"));
}

Record three(std::uint8_t first) {
  Record record;
  for (const char* name : {"a", "b", "c"}) record.add(name, entry_of(DType::f32, {25}, first++));
  record.set_text("format", "pt");
  return record;
}

}  // namespace

TEST_CASE("entries of a file are parts of its mapping") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  sample_record().write(file);
  Record record = Record::read(file);
  CHECK(mapped_file(record.find("layers.0.weight")->bytes.data()) == file.string());
  const Record copy = record.part("layers.0");
  // The mapping stays for as long as any entry of it, whatever becomes of the file.
  record = Record();
  std::filesystem::remove(file);
  CHECK(values_of<std::uint8_t>(*copy.find("weight")) ==
        values_of<std::uint8_t>(*sample_record().find("layers.0.weight")));

  sample_record().write(file);
  const Record read = Record::read(file, {.map = false});
  CHECK(mapped_file(read.find("layers.0.weight")->bytes.data()) != file.string());
  CHECK(equal(read, sample_record()));
  put(file, "");
  CHECK(contains(message_of([&] { Record::read(file); }), "at least 8 bytes"));
}

TEST_CASE("a mapped record stays what it was when the file is replaced") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file);
  const Record old = Record::read(file);
  three(100).write(file);
  CHECK(equal(old, three(1)));
  CHECK(equal(Record::read(file), three(100)));
  // Also by what was read from it.
  Record edited = Record::read(file);
  edited.set_text("note", "new");
  edited.write(file);
  CHECK(equal(Record::read(file), edited));
}

TEST_CASE("without its checksum a changed file is read as it is") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-1, std::ios::end);
  stream.put('!');
  stream.close();
  CHECK(contains(message_of([&] { Record::read(file); }), "the checksum does not match"));
  CHECK(Record::read(file, {.verify = false}).find("c")->bytes[99] == static_cast<std::byte>('!'));
}

TEST_CASE("several files with an index") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file, {.max_shard_bytes = 200});
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(files_in(folder) == 3);
  CHECK(equal(Record::read(file), three(1)));
  CHECK(equal(Record::read(folder.path() / "m.safetensors.index.json"), three(1)));
  const nlohmann::json index = index_in(folder);
  CHECK(index["metadata"]["total_size"] == 300);
  const std::string first = index["weight_map"]["a"];
  CHECK(index["weight_map"]["b"] == first);
  CHECK(index["weight_map"]["c"] != first);
  CHECK(first.starts_with("m-"));
  CHECK(first.ends_with("-00001-of-00002.safetensors"));
  // Each of the files is a record of its own.
  CHECK(Record::read(folder.path() / first).entries().size() == 2);
  CHECK(*Record::read(folder.path() / first).find_text("format") == "pt");
  CHECK(mapped_file(Record::read(file).find("a")->bytes.data()) == (folder.path() / first).string());

  SUBCASE("a tensor that is larger has a file for itself") {
    three(1).write(file, {.max_shard_bytes = 1});
    CHECK(files_in(folder) == 4);
    CHECK(equal(Record::read(file), three(1)));
  }
  SUBCASE("the files of the content before are removed") {
    three(50).write(file, {.max_shard_bytes = 200});
    CHECK(files_in(folder) == 3);
    CHECK(equal(Record::read(file), three(50)));
    three(60).write(file);
    CHECK(files_in(folder) == 1);
    CHECK(equal(Record::read(file), three(60)));
    three(70).write(file, {.max_shard_bytes = 200});
    CHECK(files_in(folder) == 3);
    CHECK(equal(Record::read(file), three(70)));
  }
  SUBCASE("files of others are left alone") {
    std::filesystem::rename(folder.path() / first, folder.path() / "m-00001-of-00002.safetensors");
    nlohmann::json other = index;
    other["weight_map"]["a"] = other["weight_map"]["b"] = "m-00001-of-00002.safetensors";
    put(folder.path() / "m.safetensors.index.json", other.dump());
    CHECK(equal(Record::read(file), three(1)));
    three(60).write(file);
    CHECK(files_in(folder) == 4);
    CHECK(equal(Record::read(file), three(60)));
  }
  SUBCASE("a file is missing, or of another save") {
    std::filesystem::remove(folder.path() / first);
    CHECK(contains(message_of([&] { Record::read(file); }), "cannot be opened"));
    three(1).write(folder.path() / first);
    CHECK(contains(message_of([&] { Record::read(file); }), "is in another file of the index, too"));
    Record two;
    two.add("b", entry_of(DType::f32, {1}, 0));
    two.write(folder.path() / first);
    CHECK(contains(message_of([&] { Record::read(file); }), "tensor \"a\" is not in \"" + first));
  }
}

TEST_CASE("little enough for one file") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file, {.max_shard_bytes = 300});
  CHECK(files_in(folder) == 1);
  Record().write(file, {.max_shard_bytes = 1});
  CHECK(equal(Record::read(file), Record()));
}

TEST_CASE("an index that is damaged or means harm") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.index.json";
  const auto error_of = [&](const std::string& text) {
    put(file, text);
    return message_of([&] { Record::read(file); });
  };
  CHECK(contains(error_of(""), "not JSON"));
  CHECK(contains(error_of("[]"), "not an object"));
  CHECK(contains(error_of("{}"), "the index has no weight_map"));
  CHECK(contains(error_of(R"({"weight_map": []})"), "weight_map of the index is not an object"));
  CHECK(contains(error_of(R"({"weight_map": {"a": 1}})"), "the file of tensor \"a\" is not a string"));
  for (const char* name : {"../a", "/etc/passwd", "..", ".", "", "a/b", "a\\u0000b"})
    CHECK(contains(error_of(R"({"weight_map": {"a": ")" + std::string(name) + "\"}}"),
                   "expected a name in the folder of the index"));
  CHECK(contains(error_of(R"({"weight_map": {"a": "none"}})"), "none\" cannot be opened"));
  CHECK(contains(error_of(R"({"weight_map": {"a": "f", "a": "f"}})"), "the name \"a\" twice"));
  CHECK(error_of(R"({"weight_map": {}})") == "");
  three(1).write(folder.path() / "m.safetensors", {.max_shard_bytes = 100});
  const std::string text = index_in(folder).dump();
  for (std::size_t size = 0; size < text.size(); ++size) CHECK(error_of(text.substr(0, size)) != "");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 3);
    error_of(changed);  // any other exception ends the test
  }
}

TEST_CASE("what cannot be written changes nothing") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file, {.max_shard_bytes = 100});
  const std::size_t files = files_in(folder);
  Record bad = three(2);
  bad.set_text("note", "\xff");
  CHECK_THROWS_AS(bad.write(file), DataError);
  CHECK_THROWS_AS(bad.write(file, {.max_shard_bytes = 100}), DataError);
  CHECK(contains(message_of([&] { three(2).write(folder.path() / "m.json", {.max_shard_bytes = 100}); }),
                 "which only safetensors files take"));
  CHECK(contains(message_of([&] { three(2).write(folder.path() / "m.safetensors.index.json"); }),
                 "is the name of an index"));
  CHECK(contains(message_of([&] { three(2).write(std::string("m\0x", 3)); }), "a zero byte"));
  // The index is a folder: the files that are written already are removed again.
  std::filesystem::create_directory(folder.path() / "n.safetensors.index.json");
  CHECK(
      contains(message_of([&] { three(2).write(folder.path() / "n.safetensors", {.max_shard_bytes = 100}); }),
               "n.safetensors.index.json\" cannot be written: it is not a regular file"));
  std::filesystem::remove(folder.path() / "n.safetensors.index.json");
  CHECK(files_in(folder) == files);
  CHECK(equal(Record::read(file), three(1)));
}

TEST_CASE("a symbolic link is followed: the file that it leads to is replaced, or made") {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  fs::create_directory(folder.path() / "real");
  const auto file = folder.path() / "real" / "m.safetensors", link = folder.path() / "link.safetensors";
  const auto second = folder.path() / "second.safetensors";
  three(1).write(file);
  fs::create_symlink("real/m.safetensors", link);
  fs::create_symlink(fs::absolute(link), second);
  for (const auto& name : {link, second}) {
    const std::uint8_t first = name == link ? 2 : 3;
    three(first).write(name);
    CHECK(fs::is_symlink(name));
    CHECK(equal(Record::read(file), three(first)));
  }
  fs::remove(file);
  three(4).write(second);
  CHECK(fs::is_symlink(second));
  CHECK(fs::is_symlink(link));
  CHECK(equal(Record::read(file), three(4)));
  CHECK(files_in(folder) == 3);
  CHECK(std::distance(fs::directory_iterator(folder.path() / "real"), {}) == 1);

  fs::create_symlink("loop", folder.path() / "loop");
  CHECK(contains(message_of([&] { three(1).write(folder.path() / "loop"); }), "cannot be written: Too many"));
  fs::create_symlink("none/m", folder.path() / "nowhere");
  CHECK(contains(message_of([&] { three(1).write(folder.path() / "nowhere"); }),
                 "cannot be written: No such file"));
}

TEST_CASE("several files stand where a symbolic link leads, as one does") {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  fs::create_directory(folder.path() / "real");
  const auto file = folder.path() / "real" / "m.safetensors", link = folder.path() / "link.safetensors";
  fs::create_symlink("real/m.safetensors", link);
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path() / "real"), {}); };
  three(1).write(file);
  for (const std::uint8_t first : {2, 3}) {
    three(first).write(link, {.max_shard_bytes = 200});
    CHECK(fs::is_symlink(link));
    CHECK(files_in(folder) == 2);
    CHECK(files() == 3);
    CHECK(equal(Record::read(link), three(first)));
    CHECK(equal(Record::read(file), three(first)));
  }
  three(4).write(link);
  CHECK(fs::is_symlink(link));
  CHECK(files() == 1);
  CHECK(equal(Record::read(link), three(4)));
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK(contains(message_of([&] { Record::read(folder.path() / "loop"); }), "cannot be opened: Too many"));
}

// A sanitizer takes address space as it likes.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("small files that become large are told, where memory does not last") {
  TemporaryFolder folder;
  const auto sparse = folder.path() / "m.safetensors", bomb = folder.path() / "m.safetensors.gz";
  constexpr std::size_t kLarge = std::size_t{1} << 40, kUnpacked = std::size_t{1} << 28;
  put(sparse, "");
  std::filesystem::resize_file(sparse, kLarge);
  Record zeros;
  zeros.add("x", entry_of(DType::u8, {static_cast<std::int64_t>(kUnpacked)}, 0));
  const bool has_gzip = message_of([&] { zeros.write(bomb); }).empty();
  zeros = Record();

  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
  rlimit small = limit;
  small.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kUnpacked / 2;
  REQUIRE(setrlimit(RLIMIT_AS, &small) == 0);
  const std::string of_sparse = message_of([&] { Record::read(sparse); });
  const std::string of_bomb = message_of([&] { Record::read(bomb); });
  setrlimit(RLIMIT_AS, &limit);
  CHECK(contains(of_sparse, "m.safetensors\" has 1099511627776 bytes, more than memory is left"));
  if (has_gzip) {
    CHECK(contains(of_bomb, "m.safetensors.gz\": the gzip file of "));
    CHECK(contains(of_bomb, " bytes unpacks to more than 67108864 bytes, for which no memory is left"));
  }
}
#endif

TEST_CASE("what is there and not a regular file is not replaced") {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  const auto fifo = folder.path() / "m.safetensors", link = folder.path() / "link";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  fs::create_symlink("m.safetensors", link);
  for (const auto& name : {fifo, link}) {
    const std::string expected = name.filename().string() + "\" cannot be written: it is not a regular file";
    CHECK(contains(message_of([&] { three(1).write(name); }), expected));
    CHECK(contains(message_of([&] { three(1).write(name, {.max_shard_bytes = 100}); }), expected));
    CHECK(contains(message_of([&] { Record::read(name); }), "is not a regular file"));
  }
  CHECK(fs::is_fifo(fifo));
  CHECK(fs::is_symlink(link));
  CHECK(files_in(folder) == 2);
}

TEST_CASE("a file that is replaced keeps its permissions") {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  const mode_t old = ::umask(022);
  for (const unsigned mode : {0600u, 0666u, 0640u, 0444u}) {
    three(1).write(file);
    fs::permissions(file, fs::perms(mode));
    three(2).write(file);
    CHECK(static_cast<unsigned>(fs::status(file).permissions()) == mode);
    CHECK(equal(Record::read(file), three(2)));
  }
  fs::remove(file);
  three(1).write(file);
  CHECK(static_cast<unsigned>(fs::status(file).permissions()) == 0644u);
  // The files that take the place of one, and the one that takes theirs.
  fs::permissions(file, fs::perms(0600));
  for (const std::uint64_t most : {100, 101, 0}) {
    three(static_cast<std::uint8_t>(most)).write(file, {.max_shard_bytes = most});
    CHECK(files_in(folder) == (most == 0 ? 1 : 4));
    for (const auto& entry : fs::directory_iterator(folder.path()))
      CHECK(static_cast<unsigned>(entry.status().permissions()) == 0600u);
  }
  ::umask(old);
}

TEST_CASE("a disk that is full in the middle of a file") {
  TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  three(1).write(file);
  Record large = three(2);
  large.add("large", entry_of(DType::u8, {100000}, 0));
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  rlimit small = limit;
  small.rlim_cur = 50000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string one = message_of([&] { large.write(file); });
  const std::string several = message_of([&] { large.write(file, {.max_shard_bytes = 200}); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, old);
  CHECK(contains(one, "cannot be written: File too large"));
  CHECK(contains(several, "cannot be written: File too large"));
  CHECK(files_in(folder) == 1);
  CHECK(equal(Record::read(file), three(1)));
}

TEST_CASE("records are edited") {
  Record record = three(1);
  record.rename("a", "x");
  CHECK_FALSE(record.find("a"));
  CHECK(record.find("x")->bytes == three(1).find("a")->bytes);
  record.rename("x", "x");
  CHECK(contains(message_of([&] { record.rename("a", "y"); }), "there is no tensor \"a\""));
  CHECK(contains(message_of([&] { record.rename("x", "b"); }), "there is a tensor \"b\" already"));
  CHECK(contains(message_of([&] { record.rename("x", "__metadata__"); }), "reserved"));
  record.rename_text("format", "kind");
  CHECK(*record.find_text("kind") == "pt");
  record.erase_text("kind");
  CHECK(contains(message_of([&] { record.erase_text("kind"); }), "there is no text \"kind\""));
  record.erase("x");
  CHECK(contains(message_of([&] { record.erase("x"); }), "there is no tensor \"x\""));

  Record whole;
  whole.add_part("model", three(1));
  whole.add_part("model2", three(9));
  whole.set_text("modern", "x");
  CHECK(equal(whole.part("model"), three(1)));
  CHECK(equal(whole.part("none"), Record()));
}
