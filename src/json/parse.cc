#include "json/parse.h"

#include "json/internal/tree_builder.h"
#include "json/text_position.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>

namespace codeflare::json {

namespace {

using BoostError = boost::system::error_code;
using BoostView = boost::json::string_view;

// Receives Boost.JSON's events. The whole source is handed over in one piece, so that a text
// without escapes arrives in one call that points into the source, where it stays.
class Handler {
 public:
  static constexpr std::size_t max_object_size = UINT32_MAX;
  static constexpr std::size_t max_array_size = UINT32_MAX;
  static constexpr std::size_t max_key_size = UINT32_MAX;
  static constexpr std::size_t max_string_size = UINT32_MAX;

  Handler(std::string_view source, Arena& arena, std::vector<std::string>* duplicate_keys)
      : arena_(arena), source_(source), builder_(arena, duplicate_keys) {}

  Value root() const { return builder_.root(); }

  bool on_document_begin(BoostError&) { return true; }
  bool on_document_end(BoostError&) { return true; }
  bool on_object_begin(BoostError&) {
    builder_.begin_object();
    return true;
  }
  bool on_object_end(std::size_t, BoostError&) {
    builder_.end_object();
    return true;
  }
  bool on_array_begin(BoostError&) {
    builder_.begin_array();
    return true;
  }
  bool on_array_end(std::size_t, BoostError&) {
    builder_.end_array();
    return true;
  }
  bool on_key_part(BoostView part, std::size_t, BoostError&) {
    parts_.append(part.data(), part.size());
    return true;
  }
  bool on_key(BoostView last, std::size_t, BoostError&) {
    builder_.key(finish(last));
    return true;
  }
  bool on_string_part(BoostView part, std::size_t, BoostError&) {
    parts_.append(part.data(), part.size());
    return true;
  }
  bool on_string(BoostView last, std::size_t, BoostError&) {
    builder_.value(Value::string_view_of(finish(last)));
    return true;
  }
  bool on_number_part(BoostView, BoostError&) { return true; }
  bool on_int64(std::int64_t, BoostView text, BoostError&) { return number(text); }
  bool on_uint64(std::uint64_t, BoostView text, BoostError&) { return number(text); }
  bool on_double(double, BoostView text, BoostError&) { return number(text); }
  bool on_bool(bool value, BoostError&) {
    builder_.value(Value::boolean(value));
    return true;
  }
  bool on_null(BoostError&) {
    builder_.value(Value());
    return true;
  }
  bool on_comment_part(BoostView, BoostError&) { return true; }
  bool on_comment(BoostView, BoostError&) { return true; }

 private:
  // Text with escapes arrives from Boost's own buffer, the rest straight from the source.
  bool in_source(const char* at) const {
    auto offset =
        reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(source_.data());
    return offset < source_.size();
  }

  std::string_view finish(BoostView boost_last) {
    std::string_view last(boost_last.data(), boost_last.size());
    if (parts_.empty()) [[likely]] {
      return in_source(last.data()) ? last : arena_.copy(last);
    }
    parts_.append(last);
    std::string_view kept = arena_.copy(parts_);
    parts_.clear();
    return kept;
  }

  bool number(BoostView text) {
    builder_.value(Value::number_text({text.data(), text.size()}));
    return true;
  }

  Arena& arena_;
  std::string_view source_;
  internal::TreeBuilder builder_;
  std::string parts_;
};

// Offsets and stack positions are kept in 32 bits.
constexpr std::size_t kBytesLimit = std::size_t{2} << 30;
constexpr std::size_t kReserveBelow = std::size_t{64} << 10;

std::string cause_of_syntax(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) {
    return "the text ends too early";
  }
  auto byte = static_cast<unsigned char>(text[offset]);
  if (byte >= 0x80) {
    return "invalid UTF-8 or a stray character";
  }
  if (byte < 0x20 || byte == 0x7f) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    return std::string("unexpected control character 0x") + kHex[byte >> 4] + kHex[byte & 15];
  }
  return std::string("unexpected '") + static_cast<char>(byte) + "'";
}

Error to_error(const BoostError& error, std::string_view text, std::size_t offset,
               std::size_t max_depth) {
  namespace bj = boost::json;
  ErrorCode code = ErrorCode::invalid_argument;
  std::string cause;
  if (error == bj::error::too_deep) {
    code = ErrorCode::too_large;
    cause = "nested deeper than " + std::to_string(max_depth) + " levels";
  } else if (error == bj::error::incomplete) {
    cause = "the text ends too early";
    offset = text.size();
  } else if (error == bj::error::extra_data) {
    cause = "more text after the value";
  } else if (error == bj::error::exponent_overflow) {
    cause = "exponent out of range";
  } else if (error == bj::error::illegal_leading_surrogate ||
             error == bj::error::illegal_trailing_surrogate) {
    cause = "lone surrogate in a \\u escape";
  } else if (error == bj::error::expected_hex_digit) {
    cause = "expected a hex digit in a \\u escape";
  } else {
    cause = cause_of_syntax(text, offset);
  }
  return error_at(code, position_of(text, offset), cause);
}

Result<Document> parse_text(std::string_view text, const ParseOptions& options, bool copy_text) {
  std::size_t max_bytes = std::min(options.max_bytes, kBytesLimit);
  if (text.size() > max_bytes) {
    return fail(too_large("text of " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(max_bytes) + " are allowed"));
  }
  boost::json::parse_options boost_options;
  boost_options.max_depth = std::min(options.max_depth, kDepthLimit);
  Document document;
  // Kubernetes objects need about this much; larger texts grow block by block.
  if (text.size() < kReserveBelow) {
    document.arena.reserve(text.size() * (copy_text ? 11 : 7) / 4);
  }
  if (copy_text) {
    // All at once: piece by piece would take longer and save little.
    text = document.arena.copy(text);
  }
  boost::json::basic_parser<Handler> parser(boost_options, text, document.arena,
                                            options.duplicate_keys);
  BoostError error;
  std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) {
    error = boost::json::error::extra_data;
  }
  if (error) {
    return fail(to_error(error, text, used, boost_options.max_depth));
  }
  document.root = parser.handler().root();
  return document;
}

}  // namespace

Result<Document> parse(std::string_view text, const ParseOptions& options) {
  return parse_text(text, options, true);
}

Result<Document> parse_in_place(std::string_view text, const ParseOptions& options) {
  return parse_text(text, options, false);
}

}  // namespace codeflare::json
