#include "tests/sched/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace codeflare::sched::scenario {
namespace {

class ScenarioTest : public ::testing::Test {
 public:
  explicit ScenarioTest(Case test) : case_(std::move(test)) {}
  void TestBody() override { Runner().run(case_); }

 private:
  Case case_;
};

// Every case of every *.case file beside this one is a test of its own.
bool register_cases() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(CASES_DIRECTORY)) {
    if (entry.path().extension() == ".case") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    for (const Case& each : read_cases(file)) {
      const std::string suite = "Scenario_" + each.file.substr(0, each.file.find('.'));
      ::testing::RegisterTest(suite.c_str(), each.name.c_str(), nullptr, nullptr, __FILE__,
                              __LINE__,
                              [each]() -> ::testing::Test* { return new ScenarioTest(each); });
    }
  }
  return true;
}

const bool kRegistered = register_cases();

TEST(Scenarios, exist) {
  EXPECT_TRUE(kRegistered);
  EXPECT_GE(::testing::UnitTest::GetInstance()->total_test_count(), 80);
}

}  // namespace
}  // namespace codeflare::sched::scenario
