#include "base/check.h"
#include "json/parse.h"
#include "ray/internal/answer.h"
#include "ray/job.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::ray;

// Answers of a dashboard, or of another server in its place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto job = parse_job(input)) {
    CHECK(!to_string(job->status).empty());
    CHECK(job->runtime_env.empty() || json::parse(job->runtime_env));
  }
  static_cast<void>(parse_jobs(input).has_value());
  static_cast<void>(parse_version(input).has_value());
  static_cast<void>(parse_text_member(input, "logs").has_value());
  for (const int status : {400, 404, 405, 500, 503}) {
    const ray::internal::Answer answer{status, std::string(input)};
    const Error error = ray::internal::to_error("x", answer);
    CHECK(error.message.find('\n') == std::string::npos);
    static_cast<void>(ray::internal::effect_of(answer));
    static_cast<void>(ray::internal::unknown_field(answer));
  }
  return 0;
}
