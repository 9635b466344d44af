#include "json/yaml.h"

#include "json/internal/yaml_builder.h"

#include <optional>
#include <utility>
#include <yaml.h>

namespace codeflare::json {

namespace {

using internal::Mark;
using internal::yaml_error;
using internal::YamlBuilder;

class Parser {
 public:
  explicit Parser(std::string_view text) {
    CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  bool next(yaml_event_t& event) { return yaml_parser_parse(&parser_, &event) == 1; }

  Error error() const {
    std::string cause = parser_.problem == nullptr ? "malformed" : parser_.problem;
    if (parser_.error == YAML_READER_ERROR) {
      // The reader knows only the byte; the mark is where the scanner stood.
      cause += " at byte " + std::to_string(parser_.problem_offset);
      return yaml_error(ErrorCode::invalid_argument, mark_of(parser_.mark), cause);
    }
    if (parser_.context != nullptr) {
      cause += std::string(", ") + parser_.context;
    }
    return yaml_error(ErrorCode::invalid_argument, mark_of(parser_.problem_mark), cause);
  }

  static Mark mark_of(const yaml_mark_t& mark) { return {mark.line, mark.column, mark.index}; }

 private:
  yaml_parser_t parser_;
};

// One event, freed with its scope.
class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t& raw() { return event_; }
  Mark mark() const { return Parser::mark_of(event_.start_mark); }

 private:
  yaml_event_t event_{};
};

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

internal::ScalarEvent scalar_of(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  return {{reinterpret_cast<const char*>(scalar.value), scalar.length},
          view(scalar.tag),
          view(scalar.anchor),
          scalar.plain_implicit == 1};
}

// Collects the documents of a stream.
class Reader {
 public:
  Reader(std::string_view text, const YamlOptions& options) : parser_(text), options_(options) {}

  Result<std::vector<Document>> read() {
    while (true) {
      Event event;
      if (!parser_.next(event.raw())) {
        return fail(parser_.error());
      }
      if (event.raw().type == YAML_STREAM_END_EVENT) {
        return std::move(documents_);
      }
      TRY(take(event));
    }
  }

 private:
  Result<void> take(Event& event) {
    const yaml_event_t& raw = event.raw();
    switch (raw.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (documents_.size() == options_.max_documents) {
          return fail(yaml_error(ErrorCode::too_large, event.mark(), "too many documents"));
        }
        builder_.emplace(options_);
        return {};
      case YAML_DOCUMENT_END_EVENT:
        finish_document();
        return {};
      case YAML_SCALAR_EVENT:
        return builder_->scalar(scalar_of(raw), event.mark());
      case YAML_ALIAS_EVENT:
        return builder_->alias(view(raw.data.alias.anchor), event.mark());
      case YAML_MAPPING_START_EVENT:
        return builder_->begin(true, view(raw.data.mapping_start.anchor), event.mark());
      case YAML_SEQUENCE_START_EVENT:
        return builder_->begin(false, view(raw.data.sequence_start.anchor), event.mark());
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        return builder_->end(event.mark());
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
        break;
    }
    return {};
  }

  void finish_document() {
    Document document = builder_->take();
    builder_.reset();
    if (!document.root.is_null() || options_.keep_empty_documents) {
      documents_.push_back(std::move(document));
    }
  }

  Parser parser_;
  const YamlOptions& options_;
  std::optional<YamlBuilder> builder_;
  std::vector<Document> documents_;
};

}  // namespace

Result<std::vector<Document>> parse_yaml(std::string_view text, const YamlOptions& options) {
  if (text.size() > options.max_bytes) {
    return fail(too_large("text of " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(options.max_bytes) + " are allowed"));
  }
  return Reader(text, options).read();
}

}  // namespace codeflare::json
