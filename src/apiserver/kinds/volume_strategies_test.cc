#include "apiserver/kinds/testing/strategy_trial.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

// A claim of 1Gi for a volume, with more in its spec and its status.
std::string claim(std::string_view spec, std::string_view phase = "Bound",
                  std::string_view storage = "1Gi") {
  return R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
         R"({"requests":{"storage":")" +
         std::string(storage) + R"("}})" + std::string(spec) + R"(},"status":{"phase":")" +
         std::string(phase) + R"(","capacity":{"storage":"1Gi"}}})";
}

Lines changed(std::string_view plural, std::string_view from, std::string_view to) {
  Trial old("", plural, from);
  old.strategy->set_defaults(old.context, old.document.root);
  Trial now("", plural, to);
  return now.complaints_against(old.document.root);
}

Lines changed_claim(std::string_view from, std::string_view to) {
  return changed("persistentvolumeclaims", from, to);
}

constexpr std::string_view kClaimImmutable =
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims\n";

TEST(ClaimStrategy, never_changes_its_volume) {
  const std::string bound = claim(R"(,"volumeName":"mine")");
  const Lines immutable = {std::string(kClaimImmutable) + "spec.volumeName differs"};
  EXPECT_EQ(changed_claim(bound, claim(R"(,"volumeName":"theirs")")), immutable);
  EXPECT_EQ(changed_claim(bound, claim("")), immutable);
  EXPECT_EQ(changed_claim(claim(R"(,"volumeName":"mine")", "Pending"),
                          claim(R"(,"volumeName":"theirs")", "Pending")),
            immutable);
  EXPECT_EQ(changed_claim(bound, bound), Lines{});
  EXPECT_EQ(changed_claim(claim("", "Pending"), claim(R"(,"volumeName":"mine")", "Pending")),
            Lines{});
}

TEST(ClaimStrategy, gets_a_class_once) {
  const std::string some = claim(R"(,"storageClassName":"fast")");
  const Lines immutable = {std::string(kClaimImmutable) + "spec.storageClassName differs"};
  EXPECT_EQ(changed_claim(claim(""), some), Lines{});
  EXPECT_EQ(changed_claim(claim(""), claim(R"(,"storageClassName":"")")), Lines{});
  EXPECT_EQ(changed_claim(some, claim(R"(,"storageClassName":"slow")")), immutable);
  EXPECT_EQ(changed_claim(some, claim("")), immutable);
  EXPECT_EQ(changed_claim(claim(R"(,"storageClassName":"")"), claim("")).size(), 1u);
}

TEST(ClaimStrategy, keeps_the_class_of_its_annotation) {
  const auto annotated = [](std::string_view annotation, std::string_view more) {
    std::string text = claim(more);
    text.insert(text.find(R"("name":"c")"), R"("annotations":{)" + std::string(annotation) + "},");
    return text;
  };
  constexpr std::string_view kFast = R"("volume.beta.kubernetes.io/storage-class":"fast")";
  constexpr std::string_view kSlow = R"("volume.beta.kubernetes.io/storage-class":"slow")";
  const std::string old = annotated(kFast, "");
  EXPECT_EQ(changed_claim(old, annotated(kFast, R"(,"storageClassName":"fast")")), Lines{});
  EXPECT_EQ(changed_claim(old, annotated("", R"(,"storageClassName":"fast")")), Lines{});
  EXPECT_EQ(changed_claim(old, annotated(kFast, R"(,"storageClassName":"slow")")).size(), 1u);
  EXPECT_EQ(changed_claim(old, annotated(kSlow, "")),
            Lines{"metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "
                  "\"slow\": field is immutable"});
}

TEST(ClaimStrategy, may_grow_while_it_is_bound) {
  EXPECT_EQ(changed_claim(claim(""), claim("", "Bound", "2Gi")), Lines{});
  EXPECT_EQ(changed_claim(claim("", "Pending"), claim("", "Pending", "2Gi")),
            Lines{std::string(kClaimImmutable) + "spec.resources.requests.storage differs"});
  // The same amount in other words does not count as a change.
  EXPECT_EQ(changed_claim(claim("", "Pending"), claim("", "Pending", "1073741824")), Lines{});
}

TEST(ClaimStrategy, shrinks_only_to_more_than_it_has) {
  const std::string asked = claim("", "Bound", "4Gi");
  EXPECT_EQ(changed_claim(asked, claim("", "Bound", "2Gi")), Lines{});
  EXPECT_EQ(changed_claim(asked, claim("", "Bound", "1Gi")),
            Lines{"spec.resources.requests.storage: Forbidden: field can not be less than "
                  "status.capacity"});
}

