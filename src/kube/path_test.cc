#include "kube/path.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using model::ResourceType;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
const ResourceType kNodes{"", "v1", "Node", "nodes", false};

TEST(Path, core_kinds_live_under_api_and_others_under_apis) {
  EXPECT_EQ(*object_path(kPods, {"default", "web-0"}), "/api/v1/namespaces/default/pods/web-0");
  EXPECT_EQ(*object_path(kJobs, {"a", "b"}, "status"), "/apis/batch/v1/namespaces/a/jobs/b/status");
  EXPECT_EQ(*object_path(kNodes, {"", "n1"}), "/api/v1/nodes/n1");
  EXPECT_EQ(*collection_path(kJobs, ""), "/apis/batch/v1/jobs");
  EXPECT_EQ(*collection_path(kJobs, "a"), "/apis/batch/v1/namespaces/a/jobs");
}

TEST(Path, names_cannot_leave_their_segment) {
  EXPECT_EQ(*object_path(kPods, {"a", "x/../y?z#%"}),
            "/api/v1/namespaces/a/pods/x%2F..%2Fy%3Fz%23%25");
  EXPECT_EQ(*object_path(kNodes, {"", "system:node:a"}), "/api/v1/nodes/system:node:a");
  for (const char* name : {"", ".", ".."}) {
    Result<std::string> path = object_path(kPods, {"a", name});
    ASSERT_FALSE(path) << name;
    EXPECT_EQ(path.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(object_path(kPods, {"a", "x"}, ".."));
  }
}

TEST(Path, the_scope_of_the_kind_must_match_the_key) {
  EXPECT_FALSE(object_path(kPods, {"", "x"}));
  EXPECT_FALSE(object_path(kNodes, {"a", "x"}));
  EXPECT_FALSE(create_path(kPods, ""));
  EXPECT_TRUE(create_path(kNodes, ""));
  EXPECT_EQ(collection_path(kNodes, "a").error().message,
            "nodes have no namespace, but \"a\" is given");
}

TEST(Path, query_values_are_encoded_and_unset_ones_left_out) {
  Query query;
  query.add_if_set("labelSelector", "app in (a,b),x=y")
      .add_if_set("fieldSelector", "")
      .add_if("watch", true)
      .add_if("force", false)
      .add("limit", 500)
      .add_if_set("tailLines", std::optional<std::int64_t>());
  EXPECT_EQ(query.on("/api/v1/pods"),
            "/api/v1/pods?labelSelector=app%20in%20%28a%2Cb%29%2Cx%3Dy&watch=true&limit=500");
  EXPECT_EQ(Query().on("/x"), "/x");
}

}  // namespace
}  // namespace codeflare::kube
