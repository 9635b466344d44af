#pragma once

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// The problem of a CronJob's schedule ("*/5 * * * mon-fri", "@hourly", "@every 90m"), in the words
// of the real server; empty when it can be used.
std::string schedule_complaint(std::string_view schedule);

// The same for its time zone, as far as the name shows it: whether there is such a zone is not
// looked up.
std::string time_zone_complaint(std::string_view zone);

}  // namespace codeflare::apiserver
