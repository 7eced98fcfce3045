// A report as text.
#include <algorithm>

#include <sinter/explain.h>

#include "src/runtime/explain/words.h"

namespace sinter {
namespace {

using namespace runtime;

std::string launch_text(const ReportLaunch& launch, std::size_t number) {
  std::string text = "\n  " + std::to_string(number) + "  " + kind_text(launch) + ": reads " +
                     bytes_text(launch.bytes_read) + ", writes " + bytes_text(launch.bytes_written);
  if (launch.in_place_bytes > 0) text += ", " + bytes_text(launch.in_place_bytes) + " of it in place";
  text += "\n";
  if (!launch.how.empty()) text += "       " + launch.how + "\n";
  std::size_t width = 0;
  for (const ReportLine& line : launch.lines) width = std::max(width, place_text(line).size());
  for (const ReportLine& line : launch.lines) {
    std::string place = place_text(line);
    place.resize(width, ' ');
    text += "       " + place + "  " + ops_text(line.ops, 16) + "\n";
  }
  for (const ReportAccess& access : launch.accesses)
    if (!access.written) text += "       reads  " + access_text(access, access.bytes_read) + "\n";
  for (const ReportAccess& access : launch.accesses)
    if (access.written) text += "       writes " + access_text(access, access.bytes_written) + "\n";
  return text;
}

std::string trace_text(const ReportTrace& trace) {
  std::string text = trace.device + ": " + size_text(trace) + ", " + times_text(trace) + "\n  " +
                     traffic_text(trace) + "\n  " + memory_text(trace) + "\n";
  for (std::size_t i = 0; i < trace.launches.size(); ++i) text += launch_text(trace.launches[i], i);
  const std::vector<std::string> held = held_texts(trace);
  if (!held.empty()) text += "\n  held, but not asked for\n";
  for (const std::string& line : held) text += "       " + line + "\n";
  if (!trace.cuts.empty()) text += "\n  stayed apart\n";
  for (const ReportCut& cut : trace.cuts) text += "       " + cut_text(cut) + "\n";
  return text;
}

}  // namespace

std::string Report::to_text() const {
  if (traces.empty()) return "nothing was handed to a device\n";
  std::string text = count_text(launches(), "launch", "launches") + " of " +
                     count_text(traces.size(), "plan", "different plans") + "\n";
  for (const ReportTrace& trace : traces) text += "\n" + trace_text(trace);
  return text;
}

}  // namespace sinter
