#include "node/agent/volume_plan.h"

#include "node/agent/token_cache.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

struct World {
  model::Pod pod;
  PodInputs inputs;

  World() {
    pod.metadata.name = "p";
    pod.metadata.ns = "team";
    pod.metadata.annotations = {{"a", "1"}};
    inputs.config_maps["cm"].data = {{"a.txt", "A"}, {"b.txt", "B"}};
    inputs.config_maps["cm"].binary_data = {{"raw", {std::string("\0\1", 2)}}};
    inputs.secrets["s"].data = {{"key", {"hush"}}};
  }
  model::Volume& volume() { return pod.spec.volumes.emplace_back(model::Volume{.name = "v"}); }
  VolumePlan plan() {
    auto plans = plan_volumes(pod, inputs);
    EXPECT_TRUE(plans) << plans.error().to_string();
    return plans && !plans->empty() ? plans->back() : VolumePlan();
  }
  std::string error() {
    auto plans = plan_volumes(pod, inputs);
    return plans ? "" : plans.error().message;
  }
};

TEST(VolumePlan, config_maps_give_all_keys_or_the_chosen_ones) {
  World w;
  model::ConfigMapVolumeSource& source = w.volume().config_map.emplace();
  source.name = "cm";
  EXPECT_EQ(w.plan().files.size(), 3u);
  source.items = {{.key = "b.txt", .path = "dir/c.txt", .mode = 0400}};
  EXPECT_EQ(w.plan().files,
            (std::vector<VolumeFile>{{.path = "dir/c.txt", .content = "B", .mode = 0400}}));
  source.items[0].path = "../c";
  EXPECT_TRUE(w.error().contains("leaves the volume"));
  source.items = {{.key = "nope", .path = "x"}};
  EXPECT_EQ(w.error(),
            "MountVolume.SetUp failed for volume \"v\" : references non-existent configmap \"cm\" "
            "key: nope");
}

TEST(VolumePlan, missing_objects_are_an_error_unless_optional) {
  World w;
  model::SecretVolumeSource& source = w.volume().secret.emplace();
  source.secret_name = "nope";
  EXPECT_EQ(w.error(), "MountVolume.SetUp failed for volume \"v\" : secret \"nope\" not found");
  source.optional = true;
  EXPECT_TRUE(w.plan().files.empty());
}

TEST(VolumePlan, a_projected_volume_is_what_every_pod_gets) {
  World w;
  model::ProjectedVolumeSource& source = w.volume().projected.emplace();
  source.sources.resize(3);
  source.sources[0].service_account_token =
      model::ServiceAccountTokenProjection{.expiration_seconds = 3607, .path = "token"};
  source.sources[1].config_map =
      model::KeyProjection{.name = "cm", .items = {{.key = "a.txt", .path = "ca.crt"}}};
  source.sources[2].downward_api.emplace().items = {
      {.path = "namespace",
       .field_ref = model::ObjectFieldSelector{.field_path = "metadata.namespace"}}};
  EXPECT_EQ(needs_of(w.pod.spec).tokens, (std::set<TokenNeed>{{"", 3607}}));
  EXPECT_TRUE(w.error().contains("no token"));
  w.inputs.tokens[{"", 3607}] = "secret-token";
  const auto files = w.plan().files;
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].content, "secret-token");
  EXPECT_EQ(files[1], (VolumeFile{.path = "ca.crt", .content = "A"}));
  EXPECT_EQ(files[2].content, "team");
}

TEST(VolumePlan, annotations_are_written_by_lines) {
  World w;
  w.volume().downward_api.emplace().items = {
      {.path = "all",
       .field_ref = model::ObjectFieldSelector{.field_path = "metadata.annotations"}}};
  EXPECT_EQ(w.plan().files[0].content, "a=\"1\"");
}

TEST(VolumePlan, empty_dirs_lie_on_disk_or_in_memory) {
  World w;
  model::EmptyDirVolumeSource& source = w.volume().empty_dir.emplace();
  EXPECT_EQ(w.plan().kind, VolumePlan::Kind::empty);
  source.medium = "Memory";
  source.size_limit = *model::Quantity::parse("1Mi");
  EXPECT_EQ(w.plan().kind, VolumePlan::Kind::memory);
  EXPECT_EQ(w.plan().size, 1 << 20);
}

TEST(VolumePlan, what_is_not_offered_is_said) {
  World w;
  w.volume().host_path.emplace().path = "/";
  EXPECT_TRUE(w.error().contains("is not offered by this node: start it with --allow-host-path"));
}

