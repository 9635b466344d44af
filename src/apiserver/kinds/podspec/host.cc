#include "apiserver/kinds/podspec/checks.h"

#include <algorithm>

namespace codeflare::apiserver::podspec {

namespace {

bool has_any(std::string_view text, std::string_view characters) {
  return text.find_first_of(characters) != std::string_view::npos;
}

bool is_dns_domain(std::string_view domain) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  while (true) {
    const std::size_t dot = domain.find('.');
    const std::string_view label = domain.substr(0, dot);
    if (label.empty() || label.size() > 63 || !word(label.front()) || !word(label.back()) ||
        !std::ranges::all_of(label, [&](char c) { return word(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    domain.remove_prefix(dot + 1);
  }
}

bool is_windows_domain(std::string_view domain) {
  constexpr std::string_view kNever = R"(\/:*?"<>|)";
  const bool net_bios =
      !domain.empty() && domain.size() <= 15 && domain.front() != '.' && !has_any(domain, kNever);
  return net_bios || is_dns_domain(domain);
}

// "DOMAIN\user" or "user".
void check_windows_user(const Field& options) {
  constexpr std::string_view kKey = "runAsUserName";
  const std::string_view name = options.text(kKey);
  const auto complain = [&](std::string_view what) {
    options.invalid(kKey, "runAsUserName" + std::string(what));
  };
  const std::size_t backslash = name.find('\\');
  if (name.empty()) {
    complain(" cannot be an empty string");
  } else if (std::ranges::any_of(name, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; })) {
    complain(" cannot contain control characters");
  } else if (std::ranges::count(name, '\\') > 1) {
    complain(" cannot contain more than one backslash");
  } else {
    const bool has_domain = backslash != std::string_view::npos;
    const std::string_view domain = has_domain ? name.substr(0, backslash) : "";
    const std::string_view user = has_domain ? name.substr(backslash + 1) : name;
    if (domain.size() >= 256) {
      complain("'s Domain length must be under 256 characters");
    }
    if (has_domain && !is_windows_domain(domain)) {
      complain("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if (user.empty()) {
      complain("'s User cannot be empty");
    } else if (user.size() > 104) {
      complain("'s User length must not be longer than 104 characters");
    }
    if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos) {
      complain("'s User cannot contain only periods or spaces");
    }
    if (has_any(user, R"("/\:;|=,+*?<>@[])")) {
      complain(R"('s User cannot contain the following characters: "/\:;|=,+*?<>@[])");
    }
  }
}

void forbid(const Field& field, Words keys, std::string_view why) {
  for (std::string_view key : keys) {
    if (field.has(key)) {
      field.forbidden(key, why);
    }
  }
}

void check_windows_pod(const Field& spec) {
  constexpr std::string_view kWhy = "cannot be set for a windows pod";
  const Field security = spec["securityContext"];
  forbid(security, {"appArmorProfile", "seLinuxOptions"}, kWhy);
  forbid(spec, {"hostUsers"}, kWhy);
  for (std::string_view key : {"hostPID", "hostIPC"}) {
    if (spec.is_true(key)) {
      spec.forbidden(key, kWhy);
    }
  }
  forbid(security, {"seccompProfile", "fsGroup", "fsGroupChangePolicy"}, kWhy);
  if (security.count("sysctls") > 0) {
    security.forbidden("sysctls", kWhy);
  }
  forbid(spec, {"shareProcessNamespace"}, kWhy);
  forbid(security,
         {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
          "seLinuxChangePolicy"},
         kWhy);
  each_container(spec, [&](const Field& container) {
    forbid(container["securityContext"],
           {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
            "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
            "runAsUser", "runAsGroup"},
           kWhy);
  });
}

void check_linux_pod(const Field& spec) {
  constexpr std::string_view kWhy = "windows options cannot be set for a linux pod";
  forbid(spec["securityContext"], {"windowsOptions"}, kWhy);
  each_container(spec, [&](const Field& container) {
    forbid(container["securityContext"], {"windowsOptions"}, kWhy);
  });
}

}  // namespace

void check_windows_options(const Field& options) {
  constexpr std::size_t kSpecKiB = 64;
  if (options.has("gmsaCredentialSpecName")) {
    check_any_name(options, "gmsaCredentialSpecName", model::check_dns1123_subdomain);
  }
  if (options.has("gmsaCredentialSpec")) {
    const std::size_t size = options.text("gmsaCredentialSpec").size();
    if (size == 0) {
      options.invalid("gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string");
    } else if (size > kSpecKiB * 1024) {
      options.invalid("gmsaCredentialSpec", "gmsaCredentialSpec size must be under 64 KiB");
    }
  }
  if (options.has("runAsUserName")) {
    check_windows_user(options);
  }
}

void check_host_ports(const Field& spec, bool is_pod) {
  if (!spec.is_true("hostNetwork")) {
    return;
  }
  const Field containers = spec["containers"];
  containers.each([&](const Field& container) {
    const Field ports = container["ports"];
    ports.each([&](const Field& port) {
      const std::int64_t host = port.integer("hostPort").value_or(0);
      // Templates may leave it to the pods.
      if ((is_pod || host != 0) && host != port.integer("containerPort").value_or(0)) {
        port.invalid("hostPort", std::to_string(host),
                     "must match `containerPort` when `hostNetwork` is true");
      }
    });
  });
}

void check_host_process(const Field& spec) {
  constexpr std::string_view kKey = "hostProcess";
  const Field security = spec["securityContext"];
  const Field options = security["windowsOptions"];
  std::size_t all = 0;
  std::size_t on_host = 0;
  each_container(spec, [&](const Field& container) {
    const Field own_security = container["securityContext"];
    const Field own = own_security["windowsOptions"];
    if (options.has(kKey) && own.has(kKey) && options.is_true(kKey) != own.is_true(kKey)) {
      own.invalid(kKey,
                  std::string("pod hostProcess value must be identical if both are specified, "
                              "was ") +
                      (options.is_true(kKey) ? "true" : "false"));
    }
    ++all;
    on_host += (own.has(kKey) ? own : options).is_true(kKey) ? 1 : 0;
  });
  if (on_host == 0) {
    return;
  }
  if (on_host != all) {
    spec.invalid_text("", "",
                      "If pod contains any hostProcess containers then all containers must be "
                      "HostProcess containers");
  }
  if (!spec.is_true("hostNetwork")) {
    spec.invalid("hostNetwork", "false",
                 "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

void check_host_users(const Field& spec) {
  constexpr std::string_view kWhy = "when `hostUsers` is false";
  if (!spec.is_false("hostUsers")) {
    return;
  }
  if (spec.is_true("hostNetwork")) {
    spec.forbidden("hostNetwork", kWhy);
  }
  // Upstream spells these two as in its source.
  if (spec.is_true("hostPID")) {
    spec.forbidden("HostPID", kWhy);
  }
  if (spec.is_true("hostIPC")) {
    spec.forbidden("HostIPC", kWhy);
  }
  each_container(spec, [&](const Field& container) {
    if (container.count("volumeDevices") > 0) {
      container.forbidden("volumeDevices", kWhy);
    }
  });
}

void check_operating_system(const Field& spec) {
  const Field system = spec["os"];
  const std::string_view name = system.text("name");
  if (!system.given()) {
    return;
  }
  if (name.empty()) {
    system.required("name");
  } else if (name == "linux") {
    check_linux_pod(spec);
  } else if (name == "windows") {
    check_windows_pod(spec);
  } else {
    system.not_supported("", name, {"linux", "windows"});
  }
}

}  // namespace codeflare::apiserver::podspec
