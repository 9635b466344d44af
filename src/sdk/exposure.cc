#include "sdk/exposure.h"

#include "json/parse.h"
#include "json/pointer.h"
#include "sdk/internal/object_builder.h"

#include <array>
#include <vector>

namespace codeflare::sdk {

namespace {

using internal::ObjectBuilder;
using json::Value;

constexpr std::int64_t kDashboardPort = 8265;
constexpr std::string_view kSuffix = "-dashboard";

struct Kind {
  std::string_view word;  // of expose_kind
  std::string_view api_version;
  std::string_view kind;
};
constexpr std::array kKinds = {
    Kind{kRoute, "route.openshift.io/v1", "Route"},
    Kind{kHttpRoute, "gateway.networking.k8s.io/v1", "HTTPRoute"},
    Kind{kIngress, "networking.k8s.io/v1", "Ingress"},
};

// "a/b/c" in parts.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

class Maker {
 public:
  Maker(json::Arena& arena, const ClusterConfig& config) : build_(arena), config_(config) {}

  Value route() {
    Value to = build_.named(service());
    build_.set(to, "kind", build_.text("Service"));
    Value port = Value::object();
    build_.set(port, "targetPort", build_.text("dashboard"));
    Value tls = Value::object();
    build_.set(tls, "termination", build_.text("edge"));
    build_.set(tls, "insecureEdgeTerminationPolicy", build_.text("Redirect"));
    Value spec = Value::object();
    build_.set_text(spec, "host", config_.expose_host);
    build_.set(spec, "to", to);
    build_.set(spec, "port", port);
    build_.set(spec, "tls", tls);
    return spec;
  }

  Value http_route() {
    const std::vector<std::string> gateway = parts_of(config_.expose_gateway);
    Value parent = build_.named(gateway.size() > 1 ? gateway[1] : gateway[0]);
    if (gateway.size() > 1) {
      build_.set(parent, "namespace", build_.text(gateway[0]));
    }
    if (gateway.size() > 2) {
      build_.set(parent, "sectionName", build_.text(gateway[2]));
    }
    Value backend = build_.named(service());
    build_.set(backend, "port", build_.number(kDashboardPort));
    Value rule = Value::object();
    build_.set(rule, "backendRefs", list(backend));
    Value spec = Value::object();
    build_.set(spec, "parentRefs", list(parent));
    build_.set(spec, "hostnames", list(build_.text(config_.expose_host)));
    build_.set(spec, "rules", list(rule));
    return spec;
  }

  Value ingress() {
    Value tls = Value::object();
    build_.set(tls, "hosts", list(build_.text(config_.expose_host)));
    build_.set_text(tls, "secretName", config_.expose_tls_secret);
    Value port = Value::object();
    build_.set(port, "number", build_.number(kDashboardPort));
    Value to = build_.named(service());
    build_.set(to, "port", port);
    Value backend = Value::object();
    build_.set(backend, "service", to);
    Value path = Value::object();
    build_.set(path, "path", build_.text("/"));
    build_.set(path, "pathType", build_.text("Prefix"));
    build_.set(path, "backend", backend);
    Value http = Value::object();
    build_.set(http, "paths", list(path));
    Value rule = Value::object();
    build_.set(rule, "host", build_.text(config_.expose_host));
    build_.set(rule, "http", http);
    Value spec = Value::object();
    build_.set(spec, "tls", list(tls));
    build_.set(spec, "rules", list(rule));
    return spec;
  }

  Value object(std::string_view word) {
    Value metadata = build_.named(config_.name + std::string(kSuffix));
    build_.set_text(metadata, "namespace", config_.ns);
    build_.set_if(metadata, "labels", build_.map(config_.labels));
    if (word == kIngress) {
      // Plain HTTP is redirected: each controller reads its own.
      build_.set(metadata, "annotations",
                 build_.map({{"nginx.ingress.kubernetes.io/force-ssl-redirect", "true"},
                             {"route.openshift.io/termination", "edge"},
                             {"traefik.ingress.kubernetes.io/router.entrypoints", "websecure"}}));
    }
    Value object = Value::object();
    for (const Kind& kind : kKinds) {
      if (kind.word == word) {
        build_.set(object, "apiVersion", build_.text(kind.api_version));
        build_.set(object, "kind", build_.text(kind.kind));
      }
    }
    build_.set(object, "metadata", metadata);
    build_.set(object, "spec",
               word == kRoute       ? route()
               : word == kHttpRoute ? http_route()
                                    : ingress());
    return object;
  }

 private:
  std::string service() const { return config_.name + "-head-svc"; }
  Value list(Value only) {
    Value list = Value::array();
    build_.push(list, only);
    return list;
  }

  ObjectBuilder build_;
  const ClusterConfig& config_;
};

std::string text_at(const Value& object, std::string_view pointer) {
  const Result<json::Pointer> parsed = json::Pointer::parse(pointer);
  const Value* found = parsed ? json::find(object, *parsed) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

}  // namespace

std::string_view exposure_kind(const ClusterConfig& config) {
  if (!config.expose_kind.empty()) {
    return config.expose_kind;
  }
  return config.expose_host.empty() ? kRoute : kIngress;
}

bool wants_token(const ClusterConfig& config) {
  return config.token_authentication || (config.expose && !config.insecure_dashboard);
}

Value exposure_object(json::Arena& arena, const ClusterConfig& config) {
  return Maker(arena, config).object(exposure_kind(config));
}

std::optional<Exposure> exposure_of(const Value& object) {
  const std::string_view kind = object.string_or_empty("kind");
  const std::string name = text_at(object, "/metadata/name");
  for (const Kind& known : kKinds) {
    if (known.kind != kind || object.string_or_empty("apiVersion") != known.api_version ||
        !name.ends_with(kSuffix)) {
      continue;
    }
    Exposure found{.kind = std::string(known.word),
                   .key = {text_at(object, "/metadata/namespace"), name}};
    if (known.word == kRoute) {
      found.host = text_at(object, "/spec/host");
      if (found.host.empty()) {
        found.host = text_at(object, "/status/ingress/0/host");
      }
    } else if (known.word == kHttpRoute) {
      found.host = text_at(object, "/spec/hostnames/0");
      for (const char* part : {"namespace", "name", "sectionName"}) {
        const std::string text = text_at(object, "/spec/parentRefs/0/" + std::string(part));
        found.gateway += (found.gateway.empty() || text.empty() ? "" : "/") + text;
      }
    } else {
      found.host = text_at(object, "/spec/rules/0/host");
      found.tls_secret = text_at(object, "/spec/tls/0/secretName");
    }
    return found;
  }
  return std::nullopt;
}

std::optional<Exposure> exposure_of(const model::AppWrapper& wrapper) {
  for (const model::GenericItem& item : wrapper.spec.resources.generic_items) {
    const Result<json::Document> document = json::parse(item.generic_template.text);
    if (!document) {
      continue;
    }
    if (std::optional<Exposure> found = exposure_of(document->root)) {
      found->key.ns = found->key.ns.empty() ? wrapper.metadata.ns : found->key.ns;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace codeflare::sdk
