// Joins the gradients of parts of a value.
#include "src/autodiff/pending.h"

#include <algorithm>
#include <span>

#include "src/tensor/apply.h"

namespace sinter::autodiff {

namespace {

using Part = Pending::Part;

// As many parts as a kernel reads side by side, as in AnyTensor::cat.
constexpr std::size_t kGroup = 16;

bool are_disjoint(const Part& a, const Part& b) {
  for (std::size_t d = 0; d < a.start.rank(); ++d)
    if (a.start[d] + a.value.shape()[d] <= b.start[d] || b.start[d] + b.value.shape()[d] <= a.start[d])
      return true;
  return false;
}

/// One part for several: the smallest box around them. Those that do not overlap fill it side by side; where
/// some overlap, several such layers are added up.
Part join_few(std::span<const Part> parts, const Location& where) {
  Dims start(parts[0].start), end = Dims::filled(start.rank(), 0), whole = Dims::filled(start.rank(), 1);
  for (const Part& part : parts)
    for (std::size_t d = 0; d < start.rank(); ++d) {
      start[d] = std::min(start[d], part.start[d]);
      end[d] = std::max(end[d], part.start[d] + part.value.shape()[d]);
    }
  Shape box(end);
  for (std::size_t d = 0; d < start.rank(); ++d) box[d] -= start[d];
  std::vector<std::vector<const Part*>> layers;
  for (const Part& part : parts) {
    const auto has_room = [&](const std::vector<const Part*>& layer) {
      return std::all_of(layer.begin(), layer.end(),
                         [&](const Part* other) { return are_disjoint(part, *other); });
    };
    const auto layer = std::find_if(layers.begin(), layers.end(), has_room);
    (layer == layers.end() ? layers.emplace_back() : *layer).push_back(&part);
  }
  AnyTensor total;
  for (const std::vector<const Part*>& layer : layers) {
    AnyTensor joined;
    for (const Part* part : layer) {
      Dims within(part->start);
      for (std::size_t d = 0; d < start.rank(); ++d) within[d] -= start[d];
      joined = joined.defined() ? tensor::assign_to(joined, part->value, within, whole, true, where)
                                : part->value.place(box, within, whole, 0, where);
    }
    total = total.defined() ? AnyTensor::add(total, joined, where) : std::move(joined);
  }
  return {start, std::move(total)};
}

/// A tree of groups over parts in their order: the boxes of a level are together little larger than the parts
/// and the value that they are parts of.
Part join(std::span<const Part> parts, const Location& where) {
  if (parts.size() == 1) return parts[0];
  if (parts.size() <= kGroup) return join_few(parts, where);
  std::vector<Part> joined;
  for (std::size_t g = 0; g < kGroup; ++g) {
    const std::size_t begin = parts.size() * g / kGroup, end = parts.size() * (g + 1) / kGroup;
    joined.push_back(join(parts.subspan(begin, end - begin), where));
  }
  return join_few(joined, where);
}

/// Adds up those of one place.
void merge_equal(std::vector<Part>& parts, const Location& where) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].start == parts[kept].start && parts[i].value.shape() == parts[kept].value.shape())
      parts[kept].value = AnyTensor::add(parts[kept].value, parts[i].value, where);
    else if (++kept != i)
      parts[kept] = std::move(parts[i]);
  }
  parts.resize(kept + 1);
}

}  // namespace

void Pending::add(Term term, const Location& where) {
  if (term.is_zero()) return;
  ++count_;
  if (term.is_part()) {
    parts_.push_back({Dims(term.start()), std::move(term).take()});
    return;
  }
  whole_ = whole_.tensor().defined() ? std::move(whole_).at(where) + term : std::move(term);
}

Term Pending::take(const Shape& shape, const Location& where) {
  if (parts_.empty()) return whole_.tensor().defined() ? std::move(whole_) : Term::zero();
  std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    const Shape &x = a.value.shape(), &y = b.value.shape();
    return std::lexicographical_compare(a.start.begin(), a.start.end(), b.start.begin(), b.start.end()) ||
           (a.start == b.start && std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end()));
  });
  merge_equal(parts_, where);
  const Part all = join(parts_, where);
  parts_.clear();
  const Term placed(all.value.place(shape, all.start, Dims::filled(shape.rank(), 1), 0, where), where);
  return whole_.tensor().defined() ? whole_.at(where) + placed : placed;
}

}  // namespace sinter::autodiff
