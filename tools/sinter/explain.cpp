// Starts the program with SINTER_EXPLAIN set to a temporary folder, waits, and reads the report from there.
#include "explain.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace tools {
namespace {

namespace fs = std::filesystem;

/// A temporary folder that the destructor removes.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "sinter-explain-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("no folder for the report can be made in " +
                               fs::temp_directory_path().string() + ": " + std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The program's exit code, like a shell reports it. Throws std::system_error when the program cannot be
/// started.
int run(const std::vector<std::string>& command, const fs::path& report) {
  setenv("SINTER_EXPLAIN", report.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  // Ctrl-C ends the program, not this process, which still reads the report.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t given;
  sigemptyset(&given);
  sigaddset(&given, SIGINT);
  sigaddset(&given, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &given);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0] + " cannot be run");

  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "waiting for " + command[0] + " failed");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string form_of(const ExplainOptions& options) {
  if (!options.format.empty()) return options.format;
  const fs::path form = options.out.extension();
  if (form == ".json") return "json";
  if (form == ".svg") return "svg";
  if (form == ".txt" || options.out.empty()) return "text";
  return "";  // a folder with all of them
}

void copy_report(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error)
    throw std::runtime_error("the report cannot be written to " + to.string() + ": " + error.message());
}

void deliver(const fs::path& report, const ExplainOptions& options) {
  const std::string form = form_of(options);
  if (form.empty()) {
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error)
      throw std::runtime_error("the folder " + options.out.string() + " cannot be made: " + error.message());
    for (const char* name : {"plan.txt", "plan.json", "plan.svg"})
      copy_report(report / name, options.out / name);
    return;
  }
  const fs::path file = report / (form == "text" ? "plan.txt" : form == "json" ? "plan.json" : "plan.svg");
  if (!options.out.empty()) return copy_report(file, options.out);
  std::ifstream text(file, std::ios::binary);
  std::cout << text.rdbuf() << std::flush;
  if (!text || !std::cout) throw std::runtime_error("the report cannot be printed");
}

}  // namespace

int explain(const ExplainOptions& options) {
  const ScratchFolder scratch;
  const fs::path report = scratch.path() / "report";
  int code = 0;
  try {
    code = run(options.command, report);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "sinter explain: %s\n", error.what());
    return 127;
  }
  if (!fs::exists(report / "plan.svg")) {
    std::fprintf(stderr,
                 "sinter explain: %s ended with code %d and left no report: it used no Sinter device, or did "
                 "not come to the "
                 "end of main\n",
                 options.command[0].c_str(), code);
    return code == 0 ? 1 : code;
  }
  try {
    deliver(report, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinter explain: %s\n", error.what());
    return code == 0 ? 1 : code;
  }
  return code;
}

}  // namespace tools
