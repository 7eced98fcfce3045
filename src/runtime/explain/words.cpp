// Formats numbers and names for people.
#include "src/runtime/explain/words.h"

#include <algorithm>
#include <cstdio>

#include "jit/plan/plan.h"

namespace sinter::runtime {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.96 would be printed as 1024.0
  while (number >= 1023.95 && unit + 1 < std::size(kUnits)) {
    number /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", number, kUnits[unit]);
  return text;
}

std::string count_text(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string place_text(const ReportLine& line) {
  return line.file.substr(line.file.find_last_of("/\\") + 1) + ":" + std::to_string(line.line);
}

std::string ops_text(const std::vector<std::string>& ops, std::size_t most) {
  std::string text;
  std::size_t words = 0;
  for (std::size_t i = 0; i < ops.size();) {
    std::size_t end = i;
    while (end < ops.size() && ops[end] == ops[i]) ++end;
    if (words++ == most) return text + " ... (" + count_text(ops.size(), "op", "ops") + ")";
    text += (text.empty() ? "" : " ") + ops[i];
    if (end - i > 1) text += " x" + std::to_string(end - i);
    i = end;
  }
  return text;
}

std::string kind_text(const ReportLaunch& launch) {
  if (launch.kind == ReportLaunch::Kind::Library) return "library";
  return "kernel " + std::to_string(launch.kernel) +
         (launch.members > 1 ? " for " + std::to_string(launch.members) + " members" : "");
}

std::string size_text(const ReportTrace& trace) {
  const auto library = static_cast<std::size_t>(
      std::count_if(trace.launches.begin(), trace.launches.end(),
                    [](const ReportLaunch& launch) { return launch.kind == ReportLaunch::Kind::Library; }));
  return count_text(trace.ops, "operation", "operations") + ", " +
         count_text(trace.launches.size(), "launch", "launches") + " (" +
         count_text(trace.launches.size() - library, "kernel", "kernels") + ", " + std::to_string(library) +
         " library)";
}

std::string times_text(const ReportTrace& trace) {
  auto often = [](std::uint64_t count) {
    if (count == 0) return std::string("never");
    return count == 1 ? std::string("once") : std::to_string(count) + " times";
  };
  // `built` is 0 where every run found the plan cached.
  return "ran " + often(trace.times) + ", planned " + often(trace.built) +
         (trace.fused ? "" : ", without fusion");
}

std::string traffic_text(const ReportTrace& trace) {
  std::string text =
      "moves " + bytes_text(trace.bytes_moved) + "; the least possible is " + bytes_text(trace.least_bytes);
  if (trace.least_bytes > 0) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, " (%.2fx)",
                  static_cast<double>(trace.bytes_moved) / static_cast<double>(trace.least_bytes));
    text += ratio;
  }
  return text;
}

std::string memory_text(const ReportTrace& trace) {
  return "peak " + bytes_text(trace.peak_bytes) + ": " + bytes_text(trace.input_bytes) + " inputs, " +
         bytes_text(trace.output_bytes) + " new results, " + bytes_text(trace.temporary_bytes) +
         " temporaries; " + bytes_text(trace.in_place_bytes) + " written in place";
}

std::string access_text(const ReportAccess& access, std::int64_t bytes) {
  std::string text = access.label;
  if (!access.op.empty()) text += " = " + access.op;
  text += " " + to_string(access.shape) + " " + std::string(name_of(access.dtype)) + ", " + bytes_text(bytes);
  if (!access.over.empty()) text += ", in place of " + access.over;
  return text;
}

std::vector<std::string> held_texts(const ReportTrace& trace) {
  std::vector<std::string> texts;
  for (const ReportHeld& held : trace.held) {
    if (held.stored && held.reason == plan::kAskedFor) continue;
    texts.push_back(held.op + " " + place_text(held.line) + " " + to_string(held.shape) + " " +
                    std::string(name_of(held.dtype)) + (held.stored ? ": stored, " : ": not stored, ") +
                    held.reason);
    if (held.count > 1) texts.back() += " (" + std::to_string(held.count) + " times)";
  }
  return texts;
}

std::string cut_text(const ReportCut& cut) {
  std::string text = cut.producer + " " + place_text(cut.producer_line) + " | " + cut.consumer + " " +
                     place_text(cut.consumer_line) + ": " + cut.reason;
  if (cut.count > 1) text += " (" + std::to_string(cut.count) + " times)";
  return text;
}

}  // namespace sinter::runtime
