#include "apiserver/store/repair.h"

#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/internal/stored_objects.h"
#include "apiserver/store/remedy.h"
#include "apiserver/store/snapshot.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/testing/damage.h"
#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/real_directory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {
namespace {

class RepairTest : public testing::Test {
 protected:
  RepairTest() {
    auto log = open();
    EXPECT_EQ(content_of(*log), "to 0");
    std::vector<LogRecord> records{put_record(2, 2, "first"), put_record(3, 3, "second"),
                                   put_record(4, 4, "third")};
    EXPECT_TRUE(log->append(records, 4));
    EXPECT_TRUE(log->close());
  }
  std::unique_ptr<Log> open() {
    auto log = open_sqlite_log(files(), {.directory = path()});
    EXPECT_TRUE(log.has_value()) << log.error().to_string();
    return log ? *std::move(log) : nullptr;
  }
  FileSystem& files() { return directory.files(); }
  std::string path() const { return directory.path("data"); }
  std::string database() const { return directory.path("data/store-1.db"); }

  RealDirectory directory;
};

TEST_F(RepairTest, leaves_a_sound_state_as_it_is) {
  Result<Repaired> repaired = repair_data_directory(files(), {.directory = path()});
  ASSERT_TRUE(repaired) << repaired.error().to_string();
  EXPECT_TRUE(repaired->dropped.empty());
  EXPECT_EQ(content_of(*open()), "2@2 3@3 4@4 to 4");
  EXPECT_TRUE(files().exists(database()));
}

TEST_F(RepairTest, takes_out_what_is_damaged_and_keeps_its_text) {
  damage(files(), database(), "second");
  EXPECT_TRUE(content_of(*open()).contains("data_loss: ")) << content_of(*open());
  Result<Repaired> repaired = repair_data_directory(files(), {.directory = path()});
  ASSERT_TRUE(repaired) << repaired.error().to_string();
  ASSERT_EQ(repaired->dropped.size(), 1u);
  EXPECT_EQ(repaired->dropped[0].damage,
            database() + " is damaged at pods p3, created at revision 3: its checksum is wrong");
  EXPECT_EQ(repaired->dropped[0].file, directory.path("data/damaged-3.json"));
  EXPECT_TRUE(files().read(repaired->dropped[0].file)->contains("econd"));
  EXPECT_EQ(files().info(repaired->dropped[0].file)->mode, 0600u);
  EXPECT_EQ(repaired->revision, 4 + kRevisionStep);
  EXPECT_EQ(content_of(*open()), "2@2 4@4 to " + std::to_string(4 + kRevisionStep));
}

TEST_F(RepairTest, shows_names_of_damaged_objects_escaped) {
  {
    auto log = open();
    EXPECT_EQ(content_of(*log), "2@2 3@3 4@4 to 4");
    LogRecord record = put_record(5, 5);
    record.collection = "po\x1b[2Jds";
    record.text = Bytes::from(
        R"({"metadata":{"name":"a\u0000b\n\u001b[31m\u009bc\\","namespace":"n\r"},"data":"other"})");
    std::vector<LogRecord> records{record};
    EXPECT_TRUE(log->append(records, 5));
    EXPECT_TRUE(log->close());
  }
  damage(files(), database(), "other");
  const std::string damaged =
      database() +
      R"( is damaged at po\x1b[2Jds n\x0d/a\x00b\x0a\x1b[31m\xc2\x9bc\\, created at revision 5: )" +
      "its checksum is wrong";
  EXPECT_EQ(content_of(*open()), "data_loss: " + damaged);
  Result<Repaired> repaired = repair_data_directory(files(), {.directory = path()});
  ASSERT_TRUE(repaired) << repaired.error().to_string();
  EXPECT_EQ(repaired->dropped.at(0).damage, damaged);
}

// SQLite says how the file calls what it misses.
TEST_F(RepairTest, shows_names_of_damaged_tables_escaped) {
  damage(files(), database(), "objects (", '\x1b');
  const std::string refused = repair_data_directory(files(), {.directory = path()}).error().message;
  EXPECT_EQ(refused.find('\x1b'), std::string::npos) << refused;
}

TEST_F(RepairTest, refuses_a_directory_in_use_and_one_without_a_database) {
  auto log = open();
  EXPECT_EQ(repair_data_directory(files(), {.directory = path()}).error().code,
            ErrorCode::failed_precondition);
  EXPECT_EQ(repair_data_directory(files(), {.directory = directory.path("nowhere")}).error().code,
            ErrorCode::not_found);
  ASSERT_TRUE(files().make_directories(directory.path("empty")));
  EXPECT_EQ(repair_data_directory(files(), {.directory = directory.path("empty")}).error().code,
            ErrorCode::not_found);
}

TEST_F(RepairTest, changes_nothing_when_more_than_objects_is_damaged) {
  {
    auto opened = Database::open({.path = database()});
    ASSERT_TRUE(opened->run("UPDATE meta SET value = 3 WHERE key = 'revision'"));
  }
  // With it, the last revision is known.
  ASSERT_TRUE(files().remove(database() + "-acknowledged"));
  Result<Repaired> repaired = repair_data_directory(files(), {.directory = path()});
  ASSERT_FALSE(repaired);
  EXPECT_EQ(
      repaired.error().to_string(),
      "data_loss: the log holds an object of revision 4 but ends at 3; it is more than repair "
      "can take out: restore a copy (codeflare apiserver restore FILE --replace --data-dir " +
          path() + ") or, when nothing in there is to be kept, remove " + database());
  EXPECT_TRUE(files().exists(database()));
}

// Damage of all kinds, one after the other, to a file of several pages.
class DamageTest : public RepairTest {
 protected:
  DamageTest() {
    auto log = open();
    EXPECT_EQ(content_of(*log), "2@2 3@3 4@4 to 4");
    std::vector<LogRecord> records;
    for (Revision i = 5; i < 25; ++i) {
      records.push_back(put_record(i, i, std::string(500, 'x')));
    }
    EXPECT_TRUE(log->append(records, 24));
    EXPECT_TRUE(log->close());
    sound_ = files().read(database()).value();
  }

  // As a server does.
  Result<void> start() {
    Result<void> started = load();
    return started ? started : fail(with_remedy(std::move(started).error(), files(), path()));
  }
  void lay(const std::string& content) {
    ASSERT_TRUE(files().remove_all(path()));
    ASSERT_TRUE(files().make_directories(path()));
    ASSERT_TRUE(files().write(database(), content));
  }
  // Whether the advice to repair is true, or the one without it.
  void expect_true_advice(const std::string& content, const std::string& what) {
    SCOPED_TRACE(what);
    lay(content);
    const Result<void> refused = start();
    if (refused) {
      ASSERT_EQ(loaded_, 23) << "none is hidden";
      return;
    }
    ++refused_;
    ASSERT_EQ(refused.error().code, ErrorCode::data_loss) << refused.error().message;
    const std::string& advice = refused.error().message;
    ASSERT_TRUE(advice.contains("apiserver restore FILE --replace")) << advice;
    const Result<Repaired> repaired = repair_data_directory(files(), {.directory = path()});
    ASSERT_EQ(advice.contains("apiserver repair --data-dir"), repaired.has_value())
        << advice << "\n"
        << (repaired ? "repaired" : repaired.error().message);
    if (repaired) {
      ++repaired_;
      const Result<void> again = start();
      ASSERT_TRUE(again) << again.error().message;
      return;
    }
    const std::string removal = "to be kept, remove " + database();
    ASSERT_TRUE(advice.ends_with(removal)) << advice;
    ASSERT_TRUE(repaired.error().message.ends_with(removal)) << repaired.error().message;
    ASSERT_TRUE(files().remove(database()));
    const Result<void> anew = start();
    ASSERT_TRUE(anew) << anew.error().message;
  }

  std::string sound_;
  int refused_ = 0;
  int repaired_ = 0;
  int loaded_ = 0;  // objects, at the last start

 private:
  Result<void> load() {
    TRY_ASSIGN(std::unique_ptr<Log> log, open_sqlite_log(files(), {.directory = path()}));
    StoredObjects stored;
    loaded_ = 0;
    TRY_ASSIGN(Revision revision, log->load([&](const LogRecord& record) {
      ++loaded_;
      return stored.add(record);
    }));
    return stored.finish(revision);
  }
};

TEST_F(DamageTest, repair_is_advised_exactly_where_it_helps) {
  ASSERT_GT(sound_.size(), 4u * 4096);
  expect_true_advice("", "empty");
  expect_true_advice(std::string(5000, 'x'), "no database");
  for (std::size_t size = 100; size < sound_.size(); size += 3001) {
    expect_true_advice(sound_.substr(0, size), "cut to " + std::to_string(size));
  }
  for (char byte : {'\0', '\xff'}) {
    // The head of the file and of each page, then here and there.
    for (std::size_t at = 0; at < sound_.size(); at += at % 4096 < 64 ? 5 : 419) {
      std::string damaged = sound_;
      damaged[at] = byte;
      expect_true_advice(damaged, std::to_string(byte) + " at " + std::to_string(at));
    }
    for (std::size_t at = 0; at < sound_.size(); at += 2048) {
      std::string damaged = sound_;
      damaged.replace(at, 512, std::string(512, byte));
      expect_true_advice(damaged, std::to_string(byte) + " from " + std::to_string(at));
    }
  }
  for (std::string_view word : {"objects (", "meta (", "created INTEGER", "checksum INTEGER"}) {
    std::string damaged = sound_;
    damaged[damaged.find(word)] = 'x';
    expect_true_advice(damaged, "another word for " + std::string(word));
  }
  // An object that is read first, and a page behind it.
  std::string damaged = sound_;
  damaged[damaged.find("first")] = 'F';
  damaged.replace(damaged.size() - 4096, 8, std::string(8, '\xff'));
  expect_true_advice(damaged, "both");
  EXPECT_GT(repaired_, 20);
  EXPECT_GT(refused_ - repaired_, 20);
}

}  // namespace
}  // namespace codeflare::apiserver
