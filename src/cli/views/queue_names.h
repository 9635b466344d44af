#pragma once

#include <string_view>

namespace codeflare::cli {

// Where `queue pause` leaves its word for the controller, data.paused, "true" or "false", and the
// controller its own: data.settings (queue/settings.h).
inline constexpr std::string_view kQueueConfigMap = "codeflare-queue";
inline constexpr std::string_view kControllerNamespace = "codeflare-system";

}  // namespace codeflare::cli
