#pragma once

#include "base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// One alternative of an Accept header.
struct AcceptClause {
  std::string type;  // lower case: "application/json"
  std::map<std::string, std::string, std::less<>> params{};
  double quality = 1;
};
// By falling quality, otherwise in order.
std::vector<AcceptClause> parse_accept(std::string_view header);

// "application/json; charset=utf-8" → "application/json", lower case.
std::string media_type(std::string_view content_type);

// How an answer looks.
enum class View : std::uint8_t { object, table, partial };
enum class IncludeObject : std::uint8_t { metadata, object, none };

struct Form {
  View view = View::object;
  std::string meta_version = "v1";  // of Table and PartialObjectMetadata
  IncludeObject include = IncludeObject::metadata;
  bool pretty = false;
  friend bool operator==(const Form&, const Form&) = default;
};

// The form that the header asks for, `list` for whole collections. No header, application/json, */*
// and application/* mean the object itself; 406 when nothing offered is acceptable.
Result<Form> negotiate(std::optional<std::string_view> accept, bool list);

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kYaml = "application/yaml";
inline constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

}  // namespace codeflare::apiserver::internal
