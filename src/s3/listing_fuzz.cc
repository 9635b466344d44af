#include "base/check.h"
#include "s3/listing.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace codeflare;

// No answer of a server brings an object outside of the directory that it is copied into.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(s3::parse_error(text));
  if (const Result<std::string> id = s3::parse_upload_id(text)) {
    CHECK(!id->empty());
  }
  const Result<s3::Listing> listing = s3::parse_listing(text);
  if (!listing) {
    return 0;
  }
  for (const s3::ObjectInfo& object : listing->objects) {
    const Result<std::string> path = s3::relative_path(object.key, "");
    if (path && !path->empty()) {
      CHECK(!path->starts_with('/') && *path != ".." && !path->starts_with("../"));
      CHECK(!path->contains("/../") && !path->ends_with("/..") && !path->ends_with("/../"));
    }
  }
  return 0;
}
