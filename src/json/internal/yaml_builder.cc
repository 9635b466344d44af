#include "json/internal/yaml_builder.h"

#include "base/base64.h"
#include "json/internal/go_float.h"
#include "json/internal/measure.h"
#include "json/internal/utf8.h"
#include "json/parse.h"
#include "json/text_position.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace codeflare::json::internal {

namespace {

constexpr std::string_view kBinaryTag = "tag:yaml.org,2002:binary";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";

bool is_merge_key(const ScalarEvent& event) {
  return event.text == "<<" && (event.implicit || event.tag == kMergeTag);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

// The meaning of the scalar, and its text, which differs from the source for !!binary.
struct Resolved {
  Scalar scalar;
  std::string_view source;
  std::optional<std::string> decoded;

  std::string_view text() const { return decoded ? std::string_view(*decoded) : source; }
};

Result<Resolved> resolve(const ScalarEvent& event) {
  Resolved resolved;
  resolved.source = event.text;
  if (event.tag == kBinaryTag) {
    Result<std::string> bytes = from_base64(event.text);
    if (!bytes || !is_utf8(*bytes)) {
      return fail(invalid_argument("!!binary must be base64 of UTF-8 text"));
    }
    resolved.decoded = *std::move(bytes);
  } else if (!event.tag.empty()) {
    TRY_ASSIGN(resolved.scalar, resolve_tagged(event.text, event.tag));
  } else if (event.implicit) {
    resolved.scalar = resolve_plain(event.text);
  }
  return resolved;
}

Result<Value> value_of(Arena& arena, const Resolved& resolved) {
  switch (resolved.scalar.type) {
    case ScalarType::null:
      return Value();
    case ScalarType::boolean:
      return Value::boolean(resolved.scalar.boolean);
    case ScalarType::integer:
      return Value::number_text(arena.copy(resolved.scalar.integer));
    case ScalarType::floating:
      if (!std::isfinite(resolved.scalar.floating)) {
        return fail(invalid_argument("infinity and NaN cannot be written in JSON"));
      }
      return Value::number_text(arena.copy(go_json_number(resolved.scalar.floating)));
    case ScalarType::timestamp:
    case ScalarType::string:
      return Value::string(arena, resolved.text());
  }
  return Value();
}

Result<std::string> key_of(const Resolved& resolved) {
  switch (resolved.scalar.type) {
    case ScalarType::null:
      return fail(invalid_argument("null cannot be a key"));
    case ScalarType::boolean:
      return std::string(resolved.scalar.boolean ? "true" : "false");
    case ScalarType::integer:
      return resolved.scalar.integer;
    case ScalarType::floating:
      // Single precision: what sigs.k8s.io/yaml does with such keys.
      return go_general_number(static_cast<float>(resolved.scalar.floating));
    case ScalarType::timestamp:
    case ScalarType::string:
      return std::string(resolved.text());
  }
  return std::string();
}

}  // namespace

Error yaml_error(ErrorCode code, Mark mark, std::string_view cause) {
  auto position = std::make_shared<TextPosition>();
  position->line = mark.line + 1;
  position->column = mark.column + 1;
  position->offset = mark.index;
  Error error(code, "line " + std::to_string(position->line) + ", column " +
                        std::to_string(position->column) + ": " + std::string(cause));
  error.detail = std::move(position);
  return error;
}

YamlBuilder::YamlBuilder(const YamlOptions& options) : options_(options) {}

Result<void> YamlBuilder::scalar(const ScalarEvent& event, Mark mark) {
  bool as_key = wants_key();
  if (as_key && is_merge_key(event)) {
    frames_.back().merges = true;
    return take_key({}, mark);
  }
  auto located = [&](Error error) { return fail(yaml_error(error.code, mark, error.message)); };
  auto resolved = resolve(event);
  if (!resolved) {
    return located(std::move(resolved).error());
  }
  Result<std::string> key = std::string();
  if (as_key || !event.anchor.empty()) {
    key = key_of(*resolved);
  }
  Result<Value> value = Value();
  if (!as_key || !event.anchor.empty()) {
    value = value_of(document_.arena, *resolved);
  }
  if (!event.anchor.empty()) {
    Anchor anchor;
    anchor.open = false;
    anchor.value = value.value_or(Value());
    anchor.has_value = value.has_value();
    anchor.key = key ? std::optional(*key) : std::nullopt;
    anchors_.insert_or_assign(std::string(event.anchor), std::move(anchor));
  }
  if (as_key) {
    return key ? take_key(document_.arena.copy(*key), mark) : located(std::move(key).error());
  }
  return value ? deliver(*value, false, mark) : located(std::move(value).error());
}

Result<void> YamlBuilder::alias(std::string_view name, Mark mark) {
  auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return fail(yaml_error(ErrorCode::invalid_argument, mark,
                           "there is no anchor \"" + std::string(name) + "\""));
  }
  const Anchor& anchor = found->second;
  if (anchor.open) {
    return fail(yaml_error(ErrorCode::invalid_argument, mark,
                           "the value of anchor \"" + std::string(name) + "\" contains itself"));
  }
  if (wants_key()) {
    if (!anchor.key) {
      return fail(yaml_error(ErrorCode::invalid_argument, mark, "this cannot be a key"));
    }
    alias_bytes_ += anchor.key->size();
  } else if (!anchor.has_value) {
    return fail(yaml_error(ErrorCode::invalid_argument, mark,
                           "infinity and NaN cannot be written in JSON"));
  } else {
    alias_bytes_ += sizeof(Member) + footprint(anchor.value);
  }
  if (alias_bytes_ > options_.max_alias_bytes) {
    return fail(yaml_error(ErrorCode::too_large, mark, "aliases expand to too much"));
  }
  if (wants_key()) {
    return take_key(document_.arena.copy(*anchor.key), mark);
  }
  std::size_t depth = frames_.size() + measure(anchor.value).depth;
  if (depth > std::min(options_.max_depth, kDepthLimit)) {
    return fail(yaml_error(ErrorCode::too_large, mark, "aliases nest too deep"));
  }
  return deliver(anchor.value.clone(document_.arena), true, mark);
}

