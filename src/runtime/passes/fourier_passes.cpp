// Which passes Fourier transforms have: one where a line fits into the memory of a workgroup, else two, over
// the columns and the rows of the matrix that a line is. The inverse is the transform of numbers whose parts
// are exchanged, so that bodies know one direction alone.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <sinter/error.h>

#include "jit/library/fourier.h"
#include "src/runtime/passes/passes.h"

namespace sinter::runtime {
namespace {

using library::Fourier;
using library::FourierOp;
using Of = PassBuffer::Of;

// Complex numbers of a lane: more of them want more registers, fewer more exchanges.
constexpr std::int64_t kItems = 16, kWideItems = 8;
// Lanes of a workgroup that has several lines, and workgroups that fill a device.
constexpr std::int64_t kLeastLanes = 768, kLeastWideLanes = 512;
constexpr std::int64_t kLanes = 256, kFewGroups = 528;
// From this length on a transform of real numbers is one of half as many complex ones.
constexpr std::int64_t kPairs = 32;
// Bytes beside each other that memory is read in.
constexpr std::int64_t kSector = 32;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A number as both languages have it.
std::string literal(double value, DType dtype) {
  char text[64];
  if (dtype == DType::f32) {
    std::snprintf(text, sizeof(text), "%.9ef", value);
  } else {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::snprintf(text, sizeof(text), "JOINED(0x%xu, 0x%xu)", static_cast<unsigned>(bits),
                  static_cast<unsigned>(bits >> 32));
  }
  return text;
}

std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}
std::string define(const std::string& name, std::int64_t value) {
  return define(name, std::to_string(value));
}

/// root_of: exp(-2 pi i part / whole), for parts from 0 to whole. What is left of the nearest quarter turn is
/// a whole number, so that its sine and cosine are those of a small angle without loss: series, since GLSL
/// promises few digits of its own.
std::string functions_of(DType dtype) {
  const bool wide = dtype == DType::f64;
  const auto number = [&](double value) { return literal(value, dtype); };
  // The series of sin and cos of pi x / 2, for x up to 1/2, from their last terms on.
  const int sine_terms = wide ? 9 : 5, cosine_terms = wide ? 9 : 5;
  long double term = std::numbers::pi_v<long double> / 2;
  std::vector<double> sine{static_cast<double>(term)}, cosine;
  const long double square = term * term;
  const double head = wide ? sine[0] : static_cast<double>(static_cast<float>(term));
  const double tail = static_cast<double>(term - static_cast<long double>(head));
  long double even = 1;
  for (int k = 1; k <= std::max(sine_terms, cosine_terms); ++k) {
    term *= -square / static_cast<long double>(2 * k * (2 * k + 1));
    even *= -square / static_cast<long double>((2 * k - 1) * (2 * k));
    sine.push_back(static_cast<double>(term));
    cosine.push_back(static_cast<double>(even));
  }
  std::string text =
      "struct Root { T re; T im; };\n"
      "SN_FN Root times(Root a, Root b) {\n"
      "  Root c;\n"
      "  c.re = a.re * b.re - a.im * b.im;\n"
      "  c.im = a.re * b.im + a.im * b.re;\n"
      "  return c;\n"
      "}\n"
      "SN_FN Root root_of(int part, int whole, T reciprocal) {\n"
      "  const int quarter = (8 * part + whole) / (2 * whole);\n"
      "  const T q = T(4 * part - quarter * whole) * reciprocal, square = q * q;\n"
      "  T sine = " +
      number(sine[static_cast<std::size_t>(sine_terms - 1)]) + ";\n";
  for (int k = sine_terms - 2; k >= 1; --k)
    text += "  sine = sine * square + " + number(sine[static_cast<std::size_t>(k)]) + ";\n";
  text += "  sine = q * " + number(head) + " + q * (sine * square + " + number(tail) +
          ");\n  T cosine = " + number(cosine[static_cast<std::size_t>(cosine_terms - 1)]) + ";\n";
  for (int k = cosine_terms - 2; k >= 0; --k)
    text += "  cosine = cosine * square + " + number(cosine[static_cast<std::size_t>(k)]) + ";\n";
  return text +
         "  cosine = cosine * square + T(1);\n"
         "  const int turns = quarter & 3;\n"
         "  const T a = (turns & 1) != 0 ? sine : cosine, b = (turns & 1) != 0 ? cosine : sine;\n"
         "  Root root;\n"
         "  root.re = turns == 1 || turns == 2 ? -a : a;\n"
         "  root.im = turns >= 2 ? b : -b;\n"
         "  return root;\n"
         "}\n";
}

/// The factors of a length, one for each stage. Odd ones come first: then lanes write the memory of the
/// workgroup in odd steps, and meet in none of its banks.
std::vector<int> radices_of(std::int64_t n, DType dtype) {
  std::vector<int> radices;
  for (const std::int64_t prime : library::kFourierPrimes)
    for (; prime > 2 && n % prime == 0; n /= prime) radices.push_back(static_cast<int>(prime));
  const int twos = std::countr_zero(static_cast<std::uint64_t>(n));
  if (twos == 0) return radices;
  const int most = dtype == DType::f64 || twos < 7 ? (twos < 5 ? 2 : 3) : 4,
            stages = (twos + most - 1) / most;
  for (int s = 0; s < stages; ++s) radices.push_back(1 << ((twos + stages - 1 - s) / stages));
  return radices;
}

/// How lanes go over the numbers of a line.
struct Line {
  std::int64_t n = 1;
  std::vector<int> radices;
  std::int64_t width = 1, items = 1;  // lanes of a line, numbers of a lane

