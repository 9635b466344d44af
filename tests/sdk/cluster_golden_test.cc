#include "sdk/cluster_manifest.h"
#include "sdk/read_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>

// Configurations as people write them (NAME.in.yaml) and what becomes of them (NAME.yaml). After a
// change that is meant, copy the text that a failing test wrote over the golden file.
namespace codeflare::sdk {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(CLUSTERS_DIRECTORY)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(".in.yaml")) {
      names.insert(file.substr(0, file.size() - std::string(".in.yaml").size()));
    }
  }
  return names;
}

class ClusterGolden : public testing::TestWithParam<std::string> {};

TEST_P(ClusterGolden, becomes_the_golden_yaml) {
  const fs::path folder = CLUSTERS_DIRECTORY;
  const Result<ConfigReading> reading =
      read_config_file(read(folder / (GetParam() + ".in.yaml")), GetParam());
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  ASSERT_TRUE(reading->faults.empty()) << config_error(reading->faults).message;
  const std::string actual = cluster_yaml(reading->config);
  if (actual != read(folder / (GetParam() + ".yaml"))) {
    const fs::path written = fs::current_path() / (GetParam() + ".yaml");
    std::ofstream(written) << actual;
    FAIL() << "differs from the golden file; the actual text is in " << written << "\n" << actual;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ClusterGolden, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace codeflare::sdk
