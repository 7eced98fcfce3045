// Lanes by interval colouring, heights by the number of arrows.
#include "src/runtime/explain/arrange.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/runtime/explain/words.h"

namespace sinter::runtime {
namespace {

std::vector<Flow> flows_of(const ReportTrace& trace) {
  std::vector<Flow> flows;
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < trace.launches.size(); ++i)
    for (const ReportAccess& access : trace.launches[i].accesses) {
      if (access.written) {
        known[{i, access.label}] = flows.size();
        flows.push_back(
            {access.label, access.bytes_written, access_text(access, access.bytes_written), i, {}, 0, 0, {}});
      } else if (access.written_by) {
        // Of a joined value there is one from the last of its pieces.
        const auto [at, is_new] = known.try_emplace({*access.written_by, access.label}, flows.size());
        if (is_new)
          flows.push_back({access.label,
                           access.bytes_read,
                           access_text(access, access.bytes_read),
                           *access.written_by,
                           {},
                           0,
                           0,
                           {}});
        Flow& flow = flows[at->second];
        if (flow.readers.empty() || flow.readers.back() != i) flow.readers.push_back(i);
      }
    }
  std::erase_if(flows, [](const Flow& flow) { return flow.readers.empty(); });
  return flows;
}

/// Short flows get the lanes near the boxes; two flows share a lane where one ends before the other begins.
std::size_t choose_lanes(std::vector<Flow>& flows) {
  std::vector<std::size_t> order(flows.size());
  for (std::size_t f = 0; f < order.size(); ++f) order[f] = f;
  auto length = [&](std::size_t f) { return flows[f].readers.back() - flows[f].from; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
  std::vector<std::vector<std::size_t>> lanes;
  for (std::size_t f : order) {
    auto apart = [&](std::size_t other) {
      return flows[f].readers.back() <= flows[other].from || flows[other].readers.back() <= flows[f].from;
    };
    std::size_t lane = 0;
    while (lane < lanes.size() && !std::all_of(lanes[lane].begin(), lanes[lane].end(), apart)) ++lane;
    if (lane == lanes.size()) lanes.emplace_back();
    lanes[lane].push_back(f);
    flows[f].lane = lane;
  }
  return lanes.size();
}

}  // namespace

Layout layout_of(const ReportTrace& trace, int top, int least_height, int gap) {
  Layout layout;
  layout.flows = flows_of(trace);
  layout.lanes = choose_lanes(layout.flows);
  std::vector<int> entering(trace.launches.size(), 0), leaving(trace.launches.size(), 0);
  for (const Flow& flow : layout.flows) {
    ++leaving[flow.from];
    for (std::size_t reader : flow.readers) ++entering[reader];
  }
  int y = top;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const int height = std::max(least_height, kLineHeight * (entering[i] + leaving[i]) + 6);
    layout.boxes.push_back({y, height});
    y += height + gap;
  }
  layout.bottom = y;
  // Lines enter a box at its top and leave at its bottom, so that lanes can be shared.
  std::vector<int> entered(trace.launches.size(), 0), left(trace.launches.size(), 0);
  for (Flow& flow : layout.flows) {
    const Box& from = layout.boxes[flow.from];
    flow.leaves = from.top + from.height - 10 - kLineHeight * (leaving[flow.from] - 1 - left[flow.from]++);
    for (std::size_t reader : flow.readers)
      flow.enters.push_back(layout.boxes[reader].top + 10 + kLineHeight * entered[reader]++);
  }
  return layout;
}

}  // namespace sinter::runtime
