#include "controllers/raycluster/ray_token.h"

#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

constexpr std::size_t kTokenBytes = 32;
// The first version of Ray that knows tokens.
constexpr std::pair<int, int> kFirstVersion{2, 52};

std::string mode_of(const model::RayClusterSpec& spec) {
  const Result<json::Document> options = json::parse(spec.extra.find("authOptions"));
  return options ? std::string(options->root.string_or_empty("mode")) : "";
}

// "2.60.0" as 2 and 60; zeros when it cannot be read.
std::pair<int, int> version_of(std::string_view text) {
  std::pair<int, int> version;
  const char* end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.first);
  if (error == std::errc() && dot != end && *dot == '.') {
    std::from_chars(dot + 1, end, version.second);
  }
  return version;
}

bool has_variable(const model::Container& ray, std::string_view name) {
  return std::ranges::find(ray.env, name, &model::EnvVar::name) != ray.env.end();
}

}  // namespace

bool uses_token(const model::RayClusterSpec& spec) {
  return mode_of(spec) == "token";
}

std::string invalid_authentication(const model::RayCluster& cluster) {
  const std::string mode = mode_of(cluster.spec);
  if (!mode.empty() && mode != "token" && mode != "disabled") {
    return "authOptions.mode should be disabled or token, not " + mode;
  }
  if (mode == "token" && version_of(cluster.spec.ray_version) < kFirstVersion) {
    return "authOptions.mode is 'token' but minimum Ray version is 2.52.0, got " +
           (cluster.spec.ray_version.empty() ? "no rayVersion" : cluster.spec.ray_version);
  }
  return {};
}

void add_token_variables(const model::RayCluster& cluster, model::Container& ray) {
  if (!uses_token(cluster.spec)) {
    return;
  }
  if (!has_variable(ray, "RAY_AUTH_MODE")) {
    ray.env.push_back({.name = "RAY_AUTH_MODE", .value = "token"});
  }
  if (!has_variable(ray, "RAY_AUTH_TOKEN")) {
    model::EnvVar token{.name = "RAY_AUTH_TOKEN"};
    auto& from = token.value_from.emplace().secret_key_ref.emplace();
    from.name = cluster.metadata.name;
    from.key = kTokenKey;
    ray.env.push_back(std::move(token));
  }
}

std::string token_secret(const model::RayCluster& cluster, Random& random) {
  std::string token;
  while (token.size() < kTokenBytes) {
    const std::uint64_t word = random.next();
    for (unsigned shift = 0; shift < 64; shift += 8) {
      token.push_back(static_cast<char>(word >> shift & 0xff));
    }
  }
  std::string json;
  json::Writer writer(json);
  writer.begin_object();
  writer.key("apiVersion").string("v1");
  writer.key("kind").string("Secret");
  writer.key("metadata").begin_object();
  writer.key("name").string(cluster.metadata.name);
  writer.key("namespace").string(cluster.metadata.ns);
  writer.key("labels").begin_object();
  writer.key("ray.io/cluster").string(cluster.metadata.name);
  writer.end_object();
  writer.key("ownerReferences").begin_array();
  writer.begin_object();
  writer.key("apiVersion").string("ray.io/v1");
  writer.key("kind").string("RayCluster");
  writer.key("name").string(cluster.metadata.name);
  writer.key("uid").string(cluster.metadata.uid);
  writer.key("controller").boolean(true);
  writer.key("blockOwnerDeletion").boolean(true);
  writer.end_object();
  writer.end_array();
  writer.end_object();
  writer.key("stringData").begin_object();
  writer.key(kTokenKey).string(to_base64(token));
  writer.end_object();
  writer.end_object();
  return json;
}

}  // namespace codeflare::controllers::raycluster
