// The file of choices: what is written is read, by other processes too, and damage is never believed.
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/tune/store.h"
#include "tests/support/temporary_folder.h"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using tune::Record;
using tune::Store;

Record record(int number, const std::string& parameters = "rows=128,columns=256") {
  return {{"GPU, driver 13000", "TENSOR_CORES bf16 0123", std::to_string(number) + "x64x64"},
          parameters,
          1000.0 + number,
          2000};
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

}  // namespace

TEST_CASE("what a store was given is in the file, for the next process") {
  TemporaryFolder folder;
  const fs::path at = folder.path() / "tuning";
  Store first(at);
  CHECK_FALSE(first.find(record(1).key));
  CHECK_FALSE(fs::exists(at));  // reading makes nothing
  first.add(record(1), false);
  first.add(record(2, "rows=64,columns=64"), false);
  Store second(at);
  REQUIRE(second.find(record(1).key));
  CHECK(*second.find(record(1).key) == record(1));
  CHECK(second.find(record(2).key)->parameters == "rows=64,columns=64");
  CHECK(second.all().size() == 2);
  struct stat status {};
  REQUIRE(stat(first.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(stat(at.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("of two choices for a key the first stays, unless it is replaced") {
  TemporaryFolder folder;
  Store one(folder.path() / "tuning"), other(folder.path() / "tuning");
  CHECK_FALSE(other.find(record(1).key));
  one.add(record(1, "rows=64"), false);
  other.add(record(1, "rows=128"), false);
  CHECK(other.find(record(1).key)->parameters == "rows=128");  // its process has used it
  CHECK(Store(folder.path() / "tuning").find(record(1).key)->parameters == "rows=64");
  other.add(record(1, "rows=192"), true);
  CHECK(Store(folder.path() / "tuning").find(record(1).key)->parameters == "rows=192");
  CHECK(one.find(record(1).key)->parameters == "rows=64");
  one.refresh();
  CHECK(one.find(record(1).key)->parameters == "rows=64");  // for as long as the process lives
}

TEST_CASE("a process sees what others have added once it looks again") {
  TemporaryFolder folder;
  Store one(folder.path() / "tuning"), other(folder.path() / "tuning");
  CHECK_FALSE(one.find(record(1).key));
  other.add(record(1), false);
  CHECK_FALSE(one.find(record(1).key));
  one.refresh();
  CHECK(one.find(record(1).key));
}

TEST_CASE("the oldest choices go where there are too many") {
  TemporaryFolder folder;
  Store store(folder.path() / "tuning", 3);
  for (int number = 0; number < 5; ++number) store.add(record(number), false);
  const std::vector<Record> kept = store.all();
  REQUIRE(kept.size() == 3);
  for (int k = 0; k < 3; ++k) CHECK(kept[static_cast<std::size_t>(k)] == record(k + 2));
}

TEST_CASE("a file cut anywhere, or with any byte changed, is not believed and is replaced") {
  TemporaryFolder folder;
  const fs::path at = folder.path() / "tuning";
  Store(at).add(record(1), false);
  Store(at).add(record(2), false);
  const fs::path file = Store(at).file();
  const std::string whole = content(file);
  REQUIRE(tune::parse_store(whole)->size() == 2);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    REQUIRE_FALSE(tune::parse_store(whole.substr(0, bytes)));
  for (std::size_t at_byte = 0; at_byte < whole.size(); ++at_byte)
    for (const int bit : {0, 3, 7}) {
      std::string changed = whole;
      changed[at_byte] = static_cast<char>(changed[at_byte] ^ (1 << bit));
      REQUIRE_FALSE(tune::parse_store(changed));
    }
  REQUIRE_FALSE(tune::parse_store(whole + "x"));
  write(file, whole.substr(0, whole.size() / 2));
  Store store(at);
  CHECK_FALSE(store.find(record(1).key));
  store.add(record(3), false);
  CHECK(Store(at).all() == std::vector{record(3)});
}

TEST_CASE("no bytes whatever crash the reader") {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(random() % 4 == 0 ? "\t\n 19x"[random() % 6] : random());
    REQUIRE_FALSE(tune::parse_store(text));
  }
  // The same behind a first line that is right for them: what is accepted can be written again.
  std::size_t accepted = 0;
  const std::string head = tune::format_store({});
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Record> records(1 + random() % 3, record(static_cast<int>(random() % 9)));
    for (Record& r : records)
      for (std::string* field : {&r.key.device, &r.key.kernel, &r.key.sizes, &r.parameters}) {
        field->assign(random() % 6, '\0');
        for (char& c : *field) c = static_cast<char>(random() % 3 == 0 ? "\t\n 19x"[random() % 6] : random());
      }
    if (const auto parsed = tune::parse_store(tune::format_store(records))) {
      ++accepted;
      REQUIRE(tune::parse_store(tune::format_store(*parsed)) == parsed);
    }
  }
  CHECK(accepted > 0);
  CHECK(tune::parse_store(head)->empty());
}

TEST_CASE("a folder that others may write to is not used, nor is a link, and nothing throws") {
  TemporaryFolder folder;
  const fs::path at = folder.path() / "tuning";
  Store(at).add(record(1), false);
  REQUIRE(chmod(at.c_str(), 0777) == 0);
  Store open(at);
  CHECK_FALSE(open.find(record(1).key));
  open.add(record(2), false);
  CHECK(open.find(record(2).key));  // in memory
  REQUIRE(chmod(at.c_str(), 0700) == 0);
  CHECK(Store(at).all().size() == 1);

  fs::create_directory_symlink(at, folder.path() / "link");
  CHECK(Store(folder.path() / "link").all().empty());
  Store nowhere("/proc/no/such/place");
  nowhere.add(record(1), false);
  CHECK(nowhere.find(record(1).key));
  Store memory("");
  memory.add(record(1), false);
  CHECK(memory.find(record(1).key));
  CHECK(memory.clear() == 0);
  CHECK_FALSE(memory.find(record(1).key));
}

TEST_CASE("processes and threads that add at once lose nothing, and no reader sees half of a file") {
  TemporaryFolder folder;
  const fs::path at = folder.path() / "tuning";
  constexpr int kProcesses = 4, kEach = 20;
  Store(at).add(record(-1), false);
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      Store store(at);
      for (int k = 0; k < kEach; ++k) store.add(record(p * 1000 + k), false);
      _exit(0);
    }
    REQUIRE(child > 0);
    children.push_back(child);
  }
  Store shared(at);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < kEach; ++k) shared.add(record(100'000 + t * 1000 + k), false);
    });
  for (int k = 0; k < 50; ++k) CHECK_FALSE(Store(at).all().empty());
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(Store(at).all().size() == 1 + (kProcesses + 2) * kEach);
}

TEST_CASE("all choices can be removed") {
  TemporaryFolder folder;
  Store store(folder.path() / "tuning");
  CHECK(store.clear() == 0);
  store.add(record(1), false);
  store.add(record(2), false);
  CHECK(store.clear() == 2);
  CHECK_FALSE(store.find(record(1).key));
  CHECK(Store(folder.path() / "tuning").all().empty());
}

}  // namespace sinter::testing
