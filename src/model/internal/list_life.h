#pragma once

#include "model/list.h"

#include <algorithm>
#include <utility>

// The life of lists, for the one file that has `template struct List<T>;`.
namespace codeflare::model {

template <typename T>
List<T>::List() noexcept = default;
template <typename T>
List<T>::List(const List& other) = default;
template <typename T>
List<T>::List(List&& other) noexcept = default;
template <typename T>
List<T>::List(Items items) noexcept : Items(std::move(items)) {}
template <typename T>
List<T>& List<T>::operator=(const List& other) = default;
template <typename T>
List<T>& List<T>::operator=(List&& other) noexcept = default;
template <typename T>
List<T>::~List() = default;
template <typename T>
bool List<T>::equals(const List& other) const {
  return std::ranges::equal(*this, other);
}

}  // namespace codeflare::model
