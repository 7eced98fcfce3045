// The choices that were made by timing, in one file that all processes of a user share.
//
// The file lies beside the compiled kernels, under the same rules (jit/compile/private_files.h): it belongs
// to the effective user and is writable for no other. It is only ever replaced as a whole, so that no one
// sees half of one, and its first line has a checksum of the rest: a file that is damaged or cut is not read,
// and the next choice begins a new one. Who adds a choice holds a lock, reads what others have added, and
// writes both. Of two choices for one key the first stays: results keep their bits.
//
// Layout: "sinter-tuning 1 CHECKSUM" (XXH3-128 of all that follows, as digits), then a line for each choice,
// the oldest first: device, kernel, sizes, parameters, nanoseconds, and those of the cost model's choice,
// with a tab between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/compile/private_files.h"
#include "jit/tune/key.h"
#include "src/base/fork.h"

namespace sinter::tune {

struct Record {
  Key key;
  std::string parameters;        // jit/tune/parameters.h
  double nanoseconds = 0;        // of a launch
  double model_nanoseconds = 0;  // of one by the cost model's choice
  friend bool operator==(const Record&, const Record&) = default;
};

/// The content of a file; nullopt where it is damaged.
std::optional<std::vector<Record>> parse_store(std::string_view file);
std::string format_store(const std::vector<Record>& records);

/// All functions may be called by any thread.
class Store {
 public:
  static constexpr std::size_t kMostRecords = 4096;  // the oldest go first

  /// `folder` is made when first needed; empty: nothing is kept beyond the process.
  explicit Store(std::filesystem::path folder, std::size_t most = kMostRecords);

  /// In the folder that the environment names (SINTER_CACHE_DIR and the like).
  static Store& global();

  /// As the file was when this process first looked, with what this process has added.
  std::optional<Record> find(const Key& key);
  /// Reads anew what other processes have added.
  void refresh();

  /// `replace`: also where there is a choice for the key.
  void add(const Record& record, bool replace);

  /// Forgets what is in memory, as a new process would.
  void forget();

  /// What the file has now, the oldest first.
  std::vector<Record> all();
  /// Removes all; returns how many there were.
  std::size_t clear();

  std::filesystem::path file() const { return folder_.empty() ? folder_ : folder_ / kName; }

 private:
  static constexpr const char* kName = "choices";
  std::vector<Record> read_file();
  bool write_file(const compile::File& folder, const std::vector<Record>& records);
  std::string add_to_file(const Record& record, bool replace);
  void load_once();

  const std::filesystem::path folder_;
  const std::size_t most_;
  base::ForkMutex mutex_;
  bool loaded_ = false;
  std::map<Key, Record> records_;
};

}  // namespace sinter::tune