TEST(ClaimStrategy, changes_its_class_of_attributes_while_it_is_bound) {
  const std::string gold = claim(R"(,"volumeAttributesClassName":"gold")");
  EXPECT_EQ(changed_claim(claim(""), gold), Lines{});
  EXPECT_EQ(changed_claim(gold, claim(R"(,"volumeAttributesClassName":"iron")")), Lines{});
  EXPECT_EQ(changed_claim(claim("", "Pending"),
                          claim(R"(,"volumeAttributesClassName":"gold")", "Pending")),
            Lines{std::string(kClaimImmutable) + "spec.volumeAttributesClassName differs"});
  EXPECT_EQ(changed_claim(gold, claim("")),
            (Lines{std::string(kClaimImmutable) + "spec.volumeAttributesClassName differs",
                   "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil "
                   "is forbidden"}));
  EXPECT_EQ(changed_claim(gold, claim(R"(,"volumeAttributesClassName":"")")),
            Lines{"spec.volumeAttributesClassName: Forbidden: update from non-nil value to an "
                  "empty string is forbidden"});
}

TEST(ClaimStrategy, keeps_its_mode) {
  EXPECT_EQ(changed_claim(claim(""), claim(R"(,"volumeMode":"Block")")),
            (Lines{std::string(kClaimImmutable) + "spec.volumeMode differs",
                   "volumeMode: Invalid value: \"Block\": field is immutable"}));
}

// A directory of the machine, with more in its spec.
std::string volume(std::string_view path, std::string_view more = "") {
  return R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":)"
         R"(["ReadWriteOnce"],"hostPath":{"path":")" +
         std::string(path) + R"("})" + std::string(more) + "}}";
}

Lines changed_volume(std::string_view from, std::string_view to) {
  return changed("persistentvolumes", from, to);
}

TEST(VolumeStrategy, stays_what_it_is) {
  constexpr std::string_view kSource =
      "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
      "creation\n";
  EXPECT_EQ(changed_volume(volume("/a"), volume("/b")),
            Lines{std::string(kSource) + "spec.hostPath.path differs"});
  EXPECT_EQ(changed_volume(volume("/a"), volume("/a", R"(,"nfs":{"path":"/","server":"s"})")),
            Lines{std::string(kSource) + "spec.nfs differs"});
  EXPECT_EQ(changed_volume(volume("/a"), volume("/a", R"(,"volumeMode":"Block")")),
            Lines{"volumeMode: Invalid value: \"Block\": field is immutable"});
}

TEST(VolumeStrategy, is_given_to_claims_and_taken_back) {
  const std::string taken =
      volume("/a", R"(,"claimRef":{"namespace":"n","name":"c","uid":"u"},"storageClassName":"s",)"
                   R"("persistentVolumeReclaimPolicy":"Delete","mountOptions":["ro"])");
  EXPECT_EQ(changed_volume(volume("/a"), taken), Lines{});
  EXPECT_EQ(changed_volume(taken, volume("/a")), Lines{});
}

TEST(VolumeStrategy, gets_a_secret_for_its_growth_once) {
  const auto driven = [](std::string_view more) {
    return R"({"metadata":{"name":"v"},"spec":{"csi":{"driver":"d","volumeHandle":"h")" +
           std::string(more) + "}}}";
  };
  const std::string secret = driven(R"(,"controllerExpandSecretRef":{"name":"a"})");
  EXPECT_EQ(changed_volume(driven(""), secret), Lines{});
  EXPECT_EQ(changed_volume(secret, driven("")).size(), 1u);
  EXPECT_EQ(changed_volume(secret, driven(R"(,"controllerExpandSecretRef":{"name":"b"})")).size(),
            1u);
}

TEST(VolumeStrategy, keeps_its_nodes_but_for_new_names_of_their_labels) {
  const auto on = [](std::string_view key, std::string_view value) {
    return volume("/a", R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":)"
                        R"([{"key":")" +
                            std::string(key) + R"(","operator":"In","values":[")" +
                            std::string(value) + R"("]}]}]}})");
  };
  const std::string old = on("failure-domain.beta.kubernetes.io/zone", "a");
  EXPECT_EQ(changed_volume(volume("/a"), old), Lines{});
  EXPECT_EQ(changed_volume(old, on("topology.kubernetes.io/zone", "a")), Lines{});
  EXPECT_EQ(changed_volume(old, on("topology.kubernetes.io/zone", "b")).size(), 1u);
  EXPECT_EQ(changed_volume(old, on("topology.kubernetes.io/region", "a")).size(), 1u);
  EXPECT_EQ(changed_volume(on("topology.kubernetes.io/zone", "a"), old).size(), 1u);
  EXPECT_EQ(changed_volume(old, volume("/a")),
            Lines{"nodeAffinity: Invalid value: null: field is immutable"});
}

}  // namespace
}  // namespace codeflare::apiserver