Result<void> YamlBuilder::begin(bool is_mapping, std::string_view anchor, Mark mark) {
  if (wants_key()) {
    return fail(yaml_error(ErrorCode::invalid_argument, mark,
                           is_mapping ? "a mapping cannot be a key" : "a list cannot be a key"));
  }
  if (frames_.size() >= std::min(options_.max_depth, kDepthLimit)) {
    return fail(yaml_error(ErrorCode::too_large, mark, "nested too deep"));
  }
  Frame frame;
  frame.is_mapping = is_mapping;
  frame.start = entries_.size();
  if (!anchor.empty()) {
    frame.anchor = anchor;
    anchors_.insert_or_assign(frame.anchor, Anchor());
  }
  frames_.push_back(std::move(frame));
  return {};
}

Result<void> YamlBuilder::end(Mark mark) {
  if (frames_.back().is_mapping) {
    TRY(resolve_duplicates(frames_.back().start));
  }
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Value value = take_entries(frame);
  if (auto anchor = anchors_.find(frame.anchor); anchor != anchors_.end()) {
    // Unless the name was given away again inside.
    if (anchor->second.open) {
      anchor->second.value = value;
      anchor->second.open = false;
    }
  }
  return deliver(value, false, mark);
}

Document YamlBuilder::take() {
  return std::move(document_);
}

Result<void> YamlBuilder::take_key(std::string_view key, Mark mark) {
  Frame& frame = frames_.back();
  frame.has_key = true;
  frame.key = key;
  frame.key_mark = mark;
  return {};
}