  std::int64_t rounds(int radix) const { return divide_up(n / radix, width); }
};

Line line_of(std::int64_t n, DType dtype, std::int64_t most_lanes) {
  Line line{n, radices_of(n, dtype)};
  const std::int64_t wanted = dtype == DType::f64 ? kWideItems : kItems;
  const std::int64_t largest = *std::max_element(line.radices.begin(), line.radices.end());
  // Of the widths with about the wanted numbers in a lane, the one that leaves the fewest lanes idle.
  const std::int64_t least = std::min(divide_up(n, wanted), most_lanes),
                     most = std::min(
                         std::max({divide_up(2 * n, wanted), std::min<std::int64_t>(n / largest, 8)}),
                         most_lanes);
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t width = least; width <= most; ++width) {
    Line tried = line;
    tried.width = width;
    std::int64_t cost = 0, items = 0;
    for (const int radix : line.radices) {
      const std::int64_t own = tried.rounds(radix) * radix;
      cost += own * width;
      items = std::max(items, own);
    }
    if (items > std::max(wanted, largest)) cost *= 2;  // registers
    if (cost > best_cost) continue;
    best_cost = cost;
    line.width = width, line.items = items;
  }
  return line;
}

enum class Load : std::uint8_t { Complex, Real, Pairs, Mirrored, Halves };
enum class Store : std::uint8_t { Complex, Spectrum, Half, Real, Pairs };

/// A pass over lines: which of them lie beside each other where it reads and where it writes, and which
/// element number `place` of line `other` of a matrix is.
struct LinePass {
  std::string name;
  Line line;
  std::int64_t lines = 1, inner = 1;
  Load load = Load::Complex;
  Store store = Store::Complex;
  bool reads_across = false, writes_across = false, turned = false;
  std::string from = "(place)", to = "(place)";
  double scale = 1;
};

/// Words of the memory of a workgroup that both parts of its lines, or one, take.
struct Room {
  std::int64_t pitch = 0, slots = 0;
};
Room room_of(const LinePass& p, std::int64_t lines) {
  Room room;
  const std::int64_t padded = p.line.n + p.line.n / 32;
  room.pitch = padded | 1;
  room.slots =
      p.reads_across && p.writes_across ? p.line.n * lines + p.line.n * lines / 32 : room.pitch * lines;
  return room;
}

