// The functions of the tensor interface against PyTorch's values and gradients, in f32 and, where the device
// has it, in f64. Errors are counted in units of the last place; exact results are those of double precision.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "tests/cases/case.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

enum class Per { Element, Largest };

struct Function {
  double units;
  Per per;
  std::function<std::vector<AnyTensor>(const Case&)> call;
};

std::vector<AnyTensor> results_of(AnyTensor result) { return {std::move(result)}; }
std::vector<AnyTensor> results_of(std::vector<AnyTensor> results) { return results; }
template <class... T>
std::vector<AnyTensor> results_of(std::tuple<T...> results) {
  return std::apply([](const auto&... result) { return std::vector<AnyTensor>{result...}; }, results);
}
template <class A, class B>
std::vector<AnyTensor> results_of(const std::pair<A, B>& results) {
  return {results.first, results.second};
}

std::vector<AnyTensor> results_of(const AnyIndexed& result) { return {result.values, result.indices}; }
std::vector<AnyTensor> results_of(const AnyUnique& result) {
  return {result.values, result.inverse, result.counts};
}
std::vector<AnyTensor> results_of(const AnyComplex& result) { return {result.real, result.imag}; }
std::vector<AnyTensor> results_of(const AnyHistogram& result) { return {result.counts, result.edges}; }
template <std::size_t Rank>
std::vector<AnyTensor> results_of(const nn::PooledWithIndices<Rank>& result) {
  return {result.values.dynamic(), result.indices.dynamic()};
}

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
#define FUNCTION(name, torch, numpy, burn, units, per, expression) \
  {name, {units, Per::per, [](const Case& c) { return results_of(expression); }}},
#include "tests/cases/functions.def"
#undef FUNCTION
  };
  return table;
}

/// Any numbers as f64; the device may have none.
std::vector<double> numbers_of(const AnyTensor& tensor) {
  const AnyTensor wide = tensor.inner().to_device(Device::host()).cast(DType::f64);
  std::vector<double> values(static_cast<std::size_t>(wide.numel()));
  wide.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

double epsilon_of(DType dtype) { return dtype == DType::f64 ? 0x1p-52 : 0x1p-23; }

bool is_denormal_f32(double value) { return value != 0 && std::abs(value) < 0x1p-126; }

/// True iff the device takes denormal numbers of f32 for zeros, as Vulkan allows.
bool flushes_denormals() {
  static const bool flushes = [] {
    const Tensor<1> least = Tensor<1>::from_data({0x1p-130f}, test_device());
    return numbers_of((least * 0.5).dynamic()).front() == 0;
  }();
  return flushes;
}

/// Of a result with so many elements, those that may be anything on a device that flushes denormal numbers:
/// they are made of such ones, or are such.
std::vector<bool> made_of_denormals(const Case& c, std::size_t count, DType dtype) {
  std::vector<bool> excused(count, false);
  if (dtype != DType::f32 || !flushes_denormals()) return excused;
  for (const AnyTensor& operand : c.all()) {
    if (operand.dtype() != DType::f32) continue;
    const std::vector<double> values = numbers_of(operand);
    if (values.size() == count)
      for (std::size_t i = 0; i < count; ++i) excused[i] = excused[i] || is_denormal_f32(values[i]);
    else if (std::any_of(values.begin(), values.end(), is_denormal_f32))
      excused.assign(count, true);
  }
  return excused;
}

/// Checks that `found` is within `units` of `want`, of which f32 keeps infinities and, beyond its range,
/// more. Results of the case `c`.
void check_units(const Case& c, const AnyTensor& found, const record::Record::Entry& entry,
                 const AnyTensor& want, double units, Per per, DType dtype) {
  REQUIRE(found.shape() == entry.shape);
  if (found.dtype() == DType::f32) dtype = DType::f32;  // windows of signals are
  if (!is_float(entry.dtype)) CHECK(found.dtype() == entry.dtype);
  const std::vector<double> got = numbers_of(found), exact = numbers_of(want);
  double largest = 0;
  for (const double value : exact)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const std::vector<bool> excused = made_of_denormals(c, got.size(), dtype);
  // One half of a unit more: what is exact is rounded once when it is stored.
  const double smallest = dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double rounded = dtype == DType::f64 ? exact[i] : static_cast<double>(static_cast<float>(exact[i]));
    const double scale = std::max(per == Per::Largest ? largest : std::abs(exact[i]), smallest);
    const double error = std::abs(got[i] - exact[i]) / (epsilon_of(dtype) * scale);
    const bool right = std::isnan(rounded)   ? std::isnan(got[i])
                       : std::isinf(rounded) ? got[i] == rounded
                                             : error <= units + 0.5;
    const bool flushed = dtype == DType::f32 && is_denormal_f32(exact[i]) && got[i] == 0;
    if (!right && (excused[i] || (flushed && flushes_denormals()))) continue;
    CHECK_MESSAGE(right, "element ", i, " is ", got[i], ", exactly ", exact[i], ": ", error,
                  " units instead of ", units);
    if (!right) return;
  }
}

