// Philox4x32-10 and division by a common number, over vectors.
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "jit/emit/llvm/maths.h"
#include "jit/emit/llvm/reals.h"
#include "src/base/polynomials.h"

namespace sinter::emit {

LlvmReals::V LlvmReals::sin_of_quadrant(const V& r, const V& quadrant) {
  const V r2 = mul(r, r);
  const V s = fma(mul(horner(r2, base::kSinPolynomial), r2), r, r);
  const V c = fma(mul(horner(r2, base::kCosPolynomial), r2), r2, fma(neg(number(0.5)), r2, number(1)));
  const V odd = w_.value("icmp ne " + int_ + " " + and_int(quadrant, integer(1)) + ", " + integer(0));
  const V sign = shift_left(and_int(quadrant, integer(2)), 30);
  return to_bits_of_real(xor_int(to_bits(select(odd, c, s)), sign));
}

namespace {

using V = std::string;

/// Words of Philox in i64 lanes, which is what they are multiplied in; upper halves are of no account.
class Words {
 public:
  explicit Words(LlvmWriter& writer) : w_(writer), wide_(writer.vector_of("i64")) {}

  /// The four words of each lane's counter.
  void philox(const V& counter, V (&x)[4]) {
    const V low = constant(0xffffffff), half = constant(32);
    x[0] = counter;
    x[1] = value("lshr", counter, half);
    x[2] = w_.splat("i64", "%stream");
    x[3] = w_.splat("i64", w_.value("lshr i64 %stream, 32"));
    const V k0 = w_.splat("i64", "%seed"), k1 = w_.splat("i64", w_.value("lshr i64 %seed, 32"));
    // A loop rather than ten copies: the text is what compiling takes time for.
    const auto rounds =
        w_.loop("0", "10", "1",
                {{wide_, x[0]}, {wide_, x[1]}, {wide_, x[2]}, {wide_, x[3]}, {wide_, k0}, {wide_, k1}},
                [&](const V&, const LlvmWriter::Names& y) {
                  const V p0 = value("mul", value("and", y[0], low), constant(0xD2511F53u));
                  const V p1 = value("mul", value("and", y[2], low), constant(0xCD9E8D57u));
                  return LlvmWriter::Names{value("xor", value("xor", value("lshr", p1, half), y[1]), y[4]),
                                           p1,
                                           value("xor", value("xor", value("lshr", p0, half), y[3]), y[5]),
                                           p0,
                                           value("add", y[4], constant(0x9E3779B9u)),
                                           value("add", y[5], constant(0xBB67AE85u))};
                });
    for (int i = 0; i < 4; ++i) x[i] = rounds[static_cast<std::size_t>(i)];
  }

  V constant(std::int64_t n) { return w_.integer(DType::i64, true, n); }
  V value(const char* op, const V& a, const V& b) {
    return w_.value(std::string(op) + " " + wide_ + " " + a + ", " + b);
  }
  V low(const V& wide) { return w_.value("trunc " + wide_ + " " + wide + " to " + w_.vector_of("i32")); }
  /// Two words in each i64, `first` in the low half.
  V pair(const V& first, const V& second) {
    return value("or", value("and", first, constant(0xffffffff)), value("shl", second, constant(32)));
  }
  V select(const V& condition, const V& yes, const V& no) {
    return w_.value("select " + w_.vector_of("i1") + " " + condition + ", " + wide_ + " " + yes + ", " +
                    wide_ + " " + no);
  }
  V bit(const V& wide, int bit) {
    return w_.value("icmp ne " + wide_ + " " + value("and", wide, constant(1 << bit)) + ", zeroinitializer");
  }

