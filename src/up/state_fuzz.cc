#include "base/check.h"
#include "up/state.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace codeflare;

// DIR/up.json may be anybody's: what is understood can be shown and written, and is then the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<up::UpState> state = up::parse_up_state(text);
  if (!state) {
    return 0;
  }
  CHECK(!up::render_ready(*state).empty());
  // Written with milliseconds, and a context only when it has a name.
  state->since = std::chrono::floor<std::chrono::milliseconds>(state->since);
  if (state->context.name.empty()) {
    state->context = {};
  }
  const Result<up::UpState> again = up::parse_up_state(up::to_json(*state));
  CHECK(again.has_value() && *again == *state);
  return 0;
}
