// What the two instances of ByName are made of.
#pragma once

#include <algorithm>
#include <memory>

#include <sinter/record/by_name.h>

namespace sinter::record {

template <class T>
ByName<T>::ByName() = default;

template <class T>
ByName<T>::ByName(const ByName& other) {
  ByName copy;
  copy.items_.reserve(other.size());
  for (const Item& item : other) copy.items_.push_back(new Item(item));
  items_.swap(copy.items_);
}

template <class T>
ByName<T>::ByName(ByName&& other) noexcept : items_(std::exchange(other.items_, {})) {}

template <class T>
ByName<T>& ByName<T>::operator=(const ByName& other) {
  return *this = ByName(other);
}

template <class T>
ByName<T>& ByName<T>::operator=(ByName&& other) noexcept {
  items_.swap(other.items_);
  return *this;
}

template <class T>
ByName<T>::~ByName() {
  for (const Item* item : items_) delete item;
}

template <class T>
std::size_t ByName<T>::place_of(std::string_view name) const {
  const auto at = std::lower_bound(items_.begin(), items_.end(), name,
                                   [](const Item* item, std::string_view n) { return item->first < n; });
  return static_cast<std::size_t>(at - items_.begin());
}

template <class T>
typename ByName<T>::Iterator ByName<T>::from(std::string_view name) const {
  return Iterator(items_.data() + place_of(name));
}

template <class T>
const T* ByName<T>::find(std::string_view name) const {
  const std::size_t at = place_of(name);
  return at < size() && items_[at]->first == name ? &items_[at]->second : nullptr;
}

template <class T>
T* ByName<T>::find(std::string_view name) {
  return const_cast<T*>(std::as_const(*this).find(name));
}

template <class T>
bool ByName<T>::add(std::string name, T value) {
  if (find(name)) return false;
  auto item = std::make_unique<Item>(std::move(name), std::move(value));
  const auto at = static_cast<std::ptrdiff_t>(place_of(item->first));
  items_.insert(items_.begin() + at, item.get());
  item.release();
  return true;
}

template <class T>
bool ByName<T>::erase(std::string_view name) {
  if (!find(name)) return false;
  const auto at = items_.begin() + static_cast<std::ptrdiff_t>(place_of(name));
  delete *at;
  items_.erase(at);
  return true;
}

}  // namespace sinter::record
