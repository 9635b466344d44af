#include "apiserver/store/internal/wal_scan.h"

#include "apiserver/store/testing/wal_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

using ByteOrder = WalScan::ByteOrder;

WalState scan(std::string_view bytes) {
  WalScan scan;
  scan.add(bytes);
  return scan.finish();
}

WalState scan_past_header(std::string_view bytes, ByteOrder order = ByteOrder::little) {
  WalScan scan({.page_bytes = 512, .order = order});
  scan.add(bytes);
  return scan.finish();
}

std::string page(char fill) {
  return std::string(512, fill);
}

// Three transactions: of two frames, of one, of three.
WalBuilder three_commits(WalBuilder::Options options = {}) {
  WalBuilder log(options);
  log.frame(1, 0, page('a')).frame(2, 2, page('b'));
  log.frame(1, 2, page('c'));
  log.frame(3, 0, page('d')).frame(7, 0, page('e')).frame(1, 7, page('f'));
  return log;
}

void overwrite(std::string& bytes, std::uint64_t at, std::string_view with) {
  bytes.replace(at, with.size(), with);
}

TEST(WalScan, takes_all_commits_of_a_sound_log) {
  for (bool big_endian : {false, true}) {
    const WalBuilder log = three_commits({.big_endian = big_endian});
    const WalState state = scan(log.bytes());
    EXPECT_EQ(state.commits, 3u);
    EXPECT_EQ(state.bytes_valid, log.bytes().size());
    EXPECT_FALSE(state.damage || state.correction || state.is_header_bad);
  }
}

TEST(WalScan, an_empty_or_cut_log_holds_nothing_and_is_no_damage) {
  const std::string whole = three_commits().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const WalState state = scan(whole.substr(0, size));
    ASSERT_FALSE(state.damage || state.correction) << size;
    ASSERT_EQ(state.commits, (size >= 32 + 2 * 536) + (size >= 32 + 3 * 536)) << size;
  }
}

// Each combination of frames of the last transaction that a power cut may lose, and half of one.
TEST(WalScan, a_torn_last_transaction_is_no_damage) {
  const WalBuilder log = three_commits();
  for (char old : {'\0', 'x'}) {
    for (unsigned lost = 1; lost < 8; ++lost) {
      for (std::size_t part : {8u, 16u, 24u, 100u, 536u}) {
        std::string bytes = log.bytes();
        for (unsigned frame = 0; frame < 3; ++frame) {
          if ((lost >> frame & 1) != 0) {
            overwrite(bytes, log.offset_of(4 + frame), std::string(part, old));
          }
        }
        const WalState state = scan(bytes);
        ASSERT_FALSE(state.damage || state.correction) << lost << " " << part;
        ASSERT_EQ(state.commits, 2u);
        ASSERT_EQ(state.bytes_valid, log.offset_of(4));
      }
    }
  }
}

TEST(WalScan, each_flipped_bit_before_the_last_transaction_is_damage) {
  for (bool big_endian : {false, true}) {
    const WalBuilder log = three_commits({.big_endian = big_endian});
    for (std::uint64_t bit = log.offset_of(1) * 8; bit < log.offset_of(4) * 8; ++bit) {
      const WalState state = scan(with_flipped_bit(log.bytes(), bit));
      ASSERT_TRUE(state.damage) << bit;
      ASSERT_EQ(state.damage->frame, 1 + (bit / 8 - 32) / log.frame_bytes()) << bit;
      ASSERT_EQ(state.damage->offset, log.offset_of(state.damage->frame)) << bit;
      ASSERT_GE(state.damage->commits_behind, 1u) << bit;
      ASSERT_FALSE(state.correction) << bit;
    }
  }
}