TEST(VolumePlan, places_of_the_machine_are_offered_where_the_node_says_so) {
  World w;
  model::HostPathVolumeSource& source = w.volume().host_path.emplace();
  source.path = "/srv/data/x";
  source.type = "Directory";
  w.inputs.host_paths = {"/srv/data"};
  EXPECT_EQ(w.plan(), (VolumePlan{.name = "v",
                                  .kind = VolumePlan::Kind::machine,
                                  .source = "/srv/data/x",
                                  .type = "Directory"}));
  source.path = "/srv/data/../../etc";
  EXPECT_TRUE(w.error().contains("is not a plain absolute path"));
}

TEST(VolumePlan, our_own_data_is_no_volume_wherever_it_lies) {
  World w;
  w.inputs.host_paths = {"/home/me"};
  w.inputs.private_places = {"/home/me/state/up", "/home/me/.kube"};
  w.inputs.claims_directory = "/home/me/state/up/node/claims";
  model::HostPathVolumeSource& source = w.volume().host_path.emplace();
  for (const char* path : {"/home/me/state/up", "/home/me/state/up/",
                           "/home/me/state/up/node/claims/x", "/home/me/.kube/config"}) {
    source.path = path;
    EXPECT_TRUE(w.error().contains("where codeflare keeps its own data")) << path << w.error();
  }
  source.path = "/home/me/state";  // the keeper covers what is in it
  EXPECT_EQ(w.plan().source, "/home/me/state");
  w.pod.spec.volumes.clear();
  w.volume().persistent_volume_claim.emplace().claim_name = "c";
  w.inputs.claims["c"] = {.bound = true, .directory = "/home/me/state/up/node/claims/x"};
  EXPECT_EQ(w.plan().source, "/home/me/state/up/node/claims/x");
  w.inputs.claims["c"].directory = "/home/me/state/up/tokens";
  EXPECT_TRUE(w.error().contains("where codeflare keeps its own data")) << w.error();
}

TEST(VolumePlan, claims_are_directories_once_they_are_bound) {
  World w;
  w.volume().persistent_volume_claim.emplace().claim_name = "c";
  w.inputs.claims_directory = "/data/claims";
  EXPECT_EQ(w.error(),
            "MountVolume.SetUp failed for volume \"v\" : persistentvolumeclaim \"c\" not found");
  w.inputs.claims["c"] = {};
  EXPECT_TRUE(w.error().ends_with("persistentvolumeclaim \"c\" is not bound yet"));
  w.inputs.claims["c"] = {.foreign = "pv-1"};
  EXPECT_TRUE(w.error().ends_with(
      "persistentvolumeclaim \"c\" names volume \"pv-1\", whose claimRef is not this claim"));
  w.inputs.claims["c"] = {.bound = true, .directory = "/data/claims/one"};
  EXPECT_EQ(w.plan().source, "/data/claims/one");
  EXPECT_EQ(w.plan().kind, VolumePlan::Kind::machine);
  // A volume that somebody made by hand leads nowhere that hostPath would not.
  w.inputs.claims["c"].directory = "/etc";
  EXPECT_TRUE(w.error().contains("--allow-host-path"));
}

TEST(VolumePlan, other_content_has_another_fingerprint) {
  VolumePlan plan{.name = "v", .files = {{.path = "a", .content = "bc"}}};
  const std::uint64_t before = fingerprint(plan);
  EXPECT_EQ(fingerprint(plan), before);
  plan.files = {{.path = "ab", .content = "c"}};
  EXPECT_NE(fingerprint(plan), before);
  plan.files = {{.path = "a", .content = "bc", .mode = 0600}};
  EXPECT_NE(fingerprint(plan), before);
}

TEST(TokenCache, a_token_is_renewed_when_four_fifths_of_its_time_have_passed) {
  const WallTime issued{std::chrono::seconds(1'000'000)};
  IssuedToken token{.token = "t", .issued = issued, .expires = issued + std::chrono::seconds(1000)};
  EXPECT_TRUE(token.lasts(issued + std::chrono::seconds(799)));
  EXPECT_FALSE(token.lasts(issued + std::chrono::seconds(800)));
  token.expires = issued + std::chrono::hours(24 * 365);
  EXPECT_TRUE(token.lasts(issued + std::chrono::hours(23)));
  EXPECT_FALSE(token.lasts(issued + std::chrono::hours(24)));
}

TEST(TokenCache, a_token_is_renewed_when_the_clock_was_set_back) {
  const WallTime issued{std::chrono::seconds(1'000'000)};
  const IssuedToken token{
      .token = "t", .issued = issued, .expires = issued + std::chrono::hours(24 * 365)};
  EXPECT_TRUE(token.lasts(issued - std::chrono::seconds(5))) << "clocks differ a little";
  EXPECT_FALSE(token.lasts(issued - std::chrono::hours(2)));
}

}  // namespace
}  // namespace codeflare::node
