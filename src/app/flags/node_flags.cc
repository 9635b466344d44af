#include "app/flags/node_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace codeflare {

void add_node_size(CLI::App& role, NodeFlags& flags, const NodeSizeHelp& help) {
  role.add_option("--cpus", flags.cpus, help.cpus)->type_name("C");
  role.add_option("--memory", flags.memory, help.memory)->type_name("M");
  role.add_option("--gpus", flags.gpus, help.gpus)->type_name("G")->capture_default_str();
  role.add_option("--label", flags.extras.labels, help.label)
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  role.add_option("--resource", flags.extras.resources, help.resource)
      ->allow_extra_args(false)
      ->type_name("NAME=AMOUNT");
}

void add_node_permissions(CLI::App& role, NodeFlags& flags) {
  role.add_flag("--allow-host-network", flags.allow_host_network,
                "allow pods with hostNetwork: true to use the machine's network and loopback");
  role.add_flag("--allow-plain-processes", flags.allow_plain,
                "allow start even if pod isolation is weaker than at the last start");
  role.add_option("--allow-host-path", flags.host_paths,
                  "directory that hostPath volumes may use, with everything below; may be repeated")
      ->type_name("DIR");
}

void add_egress(CLI::App& role, NodeFlags& flags) {
  role.add_flag("--egress", flags.egress,
                "let pods reach other hosts through an HTTP proxy (sets http_proxy in pods)");
}

void add_node_logging(CLI::App& role, NodeFlags& flags) {
  role.add_flag("--log-json", flags.json_log, "write log lines as JSON");
  role.add_flag("-v,--verbose", flags.verbose, "log every write with its reason");
}

}  // namespace codeflare
