// Reads and writes the file of choices.
#include "jit/tune/store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include "src/base/env.h"

namespace sinter::tune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFirstLine = "sinter-tuning 1 ";
constexpr std::size_t kDigits = 32;
constexpr std::size_t kFields = 6;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
// Nobody holds the lock for longer than it takes to read and write the file. Without it a choice that
// another process adds at the same moment may be lost, which is made again.
constexpr auto kPatience = std::chrono::seconds(1);

std::string checksum_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

std::optional<Record> parse_line(std::string_view line) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t k = 0; k < kFields; ++k) {
    const std::size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (k + 1 == kFields)) return std::nullopt;
    fields[k] = line.substr(0, end);
    if (fields[k].empty()) return std::nullopt;
    line.remove_prefix(std::min(line.size(), end == std::string_view::npos ? end : end + 1));
  }
  const auto time = number(fields[4]), model_time = number(fields[5]);
  if (!time || !model_time) return std::nullopt;
  return Record{{std::string(fields[0]), std::string(fields[1]), std::string(fields[2])},
                std::string(fields[3]),
                *time,
                *model_time};
}

void log(const std::string& line) {
  if (base::logs("tune")) base::log_line("tune", line);
}

/// Held until its end; not held where that took too long.
class FileLock {
 public:
  explicit FileLock(const compile::File& folder)
      : file_(::openat(folder.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (file_.is_open() && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 &&
           (errno == EWOULDBLOCK || errno == EINTR) && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

 private:
  compile::File file_;  // closing it ends the lock
};

}  // namespace

std::optional<std::vector<Record>> parse_store(std::string_view file) {
  const std::size_t head = kFirstLine.size() + kDigits + 1;
  if (file.size() < head || !file.starts_with(kFirstLine) || file[head - 1] != '\n') return std::nullopt;
  std::string_view rest = file.substr(head);
  if (file.substr(kFirstLine.size(), kDigits) != checksum_of(rest)) return std::nullopt;
  std::vector<Record> records;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::optional<Record> record = parse_line(rest.substr(0, end));
    if (!record) return std::nullopt;
    records.push_back(std::move(*record));
    rest.remove_prefix(end + 1);
  }
  return records;
}

std::string format_store(const std::vector<Record>& records) {
  std::string lines;
  for (const Record& record : records) {
    char times[80];
    std::snprintf(times, sizeof times, "%.0f\t%.0f", record.nanoseconds, record.model_nanoseconds);
    for (const std::string* field :
         {&record.key.device, &record.key.kernel, &record.key.sizes, &record.parameters})
      lines += *field + "\t";
    lines += std::string(times) + "\n";
  }
  return std::string(kFirstLine) + checksum_of(lines) + "\n" + lines;
}

Store::Store(fs::path folder, std::size_t most) : folder_(std::move(folder)), most_(most) {}

Store& Store::global() {
  // Never destroyed: threads may plan after the end of static objects.
  static Store& instance = *[] {
    const base::Environment& e = base::environment();
    return new Store(e.cache && !e.cache_dir.empty() ? fs::path(e.cache_dir) / "tuning" : fs::path());
  }();
  return instance;
}

std::vector<Record> Store::read_file() {
  if (folder_.empty()) return {};
  const auto ignored = [&](const std::string& why) {
    log(file().string() + " is not used: " + why);
    return std::vector<Record>();
  };
  const compile::Opened folder = compile::open_private_folder(folder_, false);
  if (folder.access == compile::Access::Missing) return {};
  if (folder.access == compile::Access::Refused) return ignored(folder.reason);
  if (folder.access == compile::Access::Failed) return ignored(std::strerror(errno));
  const compile::Opened opened = compile::open_private_file(folder.file, kName);
  if (opened.access == compile::Access::Missing) return {};
  if (opened.access == compile::Access::Refused) return ignored(opened.reason);
  if (opened.access == compile::Access::Failed) return ignored(std::strerror(errno));
  const auto bytes = static_cast<std::size_t>(opened.status.st_size);
  if (bytes > kMostBytes) return ignored("it has " + std::to_string(bytes) + " bytes, more than any store");
  std::string text(bytes, '\0');
  if (!opened.file.read_all(std::as_writable_bytes(std::span(text)))) return ignored("it cannot be read");
  std::optional<std::vector<Record>> records = parse_store(text);
  return records ? std::move(*records) : ignored("its content is damaged");
}

bool Store::write_file(const compile::File& folder, const std::vector<Record>& records) {
  const std::string text = format_store(records);
  return compile::write_file(folder, kName, std::as_bytes(std::span(text)), compile::Existing::Replaced,
                             0600);
}

void Store::load_once() {
  if (loaded_) return;
  loaded_ = true;
  for (Record& record : read_file()) records_.insert_or_assign(record.key, std::move(record));
}

std::optional<Record> Store::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  load_once();
  const auto known = records_.find(key);
  return known == records_.end() ? std::nullopt : std::optional(known->second);
}

void Store::refresh() {
  const std::lock_guard lock(mutex_);
  loaded_ = true;
  // What this process has used stays.
  for (Record& record : read_file()) records_.try_emplace(record.key, std::move(record));
}

void Store::add(const Record& record, bool replace) {
  if (const std::string objection = add_to_file(record, replace); !objection.empty())
    base::warn_once("what was measured of kernels is not kept on disk: " + folder_.string() +
                    " is not used because " + objection + "; SINTER_CACHE_DIR names another folder");
}

/// Returns why the folder cannot be used; empty: it can.
std::string Store::add_to_file(const Record& record, bool replace) {
  const std::lock_guard lock(mutex_);
  load_once();
  if (replace)
    records_.insert_or_assign(record.key, record);
  else
    records_.try_emplace(record.key, record);
  if (folder_.empty()) return "";
  const compile::Opened folder = compile::open_private_folder(folder_, true);
  if (folder.access != compile::Access::Granted)
    return folder.access == compile::Access::Refused ? folder.reason : std::strerror(errno);
  const FileLock held(folder.file);
  std::vector<Record> records = read_file();
  const auto same =
      std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.key == record.key; });
  if (same != records.end() && !replace) return "";
  if (same != records.end()) records.erase(same);
  records.push_back(record);
  if (records.size() > most_)
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(most_));
  if (!write_file(folder.file, records)) log(file().string() + ": " + std::strerror(errno));
  return "";
}

void Store::forget() {
  const std::lock_guard lock(mutex_);
  records_.clear();
  loaded_ = false;
}

std::vector<Record> Store::all() {
  const std::lock_guard lock(mutex_);
  return read_file();
}

std::size_t Store::clear() {
  const std::lock_guard lock(mutex_);
  records_.clear();
  loaded_ = true;
  if (folder_.empty()) return 0;
  const compile::Opened folder = compile::open_private_folder(folder_, false);
  if (folder.access != compile::Access::Granted) return 0;
  const FileLock held(folder.file);
  const std::size_t count = read_file().size();
  if (!write_file(folder.file, {})) {
    const int error = errno;
    throw std::filesystem::filesystem_error("the choices cannot be removed", file(),
                                            std::error_code(error, std::generic_category()));
  }
  return count;
}

}  // namespace sinter::tune
