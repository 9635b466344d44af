#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/reference.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::model {

struct EndpointConditions {
  std::optional<bool> ready;
  std::optional<bool> serving;
  std::optional<bool> terminating;
  Extra extra;

  friend bool operator==(const EndpointConditions&, const EndpointConditions&) = default;
};

struct Endpoint {
  List<std::string> addresses;
  EndpointConditions conditions;
  std::optional<std::string> hostname;
  std::optional<ObjectReference> target_ref;
  std::optional<std::string> node_name;
  Extra extra;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct EndpointPort {
  std::optional<std::string> name;
  std::optional<std::string> protocol;
  std::optional<std::int32_t> port;
  std::optional<std::string> app_protocol;
  Extra extra;

  friend bool operator==(const EndpointPort&, const EndpointPort&) = default;
};

// Some of the addresses behind a Service, all with the same ports.
struct EndpointSlice {
  ObjectMeta metadata;
  std::string address_type;
  List<Endpoint> endpoints;
  List<EndpointPort> ports;
  Extra extra;

  friend bool operator==(const EndpointSlice&, const EndpointSlice&) = default;
};

}  // namespace codeflare::model
