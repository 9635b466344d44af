#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/kinds/podspec/go_shape.h"

#include <algorithm>
#include <array>
#include <limits>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::string_view kEmptyText = "\"\"";
constexpr std::array<GoField, 2> kCapabilities = {
    {{.name = "Add", .key = "add"}, {.name = "Drop", .key = "drop"}}};
constexpr std::array<GoField, 4> kSeLinux = {
    {{.name = "User", .key = "user", .zero = kEmptyText},
     {.name = "Role", .key = "role", .zero = kEmptyText},
     {.name = "Type", .key = "type", .zero = kEmptyText},
     {.name = "Level", .key = "level", .zero = kEmptyText}}};
constexpr std::array<GoField, 4> kWindows = {
    {{.name = "GMSACredentialSpecName", .key = "gmsaCredentialSpecName"},
     {.name = "GMSACredentialSpec", .key = "gmsaCredentialSpec"},
     {.name = "RunAsUserName", .key = "runAsUserName"},
     {.name = "HostProcess", .key = "hostProcess"}}};
constexpr std::array<GoField, 2> kProfile = {
    {{.name = "Type", .key = "type", .zero = kEmptyText},
     {.name = "LocalhostProfile", .key = "localhostProfile"}}};
constexpr std::array<GoField, 12> kSecurity = {
    {{.name = "Capabilities", .key = "capabilities", .fields = kCapabilities},
     {.name = "Privileged", .key = "privileged"},
     {.name = "SELinuxOptions", .key = "seLinuxOptions", .fields = kSeLinux},
     {.name = "WindowsOptions", .key = "windowsOptions", .fields = kWindows},
     {.name = "RunAsUser", .key = "runAsUser"},
     {.name = "RunAsGroup", .key = "runAsGroup"},
     {.name = "RunAsNonRoot", .key = "runAsNonRoot"},
     {.name = "ReadOnlyRootFilesystem", .key = "readOnlyRootFilesystem"},
     {.name = "AllowPrivilegeEscalation", .key = "allowPrivilegeEscalation"},
     {.name = "ProcMount", .key = "procMount"},
     {.name = "SeccompProfile", .key = "seccompProfile", .fields = kProfile},
     {.name = "AppArmorProfile", .key = "appArmorProfile", .fields = kProfile}}};

constexpr std::string_view kLocal = "localhostProfile";

bool padded(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  return !text.empty() && (kSpace.find(text.front()) != std::string_view::npos ||
                           kSpace.find(text.back()) != std::string_view::npos);
}

void check_seccomp(const Field& profile) {
  if (!profile.given()) {
    return;
  }
  const std::string_view type = profile.text("type");
  if (type.empty()) {
    profile.required("type", "type is required when seccompProfile is set");
  } else {
    check_one_of(profile, "type", {"Localhost", "RuntimeDefault", "Unconfined"});
  }
  if (type != "Localhost") {
    if (profile.has(kLocal)) {
      profile.invalid(kLocal, show_as_go(profile.value(), kProfile),
                      "can only be set when seccomp type is Localhost");
    }
  } else if (profile.has(kLocal)) {
    check_descending(profile, kLocal, profile.text(kLocal));
  } else {
    profile.required(kLocal, "must be set when seccomp type is Localhost");
  }
}

void check_app_armor(const Field& profile) {
  if (!profile.given()) {
    return;
  }
  const std::string_view type = profile.text("type");
  const std::string_view local = profile.text(kLocal);
  if (type == "Localhost") {
    constexpr std::size_t kPathMax = 4095;
    if (padded(local)) {
      profile.invalid(kLocal, "must not be padded with whitespace");
    } else if (local.empty()) {
      profile.required(kLocal, "must be set when AppArmor type is Localhost");
    }
    if (local.size() > kPathMax) {
      profile.too_long(kLocal, kPathMax);
    }
  } else if (type == "RuntimeDefault" || type == "Unconfined") {
    if (profile.has(kLocal)) {
      profile.invalid(kLocal, "can only be set when AppArmor type is Localhost");
    }
  } else if (type.empty()) {
    profile.required("type", "type is required when appArmorProfile is set");
  } else {
    profile.not_supported("type", type, {"Localhost", "RuntimeDefault", "Unconfined"});
  }
}

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Segments with dots or slashes between them.
bool is_sysctl(std::string_view name) {
  constexpr std::size_t kLengthMax = 253;
  if (name.empty() || name.size() > kLengthMax) {
    return false;
  }
  while (true) {
    const std::size_t end = name.find_first_of("./");
    const std::string_view segment = name.substr(0, end);
    if (segment.empty() || !is_lower(segment.front()) || !is_lower(segment.back()) ||
        !std::ranges::all_of(segment, [](char c) { return is_lower(c) || c == '-' || c == '_'; })) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(end + 1);
  }
}

