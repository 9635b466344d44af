#pragma once

#include "sdk/cluster_config.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The one table of the fields of a Ray cluster. Reading, the options of the command line, the
// Python dataclass and the page in docs/ follow from it or are compared with it by a test.
namespace codeflare::sdk {

enum class FieldType : std::uint8_t {
  text,
  integer,
  boolean,
  cpu,         // a quantity; a bare number is CPUs
  memory,      // a quantity; a bare number is decimal gigabytes
  duration,    // "6h", "90m"; a bare number is seconds
  text_map,    // key -> text
  amount_map,  // resource -> whole number
  text_list,
  object_list,  // of Kubernetes' own shape
  object,
  queueing,  // "appwrapper", "kueue", "none"
};

struct Field {
  using Member =
      std::variant<std::string ClusterConfig::*, std::int64_t ClusterConfig::*,
                   std::optional<std::int64_t> ClusterConfig::*, bool ClusterConfig::*,
                   model::StringMap ClusterConfig::*, std::vector<std::string> ClusterConfig::*,
                   model::RawJson ClusterConfig::*, Queueing ClusterConfig::*>;

  std::string_view name;  // in Python and in files
  FieldType type = FieldType::text;
  Member member;
  std::string_view flags;  // "--workers,--num-workers"; empty: no option of its own
  std::string_view help;   // a noun phrase
};

// In the order in which people read them.
std::span<const Field> cluster_fields();
const Field* find_field(std::string_view name);
// As people write it: "1", "3G", "false"; empty without one.
std::string default_text(const Field& field);

// Another name for one field or two: a short form, or the name of an earlier version.
struct Alias {
  enum class Rule : std::uint8_t {
    same,      // the value goes to each of the fields
    gpus,      // a number of nvidia.com/gpu
    wrapped,   // true: queueing "appwrapper", false: "none"
    no_effect  // accepted, without a meaning here
  };
  std::string_view name;
  Rule rule = Rule::same;
  std::string_view field;
  std::string_view second{};  // a further field that gets the same value
  std::string_view flags{};   // as of a Field
  std::string_view help{};    // where there are flags; else why it has no effect
};
std::span<const Alias> cluster_aliases();
const Alias* find_alias(std::string_view name);

}  // namespace codeflare::sdk
