// A language's functions as templates over dtypes, and those that C-like languages share.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>

#include "jit/emit/dialects/syntax.h"

namespace sinter::emit {

/// How a C-like language spells what functions share otherwise.
struct FunctionSpelling {
  std::string_view float_suffix;  // of constants and built-in functions of f32: "f" for sqrtf and 1.0f
  // Comparisons of NaN are what IEEE 754 says: a != a is true of NaN alone. Else sn_is_nan_f32 is asked.
  bool compares_nan = true;
  // Around a float: its bits as a u32. Around a u32: the float of these bits.
  std::string_view bits_before, bits_after, float_before, float_after;
};

/// `text` is instantiated for each dtype under the name base_dtype (a base that is given no dtype is a full
/// name), with
///
///   $N the full name, $T the type, $D the dtype's name
///   $U the unsigned type of the same size
///   $f FunctionSpelling::float_suffix for f32 and else nothing
///   $n a condition: whether a is NaN
///   $[ and $] what stands around a float to get its bits, $< and $> around bits to get their float
struct FunctionTemplate {
  std::string base;
  std::vector<DType> dtypes;
  std::string text;
};

using FunctionTable = std::map<std::string, std::string, std::less<>>;

/// The functions of `templates` by name.
FunctionTable instantiate(const std::vector<FunctionTemplate>& templates, const FunctionSpelling& spelling);

/// Adds to a language's own functions those that C-like languages define alike: casts, logic, extremes,
/// random numbers (Philox, on top of the language's own sn_mulhi). Where the language has one of its own,
/// that stays.
void add_shared_functions(FunctionTable& functions, const FunctionSpelling& spelling);

/// The bodies of sn_cast_f32_bf16 and sn_cast_f16_f32 by bits, for languages or devices without an
/// instruction: what they do with denormals and NaN does not matter then. The first rounds ties to even.
extern const std::string_view kBf16OfFloat, kFloatOfF16;

/// The bodies of sn_cast_f32_f8_e4m3 and sn_cast_f32_f8_e5m2 by bits. `exact` begins the definition of a
/// float whose arithmetic is done as it is written: "precise float ".
std::string e4m3_of_float(std::string_view exact);
std::string e5m2_of_float(std::string_view exact);

/// Functions of one line from values of a dtype to one of the same: $T $N($T a), $T $N($T a, $T b).
std::string unary(std::string_view expression);
std::string binary(std::string_view expression);

inline const std::vector<DType> kF32 = {DType::f32}, kF64 = {DType::f64};
inline const std::vector<DType> kFloats = {DType::f32, DType::f64};
inline const std::vector<DType> kInts = {DType::i32, DType::i64};
inline const std::vector<DType> kNumbers = {DType::f32, DType::f64, DType::i32, DType::i64};
inline const std::vector<DType> kBool = {DType::boolean};

}  // namespace sinter::emit
