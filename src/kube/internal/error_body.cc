#include "kube/internal/error_body.h"

#include "json/parse.h"
#include "model/codec/meta.h"
#include "model/status.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kSnippetMax = 200;

std::optional<model::Status> parse_status(std::string_view body) {
  Result<json::Document> document = json::parse_in_place(body);
  if (!document || document->root.string_or_empty("kind") != "Status") {
    return std::nullopt;
  }
  Result<model::Status> status = model::from_json<model::Status>(document->root);
  return status ? std::optional(*std::move(status)) : std::nullopt;
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
