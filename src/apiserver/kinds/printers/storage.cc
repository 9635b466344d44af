#include "apiserver/kinds/printers/row.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::printing {
namespace {

// "RWO,ROX", in this order whatever the object's is.
std::string access_modes(const json::Value& parent) {
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  const std::vector<std::string> modes = texts_at(parent, "accessModes");
  std::vector<std::string> out;
  for (auto [mode, short_name] : kModes) {
    if (std::ranges::find(modes, mode) != modes.end()) {
      out.emplace_back(short_name);
    }
  }
  return join(out);
}

// An annotation of old days goes before the field.
std::string_view storage_class(const Row& row) {
  constexpr std::string_view kAnnotation = "volume.beta.kubernetes.io/storage-class";
  const json::Value& annotations = object_at(row.metadata, "annotations");
  return annotations.find(kAnnotation) != nullptr ? text_at(annotations, kAnnotation)
                                                  : text_at(row.spec, "storageClassName");
}

std::string_view phase(const Row& row) {
  std::string_view stored = text_at(row.status, "phase");
  return row.deleting() ? "Terminating" : stored.empty() ? "Pending" : stored;
}

std::string_view attributes_class(const Row& row) {
  return absent(row.spec, "volumeAttributesClassName")
             ? kUnset
             : text_at(row.spec, "volumeAttributesClassName");
}

std::string_view volume_mode(const Row& row) {
  return absent(row.spec, "volumeMode") ? "Filesystem" : text_at(row.spec, "volumeMode");
}

void print_volume(Row& row) {
  std::string claim;
  if (!absent(row.spec, "claimRef")) {
    const json::Value& reference = object_at(row.spec, "claimRef");
    claim = std::string(text_at(reference, "namespace")) + "/" +
            std::string(text_at(reference, "name"));
  }
  row.name()
      .text(quantity_at(object_at(row.spec, "capacity"), "storage"))
      .text(access_modes(row.spec))
      .text_or(text_at(row.spec, "persistentVolumeReclaimPolicy"), "Retain")
      .text(phase(row))
      .text(claim)
      .text(storage_class(row))
      .text(attributes_class(row))
      .text(text_at(row.status, "reason"))
      .age()
      .text(volume_mode(row));
}

void print_claim(Row& row) {
  std::string_view volume = text_at(row.spec, "volumeName");
  const bool bound = !volume.empty();
  row.name()
      .text(phase(row))
      .text(volume)
      .text(bound ? quantity_at(object_at(row.status, "capacity"), "storage") : "")
      .text(bound ? access_modes(row.status) : "")
      .text(storage_class(row))
      .text(attributes_class(row))
      .age()
      .text(volume_mode(row));
}

bool is_default(const json::Value& metadata) {
  const json::Value& annotations = object_at(metadata, "annotations");
  return text_at(annotations, "storageclass.kubernetes.io/is-default-class") == "true" ||
         text_at(annotations, "storageclass.beta.kubernetes.io/is-default-class") == "true";
}

void print_class(Row& row) {
  row.text(std::string(text_at(row.metadata, "name")) +
           (is_default(row.metadata) ? " (default)" : ""))
      .text(text_at(row.object, "provisioner"))
      .text_or(text_at(row.object, "reclaimPolicy"), "Delete")
      .text_or(text_at(row.object, "volumeBindingMode"), "Immediate")
      .boolean(true_at(row.object, "allowVolumeExpansion"))
      .age();
}

void print_attributes_class(Row& row) {
  row.name().text(text_at(row.object, "driverName")).age();
}

void print_csi_node(Row& row) {
  row.name().integer(static_cast<std::int64_t>(size_at(row.spec, "drivers"))).age();
}

void print_csi_driver(Row& row) {
  std::string modes = join(texts_at(row.spec, "volumeLifecycleModes"));
  row.name()
      .boolean(absent(row.spec, "attachRequired") || true_at(row.spec, "attachRequired"))
      .boolean(true_at(row.spec, "podInfoOnMount"))
      .boolean(true_at(row.spec, "storageCapacity"))
      .text(absent(row.spec, "tokenRequests") ? std::string(kUnset)
                                              : join_field(row.spec, "tokenRequests", "audience"))
      .boolean(true_at(row.spec, "requiresRepublish"))
      .text_or(modes, "Persistent")
      .age();
}

void print_attachment(Row& row) {
  row.name()
      .text(text_at(row.spec, "attacher"))
      .text(text_at(object_at(row.spec, "source"), "persistentVolumeName"))
      .text(text_at(row.spec, "nodeName"))
      .boolean(true_at(row.status, "attached"))
      .age();
}

}  // namespace

std::vector<KindPrinter> storage_printers() {
  return {
      {.group = "",
       .plural = "persistentvolumes",
       .columns = {name_column(), text_column("Capacity"), text_column("Access Modes"),
                   text_column("Reclaim Policy"), text_column("Status"), text_column("Claim"),
                   text_column("StorageClass"), text_column("VolumeAttributesClass"),
                   text_column("Reason"), age_column(), wide_column("VolumeMode")},
       .print = print_volume},
      {.group = "",
       .plural = "persistentvolumeclaims",
       .columns = {name_column(), text_column("Status"), text_column("Volume"),
                   text_column("Capacity"), text_column("Access Modes"),
                   text_column("StorageClass"), text_column("VolumeAttributesClass"), age_column(),
                   wide_column("VolumeMode")},
       .print = print_claim},
      {.group = "storage.k8s.io",
       .plural = "storageclasses",
       .columns = {name_column(), text_column("Provisioner"), text_column("ReclaimPolicy"),
                   text_column("VolumeBindingMode"), text_column("AllowVolumeExpansion"),
                   age_column()},
       .print = print_class},
      {.group = "storage.k8s.io",
       .plural = "volumeattributesclasses",
       .columns = {name_column(), text_column("DriverName"), age_column()},
       .print = print_attributes_class},
      {.group = "storage.k8s.io",
       .plural = "csinodes",
       .columns = {name_column(), integer_column("Drivers"), age_column()},
       .print = print_csi_node},
      {.group = "storage.k8s.io",
       .plural = "csidrivers",
       .columns = {name_column(), boolean_column("AttachRequired"),
                   boolean_column("PodInfoOnMount"), boolean_column("StorageCapacity"),
                   text_column("TokenRequests"), boolean_column("RequiresRepublish"),
                   text_column("Modes"), age_column()},
       .print = print_csi_driver},
      {.group = "storage.k8s.io",
       .plural = "csistoragecapacities",
       .columns = creation_columns(),
       .print = print_creation},
      {.group = "storage.k8s.io",
       .plural = "volumeattachments",
       .columns = {name_column(),
                   {.name = "Attacher", .format = "name"},
                   text_column("PV"),
                   text_column("Node"),
                   boolean_column("Attached"),
                   age_column()},
       .print = print_attachment},
  };
}

}  // namespace codeflare::apiserver::printing
