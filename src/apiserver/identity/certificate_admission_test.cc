#include "apiserver/identity/certificate_admission.h"

#include "apiserver/identity/testing/admission_call.h"
#include "base/base64.h"
#include "json/parse.h"
#include "net/certificate_request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

class CertificateAdmissionTest : public testing::Test {
 protected:
  static std::string request(const std::vector<std::string>& groups) {
    const Result<net::CertificateRequest> made = net::make_certificate_request("ann", groups);
    EXPECT_TRUE(made.has_value());
    return R"({"metadata":{"name":"r"},"spec":{"signerName":"kubernetes.io/kube-apiserver-client",)"
           R"("request":")" +
           to_base64(made->request_pem) + R"("}})";
  }
  static AdmissionCall call(const std::string& object) {
    return {.user = {.name = "bob"},
            .group = "certificates.k8s.io",
            .plural = "certificatesigningrequests",
            .name = "r",
            .object = object};
  }
  void allow(const std::string& verb, const std::string& signer) {
    const auto put = [&](RbacKind kind, const std::string& text) {
      policy_.put(kind, json::parse(text)->root);
    };
    put(RbacKind::cluster_role,
        R"({"metadata":{"name":"x"},"rules":[{"verbs":[")" + verb +
            R"("],"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":[")" +
            signer + R"("]}]})");
    put(RbacKind::cluster_role_binding,
        R"({"metadata":{"name":"x"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)"
        R"("ClusterRole","name":"x"},"subjects":[{"kind":"User","name":"bob"}]})");
  }
  // An approval by bob, who may update the subresource.
  std::string approve() {
    AdmissionCall given = call(request({}));
    given.old = given.object;
    given.subresource = "approval";
    return given.run(rule_);
  }

  RbacPolicy policy_;
  CertificateAdmission rule_{policy_};
};

TEST_F(CertificateAdmissionTest, nobody_asks_for_a_certificate_of_system_masters) {
  EXPECT_TRUE(call(request({"dev"})).run(rule_).starts_with("{"));
  EXPECT_TRUE(call(request({"dev", "system:masters"})).run(rule_).contains("system:masters group"));
}

TEST_F(CertificateAdmissionTest, approval_needs_the_verb_approve_on_the_signer) {
  EXPECT_TRUE(approve().contains("user not permitted to approve requests with signerName"));
  allow("sign", "kubernetes.io/kube-apiserver-client");
  EXPECT_TRUE(approve().contains("not permitted"));
  allow("approve", "kubernetes.io/kubelet-serving");
  EXPECT_TRUE(approve().contains("not permitted"));
  allow("approve", "kubernetes.io/kube-apiserver-client");
  EXPECT_TRUE(approve().starts_with("{"));
  allow("approve", "kubernetes.io/*");
  EXPECT_TRUE(approve().starts_with("{"));
}

}  // namespace
}  // namespace codeflare::apiserver
