// Which passes a scan has: chunks are added up, their totals are scanned likewise, and each element is joined
// with the total of what is before its chunk.
#include "src/runtime/passes/passes.h"

namespace sinter::runtime {

namespace {

using library::ScanKind;
using Of = PassBuffer::Of;

// Elements that one lane goes over: of f32 in a row, a line of the cache.
constexpr std::int64_t kChunk = 32;

/// The elements of x that a lane is at, and what two states come to.
std::string defines_of(const library::ScanOp& op) {
  const std::string x = "x(slice * x_outer + (at) * x_step + column_of * x_inner)";
  const std::string state = std::string("#define REVERSE ") + (op.reverse ? "1" : "0") + "\n#define State ";
  switch (op.scan) {
    case ScanKind::Sum:
      return state + "T\n#define COMBINE(a, b) ((a) + (b))\n#define ELEMENT(at) " + x + "\n";
    case ScanKind::Prod:
      return state + "T\n#define COMBINE(a, b) ((a) * (b))\n#define ELEMENT(at) " + x + "\n";
    case ScanKind::LogSumExp:
      return state + "T\n#define COMBINE(a, b) log_add(a, b)\n#define ELEMENT(at) " + x + "\n";
    case ScanKind::MaxPosition:
    case ScanKind::MinPosition: break;
  }
  // The state is where the extreme lies in x.
  const std::string of = op.scan == ScanKind::MaxPosition ? "key_of" : "reversed_key_of";
  return state + "int\n#define ELEMENT(at) int(at)\n#define KEY(at) " + of + "(" + x +
         ")\n#define COMBINE(a, b) (KEY(Index(b)) >= KEY(Index(a)) ? (b) : (a))\n";
}

std::string functions_of(const library::ScanOp& op) {
  if (library::gives_positions(op.scan)) return key_functions(op.x_dtype, true);
  if (op.scan != ScanKind::LogSumExp) return "";
  const std::string dtype(name_of(op.x_dtype));
  // Equal numbers are told apart first: infinities have no difference. NaN comes in by the difference alone,
  // as a compiler may take the maximum to be one that leaves NaN out.
  return "SN_FN T log_add(T a, T b) {\n"
         "  const T high = a < b ? b : a, apart = a < b ? a - b : b - a;\n"
         "  return high + sn_log1p_" +
         dtype + "(a == b ? T(1) : sn_exp_" + dtype + "(apart));\n}\n";
}

}  // namespace

std::string key_functions(DType dtype, bool nan_last) {
  if (!is_float(dtype))
    return "SN_FN Key key_of(T x) { return x; }\nSN_FN Key reversed_key_of(T x) { return ~x; }\n";
  const bool wide = dtype == DType::f64;
  const std::string most = wide ? "0x7fffffffffffffffL" : "0x7fffffff",
                    infinity = wide ? "0x7ff0000000000000L" : "0x7f800000";
  std::string text =
      "SN_FN Key key_of(T x) {\n"
      "  const Key bits = BITS(x), size = bits & " +
      most + ";\n  return size > " + infinity + " ? " + most + " : bits < Key(0) ? -size : size;\n}\n";
  return text + "SN_FN Key reversed_key_of(T x) {\n  const Key key = key_of(x);\n  return " +
         (nan_last ? "key == " + most + " ? key : " : "") + "-key;\n}\n";
}

PassList passes_of(const library::ScanOp& op) {
  PassList list;
  list.dtype = op.x_dtype;
  if (op.numel() == 0) return list;
  list.functions = functions_of(op);
  const DType state = op.dtype;
  const std::string defines = defines_of(op);

  std::vector<std::int64_t> lengths = {op.length};  // of each level
  while (lengths.back() > kChunk) lengths.push_back((lengths.back() + kChunk - 1) / kChunk);
  const std::size_t top = lengths.size() - 1;
  // The workspace: what the chunks of each level come to, then the scans of that.
  std::int64_t used = 0;
  std::vector<PassBuffer> totals(lengths.size()), scanned(lengths.size());
  for (std::size_t k = 1; k <= top; ++k)
    for (PassBuffer* buffer : {&totals[k], &scanned[k]}) {
      *buffer = {"", state, Of::Workspace, 0, used, op.outer * lengths[k] * op.inner, false};
      used += buffer->numel;
    }
  list.workspace_bytes = static_cast<std::size_t>(used) * size_of(state);
  totals[0] = {"x", op.x_dtype, Of::Operand, 0, 0, op.x_span(), false};
  scanned[0] = {"to", state, Of::Result, 0, 0, op.numel(), true};

  const auto add = [&](std::size_t k, bool sums) {
    const bool bottom = k == 0, carry = !sums && k < top;
    const std::int64_t chunks = (lengths[k] + kChunk - 1) / kChunk;
    Pass pass;
    pass.name = std::string(bottom ? "scan_x" : "scan") + (sums ? "_totals" : carry ? "" : "_whole");
    pass.body = "scan.inc";
    pass.defines = defines + "#define BOTTOM " + (bottom ? "1" : "0") + "\n#define TOTALS " +
                   (sums ? "1" : "0") + "\n#define CARRY " + (carry ? "1" : "0") + "\n#define EXCLUSIVE " +
                   (bottom && op.exclusive ? "1" : "0") + "\n#define FIRST(at) " +
                   (bottom ? "ELEMENT(at)" : "from((slice * length + (at)) * inner + column_of)") + "\n";
    pass.buffers.push_back(totals[0]);
    const auto bind = [&](const char* name, PassBuffer buffer, bool written) {
      buffer.name = name;
      buffer.written = written;
      pass.buffers.push_back(std::move(buffer));
    };
    if (!bottom) bind("from", totals[k], false);
    if (carry) bind("before", scanned[k + 1], false);
    bind("to", sums ? totals[k + 1] : scanned[k], true);
    pass.rows = op.outer * chunks * op.inner;
    pass.ints = {{"ends", pass.rows},   {"length", lengths[k]}, {"inner", op.inner},
                 {"chunks", chunks},    {"chunk", kChunk},      {"x_outer", op.x_outer},
                 {"x_step", op.x_step}, {"x_inner", op.x_inner}};
    pass.most_rounds = kChunk;
    list.passes.push_back(std::move(pass));
  };
  for (std::size_t k = 0; k < top; ++k) add(k, true);
  for (std::size_t k = top + 1; k-- > 0;) add(k, false);
  return list;
}

}  // namespace sinter::runtime
