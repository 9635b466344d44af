#pragma once

#include "base/async/sleep.h"
#include "base/env/real_env.h"
#include "kube/client.h"
#include "kube/connect.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::kube {

inline const ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};
inline const ResourceType kDeployments{"apps", "v1", "Deployment", "deployments", true};
inline const ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
inline const ResourceType kPods{"", "v1", "Pod", "pods", true};

// "ok" or the name of the error's code: reads well on both sides of an EXPECT_EQ.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code));
}

// The JSON of a ConfigMap with data.value; `metadata` is more of its metadata: R"("labels":{})".
inline std::string config_map(const std::string& name, const std::string& value,
                              const std::string& metadata = {}) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + '"' +
         (metadata.empty() ? "" : "," + metadata) + R"(},"data":{"value":")" + value + R"("}})";
}

// A client of the control plane that `kubernetes run` started around this program, and a namespace
// for each test alone.
class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto directory = env().variables.get("CODEFLARE_KUBERNETES_DIR");
    ASSERT_TRUE(directory) << "start this program with tests/kubernetes/kubernetes run -- ...";
    directory_ = *directory;
    Result<Config> config = load_config(env());
    ASSERT_TRUE(config) << config.error().to_string();
    config_ = *std::move(config);
    Result<std::unique_ptr<Connection>> connection = connect(env(), config_);
    ASSERT_TRUE(connection) << connection.error().to_string();
    connection_ = *std::move(connection);
    client_ = std::make_unique<Client>(env(), connection_->service());
    Result<ObjectRef> made = run(client().create(
        kNamespaces, "",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"client-test-"}})"));
    ASSERT_TRUE(made) << made.error().to_string();
    ns_ = (*made)->name();
  }

  Env env() { return real_.env(); }
  Client& client() { return *client_; }
  ObjectKey key(std::string name) const { return {ns_, std::move(name)}; }

  // Work that hangs fails instead.
  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    return *codeflare::run(env().loop,
                           with_timeout(std::chrono::minutes(3), "test", std::move(task)));
  }
  Result<ObjectRef> create(const std::string& name, const std::string& value,
                           const std::string& metadata = {}) {
    return run(client().create(kConfigMaps, ns_, config_map(name, value, metadata)));
  }
  std::string value_of(const std::string& name) {
    Result<ObjectRef> object = run(client().get(kConfigMaps, key(name)));
    return object ? (*object)->string_at({"data", "value"}) : outcome(object);
  }
  // A verb of tests/kubernetes/kubernetes on this control plane.
  void kubernetes(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, {"--dir", directory_});
    std::string script = env().variables.get("CODEFLARE_KUBERNETES_SCRIPT").value_or("kubernetes");
    Result<CommandResult> result =
        run(env().launcher.run({.program = std::move(script), .arguments = std::move(arguments)}));
    ASSERT_TRUE(result) << result.error().to_string();
    ASSERT_EQ(result->exit_code, 0) << result->error_output;
  }

  RealEnv real_;
  std::string directory_;
  Config config_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Client> client_;
  std::string ns_;
};

}  // namespace codeflare::kube
