#pragma once

#include "cli/session/console.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::cli::internal {

// The streams of this process.
class RealConsole final : public Console {
 public:
  void out(std::string_view text) override;
  void err(std::string_view text) override;
  Result<std::string> read_input(std::size_t bytes_max) override;
  Result<std::string> ask(std::string_view question, bool hidden) override;
  bool out_is_terminal() const override;
  bool err_is_terminal() const override;
  bool in_is_terminal() const override;
  std::size_t err_columns() const override;
};

}  // namespace codeflare::cli::internal
