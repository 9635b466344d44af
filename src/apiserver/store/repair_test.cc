#include "apiserver/store/repair.h"

#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/snapshot.h"
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
  Result<Repaired> repaired = drop_damaged_objects(files(), path());
  ASSERT_TRUE(repaired) << repaired.error().to_string();
  EXPECT_TRUE(repaired->dropped.empty());
  EXPECT_EQ(content_of(*open()), "2@2 3@3 4@4 to 4");
  EXPECT_TRUE(files().exists(database()));
}

TEST_F(RepairTest, takes_out_what_is_damaged_and_keeps_its_text) {
  damage(files(), database(), "second");
  EXPECT_TRUE(content_of(*open()).contains("data_loss: ")) << content_of(*open());
  Result<Repaired> repaired = drop_damaged_objects(files(), path());
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

TEST_F(RepairTest, refuses_a_directory_in_use_and_one_without_a_database) {
  auto log = open();
  EXPECT_EQ(drop_damaged_objects(files(), path()).error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(drop_damaged_objects(files(), directory.path("nowhere")).error().code,
            ErrorCode::not_found);
  ASSERT_TRUE(files().make_directories(directory.path("empty")));
  EXPECT_EQ(drop_damaged_objects(files(), directory.path("empty")).error().code,
            ErrorCode::not_found);
}

TEST_F(RepairTest, changes_nothing_when_more_than_objects_is_damaged) {
  {
    auto opened = Database::open({.path = database()});
    ASSERT_TRUE(opened->run("UPDATE meta SET value = 3 WHERE key = 'revision'"));
  }
  Result<Repaired> repaired = drop_damaged_objects(files(), path());
  ASSERT_FALSE(repaired);
  EXPECT_EQ(repaired.error().to_string(),
            "data_loss: the log holds an object of revision 4 but ends at 3");
  EXPECT_TRUE(files().exists(database()));
}

}  // namespace
}  // namespace codeflare::apiserver
