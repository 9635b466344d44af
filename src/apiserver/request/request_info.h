#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// Decoded query parameters in order; names may repeat.
class Query {
 public:
  static Result<Query> parse(std::string_view text);
  std::optional<std::string_view> get(std::string_view name) const;
  // As Go's strconv.ParseBool reads it; an empty value counts as true where upstream does so.
  bool flag(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// The subject of a request, read from method, path and query alone.
struct RequestInfo {
  std::string path;  // decoded, without the query
  Query query;
  // get list watch create update patch delete deletecollection; the method in lower case otherwise.
  std::string verb;
  bool is_resource = false;
  // The rest is set for resources only.
  std::string group{};  // empty: core
  std::string version{};
  std::string ns{};  // for `namespaces` themselves: their own name, as upstream has it
  std::string resource{};
  std::string name{};
  std::string subresource{};
  std::vector<std::string> rest{};  // behind the subresource: what a proxy forwards

  static Result<RequestInfo> parse(std::string_view method, std::string_view target);
};

}  // namespace codeflare::apiserver
