#pragma once

#include "apiserver/request/request_info.h"
#include "apiserver/store/object.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::apiserver::internal {

enum class VersionMatch : std::uint8_t { unset, exact, not_older_than };

// The query of list and watch, checked as upstream checks it (422, 400).
struct ListOptions {
  std::string resource_version{};  // as given: "" and "0" differ
  Revision revision = 0;           // its number, 0 when unset
  VersionMatch match = VersionMatch::unset;
  std::size_t limit = 0;  // 0: none
  std::string continue_token{};
  std::optional<std::int64_t> timeout_seconds{};
  bool bookmarks = false;
  std::optional<bool> send_initial_events{};

  static Result<ListOptions> parse(const RequestInfo& info, bool watch);
};

// Where a page ended. Opaque to clients, in the form that upstream uses.
struct ContinueToken {
  Revision revision = 0;  // 0: the newest state, whatever came between (an inconsistent list)
  std::pair<std::string, std::string> after{};  // namespace, name

  std::string encode() const;
  static Result<ContinueToken> decode(std::string_view text);
};

}  // namespace codeflare::apiserver::internal
