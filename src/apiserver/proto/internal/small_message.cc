#include "apiserver/proto/internal/small_message.h"

#include <chrono>
#include <cstdio>

namespace codeflare::apiserver::internal {

std::string_view SmallMessage::read(std::string_view bytes, std::string_view types) {
  WireReader reader(bytes);
  Tag tag;
  while (reader.next(tag)) {
    if (tag.number > types.size()) {
      reader.skip(tag);
      continue;
    }
    const std::size_t at = tag.number - 1;
    const bool integer = types[at] == 'i';
    if (tag.type != (integer ? WireType::varint : WireType::length)) {
      return "wrong wire type";
    }
    present[at] = integer ? reader.varint(integers[at]) : reader.bytes(texts[at]);
  }
  return reader.problem();
}

std::optional<std::string> time_text(std::int64_t seconds, std::int32_t nanos, bool micro) {
  using namespace std::chrono;
  // 0000-01-01 to 9999-12-31.
  if (seconds < -62'167'219'200 || seconds > 253'402'300'799) {
    return std::nullopt;
  }
  sys_seconds time{std::chrono::seconds(seconds)};
  auto day = floor<days>(time);
  year_month_day date(day);
  hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  auto put = [&](const char* format, auto... values) {
    return std::string(text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(),
                                                                           format, values...)));
  };
  std::string result =
      put("%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
          static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()));
  if (micro) {
    result += put(".%06d", nanos / 1000);
  }
  return result + 'Z';
}

}  // namespace codeflare::apiserver::internal
