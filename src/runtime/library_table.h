// Which library ops a device can compute: a table from kinds to functions that prepare them.
#pragma once

#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include <sinter/error.h>

#include "jit/library/library_op.h"
#include "src/base/fork.h"

namespace sinter::runtime {

/// "[sort] this device (cuda:0) cannot compute it: ...".
std::string cannot_compute(const library::Kind& kind, const std::string& device);

/// The table of all devices of a sort. Rows may be added by any thread at any time: by whoever brings an
/// operation of their own.
template <class Signature>
class LibraryTable;

template <class Result, class... Arguments>
class LibraryTable<Result(const library::LibraryOp&, Arguments...)> {
 public:
  /// Gives what a backend needs to launch the op; throws DeviceError or DTypeError for sizes and dtypes that
  /// the device cannot do.
  using Prepare = std::function<Result(const library::LibraryOp&, Arguments...)>;
  using Row = std::pair<const library::Kind*, Prepare>;

  LibraryTable(std::initializer_list<Row> rows) : rows_(rows.begin(), rows.end()) {}

  /// Throws Error where the kind has a row already.
  void add(const library::Kind& kind, Prepare prepare) {
    std::lock_guard lock(mutex_);
    if (!rows_.try_emplace(&kind, std::move(prepare)).second)
      throw Error("[library] the device can compute " + kind.name() + " already");
  }

  bool has(const library::Kind& kind) const {
    std::lock_guard lock(mutex_);
    return rows_.contains(&kind);
  }

  /// Throws DeviceError where there is no row; `device` is named in the message.
  Result prepare(const std::string& device, const library::LibraryOp& op, Arguments... arguments) const {
    return find(op.kind(), device)(op, arguments...);
  }

 private:
  /// A copy: another thread may add rows while the function runs.
  Prepare find(const library::Kind& kind, const std::string& device) const {
    std::lock_guard lock(mutex_);
    const auto row = rows_.find(&kind);
    if (row == rows_.end()) throw DeviceError(cannot_compute(kind, device));
    return row->second;
  }

  mutable base::ForkMutex mutex_;
  absl::flat_hash_map<const library::Kind*, Prepare> rows_;
};

}  // namespace sinter::runtime
