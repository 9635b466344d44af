#pragma once

#include "base/base64.h"
#include "base/env/sim_env.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Samples for the tests of configuration and credentials. For tests only.
namespace codeflare::kube::testing {

// Part of every secret in the samples: no message may hold it.
inline constexpr std::string_view kSecret = "sEcReT";

inline std::string pem(std::string_view label, std::string_view content) {
  std::string name(label);
  return "-----BEGIN " + name + "-----\n" + to_base64(content) + "\n-----END " + name + "-----\n";
}

inline std::string sample_certificate(std::string_view content = "certificate") {
  return pem("CERTIFICATE", content);
}
inline std::string sample_key(std::string_view content = "sEcReT key") {
  return pem("PRIVATE KEY", content);
}

inline constexpr std::string_view kSamplePath = "/home/me/.kube/config";

// Every field of a kubeconfig at its place: one cluster, and a context for each kind of user.
inline std::string sample_kubeconfig() {
  std::string certificate = to_base64(sample_certificate());
  std::string key = to_base64(sample_key());
  return R"({
    "apiVersion": "v1", "kind": "Config", "current-context": "token",
    "preferences": {},
    "clusters": [
      {"name": "main", "cluster": {
        "server": "https://api.example:6443", "certificate-authority-data": ")" +
         certificate + R"(",
        "tls-server-name": "kubernetes.default", "proxy-url": "http://me:sEcReT@proxy:3128",
        "disable-compression": true,
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}]}},
      {"name": "files", "cluster": {"server": "https://files.example", "certificate-authority": "ca.crt"}},
      {"name": "insecure", "cluster": {"server": "https://[::1]:6443/k8s/", "insecure-skip-tls-verify": true}},
      {"name": "plain", "cluster": {"server": "http://localhost:8080"}}],
    "users": [
      {"name": "token", "user": {"token": "sEcReT-token", "as": "jane", "as-uid": "7",
        "as-groups": ["dev", "ops"], "as-user-extra": {"scopes": ["view", "edit"]}}},
      {"name": "inline", "user": {"client-certificate-data": ")" +
         certificate + R"(", "client-key-data": ")" + key + R"("}},
      {"name": "files", "user": {"client-certificate": "client.crt", "client-key": "/keys/client.key"}},
      {"name": "token-file", "user": {"tokenFile": "token"}},
      {"name": "basic", "user": {"username": "joe", "password": "sEcReT-password"}},
      {"name": "exec", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
        "command": "bin/get-token", "args": ["--for", "sEcReT-arg"],
        "env": [{"name": "MODE", "value": "sEcReT-value"}], "installHint": "apt install get-token",
        "provideClusterInfo": true, "interactiveMode": "Never"}}},
      {"name": "nobody", "user": {}}],
    "contexts": [
      {"name": "token", "context": {"cluster": "main", "user": "token", "namespace": "team"}},
      {"name": "inline", "context": {"cluster": "main", "user": "inline"}},
      {"name": "files", "context": {"cluster": "files", "user": "files"}},
      {"name": "token-file", "context": {"cluster": "insecure", "user": "token-file"}},
      {"name": "basic", "context": {"cluster": "main", "user": "basic"}},
      {"name": "exec", "context": {"cluster": "main", "user": "exec"}},
      {"name": "plain", "context": {"cluster": "plain", "user": "token"}},
      {"name": "anonymous", "context": {"cluster": "main"}}]
  })";
}

// The sample with one change: `value` is JSON, empty to remove what the pointer leads to.
inline std::string sample_with(std::string_view pointer, std::string_view value) {
  json::Document document = json::parse(sample_kubeconfig()).value();
  std::string path = R"("path": ")" + std::string(pointer) + R"(")";
  std::string patch =
      value.empty() ? R"([{"op": "remove", )" + path + "}]"
                    : R"([{"op": "add", )" + path + R"(, "value": )" + std::string(value) + "}]";
  json::Document operations = json::parse(patch).value();
  Result<json::Document> changed = json::apply_patch(document.root, operations.root);
  EXPECT_TRUE(changed) << pointer;
  return changed ? json::to_text(changed->root) : "";
}

inline void put_file(Env env, const std::string& path, std::string_view content) {
  ASSERT_TRUE(env.files.make_directories(parent_path(path)));
  ASSERT_TRUE(env.files.write(path, content));
}

// The files that the sample names.
inline void put_sample_files(Env env) {
  put_file(env, "/home/me/.kube/ca.crt", sample_certificate("file ca"));
  put_file(env, "/home/me/.kube/client.crt", sample_certificate("file client"));
  put_file(env, "/keys/client.key", sample_key());
  put_file(env, "/home/me/.kube/token", "sEcReT-file-token\n");
}

// One line that holds no secret.
inline void expect_clean(const std::string& message) {
  EXPECT_EQ(message.find_first_of("\n\r"), std::string::npos) << message;
  EXPECT_EQ(message.find(kSecret), std::string::npos) << message;
  EXPECT_EQ(message.find(to_base64(sample_key()).substr(0, 40)), std::string::npos) << message;
}

}  // namespace codeflare::kube::testing
