#include "apiserver/kinds/podspec/checks.h"

namespace codeflare::apiserver::podspec {

namespace {

// Texts of that key in a list: a volume is mounted or a device, not both, and so is a path.
Names texts_of(const Field& list, std::string_view key) {
  Names texts;
  for (const json::Value& item : list.value().items()) {
    texts.emplace(item.string_or_empty(key));
  }
  return texts;
}

// Upstream leaves out which mount it is.
void check_propagation(const Field& mounts, const Field& mount, const Field& container) {
  constexpr std::string_view kKey = "mountPropagation";
  if (!mount.has(kKey)) {
    return;
  }
  const std::string_view mode = mount.text(kKey);
  const Field security = container["securityContext"];
  if (mode == "Bidirectional") {
    if (!security.is_true("privileged")) {
      mounts.forbidden(kKey,
                       "Bidirectional mount propagation is available only to privileged "
                       "containers");
    }
  } else if (mode != "HostToContainer" && mode != "None") {
    mounts.not_supported(kKey, mode, {"Bidirectional", "HostToContainer", "None"});
  }
}

void check_recursive_read_only(const Field& mounts, const Field& mount) {
  constexpr std::string_view kKey = "recursiveReadOnly";
  const std::string_view mode = mount.text(kKey);
  if (!mount.has(kKey) || mode == "Disabled") {
    return;
  }
  if (mode != "Enabled" && mode != "IfPossible") {
    mounts.not_supported(kKey, mode, {"Disabled", "Enabled", "IfPossible"});
    return;
  }
  if (!mount.is_true("readOnly")) {
    mounts.forbidden(kKey, "may only be specified when readOnly is true");
  }
  if (mount.has("mountPropagation") && mount.text("mountPropagation") != "None") {
    mounts.forbidden(kKey, "may only be specified when mountPropagation is None or not specified");
  }
}

void check_sub_path(const Field& mounts, const Field& mount) {
  const std::string_view path = mount.text("subPath");
  const std::string_view expression = mount.text("subPathExpr");
  if (!path.empty()) {
    check_descending(mounts, "subPath", path);
  }
  if (!expression.empty()) {
    if (!path.empty()) {
      mount.invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive");
    }
    check_descending(mounts, "subPathExpr", expression);
  }
}

void check_devices(const Field& devices, const Field& mounts, const Surroundings& pod) {
  const Names mounted_names = texts_of(mounts, "name");
  const Names mounted_paths = texts_of(mounts, "mountPath");
  Names names;
  Names paths;
  devices.each([&](const Field& device) {
    const std::string_view name = device.text("name");
    const std::string_view path = device.text("devicePath");
    const auto volume = pod.volumes.find(name);
    need(device, {"name"});
    if (!name.empty() && !names.emplace(name).second) {
      device.invalid_text("name", name, "must be unique");
    }
    if (volume == pod.volumes.end()) {
      device.not_found("name", name);
    } else if (volume->second->find("persistentVolumeClaim") == nullptr &&
               volume->second->find("ephemeral") == nullptr) {
      device.invalid_text("name", name,
                          "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                          "for block mode");
    }
    need(device, {"devicePath"});
    if (paths.contains(path)) {
      device.invalid_text("devicePath", path, "must be unique");
    }
    if (steps_back(path)) {
      device.invalid_text("devicePath", path, "can not contain backsteps ('..')");
    } else {
      paths.emplace(path);
    }
    if (mounted_names.contains(name)) {
      device.invalid_text("name", name, "must not already exist in volumeMounts");
    }
    if (mounted_paths.contains(path)) {
      device.invalid_text("devicePath", path, "must not already exist as a path in volumeMounts");
    }
  });
}

}  // namespace

void check_mounts(const Field& container, const Surroundings& pod) {
  const Field mounts = container["volumeMounts"];
  const Field devices = container["volumeDevices"];
  const Names device_names = texts_of(devices, "name");
  const Names device_paths = texts_of(devices, "devicePath");
  Names points;
  mounts.each([&](const Field& mount) {
    const std::string_view name = mount.text("name");
    const std::string_view point = mount.text("mountPath");
    need(mount, {"name"});
    if (!pod.volumes.contains(name)) {
      mount.not_found("name", name);
    }
    need(mount, {"mountPath"});
    if (!points.emplace(point).second) {
      mount.invalid_text("mountPath", point, "must be unique");
    }
    if (device_names.contains(name)) {
      mount.invalid_text("name", name, "must not already exist in volumeDevices");
    }
    if (device_paths.contains(point)) {
      mount.invalid_text("mountPath", point, "must not already exist as a path in volumeDevices");
    }
    check_sub_path(mounts, mount);
    check_propagation(mounts, mount, container);
    check_recursive_read_only(mounts, mount);
  });
  check_devices(devices, mounts, pod);
}

}  // namespace codeflare::apiserver::podspec
