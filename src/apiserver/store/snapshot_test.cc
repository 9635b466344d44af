#include "apiserver/store/snapshot.h"

#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/testing/damage.h"
#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/real_directory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

const std::string kAnotherCopy =
    "; nothing was changed: restore another file that codeflare apiserver snapshot wrote";

class SnapshotTest : public testing::Test {
 protected:
  std::unique_ptr<Log> open(const char* name) {
    auto log = open_sqlite_log(files(), {.directory = directory.path(name)});
    EXPECT_TRUE(log.has_value()) << log.error().to_string();
    return log ? *std::move(log) : nullptr;
  }
  FileSystem& files() { return directory.files(); }
  std::string snapshot(const char* name, const char* file) {
    auto done = take_snapshot(files(), {directory.path(name), directory.path(file)});
    return done ? std::to_string(*done) : done.error().to_string();
  }
  std::string restore(const char* name, const char* file, bool replace = false) {
    auto done = restore_snapshot(files(), {directory.path(name), directory.path(file), replace});
    return done ? std::to_string(*done) : done.error().to_string();
  }
  void append(Log& log, std::vector<LogRecord> records, Revision revision) {
    ASSERT_TRUE(log.append(records, revision));
  }

  RealDirectory directory;
};

TEST_F(SnapshotTest, is_one_consistent_version_taken_while_the_server_writes) {
  auto log = open("data");
  EXPECT_EQ(content_of(*log), "to 0");
  append(*log, {put_record(2, 2), put_record(3, 3)}, 3);
  EXPECT_EQ(snapshot("data", "one"), "3");
  append(*log, {put_record(2, 4), remove_record(3)}, 5);
  EXPECT_EQ(snapshot("data", "two"), "5");
  append(*log, {put_record(6, 6)}, 6);
  EXPECT_EQ(files().info(directory.path("one"))->mode, 0600u);

  EXPECT_EQ(restore("from-one", "one"), std::to_string(3 + kRevisionStep));
  EXPECT_EQ(content_of(*open("from-one")), "2@2 3@3 to " + std::to_string(3 + kRevisionStep));
  EXPECT_EQ(restore("from-two", "two"), std::to_string(5 + kRevisionStep));
  EXPECT_EQ(content_of(*open("from-two")), "2@4 to " + std::to_string(5 + kRevisionStep));
  // Nothing is left lying about, and the server has not noticed.
  EXPECT_EQ(files().list(directory.path("")).value(),
            (std::vector<std::string>{"data", "from-one", "from-two", "one", "two"}));
  append(*log, {put_record(7, 7)}, 7);
}

TEST_F(SnapshotTest, works_without_a_server) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    append(*log, {put_record(2, 2)}, 2);
  }
  EXPECT_EQ(snapshot("data", "file"), "2");
  EXPECT_EQ(content_of(*open("data")), "2@2 to 2");
}

TEST_F(SnapshotTest, overwrites_nothing) {
  open("data");
  ASSERT_TRUE(files().write(directory.path("file"), "precious"));
  EXPECT_TRUE(snapshot("data", "file").starts_with("already_exists")) << snapshot("data", "file");
  EXPECT_EQ(files().read(directory.path("file")), "precious");
}

TEST_F(SnapshotTest, needs_a_database) {
  ASSERT_TRUE(files().make_directories(directory.path("empty")));
  EXPECT_TRUE(snapshot("empty", "file").starts_with("not_found: no database in"));
  EXPECT_TRUE(snapshot("nowhere", "file").starts_with("not_found"));
  EXPECT_FALSE(files().exists(directory.path("file")));
}

TEST_F(SnapshotTest, restore_replaces_a_database_only_when_told) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    append(*log, {put_record(2, 2)}, 2);
    EXPECT_EQ(snapshot("data", "file"), "2");
    append(*log, {put_record(3, 3)}, 50);
  }
  EXPECT_TRUE(restore("data", "file").starts_with("already_exists"));
  EXPECT_EQ(content_of(*open("data")), "2@2 3@3 to 50");
  // Beyond what clients of the replaced database have seen.
  EXPECT_EQ(restore("data", "file", true), std::to_string(50 + kRevisionStep));
  EXPECT_EQ(content_of(*open("data")), "2@2 to " + std::to_string(50 + kRevisionStep));
}

