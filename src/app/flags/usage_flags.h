#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/usage/release_edition.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace codeflare {

// Usage, and what the release edition does with it. Each flag goes before the value that
// build/config.yaml had when the program was built.
struct UsageFlags {
  bool off = false;  // --no-usage
  std::string licence_file;
  std::string licence_url;
  std::int64_t licence_store = 0;
  std::int64_t licence_product = 0;
  std::string licence_public_key;
  std::string url;
  std::string user;
  std::string password_file;
  std::string cluster;
  std::string customer;
  std::int64_t every_seconds = 60;
};

void add_usage_flags(CLI::App& role, UsageFlags& flags);

// Nothing in an edition that neither checks a licence nor pushes; the log says so when somebody
// asked for it. `ns` keeps the record of the licence.
Result<std::optional<controllers::metering::ReleaseSettings>> release_settings(
    Env env, const UsageFlags& flags, std::string ns, const Logger& logger);

}  // namespace codeflare
