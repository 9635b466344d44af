#include "checkpoint/refusal.h"

#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <memory>

namespace codeflare::checkpoint {

namespace {

ErrorCode code_of(int status, std::string_view reason) {
  switch (status) {
    case 400:
    case 416:
      return ErrorCode::invalid_argument;
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return reason == "LeaseHeld" ? ErrorCode::conflict : ErrorCode::failed_precondition;
    case 413:
      return ErrorCode::too_large;
    case 503:
      return ErrorCode::unavailable;
    case 507:
      return ErrorCode::resource_exhausted;
    default:
      return ErrorCode::internal;
  }
}

struct Standard {
  int status;
  std::string_view reason;
};

Standard standard_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return {400, "Invalid"};
    case ErrorCode::unauthenticated:
      return {401, "Unauthorized"};
    case ErrorCode::permission_denied:
      return {403, "Forbidden"};
    case ErrorCode::not_found:
      return {404, "NotFound"};
    case ErrorCode::too_large:
      return {413, "TooLarge"};
    case ErrorCode::unavailable:
      return {503, "Unavailable"};
    case ErrorCode::resource_exhausted:
      return {507, "DiskFull"};
    default:
      return {500, "Internal"};
  }
}

}  // namespace

std::int64_t Refusal::number_or_zero(std::string_view name) const {
  const auto found = std::ranges::find(numbers, name, &std::pair<std::string, std::int64_t>::first);
  return found == numbers.end() ? 0 : found->second;
}

Error refuse(int status, std::string_view reason, std::string message, Numbers numbers) {
  auto refusal = std::make_shared<Refusal>();
  refusal->status = status;
  refusal->reason = reason;
  for (const auto& [name, number] : numbers) {
    refusal->numbers.emplace_back(name, static_cast<std::int64_t>(number));
  }
  Error error(code_of(status, reason), std::move(message));
  error.detail = std::move(refusal);
  return error;
}

const Refusal* refusal_of(const Error& error) {
  return dynamic_cast<const Refusal*>(error.detail.get());
}

int status_of(const Error& error) {
  const Refusal* refusal = refusal_of(error);
  return refusal != nullptr ? refusal->status : standard_of(error.code).status;
}

std::string error_text(const Error& error) {
  const Refusal* refusal = refusal_of(error);
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.member("reason", refusal != nullptr ? refusal->reason : standard_of(error.code).reason);
  writer.member("message", error.message);
  if (refusal != nullptr) {
    for (const auto& [name, number] : refusal->numbers) {
      writer.key(name).integer(number);
    }
    for (const auto& [name, word] : refusal->words) {
      writer.member(name, word);
    }
  }
  writer.end_object();
  text += '\n';
  return text;
}

Error parse_error(int status, std::string_view body) {
  const Result<json::Document> document = json::parse(body);
  auto refusal = std::make_shared<Refusal>();
  refusal->status = status;
  std::string message;
  if (document) {
    for (const json::Member& member : document->root.members()) {
      if (member.key == "reason" && member.value.is_string()) {
        refusal->reason = member.value.as_string();
      } else if (member.key == "message" && member.value.is_string()) {
        message = member.value.as_string();
      } else if (const auto number = member.value.to_int64()) {
        refusal->numbers.emplace_back(member.key, *number);
      } else if (member.value.is_string()) {
        refusal->words.emplace_back(member.key, member.value.as_string());
      }
    }
  }
  if (message.empty()) {
    message = "the checkpoint service answered " + std::to_string(status);
  }
  Error error(code_of(status, refusal->reason), std::move(message));
  error.detail = std::move(refusal);
  return error;
}

}  // namespace codeflare::checkpoint
