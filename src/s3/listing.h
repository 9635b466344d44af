#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::s3 {

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // with its quotes; empty: the server has none

  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

// One page of ListObjectsV2.
struct Listing {
  std::vector<ObjectInfo> objects;
  std::string next;  // continuation token; empty: this is the last page

  friend bool operator==(const Listing&, const Listing&) = default;
};

Result<Listing> parse_listing(std::string_view xml);

// The <Error> of an answer; both empty when the text is another document.
struct ServerError {
  std::string code;  // "NoSuchBucket"
  std::string message;
};
ServerError parse_error(std::string_view xml);

// Of the answer that begins an upload in parts.
Result<std::string> parse_upload_id(std::string_view xml);
// The request that ends one: the tags of all parts, in order.
std::string finish_upload_xml(const std::vector<std::string>& tags);

// Where an object of the directory `prefix` ("" or "a/b/") lies below a directory of the disk.
// Fails for keys that would lie elsewhere or cannot be a file name. Empty: the directory itself.
Result<std::string> relative_path(std::string_view key, std::string_view prefix);

}  // namespace codeflare::s3
