#include "app/data_directory.h"

#include "base/env/file_system.h"

namespace codeflare {

Result<std::string> default_data_directory(const Variables& variables) {
  if (const auto state = variables.get("XDG_STATE_HOME"); state && state->starts_with('/')) {
    return join_path(*state, "codeflare/up");
  }
  if (const auto home = variables.get("HOME"); home && !home->empty()) {
    return join_path(*home, ".local/state/codeflare/up");
  }
  return fail(invalid_argument("there is no HOME: say --data-dir DIR"));
}

}  // namespace codeflare