Result<void> YamlBuilder::deliver(Value value, bool is_alias, Mark mark) {
  if (frames_.empty()) {
    document_.root = value;
    return {};
  }
  Frame& frame = frames_.back();
  if (!frame.is_mapping) {
    entries_.push_back({{{}, value}});
    return {};
  }
  frame.has_key = false;
  if (std::exchange(frame.merges, false)) {
    return merge(value, is_alias, mark);
  }
  entries_.push_back({{frame.key, value},
                      static_cast<std::uint32_t>(frame.key_mark.line),
                      static_cast<std::uint32_t>(frame.key_mark.column)});
  return {};
}

Result<void> YamlBuilder::merge(Value value, bool is_alias, Mark mark) {
  auto add_all = [&](const Value& source) {
    for (const Member& member : source.members()) {
      Entry entry{member};
      entry.merged = true;
      entries_.push_back(entry);
    }
  };
  bool list_of_objects =
      value.is_array() && !is_alias && std::ranges::all_of(value.items(), &Value::is_object);
  if (!value.is_object() && !list_of_objects) {
    return fail(
        yaml_error(ErrorCode::invalid_argument, mark, "<< needs a mapping or a list of mappings"));
  }
  add_all(value);
  // Earlier ones win, so they come last.
  for (std::size_t i = value.items().size(); i > 0; --i) {
    add_all(value.items()[i - 1]);
  }
  return {};
}

// Leaves one entry per key: at the place of the first, with the value of the last.
Result<void> YamlBuilder::resolve_duplicates(std::size_t start) {
  struct Seen {
    std::size_t at;
    bool merged;
  };
  std::map<std::string_view, Seen> seen;
  std::size_t kept = start;
  for (std::size_t i = start; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    auto [found, is_new] = seen.try_emplace(entry.member.key, Seen{kept, entry.merged});
    if (is_new) {
      entries_[kept++] = entry;
      continue;
    }
    Seen& first = found->second;
    if (!entry.merged && !first.merged) {
      TRY(duplicate(entry));
    }
    first.merged = first.merged && entry.merged;
    entries_[first.at].member.value = entry.member.value;
  }
  entries_.resize(kept);
  return {};
}

Result<void> YamlBuilder::duplicate(const Entry& entry) {
  std::string path = path_of(entry.member.key);
  if (options_.duplicate_keys == nullptr) {
    return fail(yaml_error(ErrorCode::invalid_argument, Mark{entry.line, entry.column},
                           "the key \"" + path + "\" occurs twice"));
  }
  if (options_.duplicate_keys->size() < kDuplicateKeysMax) {
    options_.duplicate_keys->push_back(std::move(path));
  }
  return {};
}

std::string YamlBuilder::path_of(std::string_view key) const {
  std::string path;
  for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
    if (frames_[i].is_mapping) {
      path += path.empty() ? "" : ".";
      path += frames_[i].merges ? "<<" : frames_[i].key;
    } else {
      path += '[' + std::to_string(frames_[i + 1].start - frames_[i].start) + ']';
    }
  }
  path += path.empty() ? "" : ".";
  path += key;
  return path;
}

Value YamlBuilder::take_entries(const Frame& frame) {
  std::span<const Entry> own(entries_.begin() + static_cast<std::ptrdiff_t>(frame.start),
                             entries_.end());
  Arena& arena = document_.arena;
  Value result = frame.is_mapping ? Value::object() : Value::array();
  if (!own.empty() && frame.is_mapping) {
    auto* members =
        static_cast<Member*>(arena.allocate(own.size() * sizeof(Member), alignof(Member)));
    std::ranges::transform(own, members, &Entry::member);
    result = Value::object_of({members, own.size()});
  } else if (!own.empty()) {
    auto* items = static_cast<Value*>(arena.allocate(own.size() * sizeof(Value), alignof(Value)));
    std::ranges::transform(own, items, [](const Entry& entry) { return entry.member.value; });
    result = Value::array_of({items, own.size()});
  }
  entries_.resize(frame.start);
  return result;
}

}  // namespace codeflare::json::internal
