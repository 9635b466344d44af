// Bytes as a write-ahead log: pieces do not matter, and nothing lies outside of the file. The same
// bytes as the pages of a sound log: all of its commits are found, and each flipped bit shows.

#include "apiserver/store/internal/wal_scan.h"
#include "apiserver/store/testing/wal_builder.h"
#include "base/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

using PastHeader = WalScan::PastHeader;
using ByteOrder = WalScan::ByteOrder;

WalState scan(std::string_view bytes, std::size_t piece, std::optional<PastHeader> past = {}) {
  WalScan scan = past ? WalScan(*past) : WalScan();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    scan.add(bytes.substr(0, piece));
  }
  WalState state = scan.finish();
  return state;
}

void check_arbitrary(std::string_view bytes, std::size_t piece) {
  const WalState whole = scan(bytes, bytes.size() + 1);
  const WalState pieces = scan(bytes, piece);
  CHECK(whole.commits == pieces.commits && whole.bytes_valid == pieces.bytes_valid);
  CHECK(whole.damage.has_value() == pieces.damage.has_value());
  CHECK(whole.bytes_valid <= bytes.size());
  CHECK(!whole.correction || whole.correction->offset < bytes.size());
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const WalState past = scan(bytes, piece, PastHeader{.page_bytes = 512, .order = order});
    for (const auto& [page, at] : past.pages) {
      CHECK(at + 512 <= bytes.size());
    }
  }
}

// Each frame takes up to 64 bytes; the first of them say which page it is and whether it commits.
void check_sound(std::string_view bytes, std::uint64_t dice) {
  WalBuilder log({.big_endian = dice % 2 == 1});
  std::uint64_t commits = 0;
  for (int frames = 0; frames < 16 && (bytes.size() > 2 || commits == 0); ++frames) {
    const std::string_view content = bytes.substr(0, 64);
    bytes.remove_prefix(content.size());
    const bool commit = bytes.size() <= 2 || frames == 15 || content[1] % 2 == 0;
    const auto page = static_cast<unsigned char>(content.empty() ? 0 : content[0]);
    log.frame(1u + page, commit ? 300 : 0, content);
    commits += commit ? 1 : 0;
  }
  const WalState sound = scan(log.bytes(), 1000);
  CHECK(sound.commits == commits && !sound.damage && !sound.correction);
  const std::string flipped = with_flipped_bit(log.bytes(), dice % (log.bytes().size() * 8));
  const WalState state = scan(flipped, 1000);
  if (state.is_header_bad) {
    const ByteOrder order = dice % 2 == 1 ? ByteOrder::big : ByteOrder::little;
    CHECK(scan(flipped, 1000, PastHeader{.page_bytes = 512, .order = order}).commits == commits);
    return;
  }
  CHECK(state.damage || state.commits == commits, "a flipped bit drops a commit");
  if (state.correction) {
    std::string corrected = flipped;
    corrected[state.correction->offset] = state.correction->byte;
    CHECK(corrected == log.bytes());
  }
}

void run(std::string_view data) {
  constexpr std::size_t kDiceBytes = 4;
  if (data.size() < kDiceBytes) {
    return;
  }
  std::uint64_t dice = 0;
  for (char byte : data.substr(0, kDiceBytes)) {
    dice = dice << 8 | static_cast<unsigned char>(byte);
  }
  data.remove_prefix(kDiceBytes);
  check_arbitrary(data, 1 + dice % 1000);
  check_sound(data, dice);
}

}  // namespace
}  // namespace codeflare::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::apiserver::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
