#pragma once

#include "apiserver/registry/registry.h"
#include "base/bytes.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// Discovery documents are made once per state of the registry.
class DiscoveryCache {
 public:
  // The answer for /api, /apis, /api/v1, /apis/G, /apis/G/V, or nothing when the path is none of
  // them (then it is not found).
  std::optional<net::Response> respond(const Registry& registry, std::string_view path,
                                       const net::Request& request);

 private:
  struct Document {
    Bytes text;
    std::string etag;
  };
  const Document* find_or_make(const Registry& registry, std::string_view path,
                               std::string_view aggregated);

  std::uint64_t generation_ = 0;
  std::map<std::pair<std::string, std::string>, Document> documents_;
};

// Documents without HTTP, for tests and for the cache. Empty when there is no such group or
// version.
std::string legacy_versions_document();                     // /api
std::string group_list_document(const Registry& registry);  // /apis
std::string group_document(const Registry& registry, std::string_view group);
std::string resource_list_document(const Registry& registry, std::string_view group,
                                   std::string_view version);
// `version` is v2 or v2beta1; the core group alone or all others.
std::string aggregated_document(const Registry& registry, std::string_view version, bool core);

}  // namespace codeflare::apiserver::internal
