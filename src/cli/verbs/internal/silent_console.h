#pragma once

#include "cli/session/console.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::cli::internal {

// For a look at a server whose errors are for nobody.
class SilentConsole final : public Console {
 public:
  void out(std::string_view) override {}
  void err(std::string_view) override {}
  Result<std::string> read_input(std::size_t) override { return std::string(); }
  bool out_is_terminal() const override { return false; }
  bool err_is_terminal() const override { return false; }
  bool in_is_terminal() const override { return false; }
};

}  // namespace codeflare::cli::internal
