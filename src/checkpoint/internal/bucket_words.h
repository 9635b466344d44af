#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "checkpoint/refusal.h"

#include <string_view>

// Shared by both directions of the bucket.
namespace codeflare::checkpoint::internal {

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kParts = "parts/";
constexpr std::string_view kEnding = "the job is being removed or the service stops";

// As the service answers it.
inline Error failed(const Error& error) {
  return error.code == ErrorCode::cancelled ? error : refuse(503, "BucketFailed", error.message);
}

// For with_timeout().
inline Task<Result<void>> wait_for(WaitList& list) {
  co_return co_await list.wait();
}

}  // namespace codeflare::checkpoint::internal
