#include "apiserver/kinds/podspec/checks.h"

#include <array>

namespace codeflare::apiserver::podspec {

namespace {

// Only labels and annotations reach the claim.
void check_metadata(const Field& metadata) {
  check_annotation_keys(metadata["annotations"]);
  check_labels(metadata["labels"]);
  constexpr std::array<std::string_view, 13> kOthers = {"name",
                                                        "generateName",
                                                        "namespace",
                                                        "selfLink",
                                                        "uid",
                                                        "resourceVersion",
                                                        "generation",
                                                        "creationTimestamp",
                                                        "deletionTimestamp",
                                                        "deletionGracePeriodSeconds",
                                                        "ownerReferences",
                                                        "finalizers",
                                                        "managedFields"};
  for (std::string_view key : kOthers) {
    const Field member = metadata[key];
    const bool empty = !member.given() || (member.value().is_string() && member.text().empty()) ||
                       metadata.integer(key) == 0;
    if (!empty) {
      // Upstream spells its own names with one small letter.
      metadata.forbidden(key == "uid" ? "uID" : key, "cannot be set");
    }
  }
}

void check_access_modes(const Field& spec) {
  const Field modes = spec["accessModes"];
  bool alone = false;
  bool shared = false;
  modes.each([&](const Field& mode) {
    if (mode.text() == "ReadWriteOncePod") {
      alone = true;
    } else if (mode.text() == "ReadWriteOnce" || mode.text() == "ReadOnlyMany" ||
               mode.text() == "ReadWriteMany") {
      shared = true;
    } else {
      modes.not_supported("", mode.text(),
                          {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    }
  });
  if (alone && shared) {
    modes.forbidden("", "may not use ReadWriteOncePod with other access modes");
  }
}

// Where the volume's first content comes from.
void check_data_source(const Field& source) {
  if (!source.given()) {
    return;
  }
  need(source, {"name", "kind"});
  if (source.text("apiGroup").empty() && source.text("kind") != "PersistentVolumeClaim") {
    source.invalid_text("", source.text("kind"),
                        "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  check_name(source, "apiGroup", model::check_dns1123_subdomain);
  check_name(source, "namespace", model::check_dns1123_label);
}

}  // namespace

void check_claim_template(const Field& claim_template) {
  check_metadata(claim_template["metadata"]);
  const Field spec = claim_template["spec"];
  if (spec.count("accessModes") == 0) {
    spec.required("accessModes", "at least 1 access mode is required");
  }
  check_selector(spec["selector"]);
  check_access_modes(spec);
  const Field resources = spec["resources"];
  const Field requests = resources["requests"];
  const Field storage = requests["storage"];
  // Upstream's path is that of the resources.
  if (const auto amount = amount_of(storage.value()); !amount) {
    resources.errors().required(resources.path() + "[storage]");
  } else if (amount->sign() <= 0) {
    resources.errors().invalid_text(resources.path() + "[storage]", amount->to_string(),
                                    "must be greater than zero");
  }
  check_name(spec, "storageClassName", model::check_dns1123_subdomain);
  check_one_of(spec, "volumeMode", {"Block", "Filesystem"});
  check_data_source(spec["dataSource"]);
  check_data_source(spec["dataSourceRef"]);
  check_name(spec, "volumeAttributesClassName", model::check_dns1123_subdomain);
}

}  // namespace codeflare::apiserver::podspec
