// Makes a report of the traces that run.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include <absl/container/flat_hash_map.h>

#include <sinter/explain.h>

#include "src/runtime/explain/observe.h"

namespace sinter::runtime {

/// Observes all traces from construction to `take()`; equal traces become one entry.
class Collector : public TraceObserver {
 public:
  /// `of_process`: observes for as long as the process lives, also in a forked child.
  explicit Collector(bool of_process = false);
  ~Collector() override;
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void runs(const TraceRun& run) override;
  Report take();

 private:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, bool>;
  Report report_;
  absl::flat_hash_map<Key, std::size_t> known_;
};

/// The report of one trace and its plan.
ReportTrace report_of(const TraceRun& run);

/// If SINTER_EXPLAIN is set: collects from now on, and writes the report when the process ends. Later calls
/// do nothing.
void explain_process_if_asked();

}  // namespace sinter::runtime
