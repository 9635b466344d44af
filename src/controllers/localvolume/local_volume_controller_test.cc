#include "controllers/localvolume/local_volume_controller.h"

#include "controllers/testing/embedded_cluster.h"
#include "model/codec/core.h"
#include "model/codec/pod.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::localvolume {
namespace {

const model::ResourceType kVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};

struct World {
  testing::EmbeddedCluster cluster;
  ClaimBinder& binder = add_local_volume_controllers(cluster.manager, "/claims");

  World() {
    cluster.start();
    cluster.settle();
  }
  model::PersistentVolumeClaim claim(const std::string& more = "") {
    cluster.create<model::PersistentVolumeClaim>(
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{)" +
        more + R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
    cluster.settle();
    return read();
  }
  model::PersistentVolumeClaim read() {
    const auto all = cluster.list<model::PersistentVolumeClaim>("default");
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? model::PersistentVolumeClaim() : all.front();
  }
  std::vector<kube::ObjectRef> volumes() {
    return (*run(cluster.env.loop, cluster.client.list_all(kVolumes, {})))->items;
  }
};

TEST(LocalVolumes, a_claim_is_bound_to_a_directory) {
  World w;
  const model::PersistentVolumeClaim claim = w.claim();
  EXPECT_EQ(claim.status.phase, "Bound");
  EXPECT_EQ(claim.spec.volume_name, "pvc-" + claim.metadata.uid);
  EXPECT_EQ(claim.spec.storage_class_name, "codeflare-local");
  EXPECT_EQ(claim.status.capacity.get("storage"), *model::Quantity::parse("1Gi"));
  ASSERT_EQ(w.volumes().size(), 1u);
  const kube::ObjectRef volume = w.volumes().front();
  EXPECT_EQ(volume->string_at({"status", "phase"}), "Bound");
  EXPECT_EQ(volume->string_at({"spec", "claimRef", "uid"}), claim.metadata.uid);
  EXPECT_EQ(volume->string_at({"spec", "hostPath", "path"}),
            "/claims/pvc-" + claim.metadata.uid + "_default_data");
  EXPECT_TRUE(runtime::testing::is_idempotent(w.cluster.env, w.binder, {"default", "data"}));
}

TEST(LocalVolumes, a_bound_claim_cannot_be_pointed_at_another_volume) {
  World w;
  const std::string name = w.claim().spec.volume_name;
  const auto patched =
      *run(w.cluster.env.loop,
           w.cluster.client.patch(model::resource_type<model::PersistentVolumeClaim>(),
                                  {"default", "data"}, kube::PatchKind::merge,
                                  R"({"spec":{"volumeName":"pvc-of-another"}})"));
  ASSERT_FALSE(patched);
  EXPECT_TRUE(patched.error().message.starts_with(
      "PersistentVolumeClaim \"data\" is invalid: spec: Forbidden: spec is immutable after "
      "creation except resources.requests and volumeAttributesClassName for bound claims"))
      << patched.error().message;
  EXPECT_EQ(w.read().spec.volume_name, name);
  const auto moved =
      *run(w.cluster.env.loop, w.cluster.client.patch(kVolumes, {"", name}, kube::PatchKind::merge,
                                                      R"({"spec":{"hostPath":{"path":"/etc"}}})"));
  ASSERT_FALSE(moved);
  EXPECT_TRUE(moved.error().message.contains(
      "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
      "creation"))
      << moved.error().message;
}

// Nobody but the volume itself says whose it is.
TEST(LocalVolumes, a_claim_that_names_a_volume_of_another_is_not_bound) {
  World w;
  w.claim();
  const std::string name = w.volumes().front()->string_at({"metadata", "name"});
  w.cluster.create<model::PersistentVolumeClaim>(
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"thief"},"spec":{)"
      R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},)"
      R"("volumeName":")" +
      name + R"("}})");
  w.cluster.settle();
  EXPECT_EQ(w.cluster.read<model::PersistentVolumeClaim>("thief").status.phase, "Pending");
}

TEST(LocalVolumes, claims_of_another_class_are_somebody_elses) {
  World w;
  EXPECT_NE(w.claim(R"("storageClassName":"fast",)").status.phase, "Bound");
  EXPECT_TRUE(w.volumes().empty());
}

TEST(LocalVolumes, the_directory_goes_with_its_claim) {
  World w;
  w.claim();
  const std::string path = w.volumes().front()->string_at({"spec", "hostPath", "path"});
  ASSERT_TRUE(w.cluster.env.files.make_directories(path));
  ASSERT_TRUE(w.cluster.env.files.write(path + "/file", "x"));
  w.cluster.remove<model::PersistentVolumeClaim>("data");
  w.cluster.settle();
  EXPECT_TRUE(w.volumes().empty());
  EXPECT_FALSE(w.cluster.env.files.exists(path));
}

TEST(LocalVolumes, a_directory_stays_as_long_as_a_pod_uses_it) {
  World w;
  w.claim();
  w.cluster.create<model::Pod>(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
      R"("image":"x"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]}})");
  w.cluster.settle();
  w.cluster.remove<model::PersistentVolumeClaim>("data");
  w.cluster.settle();
  EXPECT_EQ(w.volumes().size(), 1u);
  w.cluster.remove<model::Pod>("p", {.grace_period_seconds = 0});
  w.cluster.settle(std::chrono::seconds(30));
  EXPECT_TRUE(w.volumes().empty());
}

TEST(LocalVolumes, the_storage_class_is_made_once) {
  World w;
  for (int turn = 0; turn < 2; ++turn) {
    const auto made = *run(w.cluster.env.loop, ensure_storage_class(w.cluster.client));
    EXPECT_TRUE(made) << made.error().to_string();
  }
}

}  // namespace
}  // namespace codeflare::controllers::localvolume
