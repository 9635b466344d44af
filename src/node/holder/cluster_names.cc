#include "node/holder/cluster_names.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace codeflare::node {

namespace {

constexpr std::string_view kReverse = ".in-addr.arpa";

// Labels of the name in front of the suffix, the first first.
std::vector<std::string_view> labels_before(std::string_view name, std::string_view suffix) {
  std::vector<std::string_view> labels;
  name.remove_suffix(suffix.size());
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    labels.push_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return labels;
}

std::string service_name(const ServiceRecord& service) {
  return service.name + "." + service.ns + ".svc." + std::string(kClusterDomain);
}

std::string endpoint_label(const EndpointRecord& endpoint, Ipv4 address) {
  return endpoint.hostname.empty() ? address.to_dashed() : endpoint.hostname;
}

struct Named {
  std::string label;
  Ipv4 address;
  const EndpointRecord* endpoint;
};

// Those of a headless service that have names.
std::vector<Named> named_endpoints(const ServiceRecord& service) {
  std::vector<Named> found;
  for (const EndpointRecord& endpoint : service.endpoints) {
    const auto address = Ipv4::parse(endpoint.address);
    if (address && (endpoint.ready || service.not_ready_too)) {
      found.push_back({endpoint_label(endpoint, *address), *address, &endpoint});
    }
  }
  return found;
}

class Answer {
 public:
  explicit Answer(const DnsQuery& query) : query_(query) {}

  // The name exists; it has this address.
  void address(Ipv4 address) {
    exists_ = true;
    if (asks_for(DnsType::a)) {
      add({.name = query_.name, .type = DnsType::a, .address = address});
    }
  }
  void alias(const std::string& target) {
    exists_ = true;
    if (asks_for(DnsType::a) || asks_for(DnsType::aaaa) || asks_for(DnsType::cname)) {
      add({.name = query_.name, .type = DnsType::cname, .target = target});
    }
  }
  void pointer(std::string target) {
    exists_ = true;
    if (asks_for(DnsType::ptr)) {
      add({.name = query_.name, .type = DnsType::ptr, .target = std::move(target)});
    }
  }
  void server(const std::string& target, Ipv4 address, std::uint16_t port) {
    exists_ = true;
    if (asks_for(DnsType::srv)) {
      add({.name = query_.name, .type = DnsType::srv, .target = target, .port = port});
      reply_.additional.push_back({.name = target, .type = DnsType::a, .address = address});
    }
  }
  void exists() { exists_ = true; }

  DnsReply finish(std::uint64_t turn) {
    reply_.code = exists_ ? DnsCode::ok : DnsCode::no_such_name;
    if (!reply_.answers.empty()) {
      const auto first = static_cast<std::ptrdiff_t>(turn % reply_.answers.size());
      std::ranges::rotate(reply_.answers, reply_.answers.begin() + first);
    }
    return std::move(reply_);
  }

 private:
  bool asks_for(DnsType type) const {
    return query_.type == static_cast<std::uint16_t>(type) ||
           query_.type == static_cast<std::uint16_t>(DnsType::any);
  }
  void add(DnsRecord record) {
    // Endpoints on several ports are several times in a service.
    if (std::ranges::find(reply_.answers, record) == reply_.answers.end()) {
      reply_.answers.push_back(std::move(record));
    }
  }

