#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/remedy.h"
#include "apiserver/store/repair.h"
#include "apiserver/store/snapshot.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/real_directory.h"
#include "apiserver/store/testing/wal_builder.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

// A server that was killed with sixty writes in its write-ahead log.
class KilledLogTest : public testing::Test {
 protected:
  KilledLogTest() { write_and_kill({.directory = directory.path("data")}); }
  void write_and_kill(SqliteLogOptions with) {
    options = std::move(with);
    EXPECT_TRUE(files().remove_all(options.directory));
    auto log = open_log(files(), options);
    EXPECT_EQ(content_of(*log), "to 0");
    for (Revision i = 2; i < 62; ++i) {
      EXPECT_TRUE(append(*log, {put_record(i, i, std::string(1000, 'x'))}, i));
    }
    log.reset();
    wal_bytes = files().read(wal)->size();
  }
  FileSystem& files() { return directory.files(); }
  void flip(const std::string& path, std::uint64_t offset) {
    std::string content = files().read(path).value();
    ASSERT_TRUE(files().write(path, with_flipped_bit(std::move(content), offset * 8 + 3)));
  }
  std::string start() {
    auto log = open_sqlite_log(files(), options);
    return log ? content_of(**log) : log.error().to_string();
  }
  std::string repaired() {
    auto done = repair_data_directory(files(), {.directory = options.directory});
    return done ? done->lost_writes.value_or(Repaired::LostWrites()).damage
                : done.error().to_string();
  }

  static constexpr std::uint64_t kFrameBytes = 4096 + 24;
  RealDirectory directory;
  SqliteLogOptions options;
  std::string wal = directory.path("data/store-1.db-wal");
  std::size_t wal_bytes = 0;
};

TEST_F(KilledLogTest, a_flipped_bit_in_the_middle_of_the_log_is_reported_and_nothing_is_changed) {
  const std::uint64_t frame = wal_bytes / kFrameBytes / 2;
  const std::uint64_t offset = 32 + (frame - 1) * kFrameBytes;
  flip(wal, offset + 2000);
  const std::string damaged = files().read(wal).value();
  const std::string expected =
      "data_loss: " + wal + " is damaged at frame " + std::to_string(frame) + " (offset " +
      std::to_string(offset) +
      "): its checksum is wrong; acknowledged writes behind it would be lost (";
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string refused = start();
    EXPECT_TRUE(refused.starts_with(expected)) << refused;
    EXPECT_EQ(files().read(wal).value(), damaged);
  }
  const Error error = open_sqlite_log(files(), options).error();
  const std::string advice = with_remedy(error, files(), options.directory).message;
  EXPECT_TRUE(
      advice.ends_with("or, without one, give up what is damaged (codeflare apiserver "
                       "repair --data-dir " +
                       options.directory + ")"))
      << advice;
}

TEST_F(KilledLogTest, repair_keeps_what_comes_before_the_damage_and_moves_revisions_on) {
  flip(wal, wal_bytes / 2);
  const std::string damaged = files().read(wal).value();
  auto done = repair_data_directory(files(), {.directory = options.directory});
  ASSERT_TRUE(done) << done.error().to_string();
  ASSERT_TRUE(done->lost_writes);
  EXPECT_EQ(done->lost_writes->file, directory.path("data/damaged-1.wal"));
  EXPECT_EQ(files().read(done->lost_writes->file).value(), damaged);
  EXPECT_EQ(done->revision, 61 + kRevisionStep);
  const std::string shown = start();
  EXPECT_TRUE(shown.starts_with("2@2 3@3 4@4 ")) << shown;
  EXPECT_FALSE(shown.contains("61@61")) << shown;
  EXPECT_TRUE(shown.ends_with("to " + std::to_string(61 + kRevisionStep))) << shown;
}

TEST_F(KilledLogTest, each_flipped_byte_of_the_header_is_reported) {
  const std::string sound = files().read(wal).value();
  for (std::uint64_t at = 0; at < 32; ++at) {
    ASSERT_TRUE(files().write(wal, sound));
    flip(wal, at);
    const std::string refused = start();
    EXPECT_TRUE(refused.contains(" is damaged at its header (offset 0): ")) << at << refused;
  }
  EXPECT_NE(repaired(), "");
  EXPECT_EQ(start(), "to " + std::to_string(61 + kRevisionStep));
}

TEST_F(KilledLogTest, a_flipped_bit_of_the_last_transaction_is_set_right) {
  flip(wal, wal_bytes - 2000);
  const std::string shown = start();
  EXPECT_TRUE(shown.ends_with(" 61@61 to 61")) << shown;
}

