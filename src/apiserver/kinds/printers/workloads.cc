#include "apiserver/kinds/printers.h"
#include "apiserver/kinds/printers/row.h"
#include "base/human_duration.h"

namespace codeflare::apiserver::printing {
namespace {

const json::Value& pod_spec(const json::Value& spec) {
  return object_at(spec, {"template", "spec"});
}

std::int64_t replicas(const Row& row) {
  return integer_at(row.spec, "replicas").value_or(1);
}

std::string of(std::int64_t part, std::int64_t whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

// The two cells that show what runs.
Row& containers(Row& row, const json::Value& pod) {
  return row.text(join_field(pod, "containers", "name"))
      .text(join_field(pod, "containers", "image"));
}

void print_replica_counts(Row& row) {
  row.name()
      .integer(replicas(row))
      .integer(count_at(row.status, "replicas"))
      .integer(count_at(row.status, "readyReplicas"))
      .age();
  containers(row, pod_spec(row.spec));
}

void print_replication_controller(Row& row) {
  print_replica_counts(row);
  row.text(labels_text(object_at(row.spec, "selector")));
}

void print_replica_set(Row& row) {
  print_replica_counts(row);
  row.text(selector_cell(row.spec.find("selector")));
}

void print_deployment(Row& row) {
  row.name()
      .text(of(count_at(row.status, "readyReplicas"), replicas(row)))
      .integer(count_at(row.status, "updatedReplicas"))
      .integer(count_at(row.status, "availableReplicas"))
      .age();
  containers(row, pod_spec(row.spec)).text(selector_text(row.spec.find("selector"), "<invalid>"));
}

void print_stateful_set(Row& row) {
  row.name().text(of(count_at(row.status, "readyReplicas"), replicas(row))).age();
  containers(row, pod_spec(row.spec));
}

void print_daemon_set(Row& row) {
  row.name()
      .integer(count_at(row.status, "desiredNumberScheduled"))
      .integer(count_at(row.status, "currentNumberScheduled"))
      .integer(count_at(row.status, "numberReady"))
      .integer(count_at(row.status, "updatedNumberScheduled"))
      .integer(count_at(row.status, "numberAvailable"))
      .text(labels_text(object_at(pod_spec(row.spec), "nodeSelector")))
      .age();
  containers(row, pod_spec(row.spec)).text(selector_cell(row.spec.find("selector")));
}

std::string_view job_state(const Row& row) {
  for (std::string_view end : {"Complete", "Failed"}) {
    if (condition_is_true(row.status, end)) {
      return end;
    }
  }
  if (row.deleting()) {
    return "Terminating";
  }
  for (std::string_view state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (condition_is_true(row.status, state)) {
      return state;
    }
  }
  return "Running";
}

std::string job_completions(const Row& row) {
  const std::int64_t succeeded = count_at(row.status, "succeeded");
  if (std::optional<std::int64_t> completions = integer_at(row.spec, "completions")) {
    return of(succeeded, *completions);
  }
  const std::int64_t parallelism = count_at(row.spec, "parallelism");
  return of(succeeded, 1) + (parallelism > 1 ? " of " + std::to_string(parallelism) : "");
}

// Empty before it began.
std::string job_duration(const Row& row) {
  std::optional<WallTime> start = time_at(row.status, "startTime");
  if (!start) {
    return {};
  }
  return human_duration(time_at(row.status, "completionTime").value_or(row.now) - *start);
}

void print_job(Row& row) {
  row.name().text(job_state(row)).text(job_completions(row)).text(job_duration(row)).age();
  containers(row, pod_spec(row.spec)).text(selector_cell(row.spec.find("selector")));
}

void print_cron_job(Row& row) {
  std::string last(kNone);
  if (!absent(row.status, "lastScheduleTime")) {
    last = row.since(row.status, "lastScheduleTime");
  }
  const json::Value& job = object_at(row.spec, {"jobTemplate", "spec"});
  row.name()
      .text(text_at(row.spec, "schedule"))
      .text(absent(row.spec, "timeZone") ? kNone : text_at(row.spec, "timeZone"))
      .text(true_at(row.spec, "suspend") ? "True" : "False")
      .integer(static_cast<std::int64_t>(size_at(row.status, "active")))
      .text(last)
      .age();
  containers(row, pod_spec(job)).text(selector_cell(job.find("selector")));
}

// "statefulset.apps/web": the owner that controls the object.
std::string controller(const json::Value& metadata) {
  for (const json::Value& owner : items_at(metadata, "ownerReferences")) {
    if (!true_at(owner, "controller")) {
      continue;
    }
    std::string out = lower(text_at(owner, "kind"));
    std::string_view version = text_at(owner, "apiVersion");
    if (std::size_t slash = version.find('/'); slash != std::string_view::npos) {
      out += "." + lower(version.substr(0, slash));
    }
    return out + "/" + std::string(text_at(owner, "name"));
  }
  return std::string(kNone);
}

void print_controller_revision(Row& row) {
  row.name().text(controller(row.metadata)).integer(count_at(row.object, "revision")).age();
}

// A number or a percentage.
std::string bound(const json::Value& spec, std::string_view key) {
  const json::Value* value = spec.find(key);
  if (value != nullptr && value->is_number()) {
    return std::string(value->number());
  }
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "N/A";
}

void print_disruption_budget(Row& row) {
  row.name()
      .text(bound(row.spec, "minAvailable"))
      .text(bound(row.spec, "maxUnavailable"))
      .integer(count_at(row.status, "disruptionsAllowed"))
      .age();
}

// `columns` and then what runs, for -o wide.
std::vector<Column> with_containers(std::vector<Column> columns, bool selector = true) {
  columns.push_back(wide_column("Containers"));
  columns.push_back(wide_column("Images"));
  if (selector) {
    columns.push_back(wide_column("Selector"));
  }
  return columns;
}

std::vector<Column> replica_columns() {
  return with_containers({name_column(), integer_column("Desired"), integer_column("Current"),
                          integer_column("Ready"), age_column()});
}

}  // namespace

std::vector<KindPrinter> workload_printers() {
  return {
      {.group = "",
       .plural = "replicationcontrollers",
       .columns = replica_columns(),
       .print = print_replication_controller},
      {.group = "apps",
       .plural = "replicasets",
       .columns = replica_columns(),
       .print = print_replica_set},
      {.group = "apps",
       .plural = "deployments",
       .columns = with_containers({name_column(), text_column("Ready"), text_column("Up-to-date"),
                                   text_column("Available"), age_column()}),
       .print = print_deployment},
      {.group = "apps",
       .plural = "statefulsets",
       .columns = with_containers({name_column(), text_column("Ready"), age_column()}, false),
       .print = print_stateful_set},
      {.group = "apps",
       .plural = "daemonsets",
       .columns = with_containers({name_column(), integer_column("Desired"),
                                   integer_column("Current"), integer_column("Ready"),
                                   integer_column("Up-to-date"), integer_column("Available"),
                                   text_column("Node Selector"), age_column()}),
       .print = print_daemon_set},
      {.group = "apps",
       .plural = "controllerrevisions",
       .columns = {name_column(), text_column("Controller"), text_column("Revision"), age_column()},
       .print = print_controller_revision},
      {.group = "batch",
       .plural = "jobs",
       .columns = with_containers({name_column(), text_column("Status"), text_column("Completions"),
                                   text_column("Duration"), age_column()}),
       .print = print_job},
      {.group = "batch",
       .plural = "cronjobs",
       .columns = with_containers({name_column(), text_column("Schedule"), text_column("Timezone"),
                                   boolean_column("Suspend"), integer_column("Active"),
                                   text_column("Last Schedule"), age_column()}),
       .print = print_cron_job},
      {.group = "policy",
       .plural = "poddisruptionbudgets",
       .columns = {name_column(), text_column("Min Available"), text_column("Max Unavailable"),
                   integer_column("Allowed Disruptions"), age_column()},
       .print = print_disruption_budget},
  };
}

}  // namespace codeflare::apiserver::printing
