#include "app/flags/training_flags.h"

#include "model/validation.h"
#include "queue/settings.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace codeflare {

namespace {

Error wrong(std::string_view variable, std::string_view flag, const std::string& value,
            const std::string& instead) {
  return invalid_argument(std::string(variable) + " (" + std::string(flag) + "): \"" + value +
                          "\" is not valid; " + instead);
}

Result<int> port_of(std::string_view variable, std::string_view flag, const std::string& text,
                    int fallback) {
  if (text.empty()) {
    return fallback;
  }
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65'535) {
    return fail(wrong(variable, flag, text, "use a port from 1 to 65535"));
  }
  return port;
}

Result<void> one_of(std::string_view variable, std::string_view flag, const std::string& text,
                    std::initializer_list<std::string_view> words) {
  if (text.empty() || std::ranges::find(words, text) != words.end()) {
    return {};
  }
  std::string list;
  for (const std::string_view word : words) {
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return fail(wrong(variable, flag, text, "use one of " + list));
}

void add(CLI::App& role, const char* flag, std::string& value, const char* help,
         const char* variable, const char* type) {
  role.add_option(flag, value, help)->envname(variable)->type_name(type);
}

}  // namespace

void ElasticFlags::apply(sched::Options& core) const {
  core.growth_cooldown = std::chrono::seconds(cooldown_seconds);
  core.elastic_policy = policy;
  core.resize_cost = queue::kResizeCost;
}

void add_elastic_flags(CLI::App& role, ElasticFlags& flags) {
  role.add_option("--growth-cooldown", flags.cooldown_seconds,
                  "seconds that a TrainingJob does not grow after a resize, unless its "
                  "elastic.scaleUpCooldownSeconds says otherwise")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  const std::map<std::string, sched::ElasticPolicy> policies(queue::kElasticPolicies.begin(),
                                                             queue::kElasticPolicies.end());
  role.add_option("--elastic-policy", flags.policy,
                  "TrainingJobs of equal priority that grow first: throughput (default), fair or "
                  "strict-priority")
      ->transform(CLI::CheckedTransformer(policies).description(""))
      ->type_name("POLICY");
}

void add_training_flags(CLI::App& role, TrainingFlags& flags) {
  role.add_flag("--no-trainingjobs", flags.off, "ignore TrainingJobs");
  add_elastic_flags(role, flags.elastic);
  add(role, "--resource-scheduling-unit", flags.unit,
      "unit of TrainingJobs: node, or a resource that each of them requests (default: what pods "
      "request)",
      "RESOURCE_SCHEDULING_UNIT", "UNIT");
  add(role, "--job-node-selector", flags.selector_path,
      "file with the node selector of TrainingJobs, key=value a line; read again when it changes",
      "LATTICE_JOB_NODE_SELECTOR_PATH", "FILE");
  add(role, "--jfrog-secret", flags.jfrog_path,
      "folder with the files username and password of the registry of injected agents",
      "LATTICE_JFROG_SECRET_PATH", "DIR");
  add(role, "--addons-checkpoint-type", flags.checkpoint_type,
      "checkpoint type of TrainingJobs that name none (default: remote)", "ADDONS_CHECKPOINT_TYPE",
      "TYPE");
  add(role, "--checkpoint-service-endpoint", flags.checkpoint_endpoint,
      "host of the checkpoint service (default: lattice-checkpoint-svc.lattice)",
      "CHECKPOINT_SERVICE_ENDPOINT", "HOST");
  add(role, "--checkpoint-service-port", flags.checkpoint_port,
      "port of the checkpoint service (default: 5555)", "CHECKPOINT_SERVICE_PORT", "PORT");
  add(role, "--checkpoint-key-file", flags.checkpoint_key_file,
      "key of the checkpoint service, for a token of each TrainingJob (default: no tokens)",
      "CHECKPOINT_KEY_FILE", "FILE");
  add(role, "--rdzv-backend", flags.rdzv_backend,
      "rendezvous of TrainingJobs that name none: kubernetes (default), etcd or c10d",
      "RDZV_BACKEND", "TYPE");
  add(role, "--rdzv-service-endpoint", flags.rdzv_endpoint,
      "host of the rendezvous (default: lattice-rdzv-client.lattice)", "RDZV_SERVICE_ENDPOINT",
      "HOST");
  add(role, "--rdzv-service-port", flags.rdzv_port, "port of the rendezvous (default: 2379)",
      "RDZV_SERVICE_PORT", "PORT");
  add(role, "--rdzv-conf", flags.rdzv_conf,
      "protocol and certificates of an etcd with TLS: "
      "protocol=https,cacert=FILE,cert=FILE,key=FILE (default: plain HTTP)",
      "RDZV_CONF", "CONF");
}

Result<controllers::trainingjob::TrainingSettings> training_settings(const TrainingFlags& flags) {
  controllers::trainingjob::TrainingSettings settings;
  if (!flags.unit.empty() && !model::check_qualified_name(flags.unit).empty()) {
    return fail(wrong("RESOURCE_SCHEDULING_UNIT", "--resource-scheduling-unit", flags.unit,
                      "use node or the name of a resource such as nvidia.com/gpu"));
  }
  TRY(one_of("ADDONS_CHECKPOINT_TYPE", "--addons-checkpoint-type", flags.checkpoint_type,
             {"remote", "s3", "local", "none"}));
  TRY(one_of("RDZV_BACKEND", "--rdzv-backend", flags.rdzv_backend, {"kubernetes", "etcd", "c10d"}));
  TRY_ASSIGN(settings.lattice.checkpoint_port,
             port_of("CHECKPOINT_SERVICE_PORT", "--checkpoint-service-port", flags.checkpoint_port,
                     settings.lattice.checkpoint_port));
  TRY_ASSIGN(settings.lattice.rdzv_port, port_of("RDZV_SERVICE_PORT", "--rdzv-service-port",
                                                 flags.rdzv_port, settings.lattice.rdzv_port));
  settings.unit = flags.unit;
  settings.selector_path = flags.selector_path;
  settings.lattice.jfrog_path = flags.jfrog_path;
  settings.lattice.checkpoint_key_file = flags.checkpoint_key_file;
  const auto take = [](const std::string& from, std::string& to) {
    if (!from.empty()) {
      to = from;
    }
  };
  take(flags.checkpoint_type, settings.lattice.checkpoint_type);
  take(flags.checkpoint_endpoint, settings.lattice.checkpoint_endpoint);
  take(flags.rdzv_backend, settings.lattice.rdzv_backend);
  take(flags.rdzv_endpoint, settings.lattice.rdzv_endpoint);
  settings.lattice.rdzv_conf = elastic::parse_rdzv_conf(flags.rdzv_conf);
  if (const Result<void> checked = elastic::check_endpoint(settings.lattice.etcd()); !checked) {
    return fail(wrong("RDZV_CONF", "--rdzv-conf", flags.rdzv_conf, checked.error().message));
  }
  return settings;
}

}  // namespace codeflare