// Which of the host's namespaces a setting would change. Slashes may stand for dots, and then dots
// for slashes.
std::string_view sysctl_host(std::string_view sysctl) {
  std::string name(sysctl);
  if (const std::size_t first = name.find_first_of("./");
      first != std::string::npos && name[first] == '/') {
    std::ranges::transform(name, name.begin(), [](char c) {
      return c == '/' ? '.' : c == '.' ? '/' : c;
    });
  }
  constexpr std::array<std::string_view, 10> kShared = {
      "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
      "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};
  if (name.starts_with("net.")) {
    return "hostNetwork";
  }
  const bool shared =
      name.starts_with("fs.mqueue.") || std::ranges::find(kShared, name) != kShared.end();
  return shared ? "hostIPC" : "";
}

void check_sysctls(const Field& sysctls, const Field& spec) {
  Names names;
  sysctls.each([&](const Field& sysctl) {
    const std::string_view name = sysctl.text("name");
    if (name.empty()) {
      sysctl.required("name");
    } else if (!is_sysctl(name)) {
      sysctl.invalid_text(
          "name", name,
          "must have at most 253 characters and match regex "
          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (names.contains(name)) {
      sysctl.duplicate("name", name);
    }
    if (const std::string_view host = sysctl_host(name); !host.empty() && spec.is_true(host)) {
      sysctl.invalid_text("name", name,
                          "may not be specified when '" + std::string(host) + "' is true");
    }
    names.emplace(name);
  });
}

void check_escalation(const Field& security) {
  if (!security.is_false("allowPrivilegeEscalation")) {
    return;
  }
  const auto complain = [&](std::string_view what) {
    security.invalid("", show_as_go(security.value(), kSecurity),
                     "cannot set `allowPrivilegeEscalation` to false and " + std::string(what));
  };
  if (security.is_true("privileged")) {
    complain("`privileged` to true");
  }
  const Field capabilities = security["capabilities"];
  const Field added = capabilities["add"];
  added.each([&](const Field& capability) {
    if (capability.text() == "CAP_SYS_ADMIN") {
      complain("`capabilities.Add` CAP_SYS_ADMIN");
    }
  });
}

}  // namespace

void check_pod_security(const Field& security, const Field& spec) {
  for (std::string_view key : {"fsGroup", "runAsUser", "runAsGroup"}) {
    check_identity(security, key);
  }
  const Field groups = security["supplementalGroups"];
  groups.each([&](const Field& group) {
    const std::int64_t id = group.value().is_number() ? group.value().to_int64().value_or(0) : 0;
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
      group.invalid("", "must be between 0 and 2147483647, inclusive");
    }
  });
  if (spec.is_true("shareProcessNamespace") && spec.is_true("hostPID")) {
    security.invalid("shareProcessNamespace", "true",
                     "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  check_sysctls(security["sysctls"], spec);
  check_one_of(security, "fsGroupChangePolicy", {"Always", "OnRootMismatch"});
  check_seccomp(security["seccompProfile"]);
  check_windows_options(security["windowsOptions"]);
  check_app_armor(security["appArmorProfile"]);
  check_one_of(security, "supplementalGroupsPolicy", {"Merge", "Strict"});
  // Another needs a feature that is off by default.
  check_one_of(security, "seLinuxChangePolicy", {"Recursive"});
}

void check_container_security(const Field& security, const Field& spec) {
  check_identity(security, "runAsUser");
  check_identity(security, "runAsGroup");
  check_one_of(security, "procMount", {"Default", "Unmasked"});
  if (security.text("procMount") == "Unmasked" && !spec.is_false("hostUsers")) {
    security.invalid("procMount", "`hostUsers` must be false to use `Unmasked`");
  }
  check_seccomp(security["seccompProfile"]);
  check_escalation(security);
  check_windows_options(security["windowsOptions"]);
  check_app_armor(security["appArmorProfile"]);
}

}  // namespace codeflare::apiserver::podspec
