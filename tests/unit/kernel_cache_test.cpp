// The kernel cache returns exactly what was stored, survives disk failures, and never returns anything else.
#include "jit/compile/kernel_cache.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/compile/library_build.h"
#include "jit/compile/source_files.h"
#include "src/base/env.h"
#include "tests/support/temporary_folder.h"

namespace {

using sinter::compile::KernelCache;
using sinter::compile::KernelKey;
using sinter::compile::Origin;
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
  Origin origin = Origin::Disk;
  CHECK_FALSE(first.find(key("a"), &origin));
  CHECK(origin == Origin::Compiled);
  first.store(key("a"), bytes("A"));
  first.store(key("empty"), {});
  CHECK(first.find(key("a"), &origin) == bytes("A"));
  CHECK(origin == Origin::Memory);

  KernelCache second(folder.path() / "made" / "when needed", kRoom);
  CHECK(second.find(key("a"), &origin) == bytes("A"));
  CHECK(origin == Origin::Disk);
  CHECK(second.find(key("empty"))->empty());
  CHECK(second.find_or(
            key("a"), []() -> std::vector<std::byte> { throw 0; }, &origin) == bytes("A"));
  CHECK(origin == Origin::Memory);
}

TEST_CASE("compiled, found in memory and loaded from disk are counted apart") {
  Stored stored;
  KernelCache cache(stored.folder.path(), kRoom);
  auto compile = [] { return bytes("new"); };
  sinter::compile::OriginCounts counts;
  auto use = [&](const KernelKey& name) {
    Origin origin{};
    cache.find_or(name, compile, &origin);
    counts.add(origin);
  };
  for (int i = 0; i < 4; ++i) use(stored.name);
  for (int i = 0; i < 3; ++i) use(key("new"));
  use(key("newer"));
  CHECK(counts.from_disk == 1);
  CHECK(counts.from_memory == 5);
  CHECK(counts.compiled == 2);
  CHECK(cache.statistics().from_disk == 1);
  CHECK(cache.statistics().from_memory == 5);
  CHECK(cache.statistics().missing == 2);
  cache.forget();
  use(key("new"));
  CHECK(counts.from_disk == 2);
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
    CHECK(cache.statistics().refused == 1);
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
  CHECK(cache.statistics().refused == 0);
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

TEST_CASE("after an error of one moment kernels are written again") {
  TemporaryFolder folder;
  // In a process of its own, which has a limit for a while: of the size of files, or of their number.
  auto survives = [&](int resource, rlim_t small) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      KernelCache cache(folder.path(), kRoom, std::chrono::seconds(0)), patient(folder.path(), kRoom);
      rlimit limit{};
      if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) _exit(2);
      const rlimit moment{small, limit.rlim_max};
      auto set = [&](const rlimit& to) { setrlimit(static_cast<__rlimit_resource_t>(resource), &to); };
      const std::string name = std::to_string(resource);
      const std::vector<std::byte> code(10000);
      set(moment);
      cache.store(key("during" + name), code);
      patient.store(key("patient" + name), code);
      set(limit);
      if (cache.statistics().io_errors != 1 || fs::exists(cache.path_of(key("during" + name)))) _exit(3);
      cache.store(key("after" + name), code);
      if (!fs::exists(cache.path_of(key("after" + name)))) _exit(4);
      // Not at once, though: that is a second later.
      patient.store(key("later" + name), code);
      if (fs::exists(cache.path_of(key("later" + name)))) _exit(5);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  };
  survives(RLIMIT_FSIZE, 1000);
  survives(RLIMIT_NOFILE, 0);
}

TEST_CASE("what a killed process of the same number left behind is in nobody's way") {
  TemporaryFolder folder;
  const std::string number = std::to_string(getpid());
  for (int i = 0; i < 5000; ++i) write(folder.path() / (".writing-" + number + "-" + std::to_string(i)), "");
  KernelCache cache(folder.path(), kRoom);
  cache.store(key("a"), bytes("A"));
  CHECK(cache.statistics().io_errors == 0);
  CHECK(KernelCache(folder.path(), kRoom).find(key("a")) == bytes("A"));
}

TEST_CASE("the folder and its files are this user's alone, whatever the umask") {
  TemporaryFolder folder;
  const mode_t before = umask(0);
  KernelCache cache(folder.path() / "a" / "b", kRoom);
  cache.store(key("a"), bytes("A"));
  umask(before);
  for (const char* made : {"a", "a/b"})
    CHECK(fs::status(folder.path() / made).permissions() == fs::perms::owner_all);
  CHECK(fs::status(cache.path_of(key("a"))).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a file that others may write to is refused, and removed") {
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    Stored stored;
    fs::permissions(stored.path, others, fs::perm_options::add);
    KernelCache cache(stored.folder.path(), kRoom);
    CHECK_FALSE(cache.find(stored.name));
    CHECK(cache.statistics().refused == 1);
    CHECK_FALSE(fs::exists(stored.path));
    cache.store(stored.name, bytes("compiled again"));
    CHECK(KernelCache(stored.folder.path(), kRoom).find(stored.name) == bytes("compiled again"));
  }
}