TEST(WalScan, each_flipped_bit_of_the_last_transaction_is_set_right_or_reported) {
  for (bool big_endian : {false, true}) {
    const WalBuilder log = three_commits({.big_endian = big_endian});
    std::uint64_t reported = 0;
    for (std::uint64_t bit = log.offset_of(4) * 8; bit < log.bytes().size() * 8; ++bit) {
      std::string bytes = with_flipped_bit(log.bytes(), bit);
      const WalState state = scan(bytes);
      if (state.damage) {
        ASSERT_EQ(state.damage->frame, 1 + (bit / 8 - 32) / log.frame_bytes()) << bit;
        ++reported;
        continue;
      }
      ASSERT_EQ(state.commits, 3u) << bit;
      ASSERT_EQ(state.bytes_valid, bytes.size()) << bit;
      ASSERT_TRUE(state.correction) << bit;
      bytes[state.correction->offset] = state.correction->byte;
      ASSERT_EQ(bytes, log.bytes()) << bit;
    }
    EXPECT_GT(reported, 0u);
    EXPECT_LT(reported, log.frame_bytes() * 8);  // a third
  }
}

TEST(WalScan, each_lost_sector_of_512_bytes_shows_when_two_transactions_follow) {
  WalBuilder log = three_commits();
  for (char fill = 'g'; fill < 'm'; ++fill) {
    log.frame(1, 4, page(fill));
  }
  for (std::uint64_t at = 512; at < log.offset_of(8); at += 512) {
    std::string bytes = log.bytes();
    overwrite(bytes, at, std::string(512, '\0'));
    EXPECT_TRUE(scan(bytes).damage) << at;
  }
}

TEST(WalScan, frames_of_the_time_before_the_log_was_started_over_are_no_damage) {
  const WalBuilder old = three_commits({.salt = 6});
  std::string bytes = old.bytes();
  WalBuilder log({.salt = 7});
  overwrite(bytes, 0, log.bytes());
  EXPECT_EQ(scan(bytes).commits, 0u);
  EXPECT_FALSE(scan(bytes).damage);
  log.frame(1, 2, page('n'));
  overwrite(bytes, 0, log.bytes());
  const WalState state = scan(bytes);
  EXPECT_EQ(state.commits, 1u);
  EXPECT_FALSE(state.damage);
}

// A full disk ended a long transaction; a short one took its place, then the power went.
TEST(WalScan, frames_of_a_transaction_that_a_full_disk_ended_are_no_damage) {
  WalBuilder failed = three_commits();
  for (char fill = 'g'; fill < 'm'; ++fill) {
    failed.frame(5, 0, page(fill));
  }
  WalBuilder next = three_commits();
  next.frame(1, 0, page('x')).frame(2, 4, page('y'));
  std::string bytes = failed.bytes();
  overwrite(bytes, 0, next.bytes());
  EXPECT_EQ(scan(bytes).commits, 4u);
  EXPECT_FALSE(scan(bytes).damage);
  overwrite(bytes, next.offset_of(7), std::string(100, 'z'));
  EXPECT_EQ(scan(bytes).commits, 3u);
  EXPECT_FALSE(scan(bytes).damage);
}

TEST(WalScan, each_flipped_bit_of_the_header_leaves_the_frames_to_be_found) {
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const WalBuilder log = three_commits({.big_endian = order == ByteOrder::big});
    for (std::uint64_t bit = 0; bit < 32 * 8; ++bit) {
      const std::string bytes = with_flipped_bit(log.bytes(), bit);
      ASSERT_TRUE(scan(bytes).is_header_bad) << bit;
      ASSERT_EQ(scan(bytes).bytes_valid, 0u) << bit;
      const WalState state = scan_past_header(bytes, order);
      ASSERT_EQ(state.commits, 3u) << bit;
      ASSERT_EQ(state.pages.at(1), log.offset_of(6) + 24) << bit;
      ASSERT_EQ(state.pages.at(3), log.offset_of(4) + 24) << bit;
    }
  }
  EXPECT_EQ(scan_past_header(std::string(5000, 'x')).commits, 0u);
}

TEST(WalScan, reads_pieces_of_any_size) {
  const std::string bytes = with_flipped_bit(three_commits().bytes(), 8 * 700);
  for (std::size_t piece : {1u, 7u, 31u, 33u, 536u, 600u}) {
    WalScan scan;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      scan.add(std::string_view(bytes).substr(at, piece));
    }
    const WalState state = scan.finish();
    ASSERT_TRUE(state.damage) << piece;
    EXPECT_EQ(state.damage->frame, 2u) << piece;
  }
}

}  // namespace
}  // namespace codeflare::apiserver
