#include "controllers/platform/image_decision.h"

#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::platform_kinds {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'000'000)};

ImageObserved observed(int nodes) {
  ImageObserved made;
  made.image.metadata.name = "ray";
  made.image.spec.image = "ray:1";
  for (int i = 0; i < nodes; ++i) {
    made.nodes.push_back({.name = "n" + std::to_string(10 + i), .ready = true});
  }
  return made;
}

FetchPod pod(const std::string& node, const std::string& phase) {
  return {.name = "p-" + node, .node = node, .image = "ray:1", .phase = phase, .created = kNow};
}

TEST(ImageDecision, ten_nodes_fetch_at_a_time) {
  ImageObserved all = observed(30);
  EXPECT_EQ(decide_image(all, kNow).create.size(), 10u);
  all.pods.push_back(pod("n10", "Running"));
  const ImageDesired next = decide_image(all, kNow);
  EXPECT_EQ(next.create.size(), 9u);
  EXPECT_EQ(next.create.front(), "n11");
}

TEST(ImageDecision, a_result_is_kept_in_the_status_and_its_pod_goes) {
  ImageObserved two = observed(2);
  two.pods = {pod("n10", "Succeeded")};
  const ImageDesired desired = decide_image(two, kNow);
  EXPECT_EQ(desired.status.ready, "1/2");
  EXPECT_EQ(desired.remove.size(), 1u);
  two.image.status = desired.status;
  two.pods = {pod("n11", "Succeeded")};
  const ImageDesired done = decide_image(two, kNow);
  EXPECT_EQ(done.status.ready, "2/2");
  EXPECT_EQ(done.status.conditions[0].status, "True");
  EXPECT_TRUE(done.create.empty());
  two.image.status = done.status;
  two.pods.clear();
  EXPECT_EQ(decide_image(two, kNow).status, done.status);
}

TEST(ImageDecision, another_image_is_fetched_anew) {
  ImageObserved one = observed(1);
  one.pods = {pod("n10", "Succeeded")};
  one.image.status = decide_image(one, kNow).status;
  one.image.spec.image = "ray:2";
  const ImageDesired desired = decide_image(one, kNow);
  EXPECT_EQ(desired.status.ready, "0/1");
  EXPECT_EQ(desired.remove.size(), 1u);  // has the name that the new one needs
  EXPECT_TRUE(desired.create.empty());
}

TEST(ImageDecision, errors_are_told_and_failed_pods_replaced_after_a_minute) {
  ImageObserved three = observed(3);
  three.pods = {pod("n10", "Pending"), pod("n11", "Failed")};
  three.pods[0].trouble = "ErrImagePull";
  three.pods[0].message = "container fetch: ErrImagePull: no such image";
  three.pods[1].trouble = "Error";
  three.nodes[2].ready = false;
  const ImageDesired desired = decide_image(three, kNow + std::chrono::seconds(20));
  EXPECT_EQ(desired.status.conditions[0].reason, "ErrImagePull");
  EXPECT_EQ(desired.status.conditions[0].message,
            "node n10: container fetch: ErrImagePull: no such image; and 2 more nodes");
  EXPECT_TRUE(desired.remove.empty());
  EXPECT_EQ(desired.again, std::chrono::seconds(40));
  EXPECT_EQ(decide_image(three, kNow + kFetchAgain).remove.size(), 1u);
}

TEST(ImageDecision, no_node_is_said) {
  const ImageDesired desired = decide_image(observed(0), kNow);
  EXPECT_EQ(desired.status.ready, "0/0");
  EXPECT_EQ(desired.status.conditions[0].reason, "NoNodes");
}

TEST(ImageDecision, the_pod_is_json_whatever_the_names_are) {
  model::Image image = observed(0).image;
  image.metadata.name = std::string(80, 'a') + ".b";
  image.spec.image = "a\"b";
  image.spec.image_pull_secret = "s";
  const auto body = json::parse(fetch_pod(image, "node", "codeflare:1"));
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_LE(fetch_pod_name(image, "node").size(), 63u);
}

}  // namespace
}  // namespace codeflare::controllers::platform_kinds
