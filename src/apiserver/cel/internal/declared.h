#pragma once

#include "json/value.h"

#include <cstdint>
#include <map>
#include <string_view>

namespace codeflare::apiserver::cel {

// The size of a value that a schema allows, before there is a value. The numbers are upstream's:
// they decide which definitions a cluster accepts.
struct Declared {
  enum class Kind : std::uint8_t {
    none,     // not visible to expressions
    dynamic,  // int-or-string
    scalar,   // boolean, numbers, times, durations
    text,
    bytes,
    list,
    map,
    object,
  };
  Kind kind = Kind::none;
  const json::Value* schema = nullptr;  // null: a key, or metadata and what is in it
  bool key = false;
  bool resource = false;  // has apiVersion, kind and metadata beside what the schema says

  bool visible() const { return kind != Kind::none; }
};

// `resource`: the schema is the root of a definition.
Declared declare(const json::Value& schema, bool resource = false);
Declared declared_field(const Declared& object, std::string_view name);
Declared declared_element(const Declared& list_or_map);
Declared declared_key();  // of a map

class DeclaredSizes {
 public:
  // Characters, items or entries; 0 for what has no size.
  std::uint64_t elements_max(const Declared& declared);
  // Of the shortest JSON text.
  std::uint64_t bytes_min(const Declared& declared);

 private:
  std::map<const json::Value*, std::uint64_t> bytes_min_;
};

// How many such values the largest request can hold.
std::uint64_t occurrences_max(const Declared& declared);

}  // namespace codeflare::apiserver::cel
