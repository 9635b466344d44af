#include "controllers/crds/crds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace codeflare::controllers {
namespace {

TEST(Crds, the_program_carries_all_definitions) {
  const Result<std::vector<EmbeddedCrd>> crds = embedded_crds();
  ASSERT_TRUE(crds.has_value()) << crds.error().message;
  std::vector<std::string> names;
  for (const EmbeddedCrd& crd : *crds) {
    names.push_back(crd.name + " " + crd.versions.front());
  }
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "appwrappers.mcad.ibm.com v1beta1", "appwrappers.workload.codeflare.dev v1beta1",
                "quotasubtrees.quota.codeflare.dev v1alpha1", "rayclusters.ray.io v1"}));
  EXPECT_EQ(crd_texts().size(), 4u);
}

// Two files, one kind: what users of the old group write means the same.
TEST(Crds, the_legacy_definition_differs_in_its_names_alone) {
  const auto schema = [](std::string_view name) {
    for (const std::string_view text : crd_texts()) {
      if (text.contains("name: " + std::string(name))) {
        return std::string(text.substr(text.find("  versions:")));
      }
    }
    return std::string();
  };
  EXPECT_FALSE(schema(kAppWrapperCrd).empty());
  EXPECT_EQ(schema(kAppWrapperCrd), schema(kLegacyAppWrapperCrd));
}

}  // namespace
}  // namespace codeflare::controllers
