#include "net/connect_error.h"

#include <utility>

namespace codeflare::net {

Error at_step(ConnectStep step, Error error) {
  if (error.detail == nullptr) {
    error.detail = std::make_shared<const ConnectDetail>(step);
  }
  return error;
}

std::optional<ConnectStep> connect_step(const Error& error) {
  const auto* detail = dynamic_cast<const ConnectDetail*>(error.detail.get());
  return detail == nullptr ? std::nullopt : std::optional(detail->step);
}

}  // namespace codeflare::net
