#include "app/flags/controller_flags.h"

#include "controllers/dispatch/agent_configs.h"
#include "net/listen_address.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace codeflare {

namespace {

Result<void> check_addresses(const ControllerFlags& flags) {
  if (!flags.webhook.listen.empty()) {
    TRY(net::parse_listen("--webhook-listen", flags.webhook.listen));
  }
  if (!flags.view_service.empty()) {
    TRY(view_service(flags));
  }
  if (const std::string& text = flags.health_address; !text.empty()) {
    // ":8081" is all addresses.
    TRY(net::parse_listen("--health-address", (text.starts_with(':') ? "0.0.0.0" : "") + text));
  }
  return {};
}

}  // namespace

Result<controllers::view::ViewService> view_service(const ControllerFlags& flags) {
  return controllers::view::parse_view_service(
      "--view-service", flags.view_service.empty() ? flags.webhook.service : flags.view_service);
}

Result<void> check(const ControllerFlags& flags) {
  TRY(check_addresses(flags));
  if (!flags.agent_configs.empty()) {
    TRY(controllers::dispatch::parse_agent_configs(flags.agent_configs));
  }
  TRY(training_settings(flags.training));
  TRY(parse_scale(flags.scale));
  return {};
}

void add_controller_flags(CLI::App& role, ControllerFlags& flags) {
  role.add_option(
          "--kubeconfig", flags.kubeconfig,
          "kubeconfig file (default: KUBECONFIG, the pod's service account, ~/.kube/config)")
      ->type_name("FILE");
  role.add_option("--context", flags.context,
                  "context of the kubeconfig (default: the current one)")
      ->envname("KUBE_CONTEXT")
      ->type_name("NAME");
  role.add_option("--lease-namespace", flags.lease_ns,
                  "namespace of the Lease codeflare-controller and the ConfigMap codeflare-queue; "
                  "the same for all controllers of a cluster")
      ->type_name("NAME")
      ->capture_default_str();
  role.add_option("-n,--namespace", flags.ns, "no effect; use --lease-namespace")
      ->type_name("NAME")
      ->group("");  // not in the help
  role.add_flag("--bind", flags.bind,
                "bind pods of AppWrappers as planned, instead of kube-scheduler");
  role.add_flag("--legacy-group", flags.legacy_group, "serve AppWrappers of mcad.ibm.com as well");
  role.add_flag("--no-rayclusters", flags.no_rayclusters,
                "ignore RayClusters and RayJobs even without a KubeRay operator");
  add_training_flags(role, flags.training);
  add_usage_flags(role, flags.usage);
  add_scale_limits(role, flags.scale);
  role.add_flag("--no-user-check", flags.no_user_check,
                "skip the check of submitters: anyone who can create AppWrappers can create "
                "anything this controller can");
  role.add_flag("--preemption", flags.preemption,
                "preempt running work for higher priority and for owners of lent quota");
  role.add_flag("--priority-slope,--dynamicpriority", flags.priority_slope,
                "raise the priority by spec.priorityslope per second of waiting");
  role.add_flag("--quota-trees,--quotaEnabled,!--no-quota-trees", flags.quota_trees,
                "honor QuotaSubtrees (MCAD's default was to ignore them)");
  role.add_option("--head-of-line-holding-time,--headoflineholdingtime", flags.holding_seconds,
                  "seconds that nodes stay reserved for the first in the queue")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role.add_flag("--dispatcher", flags.dispatcher,
                "MCAD's name for --no-local, with --agentconfigs");
  role.add_option("--agentconfigs", flags.agent_configs,
                  "kubeconfig files of worker clusters and the names of the ManagedClusters made "
                  "of them")
      ->type_name("FILE:NAME,...");
  role.add_flag("--no-local", flags.no_local,
                "run AppWrappers on ManagedClusters only, not on nodes of this cluster");
  role.add_option("--dispatch-patience", flags.patience_seconds,
                  "seconds that a ManagedCluster has to start an AppWrapper before another "
                  "cluster is tried")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role.add_flag("--no-leader-election,!--leader-elect", flags.no_leader_election,
                "exit with an error when another controller leads, instead of standing by");
  role.add_option("--health-address,--healthProbeListenAddr,--health-probe-bind-address",
                  flags.health_address, "address of /healthz, /readyz and /metrics; empty: none")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role.add_flag(
      "--install-crds", flags.install_crds,
      "apply the custom resource definitions and the admission policy for AppWrappers first");
  CLI::Option* listen =
      role.add_option("--webhook-listen", flags.webhook.listen,
                      "address of the admission webhook, which records submitters and checks their "
                      "permissions; without it and without --no-user-check no AppWrapper starts")
          ->type_name("ADDR:PORT");
  role.add_option("--webhook-dir", flags.webhook.directory,
                  "directory with keys and certificate of the webhook; shared by replicas, filled "
                  "when empty. Keep it: recorded submitters are valid only with its keys")
      ->type_name("DIR")
      ->needs(listen);
  role.add_option("--webhook-secret", flags.webhook.secret,
                  "Secret of its keys, made once, for all replicas; the webhook configurations "
                  "are then the chart's, and only their caBundle is set")
      ->type_name("NAMESPACE/NAME")
      ->needs(listen);
  role.add_option("--webhook-service", flags.webhook.service,
                  "Service by which the API server reaches the webhook (port 443)")
      ->type_name("NAMESPACE/NAME")
      ->needs(listen);
  role.add_option("--webhook-url", flags.webhook.url,
                  "URL by which the API server reaches the webhook, https://HOST:PORT")
      ->type_name("URL")
      ->needs(listen);
  role.add_option("--view-service", flags.view_service,
                  "Service by which the API server reaches the view API at --webhook-listen "
                  "(default: --webhook-service)")
      ->type_name("NAMESPACE/NAME[:PORT]")
      ->needs(listen);
  role.add_option("--workers", flags.workers, "number of AppWrappers handled at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  role.add_flag("--log-json", flags.json_log, "write log lines as JSON");
  role.add_flag("-v,--verbose", flags.verbose, "log debug messages");
  role.add_option("--log-level", flags.log_level,
                  "least level of log lines: error, warn, info (default) or debug")
      ->envname("LOG_LEVEL")
      ->transform(CLI::IsMember({"error", "warn", "info", "debug"}, CLI::ignore_case))
      ->type_name("LEVEL");
  add_mcad_flags(role, flags.mcad);
}

}  // namespace codeflare
