#pragma once

#include "base/result.h"
#include "json/internal/yaml_scalar.h"
#include "json/value.h"
#include "json/yaml.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json::internal {

// A place in the YAML text; both count from 0, columns in characters.
struct Mark {
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t index = 0;
};

Error yaml_error(ErrorCode code, Mark mark, std::string_view cause);

struct ScalarEvent {
  std::string_view text;
  std::string_view tag;
  std::string_view anchor;
  bool implicit = false;  // plain, so that the text decides what it is
};

// Builds one document from the events of a YAML parser: resolves scalars, anchors, aliases and
// merge keys, and looks for duplicate keys.
class YamlBuilder {
 public:
  explicit YamlBuilder(const YamlOptions& options);

  Result<void> scalar(const ScalarEvent& event, Mark mark);
  Result<void> alias(std::string_view anchor, Mark mark);
  Result<void> begin(bool is_mapping, std::string_view anchor, Mark mark);
  Result<void> end(Mark mark);

  // The finished document; the builder is spent.
  Document take();

 private:
  // A member or item waiting for the end of its container.
  struct Entry {
    Member member;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool merged = false;
  };
  struct Frame {
    bool is_mapping = false;
    bool has_key = false;
    bool merges = false;  // the key is <<
    std::size_t start = 0;
    std::string_view key;
    Mark key_mark;
    std::string anchor;
  };
  struct Anchor {
    Value value;
    bool has_value = true;           // not for infinity and NaN, which can be keys only
    bool open = true;                // its value is not complete yet
    std::optional<std::string> key;  // what a scalar is as a key
  };

  bool wants_key() const {
    return !frames_.empty() && frames_.back().is_mapping && !frames_.back().has_key;
  }
  Result<void> take_key(std::string_view key, Mark mark);
  Result<void> deliver(Value value, bool is_alias, Mark mark);
  Result<void> merge(Value value, bool is_alias, Mark mark);
  Result<void> resolve_duplicates(std::size_t start);
  Result<void> duplicate(const Entry& entry);
  std::string path_of(std::string_view key) const;
  Value take_entries(const Frame& frame);

  const YamlOptions& options_;
  Document document_;
  std::vector<Entry> entries_;
  std::vector<Frame> frames_;
  std::map<std::string, Anchor, std::less<>> anchors_;
  std::size_t alias_bytes_ = 0;
};

}  // namespace codeflare::json::internal
