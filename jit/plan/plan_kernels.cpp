// Joins buffers and compares texts.
#include "jit/plan/plan_kernels.h"

#include <algorithm>
#include <numeric>

#include "jit/plan/order.h"

namespace sinter::plan {
namespace {

void join(ir::Kernel& kernel, std::uint16_t output, std::uint16_t input) {
  kernel.buffers[input].written = true;
  const auto rename = [&](std::uint16_t& buffer) {
    if (buffer == output) buffer = input;
    if (buffer > output) --buffer;
  };
  for (ir::Expr& expr : kernel.exprs)
    if (ir::reads_memory(expr)) rename(expr.buffer);
  for (ir::Store& store : kernel.stores) rename(store.buffer);
  kernel.buffers.erase(kernel.buffers.begin() + output);
}

/// Whether all results that have to be are written over their operands.
bool overwrites(const KernelForm& form, const std::vector<Binding>& buffers) {
  return form.in_place &&
         std::all_of(form.in_place->over.begin(), form.in_place->over.end(),
                     [&](const Overwrite& pair) { return buffers[pair.result] == buffers[pair.operand]; });
}

}  // namespace

std::uint32_t PlanKernels::joined(const KernelForm& form, std::vector<Binding>& buffers) {
  joins_.clear();
  in_place_ = overwrites(form, buffers) ? &*form.in_place : nullptr;
  if (in_place_ != nullptr) {
    std::vector<Binding> own(in_place_->kernel.buffers.size());
    for (std::size_t b = 0; b < buffers.size(); ++b) own[in_place_->places[b]] = buffers[b];
    buffers = std::move(own);
    const auto [known, added] = by_form_in_place_.try_emplace(form.number);
    if (added) known->second = add(in_place_->kernel, ir::to_string(in_place_->kernel));
    return known->second;
  }
  std::vector<ir::BufferInfo> infos;  // copied where something is joined
  const std::vector<ir::BufferInfo>* uses = &form.kernel.buffers;
  for (std::size_t w = 0; w < buffers.size(); ++w) {
    if (!(*uses)[w].written || (*uses)[w].read) continue;
    for (std::size_t r = 0; r < buffers.size(); ++r) {
      if (r == w || !(*uses)[r].read || !(buffers[r] == buffers[w])) continue;
      if (uses != &infos) {
        infos = *uses;
        uses = &infos;
      }
      infos[r].written = true;
      infos.erase(infos.begin() + static_cast<std::ptrdiff_t>(w));
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(w));
      joins_.emplace_back(static_cast<std::uint16_t>(w), static_cast<std::uint16_t>(r));
      --w;
      break;
    }
  }
  const auto [known, added] = by_form_.try_emplace(std::make_pair(form.number, joins_));
  if (!added) return known->second;
  if (joins_.empty() && by_text_.contains(form.text())) return known->second = by_text_.at(form.text());
  ir::Kernel kernel = form.kernel;
  for (const auto& [output, input] : joins_) join(kernel, output, input);
  std::string text = joins_.empty() ? form.text() : ir::to_string(kernel);
  return known->second = add(std::move(kernel), std::move(text));
}

std::vector<std::uint16_t> PlanKernels::places_after_joins(std::size_t buffers) const {
  if (in_place_ != nullptr) return in_place_->places;
  std::vector<std::uint16_t> places(buffers);
  std::iota(places.begin(), places.end(), std::uint16_t{0});
  for (const auto& [output, input] : joins_)
    for (std::uint16_t& place : places) {
      if (place == output) place = input;
      if (place > output) --place;
    }
  return places;
}

std::uint32_t PlanKernels::add(ir::Kernel kernel, std::string text) {
  const auto [known, added] = by_text_.try_emplace(text, static_cast<std::uint32_t>(joined_.size()));
  if (added) joined_.push_back({std::move(kernel), std::move(text), {}});
  return known->second;
}

std::uint32_t PlanKernels::place_of(std::uint32_t number, std::uint32_t members) {
  Joined& joined = joined_[number];
  const auto table = static_cast<std::uint32_t>(members > 1 ? table_size(members) : 1);
  for (const auto& [size, place] : joined.places)
    if (size == table) return place;
  ir::Kernel kernel = joined.kernel;
  if (members > 1) {
    kernel.members = static_cast<std::uint16_t>(table);
    kernel.tile = ir::Kernel::kNoTile;
  }
#ifdef NDEBUG
  if (verifies_)
#endif
    ir::verify(kernel);
  const auto place = static_cast<std::uint32_t>(kernels_.size());
  if (members > 1)
    kernels_.emplace_back(std::move(kernel));
  else
    kernels_.emplace_back(std::move(kernel), joined.text);
  joined.places.emplace_back(table, place);
  return place;
}

}  // namespace sinter::plan
