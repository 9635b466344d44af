#pragma once

#include <span>
#include <string_view>

namespace codeflare::bench {

// A place of a kind that holds many items. In `frame`, `@` is where they go; in `item`, `#` is the
// number of the item.
struct HostileSpot {
  std::string_view name;
  std::string_view collection;
  std::string_view api_version;
  std::string_view kind;
  std::string_view frame;
  std::string_view item;
};

// Every place that the cases fill.
std::span<const HostileSpot> hostile_spots();
const HostileSpot& hostile_spot(std::string_view name);
// The definition behind the places of custom resources.
std::string_view hostile_definition();

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kThings = "/apis/hostile.dev/v1/namespaces/default/things";
constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

}  // namespace codeflare::bench
