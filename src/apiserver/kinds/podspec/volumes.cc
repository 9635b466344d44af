#include "apiserver/kinds/podspec/checks.h"

#include <array>

namespace codeflare::apiserver::podspec {

namespace {

void check_empty_dir(const Field& source) {
  const Field limit = source["sizeLimit"];
  if (const auto amount = amount_of(limit.value()); amount && amount->sign() < 0) {
    limit.forbidden("", "SizeLimit field must be a valid resource quantity");
  }
}

void check_host_path(const Field& source) {
  if (source.text("path").empty()) {
    source.required("path");
    return;
  }
  check_no_back_steps(source, "path", source.text("path"));
  check_one_of(source, "type",
               {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                "FileOrCreate", "Socket"});
}

void check_git(const Field& source) {
  need(source, {"repository"});
  check_descending(source, "directory", source.text("directory"));
}

void check_nfs(const Field& source) {
  need(source, {"server", "path"});
  if (!source.text("path").starts_with('/')) {
    source.invalid_text("path", source.text("path"), "must be an absolute path");
  }
}

void check_claim(const Field& source) {
  need(source, {"claimName"});
}

void check_secret(const Field& source) {
  check_key_files(source, "secretName");
}

void check_config_map(const Field& source) {
  check_key_files(source, "name");
}

void check_ephemeral(const Field& source) {
  const Field claim = source["volumeClaimTemplate"];
  if (claim.given()) {
    check_claim_template(claim);
  } else {
    claim.required("");
  }
}

void check_image(const Field& source) {
  need_one_of(source, "pullPolicy", {"Always", "IfNotPresent", "Never"});
}

// A kind of volume. Some have another name in complaints about it, or about there being two.
struct Source {
  std::string_view kind;
  void (*check)(const Field&);
  std::string_view called = kind;
  std::string_view called_as_second = kind;
};

// In upstream's order: of two sources the later is the one too many.
constexpr std::array<Source, 30> kSources = {{
    {"emptyDir", check_empty_dir},
    {"hostPath", check_host_path},
    {"gitRepo", check_git},
    {"gcePersistentDisk", check_gce_disk, "persistentDisk"},
    {"awsElasticBlockStore", check_aws_disk},
    {"secret", check_secret},
    {"nfs", check_nfs},
    {"iscsi", check_iscsi},
    {"glusterfs", check_glusterfs},
    {"flocker", check_flocker},
    {"persistentVolumeClaim", check_claim},
    {"rbd", check_rbd},
    {"cinder", check_cinder},
    {"cephfs", check_cephfs, "cephfs", "cephFS"},
    {"quobyte", check_quobyte},
    {"downwardAPI", check_downward_files, "downwardAPI", "downwarAPI"},
    {"fc", check_fibre_channel},
    {"flexVolume", check_flex},
    {"configMap", check_config_map},
    {"azureFile", check_azure_file},
    {"vsphereVolume", check_vsphere},
    {"photonPersistentDisk", check_photon},
    {"portworxVolume", check_portworx},
    {"azureDisk", check_azure_disk},
    {"storageos", check_storageos},
    {"projected", check_projected},
    {"scaleIO", check_scale_io},
    {"csi", check_csi},
    {"ephemeral", check_ephemeral},
    {"image", check_image},
}};

// Some names are made of the volume's.
void check_name_with(std::string_view kind, const Field& source, const Field& volume,
                     const Surroundings& pod) {
  const std::string_view name = volume.text("name");
  if (kind == "ephemeral" && !pod.pod_name.empty() && !name.empty()) {
    const std::string claim = std::string(pod.pod_name) + "-" + std::string(name);
    for (const std::string& complaint : model::check_dns1123_subdomain(claim)) {
      volume.invalid("name", "PVC name " + quote(claim) + ": " + complaint);
    }
  }
  constexpr std::size_t kIscsiNameMax = 64;
  if (kind == "iscsi" && source.has("initiatorName") &&
      name.size() + 1 + source.text("targetPortal").size() > kIscsiNameMax) {
    volume.invalid("name",
                   "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                   "if iscsi.initiatorName is specified.");
  }
}

void check_source(const Field& volume, const Surroundings& pod) {
  bool found = false;
  for (const Source& source : kSources) {
    const Field field = volume[source.kind];
    if (!field.given()) {
      continue;
    }
    if (found) {
      volume.forbidden(source.called_as_second, "may not specify more than 1 volume type");
      continue;
    }
    found = true;
    source.check(field.called(source.called));
    check_name_with(source.kind, field, volume, pod);
  }
  if (!found) {
    volume.required("", "must specify a volume type");
  }
}

}  // namespace

void check_volumes(const Field& volumes, Surroundings& pod) {
  Names made;
  volumes.each([&](const Field& volume) {
    if (volume.has("ephemeral") && !pod.pod_name.empty()) {
      made.insert(std::string(pod.pod_name) + "-" + std::string(volume.text("name")));
    }
  });
  volumes.each([&](const Field& volume) {
    const std::size_t before = volume.errors().causes().size();
    check_source(volume, pod);
    need_name(volume, "name", model::check_dns1123_label);
    if (pod.volumes.contains(volume.text("name"))) {
      volume.duplicate("name", volume.text("name"));
    }
    if (volume.errors().causes().size() == before) {
      pod.volumes.emplace(volume.text("name"), &volume.value());
    }
    const Field claim = volume["persistentVolumeClaim"];
    if (claim.given() && made.contains(claim.text("claimName"))) {
      claim.invalid("claimName",
                    "must not reference a PVC that gets created for an ephemeral volume");
    }
  });
}

}  // namespace codeflare::apiserver::podspec
