#include "apiserver/identity/service_account_admission.h"

#include "apiserver/identity/testing/admission_call.h"
#include "apiserver/identity/testing/put_object.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

using namespace std::chrono_literals;

class ServiceAccountAdmissionTest : public testing::Test {
 protected:
  ServiceAccountAdmissionTest() {
    put_object(world_, "namespaces",
               R"({"metadata":{"name":"team","creationTimestamp":"2020-01-01T00:00:00Z"}})");
  }
  void account(const std::string& name, const std::string& more = "") {
    put_object(world_, "serviceaccounts",
               R"({"metadata":{"name":")" + name + R"(","namespace":"team"})" + more + "}");
  }
  std::string create(const std::string& spec, const std::string& metadata = R"("name":"p")") {
    return AdmissionCall{.plural = "pods",
                         .ns = "team",
                         .name = metadata.contains("generateName") ? "" : "p",
                         .object = R"({"metadata":{)" + metadata + R"(},"spec":)" + spec + "}",
                         .now = world_.env().clock.wall()}
        .run(rule_);
  }

  StoreWorld world_;
  ServiceAccountAdmission rule_{world_.store(), world_.sim.env().random};
};

TEST_F(ServiceAccountAdmissionTest, pods_get_the_default_account_and_its_token) {
  account("default");
  std::string pod = create(R"({"containers":[{"name":"c"}],"initContainers":[{"name":"i"}]})");
  std::size_t at = pod.find("kube-api-access-");
  ASSERT_NE(at, std::string::npos) << pod;
  std::string volume = pod.substr(at, std::string("kube-api-access-xxxxx").size());
  std::string mount = R"("volumeMounts":[{"name":")" + volume +
                      R"(","readOnly":true,)"
                      R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}])";
  EXPECT_EQ(
      pod,
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)" + mount +
          R"(}],"initContainers":[{"name":"i",)" + mount +
          R"(}],"serviceAccountName":"default","serviceAccount":"default","volumes":[{"name":")" +
          volume +
          R"(","projected":{"sources":[)"
          R"({"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
          R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
          R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1",)"
          R"("fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}]}})");
}

TEST_F(ServiceAccountAdmissionTest, pod_and_account_may_refuse_the_token_and_the_pod_wins) {
  account("default", R"(,"automountServiceAccountToken":false)");
  EXPECT_FALSE(create(R"({"containers":[{"name":"c"}]})").contains("kube-api-access"));
  EXPECT_TRUE(create(R"({"containers":[{"name":"c"}],"automountServiceAccountToken":true})")
                  .contains("kube-api-access"));
  account("default");
  EXPECT_FALSE(create(R"({"containers":[{"name":"c"}],"automountServiceAccountToken":false})")
                   .contains("kube-api-access"));
}

TEST_F(ServiceAccountAdmissionTest, containers_that_mount_something_there_keep_it) {
  account("default");
  std::string own = R"({"containers":[{"name":"c","volumeMounts":[{"name":"v",)"
                    R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]})";
  EXPECT_FALSE(create(own).contains("kube-api-access"));
  std::string reused =
      create(R"({"containers":[{"name":"c"}],"volumes":[{"name":"kube-api-access-mine"}]})");
  EXPECT_TRUE(reused.contains(R"("volumeMounts":[{"name":"kube-api-access-mine")")) << reused;
  EXPECT_FALSE(reused.contains("projected"));
}

TEST_F(ServiceAccountAdmissionTest, a_missing_account_is_named) {
  EXPECT_EQ(create(R"({"containers":[{"name":"c"}]})"),
            "pods \"p\" is forbidden: error looking up service account team/default: "
            "serviceaccount \"default\" not found");
  EXPECT_EQ(create(R"({"containers":[],"serviceAccountName":"x"})", R"("generateName":"job-")"),
            "pods \"job-\" is forbidden: error looking up service account team/x: "
            "serviceaccount \"x\" not found");
}

TEST_F(ServiceAccountAdmissionTest, the_default_account_of_a_new_namespace_is_on_its_way) {
  put_object(world_, "namespaces",
             R"({"metadata":{"name":"team","creationTimestamp":")" +
                 to_rfc3339(world_.env().clock.wall()) + R"("}})");
  EXPECT_TRUE(create(R"({"containers":[{"name":"c"}]})").contains("kube-api-access"));
  EXPECT_TRUE(create(R"({"containers":[],"serviceAccountName":"x"})").contains("is forbidden"));
}

TEST_F(ServiceAccountAdmissionTest, pull_secrets_come_from_the_account_when_the_pod_has_none) {
  account("default", R"(,"imagePullSecrets":[{"name":"s"}])");
  EXPECT_TRUE(create(R"({"containers":[]})").contains(R"("imagePullSecrets":[{"name":"s"}])"));
  EXPECT_FALSE(
      create(R"({"containers":[],"imagePullSecrets":[{"name":"t"}]})").contains(R"({"name":"s"})"));
}

TEST_F(ServiceAccountAdmissionTest, mirror_pods_have_no_account) {
  std::string mirror = R"("name":"p","annotations":{"kubernetes.io/config.mirror":"x"})";
  EXPECT_EQ(create(R"({"containers":[{"name":"c"}]})", mirror),
            R"({"metadata":{)" + mirror + R"(},"spec":{"containers":[{"name":"c"}]}})");
  EXPECT_EQ(create(R"({"serviceAccountName":"x"})", mirror),
            "pods \"p\" is forbidden: a mirror pod may not reference service accounts");
  EXPECT_EQ(
      create(R"({"volumes":[{"projected":{"sources":[{"serviceAccountToken":{}}]}}]})", mirror),
      "pods \"p\" is forbidden: a mirror pod may not use ServiceAccountToken volume "
      "projections");
}

}  // namespace
}  // namespace codeflare::apiserver
