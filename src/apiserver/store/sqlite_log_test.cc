#include "apiserver/store/sqlite_log.h"

#include "apiserver/store/internal/generation.h"
#include "apiserver/store/snapshot.h"
#include "apiserver/store/testing/damage.h"
#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/power_cut_disk.h"
#include "apiserver/store/testing/real_directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using Durability = SqliteLogOptions::Durability;

std::string refusal(FileSystem& files, SqliteLogOptions options) {
  auto log = open_sqlite_log(files, std::move(options));
  return log ? "opened" : log.error().to_string();
}

TEST(SqliteLog, keeps_objects_and_revision) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  {
    auto log = open_log(directory.files(), options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2), put_record(3, 3)}, 3));
    ASSERT_TRUE(append(*log, {put_record(2, 4), remove_record(3)}, 5));
    ASSERT_TRUE(append(*log, {put_record(6, 6)}, 7));
    ASSERT_TRUE(log->close());
  }
  {
    auto log = open_log(directory.files(), options);
    EXPECT_EQ(content_of(*log), "2@4 6@6 to 7");
    ASSERT_TRUE(append(*log, {remove_record(2)}, 8));
  }
  // Not closed in order this time.
  EXPECT_EQ(content_of(*open_log(directory.files(), options)), "6@6 to 8");
}

TEST(SqliteLog, hides_its_files_from_others) {
  RealDirectory directory;
  auto log = open_log(directory.files(), {.directory = directory.path("data")});
  EXPECT_EQ(content_of(*log), "to 0");
  ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  EXPECT_EQ(directory.files().info(directory.path("data"))->mode, 0700u);
  for (const std::string& name : store_files(directory.files(), directory.path("data"))) {
    EXPECT_EQ(directory.files().info(directory.path("data/" + name))->mode, 0600u) << name;
  }
}

TEST(SqliteLog, locks_the_directory) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  auto log = open_log(directory.files(), options);
  std::string refused = refusal(directory.files(), options);
  EXPECT_TRUE(refused.starts_with("failed_precondition: data directory " + options.directory +
                                  " is in use by another server"))
      << refused;
  log.reset();
  EXPECT_EQ(refusal(directory.files(), options), "opened");
}

TEST(SqliteLog, refuses_a_newer_format_and_names_both) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  open_log(directory.files(), options);
  {
    auto database = Database::open({.path = directory.path("data/store-1.db")});
    ASSERT_TRUE(database->run("UPDATE meta SET value = 3 WHERE key = 'format'"));
  }
  EXPECT_EQ(refusal(directory.files(), options),
            "failed_precondition: " + directory.path("data/store-1.db") +
                " has storage format 3, this program knows formats up to 2: use a newer program");
}

TEST(SqliteLog, refuses_a_format_that_no_program_wrote) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  open_log(directory.files(), options);
  {
    auto database = Database::open({.path = directory.path("data/store-1.db")});
    ASSERT_TRUE(database->run("UPDATE meta SET value = 0 WHERE key = 'format'"));
  }
  EXPECT_TRUE(
      refusal(directory.files(), options)
          .contains(directory.path("data/store-1.db") + " does not say which format it has"));
}

TEST(SqliteLog, refuses_files_that_are_not_its_own_or_damaged) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  std::string file = directory.path("data/store-1.db");
  ASSERT_TRUE(directory.files().make_directories(options.directory));
  ASSERT_TRUE(directory.files().create(file, 0600));
  EXPECT_EQ(refusal(directory.files(), options),
            "data_loss: " + file + " is not a database of this program");
  ASSERT_TRUE(directory.files().write(file, std::string(10'000, 'x')));
  EXPECT_TRUE(refusal(directory.files(), options).starts_with("data_loss"));
  // Nothing was thrown away.
  EXPECT_EQ(directory.files().read(file)->size(), 10'000u);
}

TEST(SqliteLog, names_an_object_of_which_a_byte_has_changed) {
  RealDirectory directory;
  FileSystem& files = directory.files();
  SqliteLogOptions options{.directory = directory.path("data")};
  std::string file = directory.path("data/store-1.db");
  {
    auto log = open_log(files, options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2, "one"), put_record(3, 3, "two")}, 3));
    ASSERT_TRUE(log->close());
  }
  const std::string sound = files.read(file).value();
  auto shown_with = [&](std::string_view word, char becomes) {
    EXPECT_TRUE(files.write(file, sound));
    damage(files, file, word, becomes);
    return content_of(*open_log(files, options));
  };
  auto damaged_at = [&](std::string_view what) {
    return "data_loss: " + file + " is damaged at " + std::string(what) +
           ", created at revision 3: its checksum is wrong";
  };
  // Not JSON any more, other JSON, not an object, of another kind.
  EXPECT_EQ(shown_with("two", '\0'), damaged_at("pods p3"));
  EXPECT_EQ(shown_with("two", 'T'), damaged_at("pods p3"));
  EXPECT_EQ(shown_with("\"p3\"", 'x'), damaged_at("pods"));
  EXPECT_EQ(shown_with(R"(pods{"metadata":{"name":"p3")", 'n'), damaged_at("nods p3"));
  ASSERT_TRUE(files.write(file, sound));
  EXPECT_EQ(content_of(*open_log(files, options)), "2@2 3@3 to 3");
}