Pass pass_of(const LinePass& p, DType dtype, std::int64_t length, PassDevice device) {
  const std::int64_t words = dtype == DType::f64 ? 2 : 1;
  const auto fits = [&](std::int64_t lines) {
    return room_of(p, lines).slots * words <= device.shared_words &&
           p.line.width * lines <= device.most_lanes;
  };
  // Lines beside each other fill sectors of memory, twice over where it is free; others fill a workgroup.
  std::int64_t lines = 1;
  const bool across = p.reads_across || p.writes_across;
  const std::int64_t beside = kSector / (4 * words);
  while (fits(2 * lines) && lines < p.lines &&
         ((across && lines < beside) || (p.line.width * lines < 64) ||
          (p.line.width * lines * 2 <= kLanes && divide_up(p.lines, 2 * lines) >= kFewGroups)))
    lines *= 2;
  const Room room = room_of(p, lines);
  const bool both = 2 * room.slots * words <= device.shared_words;

  Pass pass;
  pass.name = p.name;
  pass.lanes = static_cast<int>(divide_up(p.line.width * lines, 32) * 32);
  pass.rows = divide_up(p.lines, lines) * pass.lanes;
  pass.shared_words = static_cast<int>(room.slots * words * (both ? 2 : 1));
  const std::string part = "(of) * " + std::to_string(both ? room.slots * words : 0);
  const auto number = [&](double value) { return literal(value, dtype); };
  const auto divided = [&](const char* by) {
    return std::string("(here) ") + (by[0] == '/' ? "/ " : "% ") + (by + 1);
  };
  pass.defines =
      define("N", p.line.n) + define("LINES", lines) + define("WIDTH", p.line.width) +
      define("ITEMS", p.line.items) + define("LENGTH", length) +
      define("INNER", p.inner == 1 ? "1" : "inner") + define("BOTH", both ? 1 : 0) +
      define("SLOT(line, place)",
             p.reads_across && p.writes_across
                 ? "((place) * LINES + (line) + ((place) * LINES + (line)) / 32)"
                 : "((line) * " + std::to_string(room.pitch) + " + (place) + (place) / 32)") +
      (words == 2 ? define("PUT(of, slot, x)", "{ const int at = (slot) + " + part +
                                                   "; memory[at] = LOW(x); memory[at + " +
                                                   std::to_string(room.slots) + "] = HIGH(x); }") +
                        define("GET(of, slot)", "JOINED(memory[(slot) + " + part + "], memory[(slot) + " +
                                                    part + " + " + std::to_string(room.slots) + "])")
                  : define("PUT(of, slot, x)", "memory[(slot) + " + part + "] = Word(BITS(x))") +
                        define("GET(of, slot)", "FROM_BITS(Key(memory[(slot) + " + part + "]))")) +
      define("LINE_IN(here)", divided(p.reads_across ? "%LINES" : "/WIDTH")) +
      define("LANE_IN(here)", divided(p.reads_across ? "/LINES" : "%WIDTH")) +
      define("LINE_OUT(here)", divided(p.writes_across ? "%LINES" : "/WIDTH")) +
      define("LANE_OUT(here)", divided(p.writes_across ? "/LINES" : "%WIDTH")) +
      define("FROM(place, other)", p.from) + define("TO(place, other)", p.to) +
      define("LOAD_REAL", p.load == Load::Real) + define("LOAD_PAIRS", p.load == Load::Pairs) +
      define("LOAD_MIRRORED", p.load == Load::Mirrored) + define("LOAD_HALVES", p.load == Load::Halves) +
      define("STORE_SPECTRUM", p.store == Store::Spectrum) + define("STORE_HALF", p.store == Store::Half) +
      define("STORE_REAL", p.store == Store::Real) + define("STORE_PAIRS", p.store == Store::Pairs) +
      define("TURNED", p.turned) +
      define("SCALE_OF(low, high)", words == 2 ? "JOINED(Word(low), Word(high))" : "FROM_BITS(Key(low))") +
      define("EIGHTH", number(std::numbers::sqrt2 / 2)) +
      define("SIXTEENTH_COS", number(std::cos(std::numbers::pi / 8))) +
      define("SIXTEENTH_SIN", number(std::sin(std::numbers::pi / 8))) +
      define("HALF_RECIPROCAL", number(0.5 / static_cast<double>(p.line.n))) +
      define("LENGTH_RECIPROCAL", number(1 / static_cast<double>(length)));

  std::string text = body_text("fft_begin.inc");
  std::int64_t done = 1;
  const std::vector<int>& radices = p.line.radices;
  for (std::size_t s = 0; s < radices.size(); ++s) {
    const int radix = radices[s];
    const bool last = s + 1 == radices.size();
    std::string cosines, sines;
    for (int k = 0; k < radix; ++k) {
      const double angle = 2 * std::numbers::pi * k / radix;
      cosines += (k > 0 ? ", " : "{") + number(std::cos(angle));
      sines += (k > 0 ? ", " : "{") + number(std::sin(angle));
    }
    std::vector<std::pair<std::string, std::string>> defines = {
        {"RADIX", std::to_string(radix)},
        {"DONE", std::to_string(done)},
        {"ROUNDS", std::to_string(p.line.rounds(radix))},
        {"LINE", std::string(last ? "line_out" : "line_in")},
        {"LANE", std::string(last ? "lane_out" : "lane_in")},
        {"RECIPROCAL", number(1 / static_cast<double>(done * radix))}};
    if (radix % 2 == 1) {
      defines.emplace_back("COSINES", cosines + "}");
      defines.emplace_back("SINES", sines + "}");
    }
    if (!last) {
      const int next = radices[s + 1];
      const bool ends = s + 2 == radices.size();
      defines.emplace_back("NEXT_RADIX", std::to_string(next));
      defines.emplace_back("NEXT_ROUNDS", std::to_string(p.line.rounds(next)));
      defines.emplace_back("NEXT_LINE", ends ? "line_out" : "line_in");
      defines.emplace_back("NEXT_LANE", ends ? "lane_out" : "lane_in");
    }
    for (const auto& [name, value] : defines) text += define(name, value);
    if (s == 0) text += body_text("fft_load.inc");
    text += body_text("fft_stage.inc") + body_text(last ? "fft_store.inc" : "fft_exchange.inc") +
            "#undef PLACED\n";
    for (const auto& [name, value] : defines) text += "#undef " + name + "\n";
    done *= radix;
  }
  for (const char* name : {"CROSS", "TURN", "QUARTER", "SWAP", "BUTTERFLY_4"})
    text += std::string("#undef ") + name + "\n";
  pass.cuda = pass.glsl = text;
  pass.ints = {{"lines", p.lines}, {"inner", p.inner}};
  // An argument: the inverse is the same kernel.
  const std::uint64_t bits = words == 2 ? std::bit_cast<std::uint64_t>(p.scale)
                                        : std::bit_cast<std::uint32_t>(static_cast<float>(p.scale));
  pass.ints.emplace_back("scale_low", static_cast<std::int64_t>(bits & 0xffffffffu));
  pass.ints.emplace_back("scale_high", static_cast<std::int64_t>(bits >> 32));
  pass.most_rounds = 4096;
  // Registers for this many lanes of a multiprocessor, which wait for memory and for each other.
  pass.least_groups = static_cast<int>(divide_up(words == 2 ? kLeastWideLanes : kLeastLanes, pass.lanes));
  return pass;
}

