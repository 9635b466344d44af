#include "controllers/admission/webhook_keys.h"

#include "apiserver/identity/pki.h"
#include "controllers/admission/access.h"
#include "controllers/admission/webhook.h"
#include "controllers/testing/embedded_cluster.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::admission {
namespace {

using controllers::testing::EmbeddedCluster;

const model::ObjectKey kSecret{"default", "keys"};
const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const model::ResourceType kMutating{"admissionregistration.k8s.io", "v1",
                                    "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
                                    false};

struct KeysWorld {
  EmbeddedCluster cluster;

  Result<void> share(const std::string& directory) {
    return *run(cluster.env.loop,
                share_webhook_keys(cluster.env, cluster.client, directory, kSecret, Logger()));
  }
  std::string read(const std::string& path) { return cluster.env.files.read(path).value_or(""); }
};

TEST(WebhookKeys, of_the_first_replica_become_those_of_all) {
  KeysWorld w;
  ASSERT_TRUE(w.share("/a"));
  ASSERT_TRUE(w.share("/b"));
  for (const char* name : {"/ca.crt", "/ca.key", "/sa.key"}) {
    EXPECT_FALSE(w.read("/a" + std::string(name)).empty()) << name;
    EXPECT_EQ(w.read("/a" + std::string(name)), w.read("/b" + std::string(name))) << name;
  }
  const auto second =
      *run(w.cluster.env.loop, apiserver::Pki::open(w.cluster.env, {.directory = "/b"}, Logger()));
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ((*second)->authority_pem(), w.read("/a/ca.crt"));
}

TEST(WebhookKeys, survive_the_pod_and_replace_others) {
  KeysWorld w;
  ASSERT_TRUE(w.share("/a"));
  const std::string authority = w.read("/a/ca.crt");
  // Keys of its own, which were never shared.
  ASSERT_TRUE(
      *run(w.cluster.env.loop, apiserver::Pki::open(w.cluster.env, {.directory = "/c"}, Logger())));
  ASSERT_NE(w.read("/c/ca.crt"), authority);
  ASSERT_TRUE(w.share("/c"));
  EXPECT_EQ(w.read("/c/ca.crt"), authority);
  EXPECT_EQ(w.read("/c/apiserver.crt"), "") << "of another authority";
}

TEST(WebhookKeys, that_are_incomplete_are_named_and_left_as_they_are) {
  KeysWorld w;
  auto made =
      *run(w.cluster.env.loop,
           w.cluster.client.create(kSecrets, "default",
                                   R"({"metadata":{"name":"keys"},"stringData":{"ca.crt":"x"}})"));
  ASSERT_TRUE(made) << made.error().to_string();
  const Result<void> shared = w.share("/a");
  ASSERT_FALSE(shared);
  EXPECT_TRUE(shared.error().message.contains("secret default/keys has no key ca.key"))
      << shared.error().message;
}

TEST(WebhookRegistration, fills_in_the_authority_alone_where_a_chart_owns_the_configuration) {
  EmbeddedCluster cluster;
  const WebhookRegistration registration{
      .address = {.service_ns = "n", .service_name = "s"}, .ca_pem = "PEM", .chart_owned = true};
  const Result<void> missing =
      *run(cluster.env.loop, register_webhook(cluster.client, registration));
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().message.contains("codeflare-appwrappers does not exist"))
      << missing.error().message;

  // As the chart makes them, with another port.
  WebhookRegistration made = registration;
  made.chart_owned = false;
  made.ca_pem = "";
  made.address.service_port = 8443;
  ASSERT_TRUE(*run(cluster.env.loop, register_webhook(cluster.client, made)));
  ASSERT_TRUE(*run(cluster.env.loop, register_webhook(cluster.client, registration)));
  const auto there =
      *run(cluster.env.loop, cluster.client.get(kMutating, {"", std::string(kWebhookName)}));
  ASSERT_TRUE(there) << there.error().to_string();
  const std::string text((*there)->text());
  EXPECT_TRUE(text.contains(R"("caBundle":"UEVN")")) << text;
  EXPECT_TRUE(text.contains(R"("port":8443)")) << text;
}

}  // namespace
}  // namespace codeflare::admission
