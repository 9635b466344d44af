#include "apiserver/kinds/podspec/checks.h"

#include <algorithm>
#include <charconv>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompContainer = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmorContainer = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kLocal = "localhost/";

// No plus sign and no leading zeros.
bool is_cost(std::string_view text) {
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size() &&
         (text == "0" || text.front() != '0');
}

void check_seccomp(const Field& annotations, std::string_view key, std::string_view profile) {
  if (profile.starts_with(kLocal)) {
    check_descending(annotations, key, profile.substr(kLocal.size()));
  } else if (profile != "runtime/default" && profile != "docker/default" &&
             profile != "unconfined") {
    annotations.invalid_text(key, profile, "must be a valid seccomp profile");
  }
}

bool has_container(const Field& spec, std::string_view name) {
  bool found = false;
  each_container(spec,
                 [&](const Field& container) { found = found || container.text("name") == name; });
  return found;
}

void check_app_armor(const Field& annotation, const Field& spec) {
  const std::string_view container = annotation.name().substr(kAppArmorContainer.size());
  if (!has_container(spec, container)) {
    annotation.invalid_text("", container, "container not found");
  }
  const std::string_view profile = annotation.text();
  if (!profile.empty() && profile != "runtime/default" && profile != "unconfined" &&
      !profile.starts_with(kLocal)) {
    annotation.invalid("", "invalid AppArmor profile name: " + quote(profile));
  }
}

// A field and the annotation that meant the same before there was the field.
void check_match(const Field& profile, const json::Value* annotation, std::string_view what) {
  if (annotation == nullptr || !annotation->is_string() || !profile.given()) {
    return;
  }
  const std::string_view said = annotation->as_string();
  const std::string_view type = profile.text("type");
  const bool fits = type == "Unconfined"       ? said == "unconfined"
                    : type == "RuntimeDefault" ? said == "runtime/default" ||
                                                     (what == "seccomp" && said == "docker/default")
                    : type == "Localhost" ? said.starts_with(kLocal)
                                          : true;
  if (!fits) {
    profile.forbidden("type", std::string(what) + " type in annotation and field must match");
  } else if (type == "Localhost" &&
             said.substr(kLocal.size()) != profile.text("localhostProfile")) {
    profile.forbidden("localhostProfile",
                      std::string(what) + " profile in annotation and field must match");
  }
}

}  // namespace

void check_annotation_keys(const Field& annotations) {
  constexpr std::size_t kBytesMax = 256 * 1024;
  std::size_t bytes = 0;
  for (const json::Member& annotation : annotations.value().members()) {
    annotations.add(model::check_qualified_name(lower(annotation.key)), "", annotation.key);
    bytes += annotation.key.size() +
             (annotation.value.is_string() ? annotation.value.as_string().size() : 0);
  }
  if (bytes > kBytesMax) {
    annotations.too_long("", kBytesMax);
  }
}

void check_pod_annotations(const Field& annotations, const Field& spec) {
  annotations.each_entry([&](const Field& annotation) {
    const std::string_view key = annotation.name();
    if (key == kMirror && spec.text("nodeName").empty()) {
      annotation.invalid("", "must set spec.nodeName if mirror pod annotation is set");
    } else if (key == kDeletionCost && !is_cost(annotation.text())) {
      annotation.invalid("", "must be a 32bit integer");
    } else if (key == kSeccompPod || key.starts_with(kSeccompContainer)) {
      check_seccomp(annotations, key, annotation.text());
    } else if (key.starts_with(kAppArmorContainer)) {
      check_app_armor(annotation, spec);
    }
  });
}

void check_annotations_match(const json::Value& annotations, const Field& spec) {
  const Field security = spec["securityContext"];
  check_match(security["seccompProfile"], annotations.find(kSeccompPod), "seccomp");
  each_container(spec, [&](const Field& container) {
    const Field own = container["securityContext"];
    check_match(
        own["seccompProfile"],
        annotations.find(std::string(kSeccompContainer) + std::string(container.text("name"))),
        "seccomp");
  });
  const Field system = spec["os"];
  if (system.text("name") == "windows") {
    return;
  }
  each_container(spec, [&](const Field& container) {
    const Field own = container["securityContext"];
    const Field profile = own["appArmorProfile"];
    const Field of_pod = security["appArmorProfile"];
    check_match(
        profile.given() ? profile : profile.with(of_pod.value()),
        annotations.find(std::string(kAppArmorContainer) + std::string(container.text("name"))),
        "apparmor");
  });
}

}  // namespace codeflare::apiserver::podspec
