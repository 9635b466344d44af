#pragma once

#include "model/codec/codec.h"
#include "model/codec/scalars.h"
#include "model/codec/type_codec.h"
#include "model/extra.h"
#include "model/resources.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// How a struct is described, once, in a .cc file:
//
//   const StructInfo& describe(Tag<Toleration>) {
//     static constexpr Field kFields[] = {
//         field<&Toleration::key>("key"),
//         field<&Toleration::seconds>("tolerationSeconds"),
//     };
//     static constexpr StructInfo kInfo = struct_info<Toleration>(kFields);
//     return kInfo;
//   }
//
// The struct needs a member `Extra extra`. Tables in the order of the wire decode fastest.
namespace codeflare::model::codec {

enum class Presence : std::uint8_t {
  omit_empty,  // not written when empty, zero or false
  always,      // written in any case, where readers count on it
};

struct Field {
  std::string_view name;
  TypeCodec codec;
  void* (*member)(void* object);
  Presence presence;
};

struct StructInfo {
  const Field* fields = nullptr;
  std::size_t count = 0;
  Extra& (*extra)(void* object) = nullptr;
  // Of a kind that stands alone; empty otherwise.
  std::string_view api_version;
  std::string_view kind;
};

template <auto Member>
struct MemberOf;
template <typename Struct, typename Type, Type Struct::* Member>
struct MemberOf<Member> {
  using MemberType = Type;
  static void* access(void* object) { return &(static_cast<Struct*>(object)->*Member); }
};

template <auto Member>
constexpr Field field(std::string_view name, Presence presence = Presence::omit_empty) {
  return {name, kTypeCodec<typename MemberOf<Member>::MemberType>, &MemberOf<Member>::access,
          presence};
}

template <typename T>
concept StandsAlone = requires { ResourceTraits<T>::kind; };

template <typename T, std::size_t count>
constexpr StructInfo struct_info(const Field (&fields)[count]) {
  static_assert(count <= 64, "the encoder keeps one bit per field");
  StructInfo info;
  info.fields = fields;
  info.count = count;
  info.extra = [](void* object) -> Extra& { return static_cast<T*>(object)->extra; };
  if constexpr (StandsAlone<T>) {
    info.api_version = ResourceTraits<T>::api_version;
    info.kind = ResourceTraits<T>::kind;
  }
  return info;
}

// For what stands alone but is served nowhere, such as Status.
template <typename T, std::size_t count>
constexpr StructInfo struct_info(const Field (&fields)[count], std::string_view api_version,
                                 std::string_view kind) {
  StructInfo info = struct_info<T>(fields);
  info.api_version = api_version;
  info.kind = kind;
  return info;
}

}  // namespace codeflare::model::codec
