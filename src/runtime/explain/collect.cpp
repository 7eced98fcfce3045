// Makes labels, source lines and sums from a plan.
#include "src/runtime/explain/collect.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include <absl/hash/hash.h>

#include "jit/library/kinds.h"
#include "jit/plan/traffic.h"

namespace sinter::runtime {
namespace {

ReportLine line_of(const trace::OpRecord& record, const trace::Trace& trace) {
  return {record.file ? record.file : "?", record.line, {std::string(library::name_of(trace, record))}};
}

/// The source lines in the order of the program, each once.
std::vector<ReportLine> lines_of(std::span<const std::uint32_t> records, const trace::Trace& trace) {
  std::vector<ReportLine> lines;
  absl::flat_hash_map<std::pair<std::string, std::uint32_t>, std::size_t> known;
  for (std::uint32_t r : records) {
    ReportLine line = line_of(trace.ops[r], trace);
    auto [it, added] = known.try_emplace({line.file, line.line}, lines.size());
    if (added)
      lines.push_back(std::move(line));
    else
      lines[it->second].ops.push_back(std::move(line.ops[0]));
  }
  return lines;
}

/// Labels values in the order in which launches write them.
class Labels {
 public:
  explicit Labels(const plan::LaunchStructure& structure) {
    for (const plan::JoinedValue& joined : structure.joins) joined_.emplace(joined.whole, &joined);
  }
  std::string label(const plan::Access& access) {
    if (access.external) return "in" + std::to_string(access.memory.index);
    auto [it, added] = written_.try_emplace(access.value);
    if (added)
      it->second.label = access.held ? "out" + std::to_string(held_++) : "tmp" + std::to_string(temporary_++);
    return it->second.label;
  }
  void written(const plan::Access& access, std::size_t launch) { written_[access.value].writer = launch; }
  /// Of a joined value the last launch that writes a piece.
  std::optional<std::size_t> writer(const plan::Access& access) const {
    return access.external ? std::nullopt : writer(access.value);
  }
  /// Pieces that a joined value is made of; 0 of all others.
  std::size_t pieces(const plan::Access& access) const {
    return access.external || !joined_.contains(access.value) ? 0 : pieces(access.value);
  }

 private:
  std::optional<std::size_t> writer(std::uint32_t value) const {
    std::optional<std::size_t> last;
    if (const auto joined = joined_.find(value); joined != joined_.end())
      for (const std::uint32_t part : joined->second->parts) last = std::max(last, writer(part));
    else if (const auto it = written_.find(value); it != written_.end())
      last = it->second.writer;
    return last;
  }
  std::size_t pieces(std::uint32_t value) const {
    const auto joined = joined_.find(value);
    if (joined == joined_.end()) return 1;
    std::size_t count = 0;
    for (const std::uint32_t part : joined->second->parts) count += pieces(part);
    return count;
  }

