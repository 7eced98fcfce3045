// Shared by optimizers: checks of settings, and state tensors as entries of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sinter/record/record.h>

namespace sinter::optim {

/// Of one parameter; slots for so many are made at once.
inline constexpr std::size_t kMostStates = 8;

/// Throws Error "[optimizer] name is value, expected ..." unless low <= value < high.
void require_within(const char* optimizer, const char* name, double value, double low, double high);

/// Throws ShapeError when a state tensor does not have the parameter's shape: the module is another one than
/// before.
void require_same_shape(const char* optimizer, const std::string& path, const Shape& remembered,
                        const Shape& parameter, const Location& where);

/// A count as an entry of a record, and back. Throws DataError when the entry is missing or no count: a
/// number from 0 to 2^53, up to which all are doubles, too.
void add_count(record::Record& record, const std::string& name, std::int64_t value);
std::int64_t read_count(const record::Record& record, const std::string& name);

/// The same for f64 numbers, as a vector.
void add_numbers(record::Record& record, const std::string& name, const std::vector<double>& values);
std::vector<double> read_numbers(const record::Record& record, const std::string& name);

/// Throws DataError unless all tensors are f32 or f64, and of one dtype, and, where `same_shape`, of one
/// shape.
void require_alike(const std::string& path, const std::vector<std::pair<std::string, AnyTensor>>& tensors,
                   bool same_shape);

/// Throws DataError unless the record was written by this optimizer.
void mark(record::Record& record, const char* optimizer);
void require_mark(const record::Record& record, const char* optimizer);

}  // namespace sinter::optim
