#include "apiserver/kinds/podspec/checks.h"

#include <array>

namespace codeflare::apiserver::podspec {

namespace {

void check_command(const Field& exec, const Surroundings&) {
  if (exec.count("command") == 0) {
    exec.required("command");
  }
}

void check_http(const Field& http, const Surroundings&) {
  need(http, {"path"});
  check_port_or_name(http, "port");
  check_one_of(http, "scheme", {"HTTP", "HTTPS"});
  const Field headers = http["httpHeaders"];
  headers.each([&](const Field& header) {
    headers.add(check_header_name(header.text("name")), "", header.text("name"));
  });
}

void check_socket(const Field& action, const Surroundings&) {
  check_port_or_name(action, "port");
}

void check_sleep(const Field& sleep, const Surroundings& pod) {
  const std::int64_t seconds = sleep.integer("seconds").value_or(0);
  const std::int64_t grace = pod.spec.integer("terminationGracePeriodSeconds").value_or(seconds);
  if (seconds < 0 || seconds > grace) {
    sleep.invalid("", std::to_string(seconds),
                  "must be non-negative and less than terminationGracePeriodSeconds (" +
                      std::to_string(grace) + ")");
  }
}

struct Action {
  std::string_view name;
  void (*check)(const Field&, const Surroundings&);
};

constexpr std::array<Action, 5> kActions = {{{"exec", check_command},
                                             {"httpGet", check_http},
                                             {"tcpSocket", check_socket},
                                             {"grpc", check_socket},
                                             {"sleep", check_sleep}}};

// Exactly one action. Probes can't sleep and hooks don't speak gRPC: the schema knows no such
// fields.
void check_handler(const Field& handler, const Surroundings& pod) {
  bool found = false;
  for (const Action& action : kActions) {
    const Field field = handler[action.name];
    if (!field.given()) {
      continue;
    }
    if (found) {
      field.forbidden("", "may not specify more than 1 handler type");
    } else {
      action.check(field, pod);
    }
    found = true;
  }
  if (!found) {
    handler.required("", "must specify a handler type");
  }
}

}  // namespace

void check_probes(const Field& container, const Surroundings& pod) {
  for (std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Field probe = container[name];
    if (!probe.given()) {
      continue;
    }
    check_handler(probe, pod);
    for (std::string_view number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                    "successThreshold", "failureThreshold"}) {
      check_not_negative(probe, number);
    }
    constexpr std::string_view kGrace = "terminationGracePeriodSeconds";
    if (probe.integer(kGrace).value_or(1) <= 0) {
      probe.invalid(kGrace, "must be greater than 0");
    }
    if (name == "readinessProbe") {
      if (probe.has(kGrace)) {
        probe.invalid(kGrace, "must not be set for readinessProbes");
      }
    } else if (probe.integer("successThreshold").value_or(1) != 1) {
      probe.invalid("successThreshold", "must be 1");
    }
  }
}

void check_lifecycle(const Field& lifecycle, const Surroundings& pod) {
  for (std::string_view hook : {"postStart", "preStop"}) {
    const Field handler = lifecycle[hook];
    if (handler.given()) {
      check_handler(handler, pod);
    }
  }
}

}  // namespace codeflare::apiserver::podspec
