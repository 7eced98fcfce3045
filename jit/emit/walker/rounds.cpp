// Chunks of a sum, and rounds that are taken together.
#include "jit/emit/walker/rounds.h"

namespace sinter::emit {

namespace {

constexpr int kChunk = 32;

}  // namespace

void Rounds::write(const InnerWork& work, const std::string& first, const std::string& limit,
                   const std::string& step, int elements, const std::function<void()>& body) {
  if (!sums_.any_part(work)) return write_rounds(work, first, limit, step, elements, body);
  const std::string chunk = step == "1" ? std::to_string(kChunk) : step + " * " + std::to_string(kChunk);
  e_.open(loop("h", first, limit, e_.flat(chunk)));
  e_.out.line(constant("left", limit + " - h"));
  e_.out.line(constant("end", "h + (" + choose("left < " + e_.flat(chunk), "left", e_.flat(chunk)) + ")"));
  sums_.declare_parts(work, elements);
  write_rounds(work, "h", "end", step, elements, body);
  sums_.add_parts(work, elements);
  e_.close();
}

void Rounds::write_rounds(const InnerWork& work, const std::string& first, const std::string& limit,
                          const std::string& step, int elements, const std::function<void()>& body) {
  const int rounds = rounds_at_once(work, elements);
  if (rounds == 1) {
    if (schedule_ == ir::Schedule::LanesOuter && sums_.any_part(work))
      e_.hint_rounds(rounds_together(k_, work, elements));
    e_.open(loop("j", first, limit, step));
    body();
    return e_.close();
  }
  const auto steps = [&](const std::string& count) { return (step == "1" ? "" : step + " * ") + count; };
  const auto number = [&](int count) { return e_.flat(std::to_string(count)); };
  const std::string here = "g + " + steps(e_.flat("u"));
  e_.open("");
  e_.out.line(e_.dialect.variable(e_.flat_type, "g", first));
  e_.open(
      e_.dialect.loop_while("g + " + steps(number(rounds - 1)) + " < " + limit, "g", steps(number(rounds))));
  e_.open_unrolled("u", rounds);
  e_.out.line(constant("j", here));
  body();
  e_.close();
  e_.close();
  if (!is_quick(k_, work)) {
    e_.open(loop("j", "g", limit, step));
    body();
    e_.close();
    return e_.close();
  }
  // One after the other, each of the rounds that are left would wait for its own loads.
  e_.open(e_.dialect.when("g < " + limit));
  e_.open_unrolled("u", rounds);
  e_.out.line(e_.dialect.constant(Type::Bool, "comes", here + " < " + limit));
  e_.out.line(constant("j", choose("comes", here, "g")));
  sums_.take_where("comes");
  body();
  sums_.take_where("");
  e_.close();
  e_.close();
  e_.close();
}

int Rounds::rounds_at_once(const InnerWork& work, int elements) const {
  // What is stored twice would have been read again before.
  if (!e_.target.vectors || !work.stores.empty()) return 1;
  if (schedule_ == ir::Schedule::LanesOuter)
    return sums_.any_part(work) || is_small_reduction(work) ? rounds_together(k_, work, elements) : 1;
  // What vectors leave of a row is a few points. Some compilers take rounds together by themselves.
  const bool is_rest = vectors_.any() && elements == 1;
  return e_.dialect.unroll_rounds.empty() && is_small_reduction(work) && !is_rest ? 4 : 1;
}

}  // namespace sinter::emit