TEST_F(KilledLogTest, a_last_transaction_that_is_gone_is_reported) {
  const std::string sound = files().read(wal).value();
  const std::string expected = directory.path("data/store-1.db") + " ends at revision 60, but " +
                               "revision 61 was acknowledged";
  ASSERT_TRUE(files().write(wal, sound.substr(0, sound.size() - 1)));
  EXPECT_EQ(start(), "data_loss: " + expected);
  std::string damaged = sound;
  damaged.replace(damaged.size() - 3000, 512, std::string(512, '\0'));
  ASSERT_TRUE(files().write(wal, damaged));
  EXPECT_EQ(start(), "data_loss: " + expected);
  EXPECT_EQ(repaired(), expected);
  const std::string shown = start();
  EXPECT_TRUE(shown.ends_with(" 60@60 to " + std::to_string(61 + kRevisionStep))) << shown;
}

TEST_F(KilledLogTest, a_log_that_is_gone_is_reported) {
  const std::string expected = directory.path("data/store-1.db") + " ends at revision 0, but " +
                               "revision 61 was acknowledged";
  ASSERT_TRUE(files().write(wal, ""));
  EXPECT_EQ(start(), "data_loss: " + expected);
  ASSERT_TRUE(files().remove(wal));
  EXPECT_EQ(start(), "data_loss: " + expected);
  EXPECT_EQ(repaired(), expected);
  EXPECT_EQ(start(), "to " + std::to_string(61 + kRevisionStep));
}

TEST_F(KilledLogTest, a_snapshot_of_a_damaged_log_is_not_taken) {
  flip(wal, wal_bytes / 2);
  auto taken = take_snapshot(files(), {options.directory, directory.path("copy")});
  ASSERT_FALSE(taken);
  EXPECT_TRUE(taken.error().message.contains("-wal is damaged at frame ")) << taken.error().message;
}

TEST_F(KilledLogTest, repair_takes_the_database_alone_when_the_damaged_log_was_folded_in) {
  {
    auto log = open_log(files(), options);
    EXPECT_TRUE(content_of(*log).ends_with("61@61 to 61"));
    for (Revision i = 62; i < 80; ++i) {
      ASSERT_TRUE(append(*log, {put_record(i - 60, i)}, i));
    }
    ASSERT_TRUE(log->fold());
  }
  flip(wal, files().read(wal)->size() / 2);
  EXPECT_TRUE(start().contains("-wal is damaged at frame ")) << start();
  EXPECT_NE(repaired(), "");
  const std::string shown = start();
  EXPECT_TRUE(shown.contains("19@79 20@20 ")) << shown;
}

TEST_F(KilledLogTest, after_relaxed_writes_a_gap_in_the_log_is_what_a_power_cut_leaves) {
  write_and_kill(
      {.directory = directory.path("data"), .durability = SqliteLogOptions::Durability::relaxed});
  flip(wal, wal_bytes / 2);
  const std::string shown = start();
  EXPECT_TRUE(shown.starts_with("2@2 3@3 4@4 ")) << shown;
  EXPECT_FALSE(shown.contains("61@61")) << shown;
  // Careful writes from then on are guarded again.
  options.durability = SqliteLogOptions::Durability::full;
  {
    auto log = open_log(files(), options);
    EXPECT_NE(content_of(*log), "");
    const Revision next = 5 * kRevisionStep;
    for (Revision i = next; i < next + 10; ++i) {
      ASSERT_TRUE(append(*log, {put_record(i, i)}, i));
    }
  }
  flip(wal, 32 + 2000);  // the mark that nothing is relaxed any more
  EXPECT_TRUE(start().contains("-wal is damaged at frame 1 ")) << start();
}

TEST_F(KilledLogTest, a_revision_that_was_set_back_on_disk_is_reported) {
  {
    auto log = open_log(files(), options);
    EXPECT_TRUE(content_of(*log).ends_with("61@61 to 61"));
    ASSERT_TRUE(append(*log, {remove_record(61)}, 70));
    ASSERT_TRUE(log->close());
  }
  {
    auto database = Database::open({.path = directory.path("data/store-1.db")});
    ASSERT_TRUE(database->run("UPDATE meta SET value = 62 WHERE key = 'revision'"));
  }
  EXPECT_TRUE(start().ends_with("ends at revision 62, but revision 70 was acknowledged"))
      << start();
}

}  // namespace
}  // namespace codeflare::apiserver
