// Any bytes as a table of speeds and as a trace: the readers end, and what they accept can be
// replayed.

#include "base/check.h"
#include "cli/simulate/elastic_replay.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace codeflare::cli::simulate {
namespace {

void check(std::string_view text) {
  const std::size_t middle = text.find('\0');
  const std::string_view speeds = text.substr(0, middle);
  const std::string_view lines =
      middle == std::string_view::npos ? std::string_view() : text.substr(middle + 1);
  Applications all;
  Application& app = all["a"];
  if (!app.read_placements(speeds, "placements.csv") ||
      !app.read_validation(8, "iteration\n100\n", "validation-8.csv")) {
    return;
  }
  const double one = app.iteration_seconds(2, 3, 8);
  CHECK(one > 0, "an iteration takes time");
  const auto trainings = read_trainings(lines, "trace.csv", all);
  if (!trainings || trainings->size() > 50) {
    return;
  }
  for (const Training& each : *trainings) {
    CHECK(each.size_max >= 1 && each.requested >= 1 && each.iterations >= 1);
  }
}

}  // namespace
}  // namespace codeflare::cli::simulate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::cli::simulate::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
