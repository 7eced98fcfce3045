// Code for parts of the inner loops: one phase of one slice at a time, so that threads share the loops of few
// outer points. What a slice's reductions come to is left in memory; later phases add up all slices first, in
// their order, and what depends on outer points alone is made again. Outer results are stored at the very
// end, when nobody reads what they may lie over.
#include <utility>

#include "jit/emit/llvm/kernel_writer.h"

namespace sinter::emit {

std::string LlvmKernelWriter::split_field(LlvmSplitField field) {
  std::string& known = split_fields_[field];
  if (known.empty())
    known = w_.in_entry([&] {
      const std::string fields = w_.cast_pointer("i8", "i64", "%scratch");
      return w_.load("i64", w_.element("i64", fields, std::to_string(field)), 8);
    });
  return known;
}

void LlvmKernelWriter::stage(const std::string& point) {
  const auto in_stage = [&](std::uint16_t stage, const std::function<void()>& body) {
    const std::string is_this =
        w_.value("icmp eq i64 " + split_field(kSplitPhase) + ", " + std::to_string(stage));
    w_.when(is_this, [&] {
      auto scope = values_.enter();
      body();
      values_.leave(std::move(scope));
    });
  };
  for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) {
    if (!shape_.walks[phase]) continue;
    in_stage(phase, [&] {
      for (std::uint16_t before = 0; before < phase; ++before) {
        make_outer(before);
        combine_slices(before, point);
      }
      make_outer(phase);
      const Names totals = nest(phase);
      std::size_t number = 0;
      for (const Reduction& r : in_phase_) {
        if (r.nans) continue;
        const std::string to = partial_pointer(phase, number, r.total, split_field(kSplitSlice), point);
        values_.store_row(r.total, to, {totals[number++], is_vector(r)});
      }
    });
  }
  in_stage(kernel_.phases, [&] {
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) {
      make_outer(phase);
      combine_slices(phase, point);
    }
    for (const ir::Store& store : kernel_.stores)
      if (store.level == ir::Level::Outer) values_.store(store);
  });
}

std::string LlvmKernelWriter::partial_pointer(std::uint16_t phase, std::size_t number, DType dtype,
                                              const std::string& slice, const std::string& point) {
  for (std::uint16_t before = 0; before < phase; ++before) number += shape_.reductions[before].size();
  const std::string slices = split_field(kSplitSlices), points = split_field(kSplitPoints);
  const std::string first = w_.value("mul i64 " + std::to_string(number) + ", " + slices);
  const std::string row = w_.value("add i64 " + first + ", " + slice);
  const std::string base =
      w_.value("inttoptr i64 " + split_field(kSplitPartials) + " to " + w_.pointer_to("i64"));
  const std::string start = w_.element("i64", base, w_.value("mul i64 " + row + ", " + points));
  const std::string type = llvm_memory_type(dtype);
  return w_.element(type, w_.cast_pointer("i64", type, start), point);
}

void LlvmKernelWriter::combine_slices(std::uint16_t phase, const std::string& point) {
  const std::vector<Reduction> all = reductions_of(phase);
  std::vector<LlvmCarried> carried;
  for (const Reduction& r : all)
    if (!r.nans) carried.push_back({w_.type(r.total, is_vector(r)), identity(r.op, r.total, is_vector(r))});
  if (carried.empty()) return;
  const Names totals = w_.loop(
      "0", split_field(kSplitSlices), "1", carried, [&](const std::string& slice, const Names& before) {
        Names next;
        for (const Reduction& r : all) {
          if (r.nans) continue;
          const std::size_t number = next.size();
          const LlvmOperand part =
              values_.load_row(r.total, partial_pointer(phase, number, r.total, slice, point), is_vector(r));
          next.push_back(values_.combine(r.op, r.total, carried[number].type, before[number], part.text));
        }
        return next;
      });
  set_results(all, totals);
}

}  // namespace sinter::emit
