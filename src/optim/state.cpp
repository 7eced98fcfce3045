// Shared by optimizers: checks, and state in records.
#include "src/optim/state.h"

#include <cstring>
#include <span>
#include <sstream>

namespace sinter::optim {
namespace {

constexpr const char* kMarkKey = "optimizer";
constexpr std::int64_t kLargestCount = std::int64_t{1} << 53;

}  // namespace

void require_within(const char* optimizer, const char* name, double value, double low, double high) {
  if (value >= low && value < high) return;
  std::ostringstream text;
  text << "[" << optimizer << "] " << name << " is " << value << ", expected " << low << " or more";
  if (high < 1e300) text << " and less than " << high;
  throw Error(text.str());
}

void require_same_shape(const char* optimizer, const std::string& path, const Shape& remembered,
                        const Shape& parameter, const Location& where) {
  if (remembered != parameter)
    throw ShapeError("[" + std::string(optimizer) + "] parameter " + path + " has shape " +
                         to_string(parameter) + ", but in the steps before it had " + to_string(remembered),
                     where);
}

void add_count(record::Record& record, const std::string& name, std::int64_t value) {
  record.add(name, {DType::i64, Shape(), std::as_bytes(std::span(&value, 1))});
}

std::int64_t read_count(const record::Record& record, const std::string& name) {
  const record::Record::Entry* entry = record.find(name);
  std::int64_t value = 0;
  if (entry && entry->dtype == DType::i64 && entry->shape.rank() == 0)
    std::memcpy(&value, entry->bytes.data(), sizeof value);
  else
    throw DataError("[record] there is no count \"" + name + "\"");
  if (value < 0 || value > kLargestCount)
    throw DataError("[record] \"" + name + "\" is " + std::to_string(value) +
                    ", expected a count from 0 to " + std::to_string(kLargestCount));
  return value;
}

void add_numbers(record::Record& record, const std::string& name, const std::vector<double>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  record.add(name, record::Record::Entry{DType::f64, Shape{static_cast<std::int64_t>(values.size())},
                                         std::vector<std::byte>(bytes.begin(), bytes.end())});
}

std::vector<double> read_numbers(const record::Record& record, const std::string& name) {
  const record::Record::Entry* entry = record.find(name);
  if (!entry || entry->dtype != DType::f64 || entry->shape.rank() != 1)
    throw DataError("[record] there are no numbers \"" + name + "\"");
  std::vector<double> values(static_cast<std::size_t>(entry->shape[0]));
  if (!values.empty()) std::memcpy(values.data(), entry->bytes.data(), entry->bytes.size());
  return values;
}

void require_alike(const std::string& path, const std::vector<std::pair<std::string, AnyTensor>>& tensors,
                   bool same_shape) {
  const auto described = [&](std::size_t i) {
    const auto& [name, tensor] = tensors[i];
    return (path.empty() ? name : path + "." + name) + " is " + std::string(name_of(tensor.dtype())) + " " +
           to_string(tensor.shape());
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const AnyTensor &first = tensors[0].second, &tensor = tensors[i].second;
    if (tensor.dtype() != DType::f32 && tensor.dtype() != DType::f64)
      throw DataError("[record] " + described(i) + ", expected f32 or f64");
    if (tensor.dtype() != first.dtype() || (same_shape && tensor.shape() != first.shape()))
      throw DataError("[record] " + described(0) + " and " + described(i) + ", expected " +
                      (same_shape ? "one dtype and one shape" : "one dtype"));
  }
}

void mark(record::Record& record, const char* optimizer) { record.set_text(kMarkKey, optimizer); }

void require_mark(const record::Record& record, const char* optimizer) {
  const std::string* found = record.find_text(kMarkKey);
  if (!found || *found != optimizer)
    throw DataError("[record] this is " +
                    (found ? "a state of the optimizer " + *found : "no state of an optimizer") +
                    ", expected one of " + optimizer);
}

}  // namespace sinter::optim
