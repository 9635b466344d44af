#include "checkpoint/rules.h"

#include "checkpoint/crc32c.h"
#include "checkpoint/refusal.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace codeflare::checkpoint {

namespace {

constexpr std::size_t kNameMax = 128;
constexpr std::size_t kLabelMax = 63;
constexpr std::int64_t kLeaseSecondsMax = 600;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kLabelMax &&
         std::ranges::all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool is_held(const HeldLease* held, Instant now) {
  return held != nullptr && now < held->ends;
}

Result<void> check_lease_request(const LeaseRequest& request) {
  TRY(check_name("lease", request.name));
  if (request.holder.empty() || request.holder.size() > 2 * kNameMax) {
    return fail(invalid_argument("lease " + request.name + ": holder needs 1 to 256 characters"));
  }
  if (request.seconds < 1 || request.seconds > kLeaseSecondsMax) {
    return fail(invalid_argument("lease " + request.name + ": seconds must be 1 to 600, not " +
                                 std::to_string(request.seconds)));
  }
  return {};
}

}  // namespace

Result<void> check_name(std::string_view what, std::string_view name) {
  const bool valid = !name.empty() && name.size() <= kNameMax && is_word(name.front()) &&
                     std::ranges::all_of(name, [](char c) {
                       return is_word(c) || c == '.' || c == '_' || c == '-';
                     });
  if (!valid) {
    return fail(invalid_argument("name of the " + std::string(what) + " '" +
                                 std::string(name.substr(0, kNameMax)) +
                                 "': use 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or "
                                 "digit"));
  }
  return {};
}

Result<void> check_job(const JobKey& job) {
  if (!is_label(job.ns) || !is_label(job.uid)) {
    return fail(invalid_argument(
        "job path: namespace and UID have 1 to 63 lower-case letters, digits and '-'"));
  }
  return {};
}

bool is_newer(const Checkpoint& a, const Checkpoint& b) {
  return std::tie(a.generation, a.step, a.id) > std::tie(b.generation, b.step, b.id);
}

Result<void> check_generation(const JobKey& job, std::int64_t generation, std::int64_t newest) {
  if (generation >= newest) {
    return {};
  }
  return fail(refuse(409, "OldGeneration",
                     "generation " + std::to_string(generation) + " of job " + job.text() +
                         " is older than " + std::to_string(newest),
                     {{"generation", static_cast<std::uint64_t>(generation)},
                      {"newestGeneration", static_cast<std::uint64_t>(newest)}}));
}

Result<void> check_complete(std::string_view name, const Part& part) {
  std::uint64_t end = 0;
  for (const auto& [offset, chunk] : part) {
    if (offset != end) {
      return fail(refuse(409, "Incomplete",
                         "part " + std::string(name) + (offset > end ? " lacks " : " has twice ") +
                             "bytes from offset " + std::to_string(std::min(offset, end)),
                         {{"offset", std::min(offset, end)}}));
    }
    end = offset + chunk.size;
  }
  return {};
}

Result<void> check_expected(const Checkpoint& checkpoint, const std::vector<ExpectedPart>& parts) {
  const auto differ = [](std::string message) {
    return fail(refuse(409, "PartsDiffer", std::move(message)));
  };
  for (const ExpectedPart& expected : parts) {
    const auto found = checkpoint.parts.find(expected.name);
    if (found == checkpoint.parts.end()) {
      return differ("part " + expected.name + " is missing");
    }
    if (const std::uint64_t size = size_of(found->second); size != expected.size) {
      return differ("part " + expected.name + " has " + std::to_string(size) + " bytes, not " +
                    std::to_string(expected.size));
    }
    if (const std::uint32_t crc = crc32c_of(found->second);
        expected.crc32c && *expected.crc32c != crc) {
      return differ("part " + expected.name + " has checksum " + checksum_text(crc) + ", not " +
                    checksum_text(*expected.crc32c));
    }
  }
  for (const auto& [name, part] : checkpoint.parts) {
    if (std::ranges::find(parts, name, &ExpectedPart::name) == parts.end()) {
      return differ("part " + name + " is not in the commit");
    }
  }
  return {};
}

