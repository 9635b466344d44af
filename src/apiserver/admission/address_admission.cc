#include "apiserver/admission/address_admission.h"

#include "apiserver/registry/edit.h"
#include "apiserver/schema/field_errors.h"
#include "base/check.h"
#include "json/parse.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::uint32_t kFirstAddress = (10u << 24) | (96u << 16) | 1;  // 10.96.0.1
constexpr std::uint32_t kAddresses = (1u << 20) - 2;                    // of 10.96.0.0/12
constexpr std::uint32_t kFirstPort = 30000;
constexpr std::uint32_t kPorts = 2768;
constexpr int kTries = 32;

std::string dotted(std::uint32_t address) {
  return std::to_string(address >> 24) + "." + std::to_string((address >> 16) & 255) + "." +
         std::to_string((address >> 8) & 255) + "." + std::to_string(address & 255);
}

std::optional<std::uint32_t> parse_address(std::string_view text) {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > 255) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    address = (address << 8) | number;
    if (part < 3) {
      if (!text.starts_with('.')) {
        return std::nullopt;
      }
      text.remove_prefix(1);
    }
  }
  return text.empty() ? std::optional(address) : std::nullopt;
}

bool wants_node_ports(const json::Value& spec) {
  const std::string_view type = text_at(spec, "type");
  const json::Value* allocate = spec.find("allocateLoadBalancerNodePorts");
  const bool declined = allocate != nullptr && allocate->is_boolean() && !allocate->as_bool();
  return type == "NodePort" || (type == "LoadBalancer" && !declined);
}

void set_one(json::Arena& arena, json::Value& spec, std::string_view key, std::string_view text) {
  json::Value list = json::Value::array();
  list.push_back(arena, json::Value::string(arena, text));
  spec.set(arena, key, list);
}

Error invalid(const AdmissionRequest& request, std::string field, const std::string& shown,
              const std::string& why) {
  FieldErrors errors;
  errors.invalid(std::move(field), shown, why);
  return errors.to_error(request.resource.group, request.resource.kind, request.name);
}

}  // namespace

void AddressAdmission::Pool::release(std::uint32_t number) {
  const auto found = held_.find(number);
  CHECK(found != held_.end());
  if (--found->second == 0) {
    held_.erase(found);
  }
}

std::optional<std::uint32_t> AddressAdmission::Pool::pick(Random& random) const {
  for (int i = 0; i < kTries; ++i) {
    const std::uint32_t number = first_ + static_cast<std::uint32_t>(random.below(count_));
    if (!taken(number)) {
      return number;
    }
  }
  // Nearly full: the first gap.
  std::uint32_t number = first_;
  for (const auto& [held, count] : held_) {
    if (held >= first_ && held != number) {
      break;
    }
    number = held >= first_ ? held + 1 : number;
  }
  return contains(number) ? std::optional(number) : std::nullopt;
}

AddressAdmission::AddressAdmission(Store& store, Random& random)
    : services_(store.collection("services")),
      random_(random),
      addresses_(kFirstAddress, kAddresses),
      ports_(kFirstPort, kPorts) {
  CHECK(store
            .visit(services_, {},
                   [&](const ObjectPtr& object) {
                     account(*object, true);
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection != services_) {
      return;
    }
    if (event.op != Write::Op::remove) {
      account(*event.object, true);
    }
    if (event.before != nullptr) {
      account(*event.before, false);
    }
  });
}

AddressAdmission::Numbers AddressAdmission::numbers_of(const json::Value& service) {
  const json::Value& spec = object_at(service, "spec");
  Numbers numbers{.address = parse_address(text_at(spec, "clusterIP")), .ports = {}};
  const auto add = [&](std::int64_t port) {
    if (port > 0) {
      numbers.ports.insert(static_cast<std::uint32_t>(port));
    }
  };
  for (const json::Value& port : items_at(spec, "ports")) {
    add(integer_at(port, "nodePort").value_or(0));
  }
  add(integer_at(spec, "healthCheckNodePort").value_or(0));
  return numbers;
}

void AddressAdmission::account(const Object& service, bool holds) {
  const Result<json::Document> parsed = json::parse(service.text().view());
  CHECK(parsed.has_value());
  const Numbers numbers = numbers_of(parsed->root);
  if (numbers.address) {
    holds ? addresses_.hold(*numbers.address) : addresses_.release(*numbers.address);
  }
  for (const std::uint32_t port : numbers.ports) {
    holds ? ports_.hold(port) : ports_.release(port);
  }
}

void AddressAdmission::reserve(AdmissionRequest& request, Pool& pool, std::uint32_t number) const {
  if (request.dry_run) {
    return;
  }
  pool.hold(number);
  // By then a committed service holds it itself.
  request.on_finish.push_back([&pool, number](bool) { pool.release(number); });
}