 private:
  LlvmWriter& w_;
  const std::string wide_;
};

/// The upper 24 bits plus `add`, times 2^-24.
V to_unit(LlvmReals& f, const V& word, int add) {
  LlvmWriter& w = f.writer();
  V bits = w.value("lshr " + w.vector_of("i32") + " " + word + ", " + f.integer(8));
  if (add != 0) bits = f.add_int(bits, f.integer(add));
  return f.mul(f.to_real(bits), f.number(0x1p-24));
}

/// Box and Muller: sqrt(-2 ln u1) cos(2 pi u2), the turn split into quadrants exactly.
V to_normal(LlvmReals& f, const V& word1, const V& word2) {
  const V logarithm = llvm_maths(f.writer(), Op::Log, DType::f32, {to_unit(f, word1, 1)});
  const V radius = f.sqrt(f.mul(f.number(-2), logarithm));
  const V turn = f.mul(to_unit(f, word2, 0), f.number(4));
  const V quadrant = f.round(turn);
  const V angle = f.mul(f.sub(turn, quadrant), f.number(1.57079633f));
  return f.mul(radius, f.sin_of_quadrant(angle, f.add_int(f.to_int(quadrant), f.integer(1))));
}

std::string name_of_function(LlvmWriter& w, const std::string& name, const std::string& parameters,
                             const std::function<V(LlvmWriter&)>& body) {
  const std::string full = name + "_v" + std::to_string(w.lanes());
  if (!w.module().functions.contains(full)) {
    w.module().functions[full];
    LlvmWriter inner(w.module(), w.lanes());
    const V result = body(inner);
    inner.line("ret " + result);
    const std::string type = result.substr(0, result.rfind(' '));
    w.module().functions[full] =
        inner.function("define internal " + type + " @" + full + "(" + parameters + ") #0");
  }
  return full;
}

std::string shuffle(const std::string& type, const V& a, const V& b, const std::vector<int>& lanes) {
  std::string mask = "<" + std::to_string(lanes.size()) + " x i32> <";
  for (std::size_t i = 0; i < lanes.size(); ++i)
    mask += (i > 0 ? ", i32 " : "i32 ") + (lanes[i] < 0 ? "undef" : std::to_string(lanes[i]));
  return "shufflevector " + type + " " + a + ", " + type + " " + b + ", " + mask + ">";
}
/// Lanes of two vectors of n, by turns.
std::vector<int> interleaving(int n) {
  std::vector<int> lanes;
  for (int i = 0; i < n; ++i) lanes.insert(lanes.end(), {i, n + i});
  return lanes;
}

}  // namespace

std::string llvm_random(LlvmWriter& w, bool normal, const std::string& elements, const std::string& seed,
                        const std::string& stream) {
  const std::string type = w.vector_of("float"), wide = w.vector_of("i64");
  const std::string name = name_of_function(
      w, normal ? "sn_normal" : "sn_uniform", wide + " %element, i64 %seed, i64 %stream",
      [&](LlvmWriter& inner) {
        Words words(inner);
        LlvmReals f(inner);
        V x[4];
        words.philox(words.value("lshr", "%element", words.constant(normal ? 1 : 2)), x);
        const V odd = words.bit("%element", 0);
        if (normal) {
          const V first = words.low(words.select(odd, x[2], x[0])),
                  second = words.low(words.select(odd, x[3], x[1]));
          return type + " " + to_normal(f, first, second);
        }
        const V upper = words.bit("%element", 1);
        const V word = words.select(upper, words.select(odd, x[3], x[2]), words.select(odd, x[1], x[0]));
        return type + " " + to_unit(f, words.low(word), 0);
      });
  return w.value("call " + type + " @" + name + "(" + wide + " " + elements + ", i64 " + seed + ", i64 " +
                 stream + ")");
}

namespace {

/// The words of `counters` counters from %counter on, in order.
std::string words_function(LlvmWriter& w, int counters) {
  LlvmWriter few(w.module(), counters);
  return name_of_function(few, "sn_words", "i64 %counter, i64 %seed, i64 %stream", [&](LlvmWriter& inner) {
    const std::string wide = inner.vector_of("i64"), type = LlvmWriter::vector_of("i32", 4 * counters);
    const V start = inner.splat("i64", "%counter");
    V x[4];
    Words words(inner);
    words.philox(inner.value("add " + wide + " " + start + ", " + inner.iota("i64")), x);
    const V all =
        inner.value(shuffle(wide, words.pair(x[0], x[1]), words.pair(x[2], x[3]), interleaving(counters)));
    return type + " " +
           inner.value("bitcast " + LlvmWriter::vector_of("i64", 2 * counters) + " " + all + " to " + type);
  });
}

}  // namespace

std::string llvm_random_row(LlvmWriter& w, const std::string& first, const std::string& seed,
                            const std::string& stream) {
  // A counter gives four words. Rows mostly start with a counter's first word; one that starts amid them
  // takes its last words from further counters.
  const std::string type = w.vector_of("float"), word = w.vector_of("i32");
  const int counters = w.lanes() / 4;
  const std::string function = words_function(w, counters);
  const std::string name =
      name_of_function(w, "sn_uniform_row", "i64 %first, i64 %seed, i64 %stream", [&](LlvmWriter& inner) {
        LlvmReals f(inner);
        auto words_from = [&](const V& counter) {
          return inner.value("call " + word + " @" + function + "(i64 " + counter +
                             ", i64 %seed, i64 %stream)");
        };
        // Signed: lanes before element 0, which a predicate leaves unused, must not spoil those from 0 on.
        const V counter = inner.value("ashr i64 %first, 2");
        const V words = words_from(counter);
        const V amid = inner.value("icmp ne i64 " + inner.value("and i64 %first, 3") + ", 0");
        inner.when(
            amid,
            [&] {
              const V next = words_from(inner.value("add i64 " + counter + ", " + std::to_string(counters)));
              V moved = words;
              for (int by = 1; by < 4; ++by) {
                std::vector<int> lanes(static_cast<std::size_t>(inner.lanes()));
                std::iota(lanes.begin(), lanes.end(), by);
                const V here = inner.value(shuffle(word, words, next, lanes));
                const V is_it = inner.value("icmp eq i64 " + inner.value("and i64 %first, 3") + ", " +
                                            std::to_string(by));
                moved =
                    inner.value("select i1 " + is_it + ", " + word + " " + here + ", " + word + " " + moved);
              }
              inner.line("ret " + type + " " + to_unit(f, moved, 0));
            },
            false);
        return type + " " + to_unit(f, words, 0);
      });
  return w.value("call " + type + " @" + name + "(i64 " + first + ", i64 " + seed + ", i64 " + stream + ")");
}

LlvmDivision llvm_divide(LlvmWriter& w, const std::string& x, const std::string& divisor,
                         const std::string& inverse) {
  const std::string type = w.vector_of("i32"), real = w.vector_of("double"), truth = w.vector_of("i1");
  // The double is off by less than one, and one correction to either side makes it exact.
  const V number = w.value("sitofp " + type + " " + x + " to " + real);
  const V ratio = w.value("fmul " + real + " " + number + ", " + inverse);
  V quotient = w.value("fptosi " + real + " " + ratio + " to " + type);
  const V by = w.splat("i32", divisor);
  V remainder = w.value("sub " + type + " " + x + ", " + w.value("mul " + type + " " + quotient + ", " + by));
  const V below = w.value("icmp slt " + type + " " + remainder + ", zeroinitializer");
  const V one_less = w.value("sext " + truth + " " + below + " to " + type);
  quotient = w.value("add " + type + " " + quotient + ", " + one_less);
  remainder =
      w.value("add " + type + " " + remainder + ", " + w.value("and " + type + " " + one_less + ", " + by));
  const V above = w.value("icmp sge " + type + " " + remainder + ", " + by);
  const V one_more = w.value("sext " + truth + " " + above + " to " + type);
  quotient = w.value("sub " + type + " " + quotient + ", " + one_more);
  remainder =
      w.value("sub " + type + " " + remainder + ", " + w.value("and " + type + " " + one_more + ", " + by));
  return {quotient, remainder};
}

}  // namespace sinter::emit
