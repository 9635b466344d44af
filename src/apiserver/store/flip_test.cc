// One bit of the data directory changes while no server runs. The next start reports it, or nothing
// that was acknowledged is missing and no revision is given out twice.

#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/power_cut_run.h"
#include "apiserver/store/testing/real_directory.h"
#include "apiserver/store/testing/wal_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

using Flip = PowerCutRun::Flip;

constexpr std::uint64_t kFlips = FLIPS;

// Killed, cut or orderly ended, life after life.
TEST(Flip, is_harmless_or_reported_wherever_the_power_went) {
  std::map<Flip, std::uint64_t> counts;
  std::uint64_t flips = 0;
  for (std::uint64_t seed = 1; flips < kFlips; ++seed) {
    PowerCutRun run({.seed = seed, .lives = 2, .flip = true});
    const std::vector<std::string> findings = run.run();
    ASSERT_TRUE(findings.empty()) << "seed " << seed << ": " << run.flip_story() << "\n"
                                  << findings.front();
    ++counts[run.flip()];
    flips += run.flip() == Flip::none ? 0 : 1;
  }
  RecordProperty("harmless", std::to_string(counts[Flip::harmless]));
  RecordProperty("repaired", std::to_string(counts[Flip::repaired]));
  RecordProperty("reported", std::to_string(counts[Flip::reported]));
  EXPECT_GT(counts[Flip::harmless], kFlips / 10);
  EXPECT_GT(counts[Flip::repaired], kFlips / 10);
}

// On the real file layer, which has a file of shared memory beside the log.
class RealFlip : public testing::Test {
 protected:
  RealFlip() {
    auto log = open_sqlite_log(files(), options).value();
    shown_ = content_of(*log);
    for (Revision i = 2; i < 60; ++i) {
      const bool removes = i % 5 == 0;
      std::vector<LogRecord> records{removes ? remove_record(i - 2)
                                             : put_record(i, i, std::string(1000, 'x'))};
      EXPECT_TRUE(log->append(records, i));
      if (i == 40) {
        EXPECT_TRUE(log->fold());
      }
    }
    log.reset();  // as if killed
    for (const char* suffix : {"", "-wal", "-shm", "-acknowledged"}) {
      std::string path = directory.path("data/store-1.db" + std::string(suffix));
      sound_.emplace_back(path, files().read(path).value());
    }
    shown_ = start();
  }
  FileSystem& files() { return directory.files(); }
  void lay_sound() {
    EXPECT_TRUE(files().remove_all(options.directory));
    EXPECT_TRUE(files().make_directories(options.directory, 0700));
    for (const auto& [path, content] : sound_) {
      EXPECT_TRUE(files().write(path, content, {.atomic = false}));
    }
  }
  std::string start() {
    auto log = open_sqlite_log(files(), options);
    return log ? content_of(**log) : log.error().to_string();
  }

  RealDirectory directory;
  SqliteLogOptions options{.directory = directory.path("data")};
  std::vector<std::pair<std::string, std::string>> sound_;
  std::string shown_;
};

TEST_F(RealFlip, is_harmless_or_reported_in_each_file) {
  ASSERT_TRUE(shown_.ends_with(" 59@59 to 59")) << shown_;
  Random& random = directory.env().random;
  std::map<std::string, std::pair<int, int>> counts;  // by file: harmless, reported
  for (std::uint64_t flip = 0; flip < kFlips; ++flip) {
    lay_sound();
    const auto& [path, content] = sound_[flip % sound_.size()];
    const std::uint64_t bit = random.below(content.size() * 8);
    ASSERT_TRUE(files().write(path, with_flipped_bit(content, bit), {.atomic = false}));
    const std::string shown = start();
    auto& [harmless, reported] = counts[path.substr(path.rfind('/') + 1)];
    // A mark that says relaxed moves revisions on.
    const bool is_same =
        shown == shown_ || shown == shown_.substr(0, shown_.rfind(' ')) + " 1000000059";
    const bool is_error = shown.starts_with("data_loss: ") || shown.starts_with("internal: ") ||
                          shown.starts_with("failed_precondition: ");
    ASSERT_TRUE(is_same || is_error) << path << ": bit " << bit << ": " << shown;
    ++(is_same ? harmless : reported);
  }
  for (const auto& [file, count] : counts) {
    RecordProperty(file + ".harmless", std::to_string(count.first));
    RecordProperty(file + ".reported", std::to_string(count.second));
  }
  EXPECT_EQ(counts["store-1.db-shm"].second, 0);
  EXPECT_EQ(counts["store-1.db-acknowledged"].second, 0);
  EXPECT_GT(counts["store-1.db-wal"].second, static_cast<int>(kFlips / 25));
}

}  // namespace
}  // namespace codeflare::apiserver
