#include "controllers/scale/shape.h"

#include "model/quantity.h"
#include "queue/machines.h"

#include <cctype>
#include <cstdint>

namespace codeflare::controllers::scale {

namespace {

constexpr std::size_t kSuffixMax = 20;

void write_amounts(json::Writer& w, std::string_view key, const model::ResourceList& amounts,
                   bool extended_only) {
  w.key(key).begin_object();
  for (const auto& [name, amount] : amounts) {
    if (!extended_only || name.find('/') != std::string::npos) {
      w.member(name, amount.to_string());
    }
  }
  w.end_object();
}

void write_toleration(json::Writer& w, std::string_view key) {
  w.begin_object().member("key", key).member("operator", "Exists").end_object();
}

}  // namespace

void write_shape(json::Writer& w, const MachineOrder& order, const model::MachinePods& pods,
                 const std::string& image) {
  w.key("nodeSelector").begin_object();
  for (const auto& [key, value] : order.spec.labels) {
    w.member(key, value);
  }
  w.end_object();
  w.key("tolerations").begin_array();
  write_toleration(w, queue::kPendingTaint);
  for (const model::Taint& taint : order.spec.taints) {
    write_toleration(w, taint.key);
  }
  w.end_array();
  w.key("securityContext").begin_object().key("runAsNonRoot").boolean(true);
  w.key("runAsUser").integer(65535);
  w.key("seccompProfile").begin_object().member("type", "RuntimeDefault").end_object();
  w.end_object();
  w.key("containers").begin_array().begin_object();
  w.member("name", "hold").member("image", image);
  w.key("securityContext").begin_object().key("allowPrivilegeEscalation").boolean(false);
  w.key("capabilities").begin_object().key("drop").begin_array().string("ALL").end_array();
  w.end_object().end_object();
  w.key("resources").begin_object();
  write_amounts(w, "requests", pods.requests, false);
  // Kubernetes wants both of extended resources.
  write_amounts(w, "limits", pods.requests, true);
  w.end_object().end_object().end_array();
}

std::string type_suffix(const std::string& type) {
  std::string text;
  std::uint32_t hash = 2166136261U;
  for (const char c : type) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (std::isalnum(static_cast<unsigned char>(lower)) != 0 && text.size() < kSuffixMax) {
      text += lower;
    }
  }
  // "m5.xlarge" and "m5xlarge" are two types.
  return text == type ? text : text + std::to_string(hash % 10000);
}

}  // namespace codeflare::controllers::scale
