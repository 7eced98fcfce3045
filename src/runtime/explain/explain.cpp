// `explain` for a piece of program, and SINTER_EXPLAIN for a whole process.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include <sinter/error.h>
#include <sinter/explain.h>

#include "src/base/env.h"
#include "src/runtime/device_core.h"
#include "src/runtime/explain/collect.h"

namespace sinter {
namespace {

void flush_all() {
  for (runtime::DeviceCore* core : runtime::cores_in_use()) core->recorder().flush();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw Error("[explain] the report cannot be written to \"" + path.string() + "\"");
}

}  // namespace

Report detail::explain(const Function<void()>& program) {
  flush_all();
  runtime::Collector collector;
  program();
  flush_all();
  return collector.take();
}

std::uint64_t Report::launches() const {
  std::uint64_t count = 0;
  for (const ReportTrace& trace : traces) count += trace.times * trace.launches.size();
  return count;
}

void Report::save(const Path& name) const {
  const std::filesystem::path path(name.string());
  const std::filesystem::path form = path.extension();
  if (form == ".txt") return write(path, to_text());
  if (form == ".json") return write(path, to_json());
  if (form == ".svg") return write(path, to_svg());
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw Error("[explain] the folder \"" + path.string() +
                "\" for the report cannot be made: " + error.message());
  write(path / "plan.txt", to_text());
  write(path / "plan.json", to_json());
  write(path / "plan.svg", to_svg());
}

namespace runtime {
namespace {

/// Both live as long as the process and are never destroyed.
Collector* process_collector = nullptr;
const std::filesystem::path* process_report = nullptr;

/// Runs at exit: threads that ended have flushed what they recorded, and static objects still exist.
void write_process_report() {
  try {
    process_collector->take().save(*process_report);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinter warning: %s\n", error.what());
  }
}

}  // namespace

void explain_process_if_asked() {
  static const bool once = [] {
    const std::string& path = base::environment().explain;
    if (path.empty()) return false;
    // The program may change its working directory.
    process_report = new std::filesystem::path(std::filesystem::absolute(path));
    process_collector = new Collector(true);
    std::atexit(write_process_report);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace runtime
}  // namespace sinter
