// The kernel cache returns exactly what was stored, survives disk failures, and never returns anything else.
#include "jit/compile/kernel_cache.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace {

using sinter::compile::KernelCache;
using sinter::compile::KernelKey;
namespace fs = std::filesystem;

constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;

KernelKey key(const std::string& source) { return {source, "--fmad=false", "nvrtc 13.0", "sm_90a", ""}; }

std::vector<std::byte> bytes(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A folder with one kernel in it.
struct Stored {
  TemporaryFolder folder;
  KernelKey name = key("void kernel() {}");
  fs::path path;
  std::string content;
  Stored() {
    KernelCache cache(folder.path(), kRoom);
    cache.store(name, bytes("machine code"));
    path = cache.path_of(name);
    content = read(path);
  }
};

}  // namespace

TEST_CASE("what is stored is found: in memory, and by another process on disk") {
  TemporaryFolder folder;
  KernelCache first(folder.path() / "made" / "when needed", kRoom);
  bool from_disk = true;
  CHECK_FALSE(first.find(key("a"), &from_disk));
  CHECK_FALSE(from_disk);
  first.store(key("a"), bytes("A"));
  first.store(key("empty"), {});
  CHECK(first.find(key("a")) == bytes("A"));
  CHECK(first.statistics().hits == 1);
  CHECK(first.statistics().hard_misses == 1);

  KernelCache second(folder.path() / "made" / "when needed", kRoom);
  CHECK(second.find(key("a"), &from_disk) == bytes("A"));
  CHECK(from_disk);
  CHECK(second.find(key("empty"))->empty());
  CHECK(second.statistics().soft_misses == 2);
  CHECK(second.find_or(key("a"), []() -> std::vector<std::byte> { throw 0; }) == bytes("A"));
}

TEST_CASE("each part of the key counts, and where one ends") {
  const KernelKey base = key("source");
  KernelKey others[] = {base, base, base, base, base, base};
  others[0].source = "source ";
  others[1].options = "--fmad=true";
  others[2].compiler = "nvrtc 12.8";
  others[3].target = "sm_90";
  others[4].driver = "580";
  others[5].options = "--fmad=falsen";
  others[5].compiler = "vrtc 13.0";
  TemporaryFolder folder;
  KernelCache cache(folder.path(), kRoom);
  cache.store(base, bytes("base"));
  for (const KernelKey& other : others) {
    CHECK_FALSE(cache.find(other));
    CHECK(cache.path_of(other) != cache.path_of(base));
  }
}

TEST_CASE("a file cut short at any byte is not used, and removed") {
  Stored stored;
  for (std::size_t size = 0; size < stored.content.size(); ++size) {
    write(stored.path, stored.content.substr(0, size));
    KernelCache cache(stored.folder.path(), kRoom);
    CHECK_FALSE(cache.find(stored.name));
    CHECK(cache.statistics().removed == 1);
    CHECK_FALSE(fs::exists(stored.path));
  }
  write(stored.path, stored.content + "x");
  CHECK_FALSE(KernelCache(stored.folder.path(), kRoom).find(stored.name));
}

TEST_CASE("a file with any bit flipped is not used, and removed") {
  Stored stored;
  for (std::size_t bit = 0; bit < 8 * stored.content.size(); ++bit) {
    std::string damaged = stored.content;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write(stored.path, damaged);
    KernelCache cache(stored.folder.path(), kRoom);
    if (cache.find(stored.name)) FAIL("bit " << bit << " was not noticed");
    CHECK_FALSE(fs::exists(stored.path));
  }
  // After the damage the kernel is compiled and stored again.
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK(cache.find_or(stored.name, [] { return bytes("machine code"); }) == bytes("machine code"));
  CHECK(read(stored.path) == stored.content);
}

TEST_CASE("a good file under another kernel's name is not used") {
  Stored stored;
  KernelCache cache(stored.folder.path(), kRoom);
  const KernelKey other = key("void karnel() {}");  // of the same length
  fs::copy_file(stored.path, cache.path_of(other));
  CHECK_FALSE(cache.find(other));
  CHECK_FALSE(fs::exists(cache.path_of(other)));
  CHECK(fs::exists(stored.path));
}

