#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "net/http.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The licence of the release edition: one check's answer, and what follows from the answers so far.
// Without a licence nothing new is admitted or grown; running work is never touched.
namespace codeflare::usage {

enum class LicenceAnswer : std::uint8_t { good, bad, unreachable };

struct LicenceCheck {
  LicenceAnswer answer = LicenceAnswer::unreachable;
  std::string message{};  // never the key
};

// State between checks, also across restarts.
struct LicenceState {
  std::optional<WallTime> last_good{};
  std::optional<WallTime> newest{};  // newest time seen: a clock that was set back is noticed
  LicenceCheck last{};
};

inline constexpr Duration kLicenceGrace = std::chrono::hours(72);
inline constexpr Duration kClockSlack = std::chrono::minutes(10);

struct LicenceStanding {
  bool admits = false;
  std::string reason{};   // Licensed, Grace, LicenceRejected, LicenceUnknown, ClockSetBack
  std::string message{};  // for the condition, the event and /readyz
};

LicenceState after_check(LicenceState state, LicenceCheck check, WallTime now);
LicenceStanding standing_of(const LicenceState& state, WallTime now);

// The ids of the product; a key of another shop or product is rejected. 0: not compared.
struct LicenceIds {
  std::int64_t store = 0;
  std::int64_t product = 0;
};
// Of Lemon Squeezy's answer to POST /v1/licenses/validate.
LicenceCheck read_validation(int status, std::string_view body, LicenceIds ids, WallTime now);
// Asks the service behind `http`; only a cancelled request is an error.
Task<Result<LicenceCheck>> validate_online(net::HttpService& http, Secret key, LicenceIds ids,
                                           WallTime now);

// {"claims": BASE64, "signature": BASE64}: claims are JSON with customer, notBefore and notAfter,
// signed with Ed25519. `public_key` has 32 bytes.
LicenceCheck read_licence_file(std::string_view text, std::string_view public_key, WallTime now);

}  // namespace codeflare::usage