TEST_F(SnapshotTest, restore_replaces_a_damaged_database) {
  open("data").reset();
  EXPECT_EQ(snapshot("data", "file"), "0");
  ASSERT_TRUE(files().write(directory.path("data/store-1.db"), "garbage"));
  EXPECT_EQ(restore("data", "file", true), std::to_string(kRevisionStep));
  EXPECT_EQ(content_of(*open("data")), "to " + std::to_string(kRevisionStep));
}

TEST_F(SnapshotTest, restore_refuses_a_directory_in_use) {
  auto log = open("data");
  EXPECT_EQ(snapshot("data", "file"), "0");
  EXPECT_TRUE(restore("data", "file", true).starts_with("failed_precondition: data directory"));
}

TEST_F(SnapshotTest, restore_refuses_a_damaged_object_and_leaves_what_is_there) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    append(*log, {put_record(2, 2, "word")}, 2);
    ASSERT_TRUE(log->close());
  }
  EXPECT_EQ(snapshot("data", "file"), "2");
  damage(files(), directory.path("file"), "word");
  EXPECT_EQ(restore("data", "file", true),
            "data_loss: " + directory.path("file") +
                " is damaged at pods p2, created at revision 2: its checksum is wrong" +
                kAnotherCopy);
  EXPECT_EQ(content_of(*open("data")), "2@2 to 2");
}

TEST_F(SnapshotTest, is_not_taken_of_a_damaged_object) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    append(*log, {put_record(2, 2, "word")}, 2);
    ASSERT_TRUE(log->close());
  }
  damage(files(), directory.path("data/store-1.db"), "word");
  std::string refused = snapshot("data", "file");
  EXPECT_TRUE(refused.contains("copied from " + directory.path("data/store-1.db"))) << refused;
  EXPECT_TRUE(refused.contains("pods p2, created at revision 2: its checksum is wrong")) << refused;
  EXPECT_FALSE(files().exists(directory.path("file")));
}

TEST_F(SnapshotTest, restore_refuses_what_a_server_would_refuse) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    // Two objects of one name, which no store writes.
    LogRecord twin = put_record(2, 3);
    twin.created = 3;
    append(*log, {put_record(2, 2), twin}, 3);
    ASSERT_TRUE(log->close());
  }
  std::string content = files().read(directory.path("data/store-1.db")).value();
  ASSERT_TRUE(files().write(directory.path("file"), content));
  EXPECT_EQ(restore("other", "file"), "data_loss: " + directory.path("file") +
                                          ": the log holds two objects of pods named /p2" +
                                          kAnotherCopy);
  EXPECT_FALSE(files().exists(directory.path("other")));
}

TEST_F(SnapshotTest, restore_refuses_what_is_not_a_whole_snapshot) {
  {
    auto log = open("data");
    EXPECT_EQ(content_of(*log), "to 0");
    for (Revision i = 2; i < 50; ++i) {
      append(*log, {put_record(i, i, std::string(2000, 'x'))}, i);
    }
  }
  EXPECT_EQ(snapshot("data", "file"), "49");
  std::string content = files().read(directory.path("file")).value();
  auto try_with = [&](std::string_view changed) {
    EXPECT_TRUE(files().write(directory.path("changed"), changed));
    return restore("other", "changed");
  };
  EXPECT_EQ(try_with(""), "data_loss: " + directory.path("changed") +
                              " is not a database of this program" + kAnotherCopy);
  EXPECT_TRUE(try_with("something else entirely, and long enough to look like a header of a file")
                  .starts_with("data_loss"));
  EXPECT_TRUE(try_with(content.substr(0, content.size() / 2)).starts_with("data_loss"));
  std::string flipped = content;
  flipped.replace(flipped.size() / 2, 8192, std::string(8192, '\xff'));
  EXPECT_TRUE(try_with(flipped).starts_with("data_loss"));
  EXPECT_TRUE(restore("other", "missing").starts_with("not_found"));
  ASSERT_TRUE(files().write(directory.path("newer"), content));
  {
    auto database = Database::open({.path = directory.path("newer")});
    ASSERT_TRUE(database->run("UPDATE meta SET value = 7 WHERE key = 'format'"));
  }
  EXPECT_TRUE(restore("other", "newer").contains("has storage format 7, this program knows"));
}

}  // namespace
}  // namespace codeflare::apiserver
