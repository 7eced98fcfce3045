// Fills in function templates.
#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

namespace {

std::string fill_in(std::string_view text, std::string_view name, DType dtype,
                    const FunctionSpelling& spelling) {
  std::string filled;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      filled += text[at];
      continue;
    }
    switch (text[++at]) {
      case 'N': filled += name; break;
      case 'T': filled += c_type(dtype); break;
      case 'D': filled += name_of(dtype); break;
      case 'U': filled += size_of(dtype) == 8 ? "u64" : "u32"; break;
      case 'f': filled += dtype == DType::f32 ? spelling.float_suffix : ""; break;
      case 'n':
        filled += spelling.compares_nan ? "a != a" : "sn_is_nan_" + std::string(name_of(dtype)) + "(a)";
        break;
      case '[': filled += spelling.bits_before; break;
      case ']': filled += spelling.bits_after; break;
      case '<': filled += spelling.float_before; break;
      case '>': filled += spelling.float_after; break;
    }
  }
  return filled;
}

}  // namespace

FunctionTable instantiate(const std::vector<FunctionTemplate>& templates, const FunctionSpelling& spelling) {
  FunctionTable functions;
  const auto add = [&](const FunctionTemplate& item, const std::string& name, DType dtype) {
    functions.emplace(name, fill_in(item.text, name, dtype, spelling));
  };
  for (const FunctionTemplate& item : templates) {
    if (item.dtypes.empty()) add(item, item.base, DType::f32);
    for (DType dtype : item.dtypes) add(item, item.base + "_" + std::string(name_of(dtype)), dtype);
  }
  return functions;
}

std::string unary(std::string_view expression) {
  return "SN_FN $T $N($T a) { return " + std::string(expression) + "; }\n";
}

std::string binary(std::string_view expression) {
  return "SN_FN $T $N($T a, $T b) { return " + std::string(expression) + "; }\n";
}

}  // namespace sinter::emit
