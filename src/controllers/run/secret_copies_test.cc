#include "controllers/run/secret_copies.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/run/run_controller.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/platform.h"
#include "model/secret.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::runs {
namespace {

using std::chrono::seconds;

struct World {
  controllers::testing::EmbeddedCluster cluster;

  World() {
    auto crds = *codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    add_run_controller(cluster.manager, nullptr);
    cluster.start();
    make_namespace("other");
  }
  void make_namespace(const std::string& name) {
    cluster.create<model::Namespace>(
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"("}})");
  }
  void make_secret(const std::string& name, const std::string& ns) {
    cluster.create<model::Secret>(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" +
                                      name +
                                      R"("},"stringData":{"accessKeyID":"k","secretAccessKey":"s",)"
                                      R"("user":"u","pat":"p","other":"x"}})",
                                  ns);
  }
  void make(const std::string& kind, const std::string& name, const std::string& spec,
            const std::string& ns = "default") {
    const std::string body = R"({"apiVersion":"codeflare.dev/v1alpha1","kind":")" + kind +
                             R"(","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
    if (kind == "Application") {
      cluster.create<model::Application>(body, ns);
    } else if (kind == "DataSet") {
      cluster.create<model::DataSet>(body, ns);
    } else if (kind == "PlatformRepoSecret") {
      cluster.create<model::PlatformRepoSecret>(body, ns);
    } else {
      cluster.create<model::Run>(body, ns);
    }
    cluster.settle();
  }
  std::string wrapper() { return cluster.read<model::Run>("r").status.app_wrapper; }
  // Keys of the copy, "" when it is not there.
  std::string copied(const std::string& suffix) {
    std::string keys;
    if (cluster.get<model::Secret>(wrapper() + suffix) != nullptr) {
      for (const auto& [key, value] : cluster.read<model::Secret>(wrapper() + suffix).data) {
        keys += key + " ";
      }
    }
    return keys;
  }
};

constexpr const char* kRun = R"({"application":{"name":"app"},"size":"xs"})";
constexpr const char* kRepo = R"({"api":"shell","image":"i","command":"c","repo":"https://h/o/r"})";

TEST(SecretCopies, data_of_another_namespace_brings_its_secret_which_goes_with_the_run) {
  World w;
  w.make_secret("keys", "other");
  w.make("DataSet", "d",
         R"({"s3":{"endpoint":"http://s3","bucket":"b","secret":{"name":"keys"}},)"
         R"("allowedNamespaces":["default"]})",
         "other");
  w.make("Application", "app",
         R"({"api":"shell","image":"i","command":"c",)"
         R"("inputs":[{"name":"d","namespace":"other"}]})");
  w.make("Run", "r", kRun);
  EXPECT_EQ(w.copied("-s3-0"), "accessKeyID secretAccessKey ");
  const std::string name = w.wrapper() + "-s3-0";
  const std::string text = std::string(w.cluster.get<model::AppWrapper>(w.wrapper())->text());
  EXPECT_TRUE(text.contains(name));
  EXPECT_FALSE(text.contains("secretAccessKey\":"));
  w.cluster.remove<model::Run>("r", {.propagation_policy = "Background"});
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.cluster.get<model::Secret>(name), nullptr);
}

TEST(SecretCopies, no_secret_is_copied_for_a_run_that_is_not_allowed) {
  World w;
  w.make_secret("keys", "other");
  w.make("DataSet", "d", R"({"s3":{"endpoint":"http://s3","bucket":"b","secret":{"name":"keys"}}})",
         "other");
  w.make("Application", "app",
         R"({"api":"shell","image":"i","command":"c",)"
         R"("inputs":[{"name":"d","namespace":"other"}]})");
  w.make("Run", "r", kRun);
  // As somebody might who can write the status.
  w.cluster.patch<model::Run>(
      "r",
      R"({"status":{"appWrapper":"r-x","effective":[{"name":"inputs[0]","value":"other/d","from":"x"}]}})",
      "status");
  w.cluster.settle(seconds(5));
  EXPECT_TRUE(w.cluster.list<model::Secret>().empty());
  const model::Run run = w.cluster.read<model::Run>("r");
  model::DataSet data_set = w.cluster.read<model::DataSet>("d", "other");
  const auto copies = [&] {
    return secrets_of(run, {.data_set = [&](const model::ObjectKey&) { return data_set; }}).size();
  };
  EXPECT_EQ(copies(), 0u);
  data_set.spec.allowed_namespaces.push_back("default");
  EXPECT_EQ(copies(), 1u);
}

TEST(SecretCopies, a_platform_repo_secret_that_comes_later_reaches_the_run) {
  World w;
  w.make_secret("git", "other");
  w.make("Application", "app", kRepo);
  w.make("Run", "r", kRun);
  EXPECT_EQ(w.copied("-repo"), "");
  w.make("PlatformRepoSecret", "p", R"({"repo":"h","secret":{"name":"git","namespace":"other"}})");
  EXPECT_EQ(w.copied("-repo"), "pat user ");
}

TEST(SecretCopies, a_missing_source_is_told_and_looked_for_again) {
  World w;
  w.make("PlatformRepoSecret", "p", R"({"repo":"h","secret":{"name":"git","namespace":"other"}})");
  w.make("Application", "app", kRepo);
  w.make("Run", "r", kRun);
  w.cluster.settle(seconds(12));
  EXPECT_EQ(w.copied("-repo"), "");
  w.make_secret("git", "other");
  w.cluster.settle(seconds(12));
  EXPECT_EQ(w.copied("-repo"), "pat user ");
}

}  // namespace
}  // namespace codeflare::controllers::runs
