#include "json/scan.h"

#include "json/internal/cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace codeflare::json {

namespace {

using internal::Cursor;
using internal::RawString;

using Remainders = std::array<std::string_view, kScanPathsMax>;

bool key_text(Cursor& cursor, const RawString& key, std::string& buffer, std::string_view& out) {
  out = key.text;
  if (!key.escaped) {
    return true;
  }
  buffer.clear();
  if (!internal::decode_escapes(key.text, buffer)) {
    return cursor.fail("malformed escape in a key");
  }
  out = buffer;
  return true;
}

enum class Step : std::uint8_t { none, inner, last };

// Whether the member of this name is the first step of the path, and whether more follow. A key may
// hold dots itself: it must equal one whole name of the path.
Step step_of(std::string_view path, std::string_view key) {
  // Looked at for each member and each path: mostly the first letters differ.
  if (key.empty() || path.size() < key.size() || path.front() != key.front() ||
      !path.starts_with(key) || key.contains('.')) {
    return Step::none;
  }
  return path.size() == key.size() ? Step::last
         : path[key.size()] == '.' ? Step::inner
                                   : Step::none;
}

// Fills the slices of the wanted paths below one object; `wanted` holds what is left of each path
// at this depth, empty for paths that lead elsewhere.
class PathScan {
 public:
  explicit PathScan(std::span<std::string_view> slices) : slices_(slices) {}

  bool object(Cursor& cursor, const Remainders& wanted) {
    return cursor.members([&](const RawString& key) { return member(cursor, key, wanted); });
  }

 private:
  bool member(Cursor& cursor, const RawString& raw_key, const Remainders& wanted) {
    std::string_view key;
    if (!key_text(cursor, raw_key, buffer_, key)) {
      return false;
    }
    std::uint32_t ends_here = 0;
    std::uint32_t goes_on = 0;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const Step step = step_of(wanted[i], key);
      ends_here |= (step == Step::last ? 1u : 0u) << i;
      goes_on |= (step == Step::inner ? 1u : 0u) << i;
    }
    Remainders below{};
    for (std::size_t i = 0; goes_on >> i != 0; ++i) {
      if ((goes_on >> i & 1) != 0) {
        below[i] = wanted[i].substr(key.size() + 1);
        slices_[i] = {};  // an earlier member of this name does not count any more
      }
    }
    std::string_view raw;
    bool is_object = cursor.peek() == '{';
    const char* start = cursor.position();
    if (goes_on != 0 && is_object) {
      if (!object(cursor, below)) {
        return false;
      }
      raw = {start, static_cast<std::size_t>(cursor.position() - start)};
    } else if (!cursor.value(raw)) {
      return false;
    }
    for (std::size_t i = 0; ends_here != 0; ++i, ends_here >>= 1) {
      if ((ends_here & 1) != 0) {
        slices_[i] = raw;
      }
    }
    return true;
  }

  std::span<std::string_view> slices_;
  std::string buffer_;
};

bool is_null(std::string_view raw) {
  return raw.empty() || raw == "null";
}

std::string_view unless_null(std::string_view raw) {
  return is_null(raw) ? std::string_view() : raw;
}

struct StringField {
  std::string_view raw;
  std::string_view* out;
  std::string_view path;
};

Result<void> read_strings(std::initializer_list<StringField> fields, Arena& arena) {
  for (const StringField& field : fields) {
    auto text = unquote(field.raw, arena);
    if (!text) {
      return fail(std::move(text).error().with_context(field.path));
    }
    *field.out = *text;
  }
  return {};
}

Result<std::int64_t> read_integer(std::string_view raw, std::string_view path) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (error != std::errc() || end != raw.data() + raw.size()) {
    return fail(invalid_argument(std::string(path) + ": expected an integer"));
  }
  return value;
}

}  // namespace

Result<void> scan(std::string_view text, std::span<const std::string_view> paths,
                  std::span<std::string_view> slices) {
  CHECK(paths.size() == slices.size() && paths.size() <= kScanPathsMax);
  Remainders wanted{};
  std::ranges::copy(paths, wanted.begin());
  std::ranges::fill(slices, std::string_view());
  Cursor cursor(text);
  if (!PathScan(slices).object(cursor, wanted) || !cursor.finish()) {
    return fail(cursor.error());
  }
  return {};
}

