#pragma once

#include "cli/session/console.h"

#include <string>
#include <string_view>

namespace codeflare::cli::testing {

// Keeps what a verb writes.
class CapturedConsole final : public Console {
 public:
  void out(std::string_view text) override { out_text += text; }
  void err(std::string_view text) override { err_text += text; }
  Result<std::string> read_input(std::size_t) override { return input; }
  bool out_is_terminal() const override { return terminal; }
  bool err_is_terminal() const override { return terminal; }
  bool in_is_terminal() const override { return false; }
  std::size_t err_columns() const override { return columns; }

  std::string out_text;
  std::string err_text;
  std::string input;
  bool terminal = false;
  std::size_t columns = 0;
};

}  // namespace codeflare::cli::testing
