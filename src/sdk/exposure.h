#pragma once

#include "json/value.h"
#include "model/app_wrapper.h"
#include "sdk/cluster_config.h"

#include <optional>
#include <string>
#include <string_view>

// The way from outside to the dashboard of a Ray cluster: a Route of OpenShift, an HTTPRoute of the
// Gateway API or an Ingress, always with TLS; pure.
namespace codeflare::sdk {

// Values of the field expose_kind.
inline constexpr std::string_view kRoute = "route";
inline constexpr std::string_view kHttpRoute = "httproute";
inline constexpr std::string_view kIngress = "ingress";

// The kind that a configuration means where no server is asked: OpenShift alone chooses hosts by
// itself, an Ingress works in every cluster.
std::string_view exposure_kind(const ClusterConfig& config);

// Whether clients of the cluster need Ray's token: an exposed dashboard without it would run
// anybody's code.
bool wants_token(const ClusterConfig& config);

// The object beside the RayCluster; its name is NAME-dashboard.
json::Value exposure_object(json::Arena& arena, const ClusterConfig& config);

// The exposed endpoint of a cluster's AppWrapper.
struct Exposure {
  std::string kind;  // as of expose_kind
  model::ObjectKey key;
  std::string host{};  // empty: the server chooses it
  std::string tls_secret{};
  std::string gateway{};  // NAMESPACE/NAME or NAMESPACE/NAME/LISTENER

  // "https://HOST"; empty as long as the host is not known.
  std::string uri() const { return host.empty() ? "" : "https://" + host; }
  friend bool operator==(const Exposure&, const Exposure&) = default;
};
// Nothing when the dashboard is not exposed.
std::optional<Exposure> exposure_of(const model::AppWrapper& wrapper);
std::optional<Exposure> exposure_of(const json::Value& object);

}  // namespace codeflare::sdk
