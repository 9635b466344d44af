#include "ray/internal/answer.h"

#include "base/split.h"
#include "json/parse.h"
#include "json/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace codeflare::ray::internal {

namespace {

constexpr std::size_t kLineMax = 400;

// Of a dashboard whose agent on the head node is not up yet: nothing was started.
constexpr std::array<std::string_view, 3> kNotReady = {
    "No available agent",
    "Failed to get head node agent",
    "Head node id has not yet been persisted",
};
// Of a dashboard that lost its agent: the agent may have acted.
constexpr std::array<std::string_view, 3> kLostAgent = {
    "Cannot connect to host",
    "ServerDisconnectedError",
    "ClientOSError",
};

// Of an API server whose connection to the dashboard failed before the request was sent.
constexpr std::array<std::string_view, 3> kNotConnected = {
    "connection refused",
    "dial tcp",
    "no such host",
};

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// kube-apiserver's proxy answers 503 also when the connection breaks after the request was sent.
bool broke_behind_proxy(const Answer& answer) {
  return answer.status == 503 && answer.body.contains("error trying to reach service") &&
         !has_any(answer.body, kNotConnected);
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, kLineMax)) {
    const bool control = static_cast<unsigned char>(c) < ' ' || c == 0x7f;
    out += control ? '?' : c;
  }
  return out;
}

// The line that says what is wrong: the last one with words in it.
std::string last_line(std::string_view body) {
  const std::vector<std::string_view> lines = split(body, '\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto letters = std::ranges::count_if(
        *line, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    if (letters > 2) {
      std::string_view text = *line;
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      return printable(text);
    }
  }
  return {};
}

// An API server in front of the dashboard answers with a Status.
std::string words_of(std::string_view body) {
  if (body.starts_with('{')) {
    const Result<json::Document> document = json::parse_in_place(body);
    if (document && document->root.string_or_empty("kind") == "Status") {
      return printable(document->root.string_or_empty("message"));
    }
  }
  return last_line(body);
}

ErrorCode code_of(const Answer& answer) {
  const std::string_view text = answer.body;
  if (text.contains("already exists") && text.contains("submission_id")) {
    return ErrorCode::already_exists;
  }
  if (text.contains("non-terminal state")) {
    return ErrorCode::failed_precondition;
  }
  switch (answer.status) {
    case 400:
    case 422:
      return ErrorCode::invalid_argument;
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 405:
    case 501:
      return ErrorCode::unsupported;
    case 413:
      return ErrorCode::too_large;
    case 429:
      return ErrorCode::resource_exhausted;
    case 502:
    case 503:
    case 504:
      return ErrorCode::unavailable;
    default:
      return has_any(text, kNotReady) ? ErrorCode::unavailable : ErrorCode::internal;
  }
}

std::optional<Duration> retry_after(const net::Headers& headers) {
  const std::string_view text = headers.get("Retry-After").value_or("");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

Task<Result<Answer>> read_answer(net::Response response, std::size_t bytes_max) {
  Answer answer{.status = response.status, .retry_after = retry_after(response.headers)};
  CO_TRY_ASSIGN(answer.body, co_await net::read_all(std::move(response.body), bytes_max));
  co_return answer;
}

Effect effect_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::unavailable:
    case ErrorCode::resource_exhausted:
      return Effect::none;
    case ErrorCode::deadline_exceeded:
      return Effect::unknown;
    default:
      return Effect::final;
  }
}

Effect effect_of(const Answer& answer) {
  if (broke_behind_proxy(answer)) {
    return Effect::unknown;
  }
  if (answer.status == 429 || answer.status == 503) {
    return Effect::none;
  }
  if (answer.status == 502 || answer.status == 504) {
    return Effect::unknown;
  }
  if (answer.status == 500 && code_of(answer) == ErrorCode::unavailable) {
    return Effect::none;
  }
  if (answer.status == 500 && has_any(answer.body, kLostAgent)) {
    return Effect::unknown;
  }
  return Effect::final;
}

Error to_error(std::string_view what, const Answer& answer) {
  std::string words = words_of(answer.body);
  std::string message = std::string(what) + ": ";
  message += words.empty() ? "the Ray dashboard answered " + std::to_string(answer.status)
                           : std::move(words);
  return {code_of(answer), std::move(message)};
}

std::string unknown_field(const Answer& answer) {
  constexpr std::string_view kBefore = "unexpected keyword argument '";
  const std::size_t at = answer.body.find(kBefore);
  if (answer.status < 400 || at == std::string::npos) {
    return {};
  }
  const std::string_view rest = std::string_view(answer.body).substr(at + kBefore.size());
  return printable(rest.substr(0, rest.find('\'')));
}

bool is_missing_route(const Answer& answer) {
  return (answer.status == 404 && answer.body.starts_with("404: ")) || answer.status == 405;
}

}  // namespace codeflare::ray::internal