/// The gradients of the sum of results times weights.
void check_gradients(const Case& c, const std::vector<AnyTensor>& results, const record::Record& record,
                     const std::string& key, double units, DType dtype) {
  AnyTensor total;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = key + "/weights" + std::to_string(i);
    if (record.find(name) == nullptr) continue;
    const AnyTensor weights =
        record.tensor(name, Device::host()).cast(dtype).to_device(results[i].device().inner());
    const AnyTensor part = (results[i] * weights).sum(results[i].all_axes()).reshape({});
    total = total.defined() ? total + part : part;
  }
  if (!total.defined()) return;
  REQUIRE(total.requires_grad());
  const Gradients gradients = total.backward();
  for (std::size_t i = 0; i < c.all().size(); ++i) {
    const std::string name = key + "/grad" + std::to_string(i);
    const record::Record::Entry* entry = record.find(name);
    if (entry == nullptr) continue;
    CAPTURE(name);
    const std::optional<AnyTensor> gradient = gradients.get(c.in(i));
    const AnyTensor want = record.tensor(name, Device::host());
    if (gradient.has_value()) {
      check_units(c, *gradient, *entry, want, 8 * units + 64, Per::Largest, dtype);
    } else {  // the result is constant in it, or nearly everywhere
      for (const double value : numbers_of(want)) CHECK(value == 0);
    }
  }
}

bool has_second(const record::Record& record, const std::string& key, std::size_t operands) {
  for (std::size_t i = 0; i < operands; ++i)
    if (record.find(key + "/second" + std::to_string(i)) != nullptr) return true;
  return false;
}

/// The gradients of the sum of gradients times weights. What is 0 exactly may be off by as much as the
/// gradients are.
void check_second_gradients(const Case& c, const std::vector<AnyTensor>& results,
                            const record::Record& record, const std::string& key, double units, DType dtype) {
  const auto weighted_sum = [&](const std::vector<AnyTensor>& terms, const std::string& weights) {
    AnyTensor total;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const std::string name = key + weights + std::to_string(i);
      if (record.find(name) == nullptr || !terms[i].defined()) continue;
      const AnyTensor by =
          record.tensor(name, Device::host()).cast(dtype).to_device(terms[i].device().inner());
      const AnyTensor part = (terms[i] * by).sum();
      total = total.defined() ? total + part : part;
    }
    return total;
  };
  const AnyTensor total = weighted_sum(results, "/weights");
  std::vector<AnyTensor> tracked;
  for (const AnyTensor& operand : c.all())
    if (operand.requires_grad()) tracked.push_back(operand);
  const std::vector<AnyTensor> found = gradient(total, tracked);
  std::vector<AnyTensor> gradients;
  double largest = 0;
  for (std::size_t i = 0, next = 0; i < c.all().size(); ++i) {
    gradients.push_back(c.in(i).requires_grad() ? found[next++] : AnyTensor());
    if (!gradients.back().defined()) continue;
    for (const double value : numbers_of(gradients.back()))
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const AnyTensor second = weighted_sum(gradients, "/second_weights");
  if (!second.defined()) return;
  const std::vector<AnyTensor> seconds =
      second.requires_grad() ? gradient(second, tracked) : std::vector<AnyTensor>();
  for (std::size_t i = 0, next = 0; i < c.all().size(); ++i) {
    if (!c.in(i).requires_grad()) continue;
    const std::string name = key + "/second" + std::to_string(i);
    CAPTURE(name);
    REQUIRE(record.find(name) != nullptr);
    const std::vector<double> want = numbers_of(record.tensor(name, Device::host()));
    std::vector<double> got(want.size(), 0);  // the gradient is constant, or nearly everywhere
    if (!seconds.empty()) got = numbers_of(seconds[next++]);
    REQUIRE(got.size() == want.size());
    double scale = largest;
    for (const double value : want)
      if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
    const double most = (128 * units + 1024) * epsilon_of(dtype) * scale;
    for (std::size_t k = 0; k < want.size(); ++k) {
      const bool right = std::isfinite(want[k]) ? std::abs(got[k] - want[k]) <= most : got[k] == want[k];
      CHECK_MESSAGE(right, "element ", k, " is ", got[k], ", exactly ", want[k], ", at most ", most, " off");
      if (!right) return;
    }
  }
}

