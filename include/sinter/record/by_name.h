// Values by their names: what std::map is, without <map>, which takes long to compile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter::record {

/// Pairs of a name and a value, in the order of the names:
///   for (const auto& [name, entry] : record.entries()) ...
template <class T>
class SINTER_API ByName {
 public:
  using Item = std::pair<const std::string, T>;
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(const Item* const* at) : at_(at) {}
    const Item& operator*() const { return **at_; }
    const Item* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const Item* const* at_ = nullptr;
  };

  ByName();
  ByName(const ByName& other);
  ByName(ByName&& other) noexcept;
  ByName& operator=(const ByName& other);
  ByName& operator=(ByName&& other) noexcept;
  ~ByName();

  std::size_t size() const { return items_.size(); }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return Iterator(items_.data()); }
  Iterator end() const { return Iterator(items_.data() + items_.size()); }
  /// The first whose name is not less.
  Iterator from(std::string_view name) const;
  /// Null when there is none of that name.
  const T* find(std::string_view name) const;
  T* find(std::string_view name);

  /// False, and nothing has changed, when there is one of that name.
  bool add(std::string name, T value);
  /// False when there is none.
  bool erase(std::string_view name);

 private:
  std::size_t place_of(std::string_view name) const;

  std::vector<Item*> items_;
};

}  // namespace sinter::record
