#pragma once

#include "base/result.h"
#include "json/value.h"

#include <string>

// Between structs and JSON. A struct has a codec when a function
//   const codec::StructInfo& describe(codec::Tag<T>);
// is declared in its namespace; the headers beside this one declare those of the model, and
// codec/describe.h says how to write one for a kind of your own.
namespace codeflare::model::codec {

struct StructInfo;

template <typename T>
struct Tag {};

// An object that stands alone.
Result<void> decode(const StructInfo& info, const json::Value& value, void* object);
json::Value encode(const StructInfo& info, json::Arena& arena, const void* object);

}  // namespace codeflare::model::codec

namespace codeflare::model {

// Members that T does not know are kept in its `extra`, at every level. A wrong type is
// invalid_argument with the path and no value:
//   spec.containers[0].ports[1].containerPort: expected a number, got a string
// So is another kind or apiVersion than T's; items of lists may leave both out.
template <typename T>
Result<T> from_json(const json::Value& value) {
  T object;
  TRY(codec::decode(describe(codec::Tag<T>()), value, &object));
  return object;
}

// Empty members are left out as Kubernetes does; kind and apiVersion are always there. Every byte
// lives in the arena.
template <typename T>
json::Value to_json(json::Arena& arena, const T& object) {
  return codec::encode(describe(codec::Tag<T>()), arena, &object);
}

std::string to_json_text(const codec::StructInfo& info, const void* object);

// Compact JSON text, ready to be sent.
template <typename T>
std::string to_json_text(const T& object) {
  return to_json_text(describe(codec::Tag<T>()), &object);
}

}  // namespace codeflare::model
