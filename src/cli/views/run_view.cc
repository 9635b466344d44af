#include "cli/views/run_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/namespaced_table.h"
#include "cli/views/table.h"
#include "model/condition.h"

#include <utility>

namespace codeflare::cli {

namespace {

std::string age(const model::ObjectMeta& metadata, WallTime now) {
  return metadata.creation_timestamp ? human_duration(now - *metadata.creation_timestamp) : "-";
}

std::string time_text(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : "";
}

std::string ready_of(const model::ReadyStatus& status) {
  const model::Condition* ready = model::find_condition(status.conditions, "Ready");
  return ready == nullptr ? "-" : ready->status;
}

std::string ready_message(const model::ReadyStatus& status) {
  const model::Condition* ready = model::find_condition(status.conditions, "Ready");
  return ready == nullptr ? "" : ready->message;
}

std::string source_of(const model::DataSetSpec& spec) {
  if (spec.nfs) {
    return "nfs " + spec.nfs->server + ":" + spec.nfs->path;
  }
  if (spec.pvc) {
    return "pvc " + spec.pvc->claim_name;
  }
  if (spec.s3) {
    const std::string prefix = spec.s3->prefix.empty() ? "" : "/" + spec.s3->prefix;
    return "s3 " + spec.s3->endpoint + " " + spec.s3->bucket + prefix;
  }
  const std::size_t files = spec.inline_files.size();
  return "inline, " + std::to_string(files) + (files == 1 ? " file" : " files");
}

}  // namespace

std::string render_runs(const std::vector<model::Run>& runs, bool all_namespaces, WallTime now) {
  NamespacedTable table(all_namespaces, {"NAME", "APPLICATION", "STATUS", "SIZE", "EPOCH",
                                         "PROGRESS", "AGE", "MESSAGE"});
  for (const model::Run& run : runs) {
    table.add(run.metadata.ns,
              {run.metadata.name, run.spec.application.name, or_dash(run.status.phase),
               or_dash(run.status.size), or_dash(run.status.epoch), or_dash(run.status.progress),
               age(run.metadata, now), or_dash(run.status.message)});
  }
  return table.text();
}

std::string render_applications(const std::vector<model::Application>& applications,
                                bool all_namespaces, WallTime now) {
  NamespacedTable table(all_namespaces, {"NAME", "API", "IMAGE", "READY", "AGE", "DESCRIPTION"});
  for (const model::Application& each : applications) {
    const std::string wrong = ready_message(each.status);
    table.add(each.metadata.ns,
              {each.metadata.name, each.spec.api, each.spec.image, ready_of(each.status),
               age(each.metadata, now), or_dash(wrong.empty() ? each.spec.description : wrong)});
  }
  return table.text();
}

std::string render_data_sets(const std::vector<model::DataSet>& data_sets, bool all_namespaces,
                             WallTime now) {
  NamespacedTable table(all_namespaces, {"NAME", "SOURCE", "READY", "AGE", "DESCRIPTION"});
  for (const model::DataSet& each : data_sets) {
    const std::string wrong = ready_message(each.status);
    table.add(each.metadata.ns,
              {each.metadata.name, source_of(each.spec), ready_of(each.status),
               age(each.metadata, now), or_dash(wrong.empty() ? each.spec.description : wrong)});
  }
  return table.text();
}

std::string render_sizes(const platform::SizeTable& sizes) {
  Table table({"SIZE", "WORKERS", "CPU", "MEMORY", "GPU", "FROM"});
  const auto add = [&](std::string_view name) {
    const auto found = sizes.find(name);
    if (found == sizes.end()) {
      return;
    }
    const model::RunSize& size = found->second.size;
    table.add_row({std::string(name), std::to_string(size.workers),
                   size.cpu ? size.cpu->to_string() : "-",
                   size.memory ? size.memory->to_string() : "-", std::to_string(size.gpu),
                   found->second.from});
  };
  for (const std::string_view name : platform::sizes_in_order()) {
    add(name);
  }
  add(platform::kAutoSize);
  return table.to_text();
}

std::string render_run_status(const model::Run& run, WallTime now) {
  std::string out;
  const std::string ns =
      run.spec.application.ns.empty() ? run.metadata.ns : run.spec.application.ns;
  add_field(out, "Run", run.metadata.ns + "/" + run.metadata.name);
  add_field(out, "Application", ns + "/" + run.spec.application.name);
  add_field(out, "Status", run.status.phase.empty() ? "Pending" : run.status.phase);
  add_field(out, "Reason", run.status.reason);
  add_field(out, "Message", run.status.message);
  add_field(out, "Epoch", run.status.epoch);
  add_field(out, "Progress", run.status.progress);
  add_field(out, "AppWrapper", run.status.app_wrapper);
  add_field(out, "Head pod", run.status.head_pod);
  add_field(out, "Created", time_text(run.metadata.creation_timestamp));
  add_field(out, "Started", time_text(run.status.start_time));
  add_field(out, "Ended", time_text(run.status.completion_time));
  if (run.status.start_time) {
    add_field(out, "Took",
              human_duration(run.status.completion_time.value_or(now) - *run.status.start_time));
  }
  return out;
}

std::string render_effective(const std::vector<model::EffectiveValue>& values) {
  Table table({"VALUE", "IS", "FROM"});
  for (const model::EffectiveValue& value : values) {
    table.add_row({value.name, value.value, value.from});
  }
  return table.to_text();
}

std::string render_run_details(const model::Run& run, WallTime now) {
  std::string out = render_run_status(run, now);
  if (!run.status.effective.empty()) {
    out += "\n" + render_effective(run.status.effective);
  }
  return out;
}

}  // namespace codeflare::cli
