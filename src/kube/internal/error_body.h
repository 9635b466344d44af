#pragma once

#include "base/error.h"
#include "base/time.h"
#include "net/http.h"

#include <optional>
#include <string_view>

namespace codeflare::kube::internal {

// The Error of an answer that is not a success. A Kubernetes Status speaks for itself; anything
// else (a proxy's page, an empty body) is reported by code and first line, after `what` was asked.
Error error_of_answer(std::string_view what, int status, std::string_view body);

// The wait that a Retry-After header asks for, when it is a number of seconds.
std::optional<Duration> retry_after(const net::Headers& headers);

}  // namespace codeflare::kube::internal