TEST_CASE("an I/O error removes nothing") {
  Stored stored;
  fs::remove(stored.path);
  fs::create_directory(stored.path);  // reading it fails, and it is not damaged content
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK_FALSE(cache.find(stored.name));
  CHECK(cache.statistics().io_errors == 1);
  CHECK(cache.statistics().removed == 0);
  CHECK(fs::is_directory(stored.path));
}

TEST_CASE("a folder that cannot be made or written leaves kernels in memory") {
  TemporaryFolder folder;
  write(folder.path() / "file", "");
  for (const fs::path& place : {folder.path() / "file" / "below", fs::path("/proc/nothing/here")}) {
    KernelCache cache(place, kRoom);
    CHECK_FALSE(cache.find(key("a")));
    cache.store(key("a"), bytes("A"));
    cache.store(key("b"), bytes("B"));
    CHECK(cache.find(key("a")) == bytes("A"));
    CHECK(cache.find(key("b")) == bytes("B"));
    CHECK(cache.statistics().io_errors == 1);  // only one attempt
  }
  KernelCache nowhere({}, kRoom);  // no HOME
  CHECK(nowhere.path_of(key("a")).empty());
  nowhere.store(key("a"), bytes("A"));
  CHECK(nowhere.find(key("a")) == bytes("A"));
}

TEST_CASE("a read-only folder is read") {
  Stored stored;
  fs::permissions(stored.folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK(cache.find(stored.name) == bytes("machine code"));
  cache.store(key("b"), bytes("B"));
  CHECK(cache.find(key("b")) == bytes("B"));
  if (geteuid() != 0) CHECK(cache.statistics().io_errors == 1);
  fs::permissions(stored.folder.path(), fs::perms::owner_all);
}

TEST_CASE("a full disk leaves kernels in memory and nothing half-written") {
  TemporaryFolder folder;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // A file may not grow beyond this: the write stops half-way, as on a full disk.
    const rlimit limit{1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    KernelCache cache(folder.path(), kRoom);
    const std::vector<std::byte> code(10000);
    cache.store(key("large"), code);
    _exit(cache.find(key("large")) == code && cache.statistics().io_errors == 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("two processes that race on the same kernels both get what was stored") {
  TemporaryFolder folder;
  constexpr int kKernels = 300;
  auto work = [&] {
    for (int i = 0; i < kKernels; ++i) {
      KernelCache cache(folder.path(), kRoom);
      const KernelKey name = key("kernel " + std::to_string(i));
      const std::vector<std::byte> code =
          bytes(std::string(2000, static_cast<char>('a' + i % 26)) + std::to_string(i));
      if (cache.find_or(name, [&] { return code; }) != code) return 1;
      if (cache.statistics().removed != 0 || cache.statistics().io_errors != 0) return 2;
    }
    return 0;
  };
  pid_t children[3];
  for (pid_t& child : children) {
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(work());
  }
  CHECK(work() == 0);
  for (pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(files_in(folder.path()) == kKernels);  // no temporary file is left
  KernelCache cache(folder.path(), kRoom);
  for (int i = 0; i < kKernels; ++i) CHECK(cache.find(key("kernel " + std::to_string(i))));
}

TEST_CASE("beyond the limit the least recently used go first") {
  TemporaryFolder folder;
  const std::vector<std::byte> code(10000);
  {
    KernelCache cache(folder.path(), kRoom);
    for (int i = 0; i < 10; ++i) {
      cache.store(key(std::to_string(i)), code);
      fs::last_write_time(cache.path_of(key(std::to_string(i))),
                          fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
    }
  }
  write(folder.path() / ".writing-1-1", "left by a killed process");
  fs::last_write_time(folder.path() / ".writing-1-1",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  write(folder.path() / ".writing-1-2", "being written now");
  KernelCache cache(folder.path(), 60000);
  CHECK(cache.find(key("0")));  // used now
  cache.store(key("new"), code);
  CHECK(fs::exists(cache.path_of(key("new"))));
  CHECK(fs::exists(cache.path_of(key("0"))));
  CHECK(fs::exists(cache.path_of(key("9"))));
  CHECK_FALSE(fs::exists(cache.path_of(key("1"))));
  CHECK_FALSE(fs::exists(cache.path_of(key("5"))));
  CHECK(cache.statistics().evicted == 6);
  CHECK_FALSE(fs::exists(folder.path() / ".writing-1-1"));
  CHECK(fs::exists(folder.path() / ".writing-1-2"));
}
