#include "controllers/scale/testing/upstream.h"

#include "base/check.h"
#include "base/env/real_env.h"

#include <optional>
#include <utility>

namespace codeflare::controllers::scale::testing {

std::string definition_of(const std::string& name, std::string stand_in) {
  RealEnv world;
  const Env env = world.env();
  const std::optional<std::string> folder = env.variables.get("CODEFLARE_UPSTREAM_DEFINITIONS");
  if (!folder) {
    return stand_in;
  }
  Result<std::string> text = env.files.read(*folder + "/" + name + ".json");
  CHECK(text.has_value(), "a published definition is missing");
  return *std::move(text);
}

}  // namespace codeflare::controllers::scale::testing
