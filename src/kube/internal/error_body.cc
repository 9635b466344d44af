#include "kube/internal/error_body.h"

#include "json/parse.h"
#include "model/status.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kSnippetMax = 200;

std::int32_t to_int32(const json::Value* value) {
  const std::int64_t wide =
      value != nullptr && value->is_number() ? value->to_int64().value_or(0) : 0;
  return wide >= 0 && wide <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(wide)
             : 0;
}

model::StatusDetails to_details(const json::Value& value) {
  model::StatusDetails details{.name = std::string(value.string_or_empty("name")),
                               .group = std::string(value.string_or_empty("group")),
                               .kind = std::string(value.string_or_empty("kind")),
                               .uid = std::string(value.string_or_empty("uid"))};
  if (const json::Value* causes = value.find("causes")) {
    for (const json::Value& cause : causes->items()) {
      details.causes.push_back({.reason = std::string(cause.string_or_empty("reason")),
                                .message = std::string(cause.string_or_empty("message")),
                                .field = std::string(cause.string_or_empty("field"))});
    }
  }
  details.retry_after_seconds = to_int32(value.find("retryAfterSeconds"));
  return details;
}

std::optional<model::Status> parse_status(std::string_view body) {
  Result<json::Document> document = json::parse_in_place(body);
  if (!document || document->root.string_or_empty("kind") != "Status") {
    return std::nullopt;
  }
  const json::Value& root = document->root;
  model::Status status;
  status.status = root.string_or_empty("status");
  status.message = root.string_or_empty("message");
  status.reason = root.string_or_empty("reason");
  status.code = to_int32(root.find("code"));
  if (const json::Value* metadata = root.find("metadata")) {
    status.metadata.resource_version = metadata->string_or_empty("resourceVersion");
    status.metadata.continue_token = metadata->string_or_empty("continue");
  }
  if (const json::Value* details = root.find("details");
      details != nullptr && details->is_object()) {
    status.details = to_details(*details);
  }
  return status;
}

// The first line, of printable bytes only: it may be any page of any proxy.
std::string snippet(std::string_view body) {
  std::string text;
  for (char c : body.substr(0, kSnippetMax)) {
    if (c == '\n' || c == '\r') {
      break;
    }
    text += c >= ' ' && c != 0x7f ? c : '?';
  }
  return text;
}

}  // namespace

Error error_of_answer(std::string_view what, int status, std::string_view body) {
  std::optional<model::Status> parsed = parse_status(body);
  if (parsed && parsed->status != "Success") {
    if (parsed->code == 0) {
      parsed->code = status;
    }
    return model::to_error(*std::move(parsed));
  }
  model::Status made;
  made.status = "Failure";
  made.code = status;
  made.message = std::string(what) + ": the server answered " + std::to_string(status);
  if (std::string text = snippet(body); !text.empty()) {
    made.message += ": " + text;
  }
  return model::to_error(std::move(made));
}

std::optional<Duration> retry_after(const net::Headers& headers) {
  const std::optional<std::string_view> text = headers.get("retry-after");
  if (!text) {
    return std::nullopt;
  }
  std::uint32_t seconds = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size()) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

}  // namespace codeflare::kube::internal
