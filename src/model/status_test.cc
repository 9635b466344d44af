#include "model/status.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare::model {
namespace {

Status failure(std::string reason, std::int32_t code, std::string message = "m") {
  Status status;
  status.status = "Failure";
  status.reason = std::move(reason);
  status.code = code;
  status.message = std::move(message);
  return status;
}

TEST(Status, the_reason_decides_before_the_code) {
  EXPECT_EQ(to_error(failure("AlreadyExists", 409)).code, ErrorCode::already_exists);
  EXPECT_EQ(to_error(failure("Conflict", 409)).code, ErrorCode::conflict);
  EXPECT_EQ(to_error(failure("NotFound", 500)).code, ErrorCode::not_found);
  EXPECT_EQ(to_error(failure("Expired", 410)).code, ErrorCode::expired);
  EXPECT_EQ(to_error(failure("Invalid", 422)).code, ErrorCode::invalid_argument);
  EXPECT_EQ(to_error(failure("ServerTimeout", 504)).code, ErrorCode::unavailable);
  EXPECT_EQ(to_error(failure("Timeout", 504)).code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(to_error(failure("RequestEntityTooLarge", 413)).code, ErrorCode::too_large);
}

TEST(Status, the_code_decides_when_the_reason_is_unknown_or_missing) {
  EXPECT_EQ(to_error(failure("", 401)).code, ErrorCode::unauthenticated);
  EXPECT_EQ(to_error(failure("", 403)).code, ErrorCode::permission_denied);
  EXPECT_EQ(to_error(failure("", 409)).code, ErrorCode::conflict);
  EXPECT_EQ(to_error(failure("Novelty", 410)).code, ErrorCode::expired);
  EXPECT_EQ(to_error(failure("", 415)).code, ErrorCode::unsupported);
  EXPECT_EQ(to_error(failure("", 429)).code, ErrorCode::resource_exhausted);
  EXPECT_EQ(to_error(failure("", 502)).code, ErrorCode::unavailable);
  EXPECT_EQ(to_error(failure("", 418)).code, ErrorCode::invalid_argument);
  EXPECT_EQ(to_error(failure("", 507)).code, ErrorCode::internal);
  EXPECT_EQ(to_error(failure("", 0)).code, ErrorCode::internal);
}

TEST(Status, an_error_keeps_message_wait_and_causes) {
  Status status = failure("TooManyRequests", 429, "cannot evict pod");
  status.details.emplace().retry_after_seconds = 10;
  status.details->causes.push_back({.reason = "DisruptionBudget", .message = "needs 2"});
  const Error error = to_error(status);
  EXPECT_EQ(error.message, "cannot evict pod");
  EXPECT_EQ(error.retry_after, std::chrono::seconds(10));
  ASSERT_NE(status_of(error), nullptr);
  EXPECT_EQ(*status_of(error), status);
  ASSERT_NE(find_cause(error, "DisruptionBudget"), nullptr);
  EXPECT_EQ(find_cause(error, "DisruptionBudget")->message, "needs 2");
  EXPECT_EQ(find_cause(error, "Other"), nullptr);
  EXPECT_EQ(find_cause(not_found("x"), "Other"), nullptr);
}

TEST(Status, an_error_without_words_still_says_something) {
  EXPECT_EQ(to_error(failure("", 503, "")).message, "the server answered 503 without a message");
  EXPECT_EQ(to_error(failure("Forbidden", 403, "")).message, "Forbidden");
}

TEST(Status, every_error_code_becomes_a_status_that_means_the_same_or_is_retriable) {
  for (ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::not_found, ErrorCode::already_exists,
        ErrorCode::conflict, ErrorCode::expired, ErrorCode::unauthenticated,
        ErrorCode::permission_denied, ErrorCode::too_large, ErrorCode::resource_exhausted,
        ErrorCode::unavailable, ErrorCode::deadline_exceeded, ErrorCode::unsupported,
        ErrorCode::internal}) {
    const Status status = to_status(Error(code, "text"));
    EXPECT_EQ(status.status, "Failure");
    EXPECT_EQ(status.message, "text");
    EXPECT_EQ(to_error(status).code, code) << to_string(code);
  }
  EXPECT_EQ(to_status(cancelled()).code, 503);
  EXPECT_EQ(to_status(failed_precondition("x")).code, 409);
}

TEST(Status, a_status_goes_through_an_error_unchanged) {
  Status status = failure("Novelty", 499);
  status.metadata.continue_token = "next";
  EXPECT_EQ(to_status(to_error(status)), status);
}

TEST(Status, a_wait_is_rounded_up_to_seconds) {
  Error error = resource_exhausted("slow down");
  error.retry_after = std::chrono::milliseconds(1001);
  EXPECT_EQ(to_status(error).details.value().retry_after_seconds, 2);
}

}  // namespace
}  // namespace codeflare::model
