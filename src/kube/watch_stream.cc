#include "kube/watch_stream.h"

#include "base/bytes.h"
#include "json/parse.h"
#include "json/scan.h"
#include "kube/internal/error_body.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::kube {

namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Result<WatchEvent> parse_bookmark(std::string_view object) {
  constexpr std::array<std::string_view, 2> kPaths = {"metadata.resourceVersion",
                                                      "metadata.annotations"};
  std::array<std::string_view, 2> slices;
  TRY(json::scan(object, kPaths, slices));
  json::Arena arena;
  TRY_ASSIGN(const std::string_view rv, json::unquote(slices[0], arena));
  if (rv.empty()) {
    return fail(internal_error("a bookmark without metadata.resourceVersion"));
  }
  WatchEvent event;
  event.type = WatchEvent::Type::bookmark;
  event.resource_version = rv;
  if (slices[1].starts_with('{')) {
    TRY_ASSIGN(const json::Document annotations, json::parse_in_place(slices[1]));
    event.initial_events_end = annotations.root.string_or_empty(kInitialEventsEnd) == "true";
  }
  return event;
}

Result<WatchEvent> parse_change(std::string_view type, std::string_view object) {
  WatchEvent event;
  if (type == "ADDED") {
    event.type = WatchEvent::Type::added;
  } else if (type == "MODIFIED") {
    event.type = WatchEvent::Type::modified;
  } else if (type == "DELETED") {
    event.type = WatchEvent::Type::deleted;
  } else {
    return fail(internal_error("unknown type \"" + std::string(type.substr(0, 40)) + "\""));
  }
  TRY_ASSIGN(event.object, Object::from_json(object));
  event.resource_version = event.object->resource_version();
  return event;
}

// Not the caller's request is wrong but what came back.
Error damaged(const Error& cause) {
  return data_loss("watch event: " + cause.message);
}

// Body pieces in, lines out. Lines within one piece are not copied.
class LineReader {
 public:
  LineReader(net::Body body, std::size_t line_bytes_max)
      : body_(std::move(body)), line_bytes_max_(line_bytes_max) {}

  // The next line that is not blank, valid until the next call; nothing at the end.
  Task<Result<std::optional<std::string_view>>> next() {
    while (true) {
      if (std::optional<std::string_view> line = take_line()) {
        if (is_blank(*line)) {
          continue;
        }
        co_return line;
      }
      if (partial_.size() > line_bytes_max_) {
        co_return fail(
            too_large("a watch event of more than " + std::to_string(line_bytes_max_) + " bytes"));
      }
      if (body_ == nullptr) {
        co_return std::nullopt;
      }
      CO_TRY_ASSIGN(piece_, co_await body_->read());
      at_ = 0;
      if (piece_.empty()) {
        body_.reset();
        co_return rest();
      }
    }
  }

  // True when the line that next() gave last was ended by the end of the body alone.
  bool at_end() const { return body_ == nullptr; }

 private:
  std::optional<std::string_view> take_line() {
    if (line_taken_) {
      partial_.clear();
      line_taken_ = false;
    }
    const std::string_view piece = piece_.view().substr(at_);
    const std::size_t newline = piece.find('\n');
    if (newline == std::string_view::npos) {
      partial_ += piece;
      piece_ = Bytes();
      at_ = 0;
      return std::nullopt;
    }
    at_ += newline + 1;
    if (partial_.empty()) {
      return piece.substr(0, newline);
    }
    partial_ += piece.substr(0, newline);
    line_taken_ = true;
    return partial_;
  }

  std::optional<std::string_view> rest() {
    line_taken_ = true;
    return is_blank(partial_) ? std::nullopt : std::optional<std::string_view>(partial_);
  }

  net::Body body_;
  std::size_t line_bytes_max_;
  Bytes piece_;
  std::size_t at_ = 0;
  std::string partial_;  // of a line that began in earlier pieces
  bool line_taken_ = false;
};

class JsonWatchStream final : public WatchStream {
 public:
  JsonWatchStream(net::Body body, std::size_t event_bytes_max)
      : lines_(std::move(body), event_bytes_max) {}

  Task<Result<std::optional<WatchEvent>>> next() override {
    CO_TRY_ASSIGN(const std::optional<std::string_view> line, co_await lines_.next());
    if (!line) {
      co_return std::nullopt;
    }
    Result<WatchEvent> event = parse_watch_event(*line);
    if (!event && lines_.at_end() && event.error().code == ErrorCode::data_loss) {
      co_return fail(unavailable("the watch ended within an event, after " +
                                 std::to_string(line->size()) + " bytes of it"));
    }
    if (!event) {
      co_return fail(std::move(event).error());
    }
    co_return *std::move(event);
  }

 private:
  LineReader lines_;
};

}  // namespace

Result<WatchEvent> parse_watch_event(std::string_view line) {
  Result<json::WatchEventSlices> slices = json::scan_watch_event(line);
  if (!slices) {
    return fail(damaged(slices.error()));
  }
  if (slices->type == "ERROR") {
    return fail(internal::error_of_answer("watch", 500, slices->object));
  }
  Result<WatchEvent> event = slices->type == "BOOKMARK"
                                 ? parse_bookmark(slices->object)
                                 : parse_change(slices->type, slices->object);
  return event ? std::move(event) : fail(damaged(event.error()));
}

std::unique_ptr<WatchStream> make_watch_stream(net::Body body, std::size_t event_bytes_max) {
  return std::make_unique<JsonWatchStream>(std::move(body), event_bytes_max);
}

}  // namespace codeflare::kube
