#include "controllers/platform/platform_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/core.h"
#include "model/codec/platform.h"
#include "model/condition.h"
#include "model/secret.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::controllers::platform_kinds {
namespace {

struct World {
  controllers::testing::EmbeddedCluster cluster;

  World() {
    EXPECT_TRUE(*codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {})));
    add_platform_controllers(cluster.manager);
    cluster.start();
  }
  template <typename T>
  void make(const std::string& name, const std::string& spec) {
    cluster.create<T>(R"({"apiVersion":"codeflare.dev/v1alpha1","kind":")" +
                      std::string(model::ResourceTraits<T>::kind) + R"(","metadata":{"name":")" +
                      name + R"("},"spec":)" + spec + "}");
    cluster.settle();
  }
  void make_secret(const std::string& name) {
    cluster.create<model::Secret>(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" +
                                  name + R"("},"stringData":{"user":"u","pat":"p"}})");
    cluster.settle(std::chrono::seconds(12));
  }
  // "False: message" or "True: ".
  template <typename T>
  std::string ready(const std::string& name) {
    const T object = cluster.read<T>(name);
    for (const model::Condition& each : object.status.conditions) {
      if (each.type == "Ready") {
        return each.status + ": " + each.message;
      }
    }
    return "";
  }
};

TEST(Ready, a_data_set_names_its_missing_secret_until_it_is_created) {
  World w;
  w.make<model::DataSet>(
      "d", R"({"s3":{"endpoint":"http://s3","bucket":"b","secret":{"name":"keys"}}})");
  EXPECT_EQ(w.ready<model::DataSet>("d"),
            "False: spec.s3.secret: Secret default/keys does not exist");
  w.make_secret("keys");
  EXPECT_EQ(w.ready<model::DataSet>("d"), "True: ");
}

TEST(Ready, an_application_names_every_missing_secret) {
  World w;
  w.make<model::Application>("app", R"({"api":"shell","image":"i","command":"c",)"
                                    R"("imagePullSecret":"pull","repo":"https://h/o/r",)"
                                    R"("repoSecret":{"name":"git"}})");
  EXPECT_EQ(w.ready<model::Application>("app"),
            "False: spec.repoSecret: Secret default/git does not exist; spec.imagePullSecret: "
            "Secret default/pull does not exist");
  w.make_secret("git");
  EXPECT_EQ(w.ready<model::Application>("app"),
            "False: spec.imagePullSecret: Secret default/pull does not exist");
  w.make_secret("pull");
  EXPECT_EQ(w.ready<model::Application>("app"), "True: ");
}

// Its Secrets may be in the namespaces of its Runs alone.
TEST(Ready, an_application_for_other_namespaces_needs_no_secret_in_its_own) {
  World w;
  w.make<model::Application>("app", R"({"api":"shell","image":"i","command":"c",)"
                                    R"("imagePullSecret":"pull","allowedNamespaces":["*"]})");
  EXPECT_EQ(w.ready<model::Application>("app"), "True: ");
}

TEST(Ready, a_second_look_writes_nothing) {
  World w;
  w.make<model::DataSet>(
      "d", R"({"s3":{"endpoint":"http://s3","bucket":"b","secret":{"name":"keys"}}})");
  const std::string version = w.cluster.read<model::DataSet>("d").metadata.resource_version;
  w.cluster.settle(std::chrono::seconds(35));
  EXPECT_EQ(w.cluster.read<model::DataSet>("d").metadata.resource_version, version);
}

}  // namespace
}  // namespace codeflare::controllers::platform_kinds