TEST_CASE("a link is refused, and removed, and its target stays") {
  Stored stored;
  const fs::path target = stored.folder.path() / "elsewhere";
  fs::rename(stored.path, target);
  fs::create_symlink(target, stored.path);
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK_FALSE(cache.find(stored.name));
  CHECK(cache.statistics().refused == 1);
  CHECK_FALSE(fs::is_symlink(stored.path));
  CHECK(read(target) == stored.content);
}

TEST_CASE("a pipe is refused and not waited for") {
  Stored stored;
  fs::remove(stored.path);
  REQUIRE(mkfifo(stored.path.c_str(), 0600) == 0);
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK_FALSE(cache.find(stored.name));
  CHECK(cache.statistics().refused == 1);
}

TEST_CASE("a folder that others may write to, or that is a link, is not used") {
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    Stored stored;
    fs::permissions(stored.folder.path(), others, fs::perm_options::add);
    KernelCache cache(stored.folder.path(), kRoom);
    CHECK_FALSE(cache.find(stored.name));
    cache.store(key("b"), bytes("B"));
    CHECK_FALSE(fs::exists(cache.path_of(key("b"))));
    CHECK(cache.statistics().refused == 2);
    CHECK(cache.statistics().io_errors == 0);
    CHECK(cache.find(key("b")) == bytes("B"));
    CHECK(read(stored.path) == stored.content);
  }
  Stored stored;
  TemporaryFolder other;
  fs::create_directory_symlink(stored.folder.path(), other.path() / "link");
  KernelCache cache(other.path() / "link", kRoom);
  CHECK_FALSE(cache.find(stored.name));
  cache.store(key("b"), bytes("B"));
  CHECK(cache.statistics().refused == 2);
  CHECK(files_in(stored.folder.path()) == 1);
}

TEST_CASE("root does not run what another user has planted, nor writes into that user's folders") {
  if (geteuid() != 0) return;
  constexpr uid_t kNobody = 65534;
  {
    Stored stored;  // the right content, under the right name, in root's folder
    REQUIRE(chown(stored.path.c_str(), kNobody, kNobody) == 0);
    KernelCache cache(stored.folder.path(), kRoom);
    CHECK_FALSE(cache.find(stored.name));
    CHECK(cache.statistics().refused == 1);
    CHECK_FALSE(fs::exists(stored.path));
  }
  Stored stored;
  REQUIRE(chown(stored.folder.path().c_str(), kNobody, kNobody) == 0);
  KernelCache cache(stored.folder.path(), kRoom);
  CHECK_FALSE(cache.find(stored.name));
  CHECK(cache.statistics().refused == 1);
  KernelCache below(stored.folder.path() / "made" / "here", kRoom);
  below.store(key("b"), bytes("B"));
  CHECK_FALSE(fs::exists(stored.folder.path() / "made"));
  CHECK(below.statistics().refused == 1);
}

TEST_CASE("another user does not use what root has left") {
  if (geteuid() != 0) return;
  Stored stored;
  fs::permissions(stored.folder.path(), fs::perms::all);
  fs::permissions(stored.path, fs::perms::others_read, fs::perm_options::add);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (setuid(65534) != 0) _exit(2);
    KernelCache cache(stored.folder.path(), kRoom);
    _exit(!cache.find(stored.name) && cache.statistics().refused == 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("trimming follows no link") {
  Stored stored;
  TemporaryFolder cache_folder;
  const fs::path link = cache_folder.path() / "0123.kernel";
  fs::create_symlink(stored.path, link);
  KernelCache cache(cache_folder.path(), 1);
  cache.trim();
  CHECK(read(stored.path) == stored.content);
  CHECK_FALSE(fs::is_symlink(link));
}

TEST_CASE("sources that a compiler refused are bounded") {
  TemporaryFolder folder;
  std::string& cache = sinter::base::mutable_environment().cache_dir;
  const std::string before = std::exchange(cache, folder.path().string());
  const std::string first = sinter::compile::keep_refused_source("source 0", ".cu");
  CHECK(first.starts_with(folder.path().string()));
  CHECK(read(first) == "source 0");
  for (std::size_t i = 1; i < 2 * sinter::compile::kMostRefusedSources; ++i)
    sinter::compile::keep_refused_source("source " + std::to_string(i), ".cu");
  CHECK(files_in(folder.path() / "refused") == sinter::compile::kMostRefusedSources);
  CHECK(sinter::compile::keep_refused_source("one more", ".cu").find("not written") == 0);
  cache = before;
}

TEST_CASE("builds of compilers are told apart") {
  using namespace sinter::compile;
  const void* here = &kRoom;
  const void* library = dlsym(RTLD_DEFAULT, "_ZSt9terminatev");
  REQUIRE(library != nullptr);
  CHECK(build_of(here).find("_test") != std::string::npos);
  CHECK(build_of(here).find(" build ") != std::string::npos);
  CHECK(build_of(library).find("libstdc++.so") == 0);
  CHECK(build_of(library) != build_of(here));
  CHECK(in_one_object(here, reinterpret_cast<const void*>(&sinter::base::logs)));
  CHECK_FALSE(in_one_object(library, here));
  const std::string both = builds_of_loaded({"libstdc++", "libm."});
  CHECK(both.find(build_of(library)) != std::string::npos);
  CHECK(both.find("libm.so") != std::string::npos);
  CHECK(build_of(nullptr).empty());
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
      if (cache.statistics().refused != 0 || cache.statistics().io_errors != 0) return 2;
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
