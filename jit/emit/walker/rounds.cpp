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
  const bool rest = vectors_.any() && elements == 1;  // what vectors leave: a few points
  std::string from = first;
  const bool together =
      e_.dialect.unroll_rounds.empty() && e_.target.vectors && is_small_reduction(work) && !rest;
  if (together) {
    e_.open("");
    const int rounds = schedule_ == ir::Schedule::LanesOuter ? 8 : 4;
    const auto steps = [&](int count) {
      return (step == "1" ? "" : step + " * ") + e_.flat(std::to_string(count));
    };
    from = "g";
    e_.out.line(e_.dialect.variable(e_.flat_type, "g", first));
    e_.open(e_.dialect.loop_while("g + " + steps(rounds - 1) + " < " + limit, "g", steps(rounds)));
    e_.open_unrolled("u", rounds);
    e_.out.line(constant("j", "g + " + e_.flat("u") + " * " + e_.flat(step)));
    body();
    e_.close();
    e_.close();
  } else if (schedule_ == ir::Schedule::LanesOuter && !e_.dialect.unroll_rounds.empty() &&
             (sums_.any_part(work) || is_small_reduction(work))) {
    e_.hint_rounds(rounds_together(k_, work));
  }
  e_.open(loop("j", from, limit, step));
  body();
  e_.close();
  if (together) e_.close();
}

}  // namespace sinter::emit