Result<std::string_view> unquote(std::string_view raw, Arena& arena) {
  if (is_null(raw)) {
    return std::string_view();
  }
  if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') {
    return fail(invalid_argument("expected a string"));
  }
  std::string_view inner = raw.substr(1, raw.size() - 2);
  if (!inner.contains('\\')) {
    return inner;
  }
  std::string decoded;
  if (!internal::decode_escapes(inner, decoded)) {
    return fail(invalid_argument("malformed escape in a string"));
  }
  return arena.copy(decoded);
}

Result<WatchEventSlices> scan_watch_event(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kPaths = {"type", "object"};
  std::array<std::string_view, 2> slices;
  TRY(scan(text, kPaths, slices));
  auto [type, object] = slices;
  if (!type.starts_with('"') || type.contains('\\') || !object.starts_with('{')) {
    return fail(invalid_argument("a watch event needs a string \"type\" and an object \"object\""));
  }
  return WatchEventSlices{type.substr(1, type.size() - 2), object};
}

Result<ObjectHead> scan_object_head(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kPaths = {
      "apiVersion",          "kind",
      "metadata.name",       "metadata.namespace",
      "metadata.uid",        "metadata.resourceVersion",
      "metadata.generation", "metadata.deletionTimestamp",
      "metadata.labels",     "metadata.ownerReferences"};
  std::array<std::string_view, kPaths.size()> slices;
  TRY(scan(text, kPaths, slices));
  ObjectHead head;
  TRY(read_strings({{slices[0], &head.api_version, kPaths[0]},
                    {slices[1], &head.kind, kPaths[1]},
                    {slices[2], &head.name, kPaths[2]},
                    {slices[3], &head.ns, kPaths[3]},
                    {slices[4], &head.uid, kPaths[4]},
                    {slices[5], &head.rv, kPaths[5]},
                    {slices[7], &head.deletion_timestamp, kPaths[7]}},
                   head.decoded));
  if (!is_null(slices[6])) {
    TRY_ASSIGN(head.generation, read_integer(slices[6], kPaths[6]));
  }
  head.labels = unless_null(slices[8]);
  head.owner_references = unless_null(slices[9]);
  return head;
}

Result<ListHead> for_each_item(std::string_view list_text, std::string_view member,
                               const std::function<Result<void>(std::string_view)>& on_item) {
  Cursor cursor(list_text);
  std::string buffer;
  ListHead head;
  Result<void> refused;
  std::string_view raw_version;
  std::string_view raw_kind;
  std::string_view raw_metadata;
  bool seen = false;
  auto take_item = [&](std::string_view raw) {
    ++head.items;
    refused = on_item(raw);
    return refused.has_value();
  };
  auto take_member = [&](const RawString& raw_key) {
    std::string_view key;
    if (!key_text(cursor, raw_key, buffer, key)) {
      return false;
    }
    if (key == member && cursor.peek() != 'n') {
      // The items of the first array are already handed out: they cannot be withdrawn.
      if (std::exchange(seen, true)) {
        return cursor.fail("the list holds its items twice");
      }
      return cursor.items(take_item);
    }
    std::string_view raw;
    std::string_view* target = key == "apiVersion" ? &raw_version
                               : key == "kind"     ? &raw_kind
                               : key == "metadata" ? &raw_metadata
                                                   : &raw;
    return cursor.value(*target);
  };
  if (!cursor.members(take_member) || !cursor.finish()) {
    return fail(refused ? cursor.error() : std::move(refused).error());
  }
  static constexpr std::array<std::string_view, 3> kPaths = {"resourceVersion", "continue",
                                                             "remainingItemCount"};
  std::array<std::string_view, kPaths.size()> slices;
  if (!is_null(raw_metadata)) {
    TRY(scan(raw_metadata, kPaths, slices));
  }
  TRY(read_strings({{raw_version, &head.api_version, "apiVersion"},
                    {raw_kind, &head.kind, "kind"},
                    {slices[0], &head.rv, "metadata.resourceVersion"},
                    {slices[1], &head.continue_token, "metadata.continue"}},
                   head.decoded));
  if (!is_null(slices[2])) {
    TRY_ASSIGN(head.remaining_item_count, read_integer(slices[2], "metadata.remainingItemCount"));
  }
  return head;
}

}  // namespace codeflare::json
