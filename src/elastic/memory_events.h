#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::elastic {

// The count of kills in a group's memory.events; 0 when there is none.
std::int64_t oom_kills_in(std::string_view memory_events);

// The message in a file that torch's error handler wrote (TORCHELASTIC_ERROR_FILE); empty when
// there is none.
std::string error_file_message(std::string_view text);

}  // namespace codeflare::elastic
