#include "json/internal/go_float.h"
#include "json/internal/natural_order.h"
#include "json/internal/utf8.h"
#include "json/internal/yaml_scalar.h"
#include "json/yaml.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>
#include <yaml.h>

namespace codeflare::json {

namespace {

// Bytes that are not UTF-8 become U+FFFD, as in JSON.
std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = internal::utf8_length(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// As Go prints numbers that are not written as integers, unless that would change the value.
std::string number_for_yaml(const Value& value) {
  std::string_view text = value.number();
  if (text.find_first_of(".eE") == text.npos) {
    return std::string(text);
  }
  if (auto number = value.to_double()) {
    std::string general = internal::go_general_number(*number);
    if (equal(Value::number_text(general), value)) {
      return general;
    }
  }
  return std::string(text);
}

// Line breaks other than \n would be normalised away by a reader unless they are escaped.
bool has_odd_break(std::string_view text) {
  return text.contains('\r') || text.contains("\xc2\x85") || text.contains("\xe2\x80\xa8") ||
         text.contains("\xe2\x80\xa9");
}

yaml_scalar_style_t style_of(const std::string& text) {
  if (has_odd_break(text)) {
    return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  }
  if (text.contains('\n')) {
    return YAML_LITERAL_SCALAR_STYLE;
  }
  bool stays_string = internal::resolve_plain(text).type == internal::ScalarType::string &&
                      !internal::looks_like_base60(text) && text != "<<";
  return stays_string ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

// libyaml's emitter with the settings that kubectl's printer uses; it falls back to quotes where
// the asked style cannot carry a text.
class Emitter {
 public:
  Emitter(std::string& out, bool sorted) : sorted_(sorted) {
    CHECK(yaml_emitter_initialize(&emitter_) == 1);
    yaml_emitter_set_output(&emitter_, append, &out);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void document(const Value& value) {
    yaml_event_t event;
    emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1));
    node(value);
    emitter_.open_ended = 0;  // no "..." after a block that keeps its last line breaks
    emit(event, yaml_document_end_event_initialize(&event, 1));
    emit(event, yaml_stream_end_event_initialize(&event));
  }

 private:
  static int append(void* data, unsigned char* buffer, std::size_t size) {
    static_cast<std::string*>(data)->append(reinterpret_cast<const char*>(buffer), size);
    return 1;
  }

  // All texts are valid UTF-8, so that only a lack of memory could make these fail.
  void emit(yaml_event_t& event, int initialized) {
    CHECK(initialized == 1);
    CHECK(yaml_emitter_emit(&emitter_, &event) == 1);
  }

  void node(const Value& value) {
    switch (value.kind()) {
      case Kind::null:
        return scalar("null", YAML_PLAIN_SCALAR_STYLE);
      case Kind::boolean:
        return scalar(value.as_bool() ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
      case Kind::number:
        return scalar(number_for_yaml(value), YAML_PLAIN_SCALAR_STYLE);
      case Kind::string:
        return text(value.as_string());
      case Kind::array:
        return array(value);
      case Kind::object:
        return object(value);
    }
  }

  void text(std::string_view raw) {
    std::string valid = valid_utf8(raw);
    scalar(valid, style_of(valid));
  }

  void scalar(std::string_view content, yaml_scalar_style_t style) {
    yaml_event_t event;
    auto* bytes = reinterpret_cast<const yaml_char_t*>(content.data());
    emit(event, yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                             static_cast<int>(content.size()), 1, 1, style));
  }

  void array(const Value& value) {
    yaml_event_t event;
    emit(event, yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                                     YAML_BLOCK_SEQUENCE_STYLE));
    for (const Value& item : value.items()) {
      node(item);
    }
    emit(event, yaml_sequence_end_event_initialize(&event));
  }

  void object(const Value& value) {
    yaml_event_t event;
    emit(event, yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                                    YAML_BLOCK_MAPPING_STYLE));
    std::vector<const Member*> members;
    for (const Member& member : value.members()) {
      members.push_back(&member);
    }
    if (sorted_) {
      internal::sort_naturally(members);
    }
    for (const Member* member : members) {
      text(member->key);
      node(member->value);
    }
    emit(event, yaml_mapping_end_event_initialize(&event));
  }

  yaml_emitter_t emitter_;
  bool sorted_;
};

}  // namespace

std::string to_yaml(const Value& value, const YamlWriteOptions& options) {
  std::string out;
  Emitter(out, options.sorted).document(value);
  return out;
}

}  // namespace codeflare::json
