#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

// Reads a few members out of JSON text without building a tree: many times faster than parse().
// Slices are never cut or attributed wrongly, and malformed brackets, strings or separators are
// errors, but the inside of what is skipped is not validated: parse() does that.
// Duplicate members: the last one wins, as in parse().

namespace codeflare::json {

inline constexpr std::size_t kScanPathsMax = 16;

// For each dotted path of member names ("metadata.name") puts the raw text of its value into
// `slices`, an empty view when it is absent. Strings keep their quotes and escapes. `text` must be
// an object, `paths` and `slices` of one size of at most kScanPathsMax.
Result<void> scan(std::string_view text, std::span<const std::string_view> paths,
                  std::span<std::string_view> slices);

// The text of a raw JSON string; escapes are decoded into the arena, otherwise the view points
// into `raw`. An empty view or `null` gives "".
Result<std::string_view> unquote(std::string_view raw, Arena& arena);

// The parts of a watch event: {"type":"ADDED","object":{...}}.
struct WatchEventSlices {
  std::string_view type;    // without quotes; event types are never escaped
  std::string_view object;  // raw
};
Result<WatchEventSlices> scan_watch_event(std::string_view text);

// The fields of an object that every cache needs. Views point into the text, or into `decoded` in
// the odd case of escapes; absent strings are empty.
struct ObjectHead {
  std::string_view api_version;
  std::string_view kind;
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view rv;
  std::string_view deletion_timestamp;
  std::int64_t generation = 0;
  std::string_view labels;            // raw, empty when absent or null
  std::string_view owner_references;  // raw, empty when absent or null
  Arena decoded;
};
Result<ObjectHead> scan_object_head(std::string_view text);

// The members of a list besides its items.
struct ListHead {
  std::string_view api_version;
  std::string_view kind;
  std::string_view rv;
  std::string_view continue_token;
  std::optional<std::int64_t> remaining_item_count;
  std::size_t items = 0;  // how many were walked
  Arena decoded;
};

// Walks the array `member` (such as "items") of the list in one pass and hands the raw text of each
// item to `on_item`, whose error ends the walk. A missing or null array has no items.
Result<ListHead> for_each_item(std::string_view list_text, std::string_view member,
                               const std::function<Result<void>(std::string_view)>& on_item);

}  // namespace codeflare::json