Result<void> AddressAdmission::give_address(AdmissionRequest& request, json::Value& spec) {
  json::Arena& arena = request.context.arena;
  const std::string_view asked = text_at(spec, "clusterIP").empty() &&
                                         !items_at(std::as_const(spec), "clusterIPs").empty() &&
                                         items_at(std::as_const(spec), "clusterIPs")[0].is_string()
                                     ? items_at(std::as_const(spec), "clusterIPs")[0].as_string()
                                     : text_at(spec, "clusterIP");
  std::string address(asked);
  if (asked.empty()) {
    const std::optional<std::uint32_t> picked = addresses_.pick(random_);
    if (!picked) {
      return std::unexpected(internal_error("failed to allocate a serviceIP: range is full"));
    }
    reserve(request, addresses_, *picked);
    address = dotted(*picked);
  } else if (asked != "None") {
    const std::optional<std::uint32_t> number = parse_address(asked);
    const bool own = request.old != nullptr && number &&
                     parse_address(text_at(object_at(*request.old, "spec"), "clusterIP")) == number;
    const std::string shown = "[" + quote(asked) + "]";
    if (!number) {
      return std::unexpected(
          invalid(request, "spec.clusterIPs[0]", quote(asked),
                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    }
    if (!addresses_.contains(*number)) {
      return std::unexpected(
          invalid(request, "spec.clusterIPs", shown,
                  "failed to allocate IP " + address + ": the provided IP (" + address +
                      ") is not in the valid range. The range of valid IPs is 10.96.0.0/12"));
    }
    if (!own && addresses_.taken(*number)) {
      return std::unexpected(
          invalid(request, "spec.clusterIPs", shown,
                  "failed to allocate IP " + address + ": provided IP is already allocated"));
    }
    reserve(request, addresses_, *number);
  }
  spec.set(arena, "clusterIP", json::Value::string(arena, address));
  set_one(arena, spec, "clusterIPs", address);
  if (absent(spec, "ipFamilies")) {
    set_one(arena, spec, "ipFamilies", "IPv4");
  }
  default_text(arena, spec, "ipFamilyPolicy", "SingleStack");
  return {};
}

// A port that was asked for: of the request's own service it may be already, of no other.
Result<void> AddressAdmission::take_port(AdmissionRequest& request, const Numbers& old,
                                         const std::string& field, std::uint32_t number) {
  if (ports_.taken(number) && !old.ports.contains(number)) {
    return std::unexpected(
        invalid(request, field, std::to_string(number), "provided port is already allocated"));
  }
  reserve(request, ports_, number);
  return {};
}

// Where a load balancer asks which nodes have a pod of the service.
Result<void> AddressAdmission::give_health_port(AdmissionRequest& request, const Numbers& old,
                                                json::Value& spec) {
  constexpr std::string_view kKey = "healthCheckNodePort";
  if (text_at(spec, "type") != "LoadBalancer" ||
      text_at(spec, "externalTrafficPolicy") != "Local") {
    return {};
  }
  if (const std::int64_t asked = integer_at(spec, kKey).value_or(0); asked != 0) {
    const auto number = static_cast<std::uint32_t>(asked);
    const bool own = old.ports.contains(number);
    if (!own && (!ports_.contains(number) || ports_.taken(number))) {
      return std::unexpected(internal_error(
          "failed to allocate requested HealthCheck NodePort " + std::to_string(asked) + ": " +
          (ports_.contains(number)
               ? "provided port is already allocated"
               : "provided port is not in the valid range. The range of valid ports is "
                 "30000-32767")));
    }
    reserve(request, ports_, number);
    return {};
  }
  const std::optional<std::uint32_t> picked = ports_.pick(random_);
  if (!picked) {
    return std::unexpected(
        internal_error("failed to allocate a HealthCheck NodePort 0: range is full"));
  }
  reserve(request, ports_, *picked);
  spec.set(request.context.arena, kKey, json::Value::integer(request.context.arena, *picked));
  return {};
}

Result<void> AddressAdmission::give_ports(AdmissionRequest& request, const Numbers& old,
                                          json::Value& spec) {
  // Ports of one number may serve several protocols.
  std::map<std::int64_t, std::uint32_t> by_port;
  std::size_t i = 0;
  for (json::Value& port : items_at(spec, "ports")) {
    const std::string at = child(at_index("spec.ports", i++), "nodePort");
    const std::int64_t asked = integer_at(port, "nodePort").value_or(0);
    const std::int64_t own = integer_at(port, "port").value_or(0);
    if (asked != 0) {
      const auto number = static_cast<std::uint32_t>(asked);
      if (!ports_.contains(number)) {
        return std::unexpected(
            invalid(request, at, std::to_string(asked),
                    "provided port is not in the valid range. The range of valid ports is "
                    "30000-32767"));
      }
      // The same number again for another protocol of the same port is one allocation.
      const auto given = by_port.find(own);
      if (given != by_port.end() && given->second == number) {
        continue;
      }
      TRY(take_port(request, old, at, number));
      by_port.emplace(own, number);
      continue;
    }
    auto [entry, made] = by_port.try_emplace(own, 0);
    if (made) {
      const std::optional<std::uint32_t> picked = ports_.pick(random_);
      if (!picked) {
        return std::unexpected(internal_error("failed to allocate a nodePort: range is full"));
      }
      reserve(request, ports_, *picked);
      entry->second = *picked;
    }
    port.set(request.context.arena, "nodePort",
             json::Value::integer(request.context.arena, entry->second));
  }
  return {};
}

Result<void> AddressAdmission::mutate(AdmissionRequest& request) {
  if (request.resource.collection != services_ || request.object == nullptr ||
      !request.subresource.empty()) {
    return {};
  }
  json::Value& spec = make_object(request.context.arena, *request.object, "spec");
  if (text_at(spec, "type") == "ExternalName") {
    for (std::string_view key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      spec.erase(key);
    }
    return {};
  }
  TRY(give_address(request, spec));
  const Numbers old = request.old == nullptr ? Numbers{} : numbers_of(*request.old);
  if (wants_node_ports(spec)) {
    TRY(give_ports(request, old, spec));
  }
  return give_health_port(request, old, spec);
}

}  // namespace codeflare::apiserver
