#include "apiserver/kinds/pod_spec.h"
#include "apiserver/registry/edit.h"
#include "model/quantity.h"

#include <array>
#include <optional>

namespace codeflare::apiserver {

namespace {

// The tag of "host:5000/name:tag@digest"; "latest" when the image has neither tag nor digest.
std::string_view image_tag(std::string_view image) {
  const std::size_t at = image.find('@');
  const std::string_view name = image.substr(0, at);
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
    return name.substr(colon + 1);
  }
  return at == std::string_view::npos ? "latest" : "";
}

void default_pull_policy(json::Arena& arena, json::Value& holder, std::string_view key,
                         std::string_view image) {
  default_text(arena, holder, key, image_tag(image) == "latest" ? "Always" : "IfNotPresent");
}

void default_http_get(json::Arena& arena, json::Value& handler) {
  if (json::Value* http = handler.find("httpGet"); http != nullptr && http->is_object()) {
    default_text(arena, *http, "path", "/");
    default_text(arena, *http, "scheme", "HTTP");
  }
}

void default_probe(json::Arena& arena, json::Value& container, std::string_view key) {
  json::Value* probe = container.find(key);
  if (probe == nullptr || !probe->is_object()) {
    return;
  }
  default_nonzero(arena, *probe, "timeoutSeconds", 1);
  default_nonzero(arena, *probe, "periodSeconds", 10);
  default_nonzero(arena, *probe, "successThreshold", 1);
  default_nonzero(arena, *probe, "failureThreshold", 3);
  default_http_get(arena, *probe);
  if (json::Value* grpc = probe->find("grpc"); grpc != nullptr && grpc->is_object()) {
    if (absent(*grpc, "service")) {
      grpc->set(arena, "service", json::Value::string_view_of(""));
    }
  }
}

void default_env(json::Arena& arena, json::Value& container) {
  for (json::Value& variable : items_at(container, "env")) {
    json::Value* source = variable.find("valueFrom");
    if (source == nullptr || !source->is_object()) {
      continue;
    }
    if (json::Value* field = source->find("fieldRef"); field != nullptr && field->is_object()) {
      default_text(arena, *field, "apiVersion", "v1");
    }
  }
}

void default_container(json::Arena& arena, json::Value& container) {
  if (!container.is_object()) {
    return;
  }
  default_text(arena, container, "terminationMessagePath", "/dev/termination-log");
  default_text(arena, container, "terminationMessagePolicy", "File");
  default_pull_policy(arena, container, "imagePullPolicy", text_at(container, "image"));
  make_object(arena, container, "resources");
  for (json::Value& port : items_at(container, "ports")) {
    if (port.is_object()) {
      default_text(arena, port, "protocol", "TCP");
    }
  }
  default_env(arena, container);
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(arena, container, probe);
  }
  if (json::Value* lifecycle = container.find("lifecycle");
      lifecycle != nullptr && lifecycle->is_object()) {
    for (std::string_view hook : {"postStart", "preStop"}) {
      if (json::Value* handler = lifecycle->find(hook);
          handler != nullptr && handler->is_object()) {
        default_http_get(arena, *handler);
      }
    }
  }
}

void default_items_field_ref(json::Arena& arena, json::Value& source) {
  for (json::Value& item : items_at(source, "items")) {
    if (json::Value* field = item.find("fieldRef"); field != nullptr && field->is_object()) {
      default_text(arena, *field, "apiVersion", "v1");
    }
  }
}

void default_projected(json::Arena& arena, json::Value& projected) {
  default_integer(arena, projected, "defaultMode", 420);
  for (json::Value& source : items_at(projected, "sources")) {
    if (json::Value* token = source.find("serviceAccountToken");
        token != nullptr && token->is_object()) {
      default_integer(arena, *token, "expirationSeconds", 3600);
    }
    if (json::Value* downward = source.find("downwardAPI");
        downward != nullptr && downward->is_object()) {
      default_items_field_ref(arena, *downward);
    }
  }
}

void default_block_device(json::Arena& arena, json::Value& volume) {
  if (json::Value* iscsi = volume.find("iscsi"); iscsi != nullptr && iscsi->is_object()) {
    default_text(arena, *iscsi, "iscsiInterface", "default");
  }
  if (json::Value* rbd = volume.find("rbd"); rbd != nullptr && rbd->is_object()) {
    default_text(arena, *rbd, "pool", "rbd");
    default_text(arena, *rbd, "user", "admin");
    default_text(arena, *rbd, "keyring", "/etc/ceph/keyring");
  }
  if (json::Value* azure = volume.find("azureDisk"); azure != nullptr && azure->is_object()) {
    default_text(arena, *azure, "cachingMode", "ReadWrite");
    default_text(arena, *azure, "kind", "Shared");
    default_text(arena, *azure, "fsType", "ext4");
    default_boolean(arena, *azure, "readOnly", false);
  }
  if (json::Value* scale = volume.find("scaleIO"); scale != nullptr && scale->is_object()) {
    default_text(arena, *scale, "storageMode", "ThinProvisioned");
    default_text(arena, *scale, "fsType", "xfs");
  }
}

