#include "apiserver/store/snapshot.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/store.h"
#include "apiserver/store/testing/real_directory.h"
#include "base/async/sleep.h"
#include "base/async/when.h"
#include "json/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

// Ends when the journal has grown to the size: a moment that does not depend on how fast the
// machine is.
Task<Result<CommandResult>> until_journal_has(Env env, std::string path, std::uint64_t bytes) {
  while (true) {
    Result<FileInfo> info = env.files.info(path);
    if (info && info->size >= bytes) {
      co_return CommandResult{};
    }
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(1)));
  }
}

struct SnapshotTaken {
  std::string journal{};  // as it was before
  Result<Revision> revision = Revision{0};
};

Task<Result<CommandResult>> take_snapshot_then(Env env, std::string journal,
                                               SnapshotOptions options, SnapshotTaken* taken) {
  CO_TRY(co_await until_journal_has(env, journal, 30'000));
  taken->journal = env.files.read(journal).value();
  taken->revision = co_await run_blocking(env, [&] { return take_snapshot(env.files, options); });
  co_return CommandResult{};
}

class KillTest : public testing::Test {
 protected:
  struct Known {
    std::string acknowledged = "-";
    std::vector<std::string> attempted;  // since then
  };

  // Until the other task has ended.
  void run_until(Task<Result<CommandResult>> killer) {
    Env env = directory.env();
    Command command{.program = KILL_WRITER, .arguments = {directory.path("data"), journal}};
    std::vector<Task<Result<CommandResult>>> tasks;
    tasks.push_back(env.launcher.run(std::move(command)));
    tasks.push_back(std::move(killer));
    auto first = run(env.loop, when_any(std::move(tasks)));
    ASSERT_TRUE(first.has_value());
    ASSERT_EQ(first->index, 1u) << "the writer ended by itself: "
                                << (first->value ? first->value->error_output
                                                 : first->value.error().to_string());
  }

  void read_journal(const std::string& text) {
    std::istringstream lines(text);
    std::string verb;
    std::string name;
    std::string data;
    while (lines >> verb >> name >> data) {
      if (verb == "try") {
        known[name].attempted.push_back(data);
        continue;
      }
      Revision at = 0;
      lines >> at;
      known[name] = {.acknowledged = data, .attempted = {}};
      revision = std::max(revision, at);
      ++acknowledged;
    }
  }

  static std::string data_of(const ObjectPtr& object) {
    if (!object) {
      return "-";
    }
    static constexpr std::array<std::string_view, 1> kPaths = {"data"};
    std::array<std::string_view, 1> slices;
    EXPECT_TRUE(json::scan(object->json(), kPaths, slices));
    return std::string(slices[0].substr(1, slices[0].size() - 2));
  }

  void check(const char* data_directory) {
    Env env = directory.env();
    auto log = open_sqlite_log(env.files, {.directory = directory.path(data_directory)});
    ASSERT_TRUE(log.has_value()) << log.error().to_string();
    auto store = run(env.loop, Store::open(env, *std::move(log), {}, Logger(), metrics)).value();
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    CollectionId pods = (*store)->collection("pods");
    EXPECT_GE((*store)->revision(), revision);
    revision = (*store)->revision();
    for (auto& [name, what] : known) {
      std::string data = data_of((*store)->get(pods, "", name));
      EXPECT_TRUE(data == what.acknowledged || std::ranges::count(what.attempted, data) > 0)
          << name << " is " << data << ", acknowledged was " << what.acknowledged;
      what = {.acknowledged = data, .attempted = {}};
    }
    EXPECT_LE((*store)->size(pods), known.size());
    ASSERT_TRUE(run(env.loop, (*store)->close()));
  }

  RealDirectory directory;
  std::string journal = directory.path("journal");
  MetricsRegistry metrics;
  std::map<std::string, Known> known;
  Revision revision = 1;
  std::uint64_t acknowledged = 0;
};

TEST_F(KillTest, loses_nothing_that_was_acknowledged_to_sixteen_writers) {
  for (int round = 0; round < KILL_ROUNDS && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Env env = directory.env();
    ASSERT_TRUE(env.files.write(journal, ""));
    run_until(until_journal_has(env, journal, 1 + env.random.below(60'000)));
    read_journal(env.files.read(journal).value());
    check("data");
  }
  EXPECT_GT(acknowledged, 10u * KILL_ROUNDS);
}

TEST_F(KillTest, a_snapshot_taken_while_another_process_writes_is_whole) {
  Env env = directory.env();
  std::string file = directory.path("snapshot");
  ASSERT_TRUE(env.files.write(journal, ""));
  SnapshotTaken taken;
  run_until(take_snapshot_then(env, journal, {directory.path("data"), file}, &taken));
  ASSERT_TRUE(taken.revision.has_value()) << taken.revision.error().to_string();
  read_journal(taken.journal);
  EXPECT_GE(*taken.revision, revision);
  // Later attempts may be in it too.
  std::string rest = env.files.read(journal)->substr(taken.journal.size());
  std::istringstream lines(rest);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("try ")) {
      std::istringstream(line.substr(4)) >> line >> rest;
      known[line].attempted.push_back(rest);
    }
  }
  ASSERT_TRUE(restore_snapshot(env.files, {directory.path("copy"), file}));
  check("copy");
}

}  // namespace
}  // namespace codeflare::apiserver