std::vector<CheckpointId> expired(std::vector<const Checkpoint*> committed, Retention retention) {
  std::ranges::sort(committed, [](const auto* a, const auto* b) { return is_newer(*a, *b); });
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(retention.keep, 1));
  std::vector<CheckpointId> ids;
  for (std::size_t at = committed.size(); at-- > keep;) {
    const bool pinned =
        retention.keep_every > 0 && committed[at]->number % retention.keep_every == 0;
    if (!pinned) {
      ids.push_back(committed[at]->id);
    }
  }
  return ids;
}

Result<Lease> acquire_lease(const HeldLease* held, const LeaseRequest& request, Instant now,
                            std::int64_t token_next) {
  TRY(check_lease_request(request));
  if (!is_held(held, now)) {
    return Lease{.holder = request.holder, .token = token_next, .seconds = request.seconds};
  }
  if (held->lease.holder == request.holder) {
    return Lease{.holder = request.holder, .token = held->lease.token, .seconds = request.seconds};
  }
  const auto left = std::chrono::ceil<std::chrono::seconds>(held->ends - now).count();
  Error error = refuse(409, "LeaseHeld",
                       "lease " + request.name + " is held by " + held->lease.holder + " for " +
                           std::to_string(left) + " s",
                       {{"secondsLeft", static_cast<std::uint64_t>(left)}});
  auto detail = std::make_shared<Refusal>(*refusal_of(error));
  detail->words.emplace_back("holder", held->lease.holder);
  error.detail = std::move(detail);
  return fail(std::move(error));
}

Result<Lease> renew_lease(const HeldLease* held, const LeaseRequest& request, Instant now) {
  TRY(check_lease_request(request));
  if (!is_held(held, now) || held->lease.holder != request.holder ||
      held->lease.token != request.token) {
    return fail(refuse(409, "LeaseLost",
                       "lease " + request.name + " is no longer held by " + request.holder +
                           " with token " + std::to_string(request.token)));
  }
  return Lease{.holder = request.holder, .token = request.token, .seconds = request.seconds};
}

Result<void> check_room(std::string_view ns, const Room& room, std::uint64_t needed_bytes) {
  if (room.quota_bytes > 0 && room.used_bytes + needed_bytes > room.quota_bytes) {
    return fail(refuse(507, "QuotaExceeded",
                       "namespace " + std::string(ns) + " uses " + std::to_string(room.used_bytes) +
                           " of " + std::to_string(room.quota_bytes) + " bytes and needs " +
                           std::to_string(needed_bytes) + " more; delete checkpoints",
                       {{"quotaBytes", room.quota_bytes},
                        {"usedBytes", room.used_bytes},
                        {"neededBytes", needed_bytes}}));
  }
  if (needed_bytes > room.free_bytes) {
    return fail(refuse(507, "DiskFull",
                       "the checkpoint disk has " + std::to_string(room.free_bytes) +
                           " bytes free and needs " + std::to_string(needed_bytes) +
                           "; older checkpoints are kept",
                       {{"freeBytes", room.free_bytes}, {"neededBytes", needed_bytes}}));
  }
  return {};
}

Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit) || header.contains(',')) {
    return std::nullopt;
  }
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> first = parse_number(header.substr(0, dash));
  const std::optional<std::uint64_t> last = parse_number(header.substr(dash + 1));
  const auto unsatisfied = [&] {
    return fail(
        refuse(416, "Range", "the part has " + std::to_string(size) + " bytes", {{"size", size}}));
  };
  if (dash == 0) {
    if (!last) {
      return std::nullopt;
    }
    if (*last == 0 || size == 0) {
      return unsatisfied();
    }
    return ByteRange{.begin = size - std::min(*last, size), .end = size};
  }
  const bool open_end = dash + 1 == header.size();
  if (!first || (!last && !open_end) || (last && *last < *first)) {
    return std::nullopt;
  }
  if (*first >= size) {
    return unsatisfied();
  }
  return ByteRange{.begin = *first, .end = open_end || *last >= size ? size : *last + 1};
}

}  // namespace codeflare::checkpoint
