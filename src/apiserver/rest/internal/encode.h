#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/rest/internal/encoding_cache.h"
#include "apiserver/rest/internal/negotiate.h"
#include "apiserver/store/object.h"
#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// The output form of objects. Outlives the request it was made for: a watch keeps
// one.
struct Output {
  ResourcePtr resource;
  const ServedVersion* version = nullptr;
  Form form;

  // A text of this apiVersion goes out as it is.
  bool shows(std::string_view api_version) const {
    return resource->is_api_version(*version, api_version);
  }
};

// From one apiVersion of the resource to another, in place.
Result<void> convert(const Resource& resource, json::Arena& arena, json::Value& object,
                     std::string_view to);

// One object, whatever version it was stored in, in the version and view (object or partial) of the
// output. Shares the text when it can.
Result<void> append_object(const Output& output, const Bytes& text, std::vector<Bytes>& pieces);
Result<void> append_object(const Output& output, const Object& object, std::vector<Bytes>& pieces);
// The same, remembered by object where work was needed.
Result<void> append_object(const Output& output, const ObjectPtr& object, EncodingCache& cache,
                           std::vector<Bytes>& pieces);
// `{"kind":"PartialObjectMetadata",...}` around the metadata of the text.
Result<void> append_partial(const Form& form, const Bytes& text, std::vector<Bytes>& pieces);
std::string join(const std::vector<Bytes>& pieces);

// The text with another metadata.resourceVersion: what a watch shows of an object that left its
// selection.
Result<void> append_with_revision(const Bytes& text, Revision revision, std::vector<Bytes>& pieces);

struct TableHead {
  std::string resource_version{};
  std::string continue_token{};
  std::optional<std::int64_t> remaining{};
  bool columns = true;
};
// Up to and including `"rows":[`.
std::string table_head(const Output& output, const TableHead& head);
// {"cells":[...],"object":...} of one object as it is stored.
Result<std::string> table_row(const Output& output, const Bytes& text, WallTime now);
inline constexpr std::string_view kTableEnd = "]}\n";

// "5s", "3m20s", "7d23h": as kubectl prints it.
std::string age_of(const json::Value& object, WallTime now);

}  // namespace codeflare::apiserver::internal
