#include "sdk/cluster_file.h"

#include "base/env/sim_env.h"
#include "sdk/definition_file.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

struct World {
  SimEnv sim;
  FileSystem& files = sim.env().files;

  Result<void> write(const ClusterConfig& config, bool force = false) {
    return write_cluster_file(files, "demo.yaml", config, force);
  }
  std::string error(std::string_view text, std::string_view name = "demo") {
    EXPECT_TRUE(files.write("demo.yaml", text));
    const Result<json::Document> read = read_cluster_file(files, "demo.yaml", name);
    return read ? "" : read.error().message;
  }
};

TEST(ClusterFile, is_replaced_as_long_as_nobody_edits_it) {
  World w;
  ASSERT_TRUE(w.write({.name = "demo"}));
  ASSERT_TRUE(w.write({.name = "demo", .num_workers = 2}));
  const std::string text = w.files.read("demo.yaml").value();
  EXPECT_TRUE(is_unedited(text));
  EXPECT_NE(text.find("replicas: 2"), std::string::npos);
}

TEST(ClusterFile, edits_are_kept_unless_forced) {
  World w;
  ASSERT_TRUE(w.write({.name = "demo"}));
  ASSERT_TRUE(w.files.append("demo.yaml", "# mine\n"));
  const Result<void> again = w.write({.name = "demo"});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_EQ(again.error().message,
            "demo.yaml was edited since it was defined; use --force to replace it");
  EXPECT_TRUE(w.write({.name = "demo"}, true));
  EXPECT_TRUE(w.write({.name = "demo"}));
}

TEST(ClusterFile, somebody_elses_file_is_kept) {
  World w;
  ASSERT_TRUE(w.files.write("demo.yaml", "shopping: [milk]\n"));
  EXPECT_FALSE(w.write({.name = "demo"}).has_value());
}

TEST(ClusterFile, reads_what_was_written) {
  World w;
  ASSERT_TRUE(w.write({.name = "demo"}));
  EXPECT_TRUE(read_cluster_file(w.files, "demo.yaml", "demo").has_value());
  EXPECT_EQ(read_cluster_file(w.files, "other.yaml", "other").error().code, ErrorCode::not_found);
}

TEST(ClusterFile, says_what_is_wrong_with_a_file) {
  World w;
  EXPECT_EQ(w.error(cluster_file_text({.name = "demo"}), "other"),
            "demo.yaml: defines cluster 'demo', not 'other'; use --name demo or change "
            "metadata.name");
  const std::string fix =
      ", not an AppWrapper or RayCluster; write one with 'codeflare define raycluster'";
  EXPECT_EQ(w.error("kind: Pod\n"), "demo.yaml: holds a Pod" + fix);
  EXPECT_EQ(w.error("a: 1\n"), "demo.yaml: holds no kind" + fix);
  EXPECT_EQ(w.error("kind: AppWrapper\n"), "demo.yaml: holds an AppWrapper without a RayCluster");
  EXPECT_EQ(w.error("kind: RayCluster\n---\nkind: RayCluster\n"),
            "demo.yaml: has 2 documents; a cluster is one");
  EXPECT_EQ(w.error(""), "demo.yaml: has 0 documents; a cluster is one");
  EXPECT_TRUE(w.error("kind: [\n").starts_with("demo.yaml: "));
}

}  // namespace
}  // namespace codeflare::sdk
