#pragma once

#include "apiserver/proto/internal/wire_reader.h"
#include "apiserver/schema/schema.h"
#include "base/error.h"
#include "json/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// Bits of a mask; more than any built-in structure has, which a test watches.
inline constexpr std::size_t kFieldsMax = 64;
// Levels of structures. The widest real nesting, schemas of custom resources, stays far below.
inline constexpr std::size_t kDepthMax = 100;
// Of a JSON text inside a message: with the structures around it, it can still be parsed as one.
inline constexpr std::size_t kRawDepthMax = 250;
// A hostile body holds empty messages of two bytes each that become whole objects.
inline constexpr std::size_t kTreeBytesMax = std::size_t{64} << 20;

// Turns protobuf messages into the JSON that upstream's types would give. For one body; when a
// function returned false, take_error() says why.
class Transcoder {
 public:
  explicit Transcoder(json::Arena& arena) : arena_(arena) {}

  // `api_version` and `kind` become the first members.
  bool object(const schema::Node& node, std::string_view bytes, std::string_view api_version,
              std::string_view kind, json::Value& out);
  Error take_error() { return *std::move(error_); }

 private:
  // The fields of one JSON object while its messages are read, by position in `node.fields`. Maps
  // are lists of keys and values in turn until all entries are there.
  struct Slots {
    const schema::Node& node;
    std::size_t base = 0;  // of its values in values_
    std::uint64_t present = 0;
  };

  bool structure(const schema::Node& node, std::string_view bytes, std::size_t depth,
                 json::Value& out);
  // `message` is the slots' own structure or one that is inlined into it.
  bool read(Slots& slots, const schema::Node& message, std::string_view bytes, std::size_t depth);
  bool read_field(Slots& slots, const schema::Field& field, Tag tag, WireReader& reader,
                  std::size_t depth);
  bool read_into_collection(const schema::Node& node, WireType expected, Tag tag,
                            WireReader& reader, std::size_t depth, json::Value& list);
  bool read_inlined(Slots& slots, const schema::Field& field, Tag tag, WireReader& reader,
                    std::size_t depth);
  bool read_element(const schema::Node& node, WireType type, WireReader& reader, std::size_t depth,
                    json::Value& out);
  bool read_packed(const schema::Node& items, WireType type, std::string_view bytes,
                   json::Value& list);
  bool read_map_entry(const schema::Node& items, std::string_view bytes, std::size_t depth,
                      json::Value& list);
  bool scalar(const schema::Node& node, std::uint64_t bits, json::Value& out);
  // The value of a field that has a length.
  bool payload(const schema::Node& node, std::string_view bytes, std::size_t depth,
               json::Value& out);
  bool any(const schema::Node& node, std::string_view bytes, std::size_t depth, json::Value& out);
  bool schema_or_list(const schema::Node& node, std::string_view bytes, std::size_t depth,
                      json::Value& out);
  bool schema_or_boolean(const schema::Node& node, std::string_view bytes, std::size_t depth,
                         json::Value& out);
  bool raw_json(std::string_view bytes, json::Value& out);
  bool time(std::string_view bytes, bool micro, json::Value& out);
  bool quantity(std::string_view bytes, json::Value& out);
  bool duration(std::string_view bytes, json::Value& out);
  bool int_or_string(std::string_view bytes, json::Value& out);
  bool item_list(const schema::Node& node, std::string_view bytes, json::Value& out);

  json::Value finish(const Slots& slots);
  bool is_shown(const Slots& slots, std::size_t at) const;
  json::Value finish_map(std::span<const json::Value> keys_and_values);

  bool fail(std::string message);
  bool fail_field(const schema::Node& message, Tag tag, std::string_view what);
  bool within_limits(std::size_t depth);

  json::Arena& arena_;
  std::vector<json::Value> values_{};  // of all structures that are being read, outermost first
  std::optional<Error> error_{};
};

}  // namespace codeflare::apiserver::internal
