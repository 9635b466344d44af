#include "node/agent/pod_inputs_source.h"

#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

const kube::ResourceType kClaims = model::resource_type<model::PersistentVolumeClaim>();
const kube::ResourceType kVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};

struct ClaimRef {
  std::string ns;
  std::string name;
  std::string uid;
};

// A pod with the claim "c" of its namespace, which names the volume "v".
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  TokenCache tokens;

  // Gives its UID.
  std::string claim(const std::string& phase) {
    const kube::ObjectRef made = service.put(
        kClaims, R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c",)"
                 R"("namespace":"mine"},"spec":{"volumeName":"v"},"status":{"phase":")" +
                     phase + R"("}})");
    return std::string(made->uid());
  }
  void volume(const ClaimRef& of) {
    service.put(kVolumes, R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":)"
                          R"({"name":"v"},"spec":{"claimRef":{"namespace":")" +
                              of.ns + R"(","name":")" + of.name + R"(","uid":")" + of.uid +
                              R"("},"hostPath":{"path":"/data/v"}}})");
  }
  ClaimedVolume fetch() {
    model::Pod pod;
    pod.metadata.ns = "mine";
    pod.spec.enable_service_links = false;
    pod.spec.volumes.emplace_back().persistent_volume_claim.emplace().claim_name = "c";
    const Result<PodInputs> inputs =
        *run(env.loop, fetch_inputs(client, pod, tokens, env.clock.wall()));
    EXPECT_TRUE(inputs) << inputs.error().to_string();
    return inputs && inputs->claims.contains("c") ? inputs->claims.at("c") : ClaimedVolume();
  }
};

TEST(PodInputs, a_claim_has_the_volume_that_names_it) {
  World w;
  w.volume({.ns = "mine", .name = "c", .uid = w.claim("Bound")});
  EXPECT_TRUE(w.fetch().bound);
  EXPECT_EQ(w.fetch().directory, "/data/v");
}

TEST(PodInputs, a_claim_has_no_volume_of_another_claim) {
  World w;
  const std::string uid = w.claim("Bound");
  for (const ClaimRef& other :
       {ClaimRef{"", "", ""}, ClaimRef{"theirs", "c", uid}, ClaimRef{"mine", "d", uid},
        ClaimRef{"mine", "c", "of-another"}, ClaimRef{"mine", "c", ""}}) {
    w.volume(other);
    const ClaimedVolume found = w.fetch();
    EXPECT_FALSE(found.bound) << other.ns << "/" << other.name;
    EXPECT_EQ(found.foreign, "v");
    EXPECT_EQ(found.directory, "");
  }
}

TEST(PodInputs, a_claim_has_no_volume_before_it_is_bound) {
  World w;
  w.volume({.ns = "mine", .name = "c", .uid = w.claim("Pending")});
  EXPECT_FALSE(w.fetch().bound);
  EXPECT_EQ(w.fetch().directory, "");
}

}  // namespace
}  // namespace codeflare::node
