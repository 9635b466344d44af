#include "apiserver/kinds/podspec/checks.h"

#include <algorithm>
#include <cctype>

// Volumes of one storage system each. Few are used any more, but what is stored says what it means.
namespace codeflare::apiserver::podspec {

namespace {

void check_partition(const Field& source) {
  const std::int64_t partition = source.integer("partition").value_or(0);
  if (partition < 0 || partition > 255) {
    source.invalid("partition", "must be between 1 and 255, inclusive");
  }
}

void check_secret_reference(const Field& source, std::string_view key) {
  const Field reference = source[key];
  if (reference.given()) {
    need(reference, {"name"});
  }
}

void need_list(const Field& source, std::string_view key) {
  if (source.count(key) == 0) {
    source.required(key);
  }
}

bool all_word_characters(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
}

// iqn.<year>-<month>.<name>:<rest>; the two older forms are a prefix and characters.
bool is_iscsi_name(std::string_view name) {
  if (!name.starts_with("iqn")) {
    const std::size_t length = name.starts_with("eui") ? 16 : 32;
    return name.size() == 4 + length && all_word_characters(name.substr(4));
  }
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || name.size() < 13 || name[3] != '.' || name[8] != '-' ||
      name[11] != '.' || !digits(name.substr(4, 4)) || !digits(name.substr(9, 2)) || colon <= 12) {
    return false;
  }
  const std::string_view authority = name.substr(12, colon - 12);
  const std::string_view rest = name.substr(colon + 1);
  return std::ranges::all_of(authority,
                             [](char c) {
                               return std::isalnum(static_cast<unsigned char>(c)) || c == '-' ||
                                      c == '.';
                             }) &&
         !rest.empty() && rest.find_first_of(",;*&$| \t\n\v\f\r") == std::string_view::npos;
}

void check_iscsi_name(const Field& source, std::string_view called, std::string_view name) {
  if (!name.starts_with("iqn") && !name.starts_with("eui") && !name.starts_with("naa")) {
    source.invalid_text(called, name, "must be valid format starting with iqn, eui, or naa");
  } else if (!is_iscsi_name(name)) {
    source.invalid_text(called, name, "must be valid format");
  }
}

// host:port, and the host may be in brackets.
bool is_host_and_port(std::string_view pair) {
  const std::size_t colon = pair.rfind(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const std::string_view host = pair.substr(0, colon);
  return host.find(':') == std::string_view::npos || (host.starts_with('[') && host.ends_with(']'));
}

}  // namespace

void check_gce_disk(const Field& source) {
  need(source, {"pdName"});
  check_partition(source);
}

void check_aws_disk(const Field& source) {
  need(source, {"volumeID"});
  check_partition(source);
}

void check_iscsi(const Field& source) {
  need(source, {"targetPortal", "iqn"});
  if (!source.text("iqn").empty()) {
    check_iscsi_name(source, "iqn", source.text("iqn"));
  }
  check_range(source, "lun", 0, 255);
  if ((source.is_true("chapAuthDiscovery") || source.is_true("chapAuthSession")) &&
      !source.has("secretRef")) {
    source.required("secretRef");
  }
  if (source.has("initiatorName")) {
    check_iscsi_name(source, "initiatorname", source.text("initiatorName"));
  }
}

void check_glusterfs(const Field& source) {
  need(source, {"endpoints", "path"});
}

void check_flocker(const Field& source) {
  const std::string_view name = source.text("datasetName");
  const std::string_view uuid = source.text("datasetUUID");
  if (name.empty() && uuid.empty()) {
    source.required("", "one of datasetName and datasetUUID is required");
  }
  if (!name.empty() && !uuid.empty()) {
    source.invalid_text("", "resource",
                        "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.find('/') != std::string_view::npos) {
    source.invalid("datasetName", "must not contain '/'");
  }
}

void check_rbd(const Field& source) {
  need_list(source, "monitors");
  need(source, {"image"});
}

void check_cinder(const Field& source) {
  need(source, {"volumeID"});
  check_secret_reference(source, "secretRef");
}

void check_cephfs(const Field& source) {
  need_list(source, "monitors");
}

void check_quobyte(const Field& source) {
  constexpr std::string_view kRegistry =
      "must be a host:port pair or multiple pairs separated by commas";
  std::string_view registry = source.text("registry");
  if (registry.empty()) {
    source.required("registry", kRegistry);
  } else if (source.text("tenant").size() > 64) {
    source.required("tenant", "must be a UUID and may not exceed a length of 64 characters");
  } else {
    while (true) {
      const std::size_t comma = registry.find(',');
      if (!is_host_and_port(registry.substr(0, comma))) {
        source.invalid("registry", kRegistry);
      }
      if (comma == std::string_view::npos) {
        break;
      }
      registry.remove_prefix(comma + 1);
    }
  }
  need(source, {"volume"});
}

void check_fibre_channel(const Field& source) {
  const std::size_t targets = source.count("targetWWNs");
  const std::size_t ids = source.count("wwids");
  if (targets == 0 && ids == 0) {
    source.required("targetWWNs", "must specify either targetWWNs or wwids, but not both");
  }
  if (targets > 0 && ids > 0) {
    source.invalid("targetWWNs", "targetWWNs and wwids can not be specified simultaneously");
  }
  if (targets > 0 && !source.has("lun")) {
    source.required("lun", "lun is required if targetWWNs is specified");
  } else if (targets > 0) {
    check_range(source, "lun", 0, 255);
  }
}

void check_flex(const Field& source) {
  need(source, {"driver"});
  const Field options = source["options"];
  options.each_entry([](const Field& option) {
    const std::string domain = "." + lower(option.name().substr(0, option.name().find('/')));
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      option.invalid_text("", option.name(), "kubernetes.io and k8s.io namespaces are reserved");
    }
  });
}

void check_azure_file(const Field& source) {
  need(source, {"secretName", "shareName"});
}

void check_vsphere(const Field& source) {
  need(source, {"volumePath"});
}

void check_photon(const Field& source) {
  need(source, {"pdID"});
}

void check_portworx(const Field& source) {
  need(source, {"volumeID"});
}

void check_azure_disk(const Field& source) {
  need(source, {"diskName", "diskURI"});
  check_one_of(source, "cachingMode", {"None", "ReadOnly", "ReadWrite"});
  check_one_of(source, "kind", {"Dedicated", "Managed", "Shared"});
  const std::string_view disk = source.text("diskURI");
  if (source.text("kind") == "Managed") {
    if (!disk.starts_with("/subscriptions/")) {
      source.not_supported("diskURI", disk,
                           {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                            "microsoft.compute/disks/{disk-id}"});
    }
  } else if (source.has("kind") && !disk.starts_with("https://")) {
    source.not_supported(
        "diskURI", disk,
        {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"});
  }
}

void check_storageos(const Field& source) {
  need_name(source, "volumeName", model::check_dns1123_label);
  check_name(source, "volumeNamespace", model::check_dns1123_label);
  check_secret_reference(source, "secretRef");
}

void check_scale_io(const Field& source) {
  need(source, {"gateway", "system", "volumeName"});
}

void check_csi(const Field& source) {
  constexpr std::size_t kDriverMax = 63;
  const std::string_view driver = source.text("driver");
  need(source, {"driver"});
  if (driver.size() > kDriverMax) {
    source.too_long("driver", kDriverMax);
  }
  source.add(model::check_dns1123_subdomain(lower(driver)), "driver", driver);
  const Field secret = source["nodePublishSecretRef"];
  if (secret.given()) {
    need(secret, {"name"});
    if (const std::string_view name = secret.text("name"); !name.empty()) {
      source.add(model::check_dns1123_subdomain(name), "name", name);
    }
  }
}

}  // namespace codeflare::apiserver::podspec