void run(const record::Record& record, const std::string& key, DType dtype) {
  const Case c(record, key, dtype, test_device().autodiff());
  CAPTURE(c.description());
  CAPTURE(name_of(dtype));
  const auto at = functions().find(c.function());
  REQUIRE(at != functions().end());
  const Function& function = at->second;
  const std::vector<AnyTensor> results = function.call(c);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = key + "/out" + std::to_string(i);
    const record::Record::Entry* entry = record.find(name);
    REQUIRE(entry != nullptr);
    check_units(c, results[i], *entry, record.tensor(name, Device::host()), function.units, function.per,
                dtype);
  }
  check_gradients(c, results, record, key, function.units, dtype);
  // Of these the compiled host, the interpreted one and GPUs are enough.
  if (compiles_slowly(test_device()) || !has_second(record, key, c.all().size())) return;
  const Case again(record, key, dtype, test_device().autodiff());
  check_second_gradients(again, function.call(again), record, key, function.units, dtype);
}

std::vector<std::filesystem::path> sections() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(std::getenv("SINTER_TESTS_FOLDER")) / "cases";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::set<std::string> keys_of(const record::Record& record) {
  std::set<std::string> keys;
  for (const auto& [name, entry] : record.entries()) keys.insert(name.substr(0, name.find('/')));
  return keys;
}

}  // namespace

TEST_CASE("functions give PyTorch's values and gradients") {
  std::vector<DType> dtypes = {DType::f32};
  if (has_dtype(test_device(), DType::f64) && !compiles_slowly(test_device())) dtypes.push_back(DType::f64);
  for (const std::filesystem::path& file : sections()) {
    SUBCASE(file.stem().c_str()) {
      const record::Record record = record::Record::read(file);
      for (const std::string& key : keys_of(record)) {
        CAPTURE(key);
        for (const DType dtype : dtypes) run(record, key, dtype);
      }
    }
  }
}

namespace {

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (std::size_t i = 0; i < kDTypeCount; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

/// Whether the function computes the case with numbers of this dtype.
bool computes(const record::Record& record, const std::string& key, DType dtype) {
  try {
    const Case c(record, key, dtype, test_device(), true);
    const std::vector<AnyTensor> results = functions().at(c.function()).call(c);
    for (const AnyTensor& result : results) result.sync();
    // What takes no operand makes numbers of the dtype that it is asked for, or of its own.
    return !c.all().empty() || results.front().dtype() == dtype;
  } catch (const DTypeError&) {
    return false;
  }
}

}  // namespace

// The page docs/functions.md lists what this finds. SINTER_UPDATE_GOLDEN=1 writes the file anew.
TEST_CASE("functions take the dtypes that tests/cases/dtypes.txt says") {
  // What a function takes is checked when it is recorded, alike on all devices that have the dtype.
  if (test_device().name() != "host" || base::environment().host != "interpreter" ||
      !base::environment().fusion)
    return;
  std::map<std::string, std::set<DType>> taken;
  for (const std::filesystem::path& file : sections()) {
    const record::Record record = record::Record::read(file);
    for (const std::string& key : keys_of(record)) {
      std::set<DType>& dtypes = taken[nlohmann::json::parse(*record.find_text(key)).at("function")];
      CAPTURE(*record.find_text(key));
      // Parts of complex numbers are floats; AnyTensor does not ask.
      const bool is_complex = record.find_text(key)->find("\"complex ") != std::string::npos;
      for (const DType dtype : all_dtypes())
        if (!dtypes.contains(dtype) && (is_float(dtype) || !is_complex) && computes(record, key, dtype))
          dtypes.insert(dtype);
    }
  }
  std::string text;
  for (const auto& [name, dtypes] : taken) {
    text += name + ":";
    for (const DType dtype : all_dtypes())
      if (dtypes.contains(dtype)) text += " " + std::string(name_of(dtype));
    text += "\n";
  }
  const std::filesystem::path path =
      std::filesystem::path(std::getenv("SINTER_TESTS_FOLDER")) / "cases/dtypes.txt";
  if (std::getenv("SINTER_UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
}

TEST_CASE("every function of the table has a case") {
  std::set<std::string> seen;
  for (const std::filesystem::path& file : sections()) {
    const record::Record record = record::Record::read(file);
    for (const std::string& key : keys_of(record))
      seen.insert(nlohmann::json::parse(*record.find_text(key)).at("function"));
  }
  for (const auto& [name, function] : functions()) {
    CAPTURE(name);
    CHECK(seen.contains(name));
  }
}

}  // namespace sinter::testing
