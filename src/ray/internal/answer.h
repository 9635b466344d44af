#pragma once

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::ray::internal {

// A response that was read to its end.
struct Answer {
  int status = 0;
  std::string body;
  std::optional<Duration> retry_after{};
};
Task<Result<Answer>> read_answer(net::Response response, std::size_t bytes_max);

// The possible effect of an attempt that failed, which decides what may follow.
enum class Effect : std::uint8_t {
  none,     // nothing was done, and it may work a little later: try again
  unknown,  // nobody can say: ask, or repeat what does no harm twice
  final,    // the answer is the answer
};
Effect effect_of(const Error& error);
Effect effect_of(const Answer& answer);

// The answer as an error: code by status and text, message with the server's last line (the rest of
// a Python traceback is of no use to people).
Error to_error(std::string_view what, const Answer& answer);
// The field of a submission that the server does not know; empty: none.
std::string unknown_field(const Answer& answer);
// An HTTP server said so, not Ray: the path is not served.
bool is_missing_route(const Answer& answer);

}  // namespace codeflare::ray::internal
