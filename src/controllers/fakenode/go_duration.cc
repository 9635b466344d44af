#include "controllers/fakenode/go_duration.h"

#include "base/go_duration.h"

#include <optional>
#include <string>

namespace codeflare::controllers::fakenode {

Result<Duration> parse_go_duration(std::string_view text) {
  const bool sign = text.starts_with('-') || text.starts_with('+');
  const std::optional<Duration> duration = sign ? std::nullopt : go_duration(text);
  if (!duration) {
    return fail(invalid_argument("\"" + std::string(text) +
                                 "\" is not a duration such as 90s, 1h30m or 250ms"));
  }
  return *duration;
}

}  // namespace codeflare::controllers::fakenode
