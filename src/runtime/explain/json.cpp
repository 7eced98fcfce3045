// A report as JSON. Keys are the names of the struct members in explain.h.
#include <nlohmann/json.hpp>

#include <sinter/explain.h>

namespace sinter {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ReportLaunch& launch);
Json json_of(const ReportCut& cut);
Json json_of(const ReportHeld& held);
Json json_of(const ReportTrace& trace);

Json json_of(const ReportLine& line) { return {{"file", line.file}, {"line", line.line}, {"ops", line.ops}}; }

Json json_of(const ReportAccess& access) {
  Json json = {{"label", access.label},
               {"op", access.op},
               {"shape", std::vector<std::int64_t>(access.shape.begin(), access.shape.end())},
               {"dtype", name_of(access.dtype)},
               {"written", access.written},
               {"bytes_read", access.bytes_read},
               {"bytes_written", access.bytes_written},
               {"over", access.over},
               {"written_by", nullptr}};
  if (access.written_by) json["written_by"] = *access.written_by;
  return json;
}

template <class T>
Json list_of(const std::vector<T>& entries) {
  Json json = Json::array();
  for (const T& entry : entries) json.push_back(json_of(entry));
  return json;
}

Json json_of(const ReportLaunch& launch) {
  const bool kernel = launch.kind == ReportLaunch::Kind::Kernel;
  Json json = {{"kind", kernel ? "kernel" : "library"}, {"kernel", nullptr}};
  if (kernel) json["kernel"] = launch.kernel;
  json["how"] = launch.how;
  json["members"] = launch.members;
  json["ops"] = launch.ops;
  json["lines"] = list_of(launch.lines);
  json["bytes_read"] = launch.bytes_read;
  json["bytes_written"] = launch.bytes_written;
  json["in_place_bytes"] = launch.in_place_bytes;
  json["least_bytes"] = launch.least_bytes;
  json["accesses"] = list_of(launch.accesses);
  return json;
}

Json json_of(const ReportCut& cut) {
  return {{"producer", cut.producer},
          {"consumer", cut.consumer},
          {"producer_line", json_of(cut.producer_line)},
          {"consumer_line", json_of(cut.consumer_line)},
          {"reason", cut.reason},
          {"count", cut.count}};
}

Json json_of(const ReportHeld& held) {
  return {{"op", held.op},
          {"line", json_of(held.line)},
          {"shape", std::vector<std::int64_t>(held.shape.begin(), held.shape.end())},
          {"dtype", name_of(held.dtype)},
          {"stored", held.stored},
          {"reason", held.reason},
          {"count", held.count}};
}

Json json_of(const ReportTrace& trace) {
  return {{"device", trace.device},
          {"ops", trace.ops},
          {"times", trace.times},
          {"built", trace.built},
          {"fused", trace.fused},
          {"bytes_moved", trace.bytes_moved},
          {"least_bytes", trace.least_bytes},
          {"input_bytes", trace.input_bytes},
          {"output_bytes", trace.output_bytes},
          {"temporary_bytes", trace.temporary_bytes},
          {"in_place_bytes", trace.in_place_bytes},
          {"peak_bytes", trace.peak_bytes},
          {"launches", list_of(trace.launches)},
          {"cuts", list_of(trace.cuts)},
          {"held", list_of(trace.held)}};
}

}  // namespace

std::string Report::to_json() const {
  const Json json = {{"launches", launches()}, {"traces", list_of(traces)}};
  // File names may not be valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sinter