void default_volume(json::Arena& arena, json::Value& volume) {
  if (!volume.is_object()) {
    return;
  }
  bool has_source = false;
  for (const json::Member& member : volume.members()) {
    has_source = has_source || (member.key != "name" && !member.value.is_null());
  }
  if (!has_source) {
    volume.set(arena, "emptyDir", json::Value::object());
  }
  for (std::string_view key : {"secret", "configMap"}) {
    if (json::Value* source = volume.find(key); source != nullptr && source->is_object()) {
      default_integer(arena, *source, "defaultMode", 420);
    }
  }
  if (json::Value* downward = volume.find("downwardAPI");
      downward != nullptr && downward->is_object()) {
    default_integer(arena, *downward, "defaultMode", 420);
    default_items_field_ref(arena, *downward);
  }
  if (json::Value* projected = volume.find("projected");
      projected != nullptr && projected->is_object()) {
    default_projected(arena, *projected);
  }
  if (json::Value* host = volume.find("hostPath"); host != nullptr && host->is_object()) {
    if (absent(*host, "type")) {
      host->set(arena, "type", json::Value::string_view_of(""));
    }
  }
  if (json::Value* image = volume.find("image"); image != nullptr && image->is_object()) {
    default_pull_policy(arena, *image, "pullPolicy", text_at(*image, "reference"));
  }
  default_block_device(arena, volume);
  if (json::Value* ephemeral = volume.find("ephemeral");
      ephemeral != nullptr && ephemeral->is_object()) {
    if (json::Value* claim = ephemeral->find("volumeClaimTemplate");
        claim != nullptr && claim->is_object()) {
      default_text(arena, make_object(arena, *claim, "spec"), "volumeMode", "Filesystem");
    }
  }
}

struct ComputeAmounts {
  bool any = false;
  bool guaranteed = true;
};

void add_container(const json::Value& container, ComputeAmounts& sum) {
  const json::Value& resources = object_at(container, "resources");
  for (std::string_view name : {"cpu", "memory"}) {
    std::array<std::optional<model::Quantity>, 2> amounts;
    std::size_t i = 0;
    for (std::string_view list : {"requests", "limits"}) {
      const json::Value* value = object_at(resources, list).find(name);
      if (value != nullptr && (value->is_string() || value->is_number())) {
        Result<model::Quantity> amount =
            model::Quantity::parse(value->is_string() ? value->as_string() : value->number());
        if (amount && amount->sign() > 0) {
          amounts.at(i) = *amount;
          sum.any = true;
        }
      }
      ++i;
    }
    sum.guaranteed = sum.guaranteed && amounts[1] && (!amounts[0] || *amounts[0] == *amounts[1]);
  }
}

}  // namespace

void default_pod_spec(json::Arena& arena, json::Value& spec) {
  if (!spec.is_object()) {
    return;
  }
  default_text(arena, spec, "restartPolicy", "Always");
  default_integer(arena, spec, "terminationGracePeriodSeconds", 30);
  default_text(arena, spec, "dnsPolicy", "ClusterFirst");
  make_object(arena, spec, "securityContext");
  default_text(arena, spec, "schedulerName", "default-scheduler");
  // The two names of one field go together.
  if (const std::string_view account = text_at(spec, "serviceAccountName"); !account.empty()) {
    spec.set(arena, "serviceAccount", json::Value::string(arena, account));
  } else if (const std::string_view old = text_at(spec, "serviceAccount"); !old.empty()) {
    spec.set(arena, "serviceAccountName", json::Value::string(arena, old));
  }
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (json::Value& container : items_at(spec, list)) {
      default_container(arena, container);
    }
  }
  for (json::Value& volume : items_at(spec, "volumes")) {
    default_volume(arena, volume);
  }
}

std::string_view qos_class(const json::Value& pod_spec) {
  ComputeAmounts sum;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json::Value& container : items_at(pod_spec, list)) {
      add_container(container, sum);
    }
  }
  if (!sum.any) {
    return "BestEffort";
  }
  return sum.guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace codeflare::apiserver