  struct Value {
    std::string label;
    std::optional<std::size_t> writer;
  };
  absl::flat_hash_map<std::uint32_t, Value> written_;
  absl::flat_hash_map<std::uint32_t, const plan::JoinedValue*> joined_;
  std::size_t held_ = 0, temporary_ = 0;
};

ReportLaunch report_of(const plan::Launch& launch, const plan::LaunchTraffic& traffic, std::size_t number,
                       const trace::Trace& trace, Labels& labels) {
  ReportLaunch report;
  const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
  report.kind = kernel ? ReportLaunch::Kind::Kernel : ReportLaunch::Kind::Library;
  report.kernel = kernel ? *kernel : 0;
  for (std::uint32_t r : launch.records) report.ops.emplace_back(library::name_of(trace, trace.ops[r]));
  report.lines = lines_of(launch.records, trace);
  report.bytes_read = traffic.bytes_read();
  report.bytes_written = traffic.bytes_written();
  report.members = launch.members;
  for (const plan::Access& access : traffic.accesses) {
    ReportAccess& entry = report.accesses.emplace_back();
    entry.label = labels.label(access);
    if (!access.external) entry.op = library::name_of(trace, trace.ops[access.record]);
    if (const std::size_t pieces = labels.pieces(access); pieces > 0)
      entry.op = "cat of " + std::to_string(pieces) + " pieces";
    entry.shape = access.shape;
    entry.dtype = access.dtype;
    entry.written = access.written;
    entry.bytes_read = access.bytes_read;
    entry.bytes_written = access.bytes_written;
    report.least_bytes += access.least_bytes;
    if (access.written) {
      labels.written(access, number);
      for (const plan::Access& other : traffic.accesses)
        if (!other.written && other.memory == access.memory) entry.over = labels.label(other);
      if (!entry.over.empty()) report.in_place_bytes += access.bytes_written;
    } else {
      entry.written_by = labels.writer(access);
    }
  }
  return report;
}

std::vector<ReportHeld> held_of(const TraceRun& run) {
  std::vector<ReportHeld> all;
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::string, DType, bool, std::string>;
  absl::flat_hash_map<Key, std::size_t> known;
  for (const plan::HeldValue& held : run.plan.held) {
    const trace::TraceValue& value = run.trace.values[held.value];
    ReportLine line = line_of(run.trace.ops[held.record], run.trace);
    const Key key{line.ops[0], line.file,   line.line,  to_string(value.shape),
                  value.dtype, held.stored, held.reason};
    auto [it, added] = known.try_emplace(key, all.size());
    if (added)
      all.push_back({line.ops[0], line, value.shape, value.dtype, held.stored, held.reason, 1});
    else
      ++all[it->second].count;
  }
  return all;
}

}  // namespace

ReportTrace report_of(const TraceRun& run) {
  ReportTrace report;
  report.device = run.traits.name;
  report.ops = run.trace.ops.size();
  report.built = run.built ? 1 : 0;
  report.fused = run.fused;
  Labels labels(*run.plan.structure);
  const plan::Traffic traffic = plan::traffic_of(run.plan, run.trace);
  for (std::size_t i = 0; i < run.plan.launches.size(); ++i)
    report.launches.push_back(report_of(run.plan.launches[i], traffic.launches[i], i, run.trace, labels));
  for (std::size_t i = 0; i < report.launches.size(); ++i) {
    std::string& how = report.launches[i].how;
    how = run.executables[i]->how(run.plan.launches[i].ints, run.plan.launches[i].members);
    if (run.tilings[i].empty()) continue;
    how += (how.empty() ? "tiles " : "; tiles ") + run.tilings[i];
  }
  for (const plan::PlanCut& cut : run.plan.cuts) {
    const trace::OpRecord &producer = run.trace.ops[cut.producer], &consumer = run.trace.ops[cut.consumer];
    report.cuts.push_back({std::string(name_of(producer.op)), std::string(name_of(consumer.op)),
                           line_of(producer, run.trace), line_of(consumer, run.trace), cut.reason,
                           cut.count});
  }
  report.held = held_of(run);
  report.bytes_moved = traffic.bytes_moved();
  report.least_bytes = traffic.least_bytes();
  report.input_bytes = static_cast<std::int64_t>(run.plan.input_bytes);
  for (std::size_t bytes : run.plan.output_bytes) report.output_bytes += static_cast<std::int64_t>(bytes);
  report.temporary_bytes = static_cast<std::int64_t>(run.plan.temporary_bytes());
  report.in_place_bytes = static_cast<std::int64_t>(run.plan.in_place_bytes);
  report.peak_bytes = static_cast<std::int64_t>(run.plan.peak_bytes);
  return report;
}

Collector::Collector(bool of_process) { add_observer(*this, of_process); }
Collector::~Collector() { remove_observer(*this); }

void Collector::runs(const TraceRun& run) {
  // The fingerprint excludes source lines: the same ops recorded elsewhere are another entry.
  std::uint64_t lines = 0;
  for (const trace::OpRecord& op : run.trace.ops)
    lines = absl::HashOf(lines, op.line, std::string_view(op.file ? op.file : ""));
  auto [it, added] =
      known_.try_emplace(Key{run.traits.name, run.fingerprint.high, run.fingerprint.low, lines, run.fused},
                         report_.traces.size());
  if (added) {
    report_.traces.push_back(report_of(run));
    return;
  }
  ReportTrace& entry = report_.traces[it->second];
  ++entry.times;
  if (run.built) ++entry.built;
}

Report Collector::take() {
  remove_observer(*this);
  return std::move(report_);
}

}  // namespace sinter::runtime
