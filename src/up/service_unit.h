#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

struct ServiceUnit {
  std::string program;                 // absolute
  std::vector<std::string> arguments;  // behind it
  bool of_user = false;                // `systemctl --user`, otherwise the system's
};

// The words behind the program that start the same cluster in the foreground, from
// /proc/PID/cmdline: without --install-service and --detach.
std::vector<std::string> service_arguments(std::string_view cmdline);

// A unit file of systemd. Pods get the unit's control groups (Delegate); stopping it ends them with
// their grace.
std::string service_unit_text(const ServiceUnit& unit);

// Where the unit belongs: below /etc/systemd/system or `config_home`/systemd/user.
std::string service_unit_path(bool of_user, const std::string& config_home);

}  // namespace codeflare::up
