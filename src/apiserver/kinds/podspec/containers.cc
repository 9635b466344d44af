#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/registry/edit.h"

namespace codeflare::apiserver::podspec {

namespace {

bool is_sidecar(const Field& init_container) {
  return init_container.text("restartPolicy") == "Always";
}

void check_ports(const Field& ports) {
  Names names;
  ports.each([&](const Field& port) {
    if (const std::string_view name = port.text("name"); !name.empty()) {
      const model::Complaints complaints = model::check_port_name(name);
      port.add(complaints, "name", name);
      if (complaints.empty() && !names.emplace(name).second) {
        port.duplicate("name", name);
      }
    }
    if (const std::int64_t number = port.integer("containerPort").value_or(0); number == 0) {
      port.required("containerPort");
    } else {
      check_port(port, "containerPort", number);
    }
    if (const std::int64_t number = port.integer("hostPort").value_or(0); number != 0) {
      check_port(port, "hostPort", number);
    }
    need_one_of(port, "protocol", {"SCTP", "TCP", "UDP"});
  });
}

// The rules of every container, whatever its list.
void check_container(const Field& container, const Surroundings& pod) {
  need_name(container, "name", model::check_dns1123_label);
  need(container, {"image"});
  need_one_of(container, "terminationMessagePolicy", {"File", "FallbackToLogsOnError"});
  check_ports(container["ports"]);
  check_env(container["env"]);
  check_env_from(container["envFrom"]);
  check_mounts(container, pod);
  need_one_of(container, "imagePullPolicy", {"Always", "IfNotPresent", "Never"});
  check_resources(container["resources"], pod.claims);
  check_resize_policy(container["resizePolicy"], pod);
  check_container_security(container["securityContext"], pod.spec);
}

// Ports of the host that the container wants and that are taken.
void check_conflicts(const Field& ports, Names& taken) {
  ports.each([&](const Field& port) {
    const std::int64_t number = port.integer("hostPort").value_or(0);
    if (number == 0) {
      return;
    }
    const std::string key = std::string(port.text("protocol")) + "/" +
                            std::string(port.text("hostIP")) + "/" + std::to_string(number);
    if (!taken.insert(key).second) {
      port.duplicate("hostPort", key);
    }
  });
}

}  // namespace

void check_containers(const Field& containers, const Surroundings& pod) {
  if (containers.value().size() == 0) {
    containers.required("");
    return;
  }
  Names names;
  containers.each([&](const Field& container) {
    check_container(container, pod);
    if (!names.emplace(container.text("name")).second) {
      container.duplicate("name", container.text("name"));
    }
    check_lifecycle(container["lifecycle"], pod);
    check_probes(container, pod);
  });
  Names ports;
  containers.each([&](const Field& container) { check_conflicts(container["ports"], ports); });
}

void check_init_containers(const Field& containers, const Surroundings& pod) {
  Names names;
  const Field others = pod.spec["containers"];
  others.each([&](const Field& container) { names.emplace(container.text("name")); });
  containers.each([&](const Field& container) {
    const std::string_view name = container.text("name");
    check_container(container, pod);
    if (names.contains(name)) {
      container.duplicate("name", name);
    } else if (!name.empty()) {
      names.emplace(name);
    }
    // They run one after the other, so only their own ports are in the way. Upstream takes each for
    // the first.
    Names ports;
    const Field first = containers.item(0, container.value());
    check_conflicts(first["ports"], ports);
    if (is_sidecar(container)) {
      check_lifecycle(container["lifecycle"], pod);
      check_probes(container, pod);
      return;
    }
    for (std::string_view key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (container.has(key)) {
        container.forbidden(key, "may not be set for init containers without restartPolicy=Always");
      }
    }
  });
}

void check_ephemeral_containers(const Field& containers, const Surroundings& pod) {
  constexpr std::string_view kNever = "cannot be set for an Ephemeral Container";
  Names targets;
  for (std::string_view list : {"containers", "initContainers"}) {
    const Field others = pod.spec[list];
    others.each([&](const Field& container) { targets.emplace(container.text("name")); });
  }
  Names names = targets;
  containers.each([&](const Field& container) {
    check_container(container, pod);
    check_image_text(container);
    if (!names.emplace(container.text("name")).second) {
      container.duplicate("name", container.text("name"));
    }
    const std::string_view target = container.text("targetContainerName");
    if (!target.empty() && !targets.contains(target)) {
      container.not_found("targetContainerName", target);
    }
    // Nothing that a pod's service could rest on.
    for (std::string_view key :
         {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
          "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
      if (!same(container.value().find(key), nullptr)) {
        container.forbidden(key, kNever);
      }
    }
    const Field mounts = container["volumeMounts"];
    mounts.each([&](const Field& mount) {
      for (std::string_view key : {"subPath", "subPathExpr"}) {
        if (!mount.text(key).empty()) {
          mount.forbidden(key, kNever);
        }
      }
    });
  });
}

void check_image_text(const Field& container) {
  const std::string_view image = container.text("image");
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  if (!image.empty() && (kSpace.find(image.front()) != std::string_view::npos ||
                         kSpace.find(image.back()) != std::string_view::npos)) {
    container.invalid("image", "must not have leading or trailing whitespace");
  }
}

}  // namespace codeflare::apiserver::podspec
