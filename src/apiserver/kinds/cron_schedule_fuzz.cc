#include "apiserver/kinds/cron_schedule.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using codeflare::apiserver::schedule_complaint;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Space around a schedule means nothing, except before the names that begin with @ and zones.
  const std::string padded = std::string(text) + " ";
  const bool plain = !text.contains('@') && !text.contains('=');
  if (plain && schedule_complaint(text).empty() != schedule_complaint(padded).empty()) {
    std::abort();
  }
  return 0;
}