// As the first programs wrote it.
void write_format_1(FileSystem& files, const std::string& file, const LogRecord& record) {
  ASSERT_TRUE(files.create(file, 0600));
  auto database = Database::open({.path = file});
  ASSERT_TRUE(database->run(R"(
    PRAGMA journal_mode = WAL;
    PRAGMA application_id = 0x63666c72;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE objects (created INTEGER PRIMARY KEY, revision INTEGER NOT NULL,
                          collection TEXT NOT NULL, text TEXT NOT NULL);
    INSERT INTO meta VALUES ('format', 1), ('relaxed', 0), ('revision', 7);
  )"));
  auto insert = database->prepare("INSERT INTO objects VALUES (?, ?, ?, ?)");
  insert->bind(1, record.created);
  insert->bind(2, record.revision);
  insert->bind(3, record.collection);
  insert->bind(4, record.text.view());
  ASSERT_TRUE(insert->run());
}

TEST(SqliteLog, writes_the_first_format_anew_with_checksums) {
  RealDirectory directory;
  FileSystem& files = directory.files();
  SqliteLogOptions options{.directory = directory.path("data")};
  ASSERT_TRUE(files.make_directories(options.directory));
  write_format_1(files, directory.path("data/store-4.db"), put_record(2, 3, "word"));
  {
    auto log = open_log(files, options);
    EXPECT_EQ(content_of(*log), "2@3 to 7");
    ASSERT_TRUE(append(*log, {put_record(8, 8)}, 8));
    ASSERT_TRUE(log->close());
  }
  EXPECT_FALSE(files.exists(directory.path("data/store-4.db")));
  EXPECT_EQ(content_of(*open_log(files, options)), "2@3 8@8 to 8");
  damage(files, directory.path("data/store-5.db"), "word", 'W');
  EXPECT_TRUE(content_of(*open_log(files, options)).contains("its checksum is wrong"));
}

TEST(SqliteLog, finds_what_is_no_json_in_the_first_format) {
  RealDirectory directory;
  FileSystem& files = directory.files();
  SqliteLogOptions options{.directory = directory.path("data")};
  ASSERT_TRUE(files.make_directories(options.directory));
  const LogRecord record = put_record(2, 3, std::string(1, '\0'));
  write_format_1(files, directory.path("data/store-4.db"), record);
  std::string refused = content_of(*open_log(files, options));
  EXPECT_TRUE(refused.starts_with("data_loss: " + directory.path("data/store-4.db") +
                                  " is damaged at pods p2, created at revision 2: "))
      << refused;
  EXPECT_TRUE(files.exists(directory.path("data/store-4.db")));
}

TEST(SqliteLog, the_highest_complete_generation_wins_and_the_rest_is_removed) {
  RealDirectory directory;
  FileSystem& files = directory.files();
  SqliteLogOptions options{.directory = directory.path("data")};
  DataDirectory data{files, options.directory};
  ASSERT_TRUE(files.make_directories(options.directory));
  std::vector<LogRecord> old{put_record(2, 2)};
  std::vector<LogRecord> newest{put_record(3, 3)};
  ASSERT_TRUE(write_generation(data, 9, {.objects = old, .revision = 5}));
  ASSERT_TRUE(write_generation(data, 10, {.objects = newest, .revision = 6}));
  for (const char* name : {"store-9.db-wal", "store-11.db.unfinished", "store-11.db.unfinished-wal",
                           "store-10.db.unfinished"}) {
    ASSERT_TRUE(files.write(directory.path("data/" + std::string(name)), "left over"));
  }
  ASSERT_TRUE(files.write(directory.path("data/store-x.db"), "somebody else's"));
  auto log = open_log(files, options);
  EXPECT_EQ(content_of(*log), "3@3 to 6");
  log.reset();
  EXPECT_EQ(store_files(files, options.directory),
            (std::vector<std::string>{"store-10.db", "store-10.db-acknowledged", "store-10.db-shm",
                                      "store-10.db-wal", "store-x.db"}));
}

TEST(SqliteLog, a_new_database_is_not_mixed_with_the_log_of_a_removed_one) {
  RealDirectory directory;
  FileSystem& files = directory.files();
  SqliteLogOptions options{.directory = directory.path("data")};
  {
    auto log = open_log(files, options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  }
  ASSERT_GT(files.info(directory.path("data/store-1.db-wal"))->size, 0u);
  ASSERT_TRUE(files.remove(directory.path("data/store-1.db")));
  EXPECT_EQ(content_of(*open_log(files, options)), "to 0");
}

TEST(SqliteLog, a_full_disk_writes_nothing_and_heals) {
  PowerCutDisk disk(1);
  SqliteLogOptions options{.directory = "/data", .vfs = disk.vfs()};
  auto log = open_log(disk, options);
  EXPECT_EQ(content_of(*log), "to 0");
  ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  disk.set_full(true);
  for (int i = 0; i < 3; ++i) {
    auto refused = append(*log, {put_record(2, 3), put_record(4, 4)}, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted) << refused.error().to_string();
  }
  disk.set_full(false);
  ASSERT_TRUE(append(*log, {put_record(5, 5)}, 5));
  log.reset();
  disk.restart();
  EXPECT_EQ(content_of(*open_log(disk, options)), "2@2 5@5 to 5");
}

TEST(SqliteLog, starts_on_a_full_disk) {
  PowerCutDisk disk(1);
  SqliteLogOptions options{.directory = "/data", .vfs = disk.vfs()};
  {
    auto log = open_log(disk, options);
    EXPECT_EQ(content_of(*log), "to 0");
    for (Revision revision = 2; revision < 20; ++revision) {
      ASSERT_TRUE(append(*log, {put_record(revision, revision, std::string(3000, 'x'))}, revision));
    }
  }
  disk.restart();
  disk.set_full(true);
  auto log = open_log(disk, options);
  std::string content = content_of(*log);
  EXPECT_TRUE(content.ends_with("19@19 to 19")) << content;
  auto refused = append(*log, {put_record(20, 20, std::string(100'000, 'x'))}, 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  disk.set_full(false);
  ASSERT_TRUE(append(*log, {put_record(20, 20)}, 20));
  ASSERT_TRUE(log->fold());
  log.reset();
  disk.restart();
  EXPECT_TRUE(content_of(*open_log(disk, options)).ends_with("19@19 20@20 to 20"));
}

TEST(SqliteLog, starts_relaxed_on_a_full_disk_and_relaxes_when_there_is_room) {
  PowerCutDisk disk(1);
  SqliteLogOptions options{
      .directory = "/data", .durability = Durability::relaxed, .vfs = disk.vfs()};
  {
    auto log = open_log(disk, options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
    ASSERT_TRUE(log->close());
  }
  disk.set_full(true);
  {
    auto log = open_log(disk, options);
    EXPECT_EQ(content_of(*log), "2@2 to 2");
    auto refused = append(*log, {put_record(3, 3, std::string(100'000, 'x'))}, 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
    disk.set_full(false);
    ASSERT_TRUE(append(*log, {put_record(4, 4)}, 4));
  }
  // It ended uncleanly and says that it had relaxed.
  EXPECT_EQ(content_of(*open_log(disk, options)),
            "2@2 4@4 to " + std::to_string(4 + kRevisionStep));
}

TEST(SqliteLog, a_revision_that_a_full_disk_did_not_take_is_not_noted_as_acknowledged) {
  PowerCutDisk disk(1);
  SqliteLogOptions options{
      .directory = "/data", .durability = Durability::relaxed, .vfs = disk.vfs()};
  {
    auto log = open_log(disk, options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  }
  options.durability = Durability::full;
  const std::string expected = "2@2 to " + std::to_string(2 + kRevisionStep);
  for (int start = 0; start < 2; ++start) {
    disk.set_full(true);
    auto log = open_log(disk, options);
    ASSERT_TRUE(log);
    EXPECT_EQ(content_of(*log), expected);
    log.reset();
    disk.restart_process();
  }
  EXPECT_EQ(content_of(*open_log(disk, options)), expected);
}

TEST(SqliteLog, a_failed_sync_is_final_until_everything_is_written_anew) {
  PowerCutDisk disk(1);
  SqliteLogOptions options{.directory = "/data", .vfs = disk.vfs()};
  auto log = open_log(disk, options);
  EXPECT_EQ(content_of(*log), "to 0");
  ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  disk.fail_syncs(1);
  auto failed = append(*log, {put_record(3, 3)}, 3);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::internal);
  std::uint64_t before = disk.changes();
  EXPECT_FALSE(append(*log, {put_record(4, 4)}, 4));
  EXPECT_FALSE(log->fold());
  EXPECT_EQ(disk.changes(), before);  // the database is not touched any more

  disk.fail_syncs(1);
  std::vector<LogRecord> state{put_record(2, 2)};
  EXPECT_FALSE(log->rebuild(state, 4));
  EXPECT_FALSE(append(*log, {put_record(4, 4)}, 4));
  ASSERT_TRUE(log->rebuild(state, 4));
  ASSERT_TRUE(append(*log, {put_record(5, 5)}, 5));
  EXPECT_TRUE(disk.exists("/data/store-3.db"));
  EXPECT_FALSE(disk.exists("/data/store-1.db"));
  log.reset();
  disk.restart();
  EXPECT_EQ(content_of(*open_log(disk, options)), "2@2 5@5 to 5");
}

TEST(SqliteLog, a_power_cut_during_the_rebuild_leaves_the_old_or_the_new_state) {
  for (std::uint64_t changes = 0;; ++changes) {
    PowerCutDisk disk(changes);
    SqliteLogOptions options{.directory = "/data", .vfs = disk.vfs()};
    auto log = open_log(disk, options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
    disk.fail_syncs(1);
    ASSERT_FALSE(append(*log, {put_record(3, 3)}, 3));
    disk.cut_after(changes);
    std::vector<LogRecord> state{put_record(2, 2)};
    Result<void> rebuilt = log->rebuild(state, 9);
    log.reset();
    bool survived = !disk.is_dead();
    disk.restart();
    std::string content = content_of(*open_log(disk, options));
    bool is_old = content == "2@2 to 2" || content == "2@2 3@3 to 3";
    EXPECT_TRUE(content == "2@2 to 9" || (is_old && !rebuilt)) << changes << ": " << content;
    if (survived) {
      EXPECT_GT(changes, 10u);
      break;
    }
  }
}

TEST(SqliteLog, what_a_killed_process_left_is_synced_before_it_is_shown) {
  PowerCutDisk disk(1);
  // As if killed between the write and the sync: what is there can be read but was never synced.
  SqliteLogOptions options{.directory = "/data", .durability = Durability::none, .vfs = disk.vfs()};
  auto log = open_log(disk, options);
  EXPECT_EQ(content_of(*log), "to 0");
  ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  EXPECT_GT(disk.unsynced_bytes(), 0u);
  log.reset();

  options.durability = Durability::full;
  std::string shown = content_of(*open_log(disk, options));
  EXPECT_TRUE(shown.starts_with("2@2 to")) << shown;
  disk.restart();
  EXPECT_EQ(content_of(*open_log(disk, options)), shown);
}

TEST(SqliteLog, the_write_ahead_log_stays_bounded) {
  PowerCutDisk disk(1);
  constexpr std::uint64_t kMax = 256 << 10;
  auto log = open_log(disk, {.directory = "/data", .backlog_bytes_max = kMax, .vfs = disk.vfs()});
  EXPECT_EQ(content_of(*log), "to 0");
  int folds = 0;
  for (Revision revision = 2; revision < 1000; ++revision) {
    ASSERT_TRUE(
        append(*log, {put_record(2 + revision % 10, revision, std::string(3000, 'x'))}, revision));
    if (log->is_fold_due()) {
      EXPECT_GE(log->backlog_bytes(), kMax);
      ASSERT_TRUE(log->fold());
      EXPECT_EQ(log->backlog_bytes(), 0u);
      ++folds;
    }
    ASSERT_LE(disk.info("/data/store-1.db-wal")->size, kMax + (64 << 10));
  }
  EXPECT_GT(folds, 5);
  ASSERT_TRUE(log->close());
  EXPECT_EQ(disk.info("/data/store-1.db-wal")->size, 0u);
}

TEST(SqliteLog, a_snapshot_reader_delays_folding_without_harm) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data"), .backlog_bytes_max = 64 << 10};
  auto log = open_log(directory.files(), options);
  EXPECT_EQ(content_of(*log), "to 0");
  ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
  {
    auto reader = Database::open({.path = directory.path("data/store-1.db")});
    ASSERT_TRUE(reader->run("BEGIN"));
    EXPECT_EQ(reader->number("SELECT count(*) FROM objects"), 1u);
    int folds = 0;
    for (Revision revision = 3; revision < 100; ++revision) {
      ASSERT_TRUE(append(*log, {put_record(revision, revision, std::string(3000, 'x'))}, revision));
      if (log->is_fold_due()) {
        ASSERT_TRUE(log->fold());
        ++folds;
      }
    }
    EXPECT_GT(folds, 2);
    EXPECT_LT(folds, 30);  // not at every write
    EXPECT_EQ(reader->number("SELECT count(*) FROM objects"), 1u);
  }
  ASSERT_TRUE(log->fold());
  EXPECT_EQ(log->backlog_bytes(), 0u);
}

TEST(SqliteLog, relaxed_durability_never_reuses_revisions_after_an_unclean_end) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data"), .durability = Durability::relaxed};
  {
    auto log = open_log(directory.files(), options);
    EXPECT_EQ(content_of(*log), "to 0");
    ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
    ASSERT_TRUE(log->close());
  }
  {
    auto log = open_log(directory.files(), options);
    EXPECT_EQ(content_of(*log), "2@2 to 2");
    ASSERT_TRUE(append(*log, {put_record(3, 3)}, 3));
  }
  // Even when the next server is a strict one.
  std::string stepped = "2@2 3@3 to " + std::to_string(3 + kRevisionStep);
  options.durability = Durability::full;
  EXPECT_EQ(content_of(*open_log(directory.files(), options)), stepped);
  EXPECT_EQ(content_of(*open_log(directory.files(), options)), stepped);
}

TEST(SqliteLog, a_file_of_holes_is_compacted_at_start) {
  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  {
    auto log = open_log(directory.files(), options);
    EXPECT_EQ(content_of(*log), "to 0");
    std::vector<LogRecord> puts;
    std::vector<LogRecord> removals;
    for (Revision i = 2; i < 6000; ++i) {
      puts.push_back(put_record(i, i, std::string(4000, 'x')));
      removals.push_back(remove_record(i));
    }
    removals.pop_back();
    ASSERT_TRUE(append(*log, puts, 6000));
    ASSERT_TRUE(append(*log, removals, 12000));
    ASSERT_TRUE(log->close());
  }
  EXPECT_GT(directory.files().info(directory.path("data/store-1.db"))->size, 20u << 20);
  auto log = open_log(directory.files(), options);
  EXPECT_EQ(content_of(*log), "5999@5999 to 12000");
  EXPECT_LT(directory.files().info(directory.path("data/store-2.db"))->size, 1u << 20);
  EXPECT_FALSE(directory.files().exists(directory.path("data/store-1.db")));
  ASSERT_TRUE(append(*log, {put_record(12001, 12001)}, 12001));
}

// A cut tore a long transaction. The disk is full, so the log is not folded in at the next start,
// and a short transaction takes the place of the torn one.
TEST(SqliteLog, what_a_cut_left_is_not_mistaken_for_damage_when_the_log_goes_on) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    PowerCutDisk disk(seed);
    SqliteLogOptions options{.directory = "/data", .vfs = disk.vfs()};
    {
      auto log = open_log(disk, options);
      EXPECT_EQ(content_of(*log), "to 0");
      ASSERT_TRUE(append(*log, {put_record(2, 2)}, 2));
      std::vector<LogRecord> many;
      for (Revision i = 3; i < 23; ++i) {
        many.push_back(put_record(i, i, std::string(3000, 'x')));
      }
      disk.cut_after(30 + seed);
      std::ignore = log->append(many, 22);
    }
    disk.restart();
    disk.set_full(true);
    {
      auto log = open_log(disk, options);
      ASSERT_TRUE(log);
      std::ignore = content_of(*log);
      disk.set_full(false);
      ASSERT_TRUE(append(*log, {put_record(30, 30)}, 30));
    }
    disk.restart_process();
    const std::string shown = content_of(*open_log(disk, options));
    ASSERT_TRUE(shown.ends_with(" 30@30 to 30")) << seed << ": " << shown;
  }
}

}  // namespace
}  // namespace codeflare::apiserver
