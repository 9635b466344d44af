#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::model {

// A std::vector whose life (made, copied, moved, compared, destroyed) is compiled once, beside the
// codec of what it holds, and not in every file that touches an object: objects of the API are
// trees of such lists. Everything else is as in a vector.
template <typename T>
struct List : std::vector<T> {
  using Items = std::vector<T>;
  using Items::Items;

  List() noexcept;
  List(const List& other);
  List(List&& other) noexcept;
  // A vector becomes a list.
  List(Items items) noexcept;  // NOLINT(google-explicit-constructor): lists were vectors
  List& operator=(const List& other);
  List& operator=(List&& other) noexcept;
  ~List();

  bool equals(const List& other) const;
  friend bool operator==(const List& a, const List& b) { return a.equals(b); }
  friend bool operator==(const List& a, const Items& b) {
    return static_cast<const Items&>(a) == b;
  }
};

extern template struct List<std::string>;

// Likewise for labels, annotations, selectors. Ordered, so that what is written is stable.
struct StringMap : std::map<std::string, std::string, std::less<>> {
  using Entries = std::map<std::string, std::string, std::less<>>;
  using Entries::Entries;

  StringMap() noexcept;
  StringMap(const StringMap& other);
  StringMap(StringMap&& other) noexcept;
  StringMap& operator=(const StringMap& other);
  StringMap& operator=(StringMap&& other) noexcept;
  ~StringMap();

  bool equals(const StringMap& other) const;
  friend bool operator==(const StringMap& a, const StringMap& b) { return a.equals(b); }
};

}  // namespace codeflare::model