  const DnsQuery& query_;
  DnsReply reply_;
  bool exists_ = false;
};

// "web.default.svc.cluster.local"
void answer_service(const ServiceRecord& service, Answer& answer) {
  if (!service.external_name.empty()) {
    answer.alias(service.external_name);
  } else if (const auto address = Ipv4::parse(service.address)) {
    answer.address(*address);
  } else if (service.headless) {
    for (const Named& one : named_endpoints(service)) {
      answer.address(one.address);
    }
  }
}

// "web-0.web.default.svc.cluster.local"
void answer_endpoint(const ServiceRecord& service, std::string_view label, Answer& answer) {
  for (const Named& one : named_endpoints(service)) {
    if (service.headless && one.label == label) {
      answer.address(one.address);
    }
  }
}

bool matches(const ServicePortRecord& port, std::string_view name, std::string_view protocol) {
  return name == "_" + port.name &&
         (protocol == "_tcp" ? port.protocol == "TCP"
                             : protocol == "_udp" && port.protocol == "UDP");
}

// "_http._tcp.web.default.svc.cluster.local"
void answer_port(const ServiceRecord& service, std::string_view name, std::string_view protocol,
                 Answer& answer) {
  for (std::size_t i = 0; i < service.ports.size(); ++i) {
    if (!matches(service.ports[i], name, protocol)) {
      continue;
    }
    if (const auto address = Ipv4::parse(service.address)) {
      answer.server(service_name(service), *address,
                    static_cast<std::uint16_t>(service.ports[i].port));
    }
    for (const Named& one : service.headless ? named_endpoints(service) : std::vector<Named>()) {
      if (i < one.endpoint->ports.size() && one.endpoint->ports[i] > 0) {
        answer.server(one.label + "." + service_name(service), one.address,
                      static_cast<std::uint16_t>(one.endpoint->ports[i]));
      }
    }
  }
}

// Names below "svc.cluster.local".
void answer_in_services(const ServiceTable& services, const std::vector<std::string_view>& labels,
                        Answer& answer) {
  const std::size_t count = labels.size();
  if (count == 0 || (count == 1 && services.has_namespace(labels[0]))) {
    answer.exists();
  }
  const ServiceRecord* service =
      count < 2 ? nullptr : services.find(labels[count - 1], labels[count - 2]);
  if (service == nullptr) {
    return;
  }
  if (count == 2) {
    answer_service(*service, answer);
  } else if (count == 3) {
    answer_endpoint(*service, labels[0], answer);
  } else if (count == 4) {
    answer_port(*service, labels[0], labels[1], answer);
  }
}

// Names below "pod.cluster.local": "10-244-0-7.default".
void answer_in_pods(const PodNamespace& pods, const std::vector<std::string_view>& labels,
                    Answer& answer) {
  if (labels.empty()) {
    answer.exists();
  }
  if (labels.size() != 2) {
    return;
  }
  std::string dotted(labels[0]);
  std::ranges::replace(dotted, '-', '.');
  const auto address = Ipv4::parse(dotted);
  if (address && pods(*address) == labels[1]) {
    answer.address(*address);
  }
}

void answer_reverse(const ServiceTable& services, std::string_view name, Answer& answer) {
  std::vector<std::string_view> labels = labels_before(name, kReverse);
  std::string dotted;
  for (std::size_t i = labels.size(); i-- > 0;) {
    dotted += std::string(labels[i]) + (i > 0 ? "." : "");
  }
  const auto address = Ipv4::parse(dotted);
  if (!address) {
    return;
  }
  const std::string text = address->to_string();
  for (const auto& [key, service] : services.all()) {
    if (service.address == text) {
      answer.pointer(service_name(service));
    }
    for (const Named& one : service.headless ? named_endpoints(service) : std::vector<Named>()) {
      if (one.address == *address) {
        answer.pointer(one.label + "." + service_name(service));
      }
    }
  }
}

bool is_below(std::string_view name, std::string_view suffix) {
  return name == suffix || (name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.');
}

// In the order of resolv_conf(). A last dot says that the name is whole.
std::vector<std::string> meanings_of(const HostQuery& query) {
  if (query.host.ends_with('.')) {
    return {query.host.substr(0, query.host.size() - 1)};
  }
  const std::string domain = "." + std::string(kClusterDomain);
  return {query.host + "." + query.ns + ".svc" + domain, query.host + ".svc" + domain,
          query.host + domain, query.host};
}

}  // namespace

DnsReply resolve(const ServiceTable& services, const PodNamespace& pods, const DnsQuery& query,
                 std::uint64_t turn) {
  const std::string& name = query.name;
  const std::string in_services = "svc." + std::string(kClusterDomain);
  const std::string in_pods = "pod." + std::string(kClusterDomain);
  Answer answer(query);
  if (is_below(name, in_services)) {
    answer_in_services(services, labels_before(name, in_services), answer);
  } else if (is_below(name, in_pods)) {
    answer_in_pods(pods, labels_before(name, in_pods), answer);
  } else if (name == kClusterDomain || name.empty()) {
    answer.exists();
  } else if (name.ends_with(kReverse)) {
    answer_reverse(services, name, answer);
  }
  return answer.finish(turn);
}

std::optional<Ipv4> find_host(const ServiceTable& services, const PodNamespace& pods,
                              const HostQuery& query) {
  if (const auto address = Ipv4::parse(query.host)) {
    return address;
  }
  for (const std::string& name : meanings_of(query)) {
    const DnsQuery question{.name = name, .type = static_cast<std::uint16_t>(DnsType::a)};
    const DnsReply found = resolve(services, pods, question, query.turn);
    if (!found.answers.empty() && found.answers.front().type == DnsType::a) {
      return found.answers.front().address;
    }
  }
  return std::nullopt;
}

}  // namespace codeflare::node