/// Steps of 1 are known to the text: then places of numbers differ by constants, which addresses have room
/// for.
void add_strides(Pass& pass, const char* name, std::int64_t outer, std::int64_t inner, std::int64_t step) {
  constexpr std::int64_t kMostOfInt = std::numeric_limits<std::int32_t>::max();
  const std::string given = std::string(name) + "_step";
  pass.defines += define(std::string(1, static_cast<char>(std::toupper(*name))) + "_STEP",
                         step == 1            ? "1"
                         : step <= kMostOfInt ? "Index(int(" + given + "))"
                                              : given);
  pass.ints.emplace_back(std::string(name) + "_outer", outer);
  pass.ints.emplace_back(std::string(name) + "_inner", inner);
  pass.ints.emplace_back(std::string(name) + "_step", step);
}

void bind(Pass& pass, PassBuffer buffer, const char* name, bool written) {
  buffer.name = name;
  buffer.written = written;
  pass.buffers.push_back(std::move(buffer));
}

/// Elements from an operand's first to its last one.
std::int64_t span_of(const library::AlongAxis& x) {
  return (x.outer - 1) * x.outer_stride + (x.length - 1) * x.stride + (x.inner - 1) * x.inner_stride + 1;
}

double scale_of(const FourierOp& op) {
  const auto n = static_cast<double>(op.length);
  switch (op.scale) {
    case library::FourierScale::One: break;
    case library::FourierScale::ByLength: return 1 / n;
    case library::FourierScale::ByRoot: return 1 / std::sqrt(n);
  }
  return 1;
}

class Passes {
 public:
  Passes(const FourierOp& op, PassDevice device) : op_(op), device_(device) {
    list_.dtype = op.dtype;
    list_.contracts = true;
    list_.results = op.transform == Fourier::ToReal ? 1 : 2;
  }

  PassList operator()() {
    if (op_.lines() == 0) return list_;
    list_.functions = functions_of(op_.dtype);
    const bool halves = op_.transform != Fourier::Complex && op_.length % 2 == 0 && op_.length >= kPairs;
    const std::int64_t points = halves ? op_.length / 2 : op_.length;
    const std::int64_t words = op_.dtype == DType::f64 ? 2 : 1;
    const Line line = line_of(points, op_.dtype, device_.most_lanes);
    if (((points + points / 32) | 1) * words <= device_.shared_words &&
        line.items <= (op_.dtype == DType::f64 ? 2 * kWideItems : 2 * kItems))
      in_one_pass(line, halves);
    else
      in_two_passes();
    return list_;
  }

 private:
  void in_one_pass(const Line& line, bool halves) {
    LinePass p{"fft_lines", line};
    p.lines = op_.lines(), p.inner = op_.inner;
    p.scale = scale_of(op_);
    if (op_.transform == Fourier::FromReal) {
      p.load = halves ? Load::Pairs : Load::Real;
      p.store = halves ? Store::Spectrum : Store::Half;
    } else if (op_.transform == Fourier::ToReal) {
      p.load = halves ? Load::Halves : Load::Mirrored;
      p.store = halves ? Store::Pairs : Store::Real;
    } else if (!op_.has_imaginary) {
      p.load = Load::Real;
    }
    const library::AlongAxis& x = op_.real;
    p.reads_across = (op_.inner > 1 ? x.inner_stride : x.outer_stride) < x.stride;
    p.writes_across = op_.inner > 1;
    // A single stage leaves no exchange to change who has which line.
    if (line.radices.size() == 1) p.reads_across = p.writes_across;
    Pass pass = pass_of(p, op_.dtype, op_.length, device_);
    bind_operands(pass, 1);
    bind_results(pass);
    list_.passes.push_back(std::move(pass));
  }

  /// Element j of a line is in row j / columns of the matrix; element k of the result, k / rows of the
  /// columns and k % rows.
  void in_two_passes() {
    const std::int64_t rows = library::rows_of_line(op_.length), columns = op_.length / rows;
    list_.workspace_bytes = static_cast<std::size_t>(2 * op_.lines() * op_.length) * size_of(op_.dtype);
    const auto between = [&](std::int64_t part) {
      const std::int64_t numel = op_.lines() * op_.length;
      return PassBuffer{"", op_.dtype, Of::Workspace, 0, part * numel, numel, false};
    };
    LinePass first{"fft_columns", line_of(rows, op_.dtype, device_.most_lanes)};
    first.lines = op_.lines() * columns, first.inner = columns;
    first.load = op_.transform == Fourier::ToReal ? Load::Mirrored
                 : op_.has_imaginary              ? Load::Complex
                                                  : Load::Real;
    first.reads_across = first.writes_across = first.turned = true;
    first.from = first.to = "((place) * " + std::to_string(columns) + " + (other))";
    Pass down = pass_of(first, op_.dtype, op_.length, device_);
    bind_operands(down, 0);
    add_strides(down, "y", op_.length, 0, 1);
    bind(down, between(0), "y", true);
    bind(down, between(1), "v", true);
    list_.passes.push_back(std::move(down));

    LinePass second{"fft_rows", line_of(columns, op_.dtype, device_.most_lanes)};
    second.lines = op_.lines() * rows, second.inner = rows;
    second.store = op_.transform == Fourier::ToReal     ? Store::Real
                   : op_.transform == Fourier::FromReal ? Store::Half
                                                        : Store::Complex;
    second.scale = scale_of(op_);
    second.writes_across = true;
    second.from = "((other) * " + std::to_string(columns) + " + (place))";
    second.to = "((place) * " + std::to_string(rows) + " + (other))";
    Pass along = pass_of(second, op_.dtype, op_.length, device_);
    add_strides(along, "x", op_.length, 0, 1);
    add_strides(along, "z", op_.length, 0, 1);
    bind(along, between(0), "x", false);
    bind(along, between(1), "z", false);
    add_strides(along, "y", op_.length_out(), 0, 1);
    bind_results_alone(along);
    list_.passes.push_back(std::move(along));
  }

  /// `inner_strides`: 0 where lines beside each other are parts of one.
  void bind_operands(Pass& pass, std::int64_t inner_strides) {
    const library::AlongAxis &x = op_.real, &z = op_.imaginary;
    add_strides(pass, "x", x.outer_stride, inner_strides * x.inner_stride, x.stride);
    add_strides(pass, "z", z.outer_stride, inner_strides * z.inner_stride, z.stride);
    bind(pass, {"", op_.dtype, Of::Operand, 0, 0, span_of(x), false}, "x", false);
    if (op_.has_imaginary) bind(pass, {"", op_.dtype, Of::Operand, 1, 0, span_of(z), false}, "z", false);
  }
  void bind_results(Pass& pass) {
    add_strides(pass, "y", op_.length_out() * op_.inner, 1, op_.inner);
    bind_results_alone(pass);
  }
  void bind_results_alone(Pass& pass) {
    const std::int64_t numel = op_.lines() * op_.length_out();
    bind(pass, {"", op_.dtype, Of::Result, 0, 0, numel, true}, "y", true);
    if (list_.results > 1) bind(pass, {"", op_.dtype, Of::Result, 1, 0, numel, true}, "v", true);
  }

  const FourierOp& op_;
  PassDevice device_;
  PassList list_;
};

}  // namespace

PassList passes_of(const FourierOp& op, PassDevice device) {
  if (!library::has_fourier_lines(op.length, op.inner))
    throw DeviceError("[fourier] no passes transform lines of " + std::to_string(op.length) +
                      " numbers with " + std::to_string(op.inner) + " beside each other");
  return Passes(op, device)();
}

}  // namespace sinter::runtime
