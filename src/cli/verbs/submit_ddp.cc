#include "cli/verbs/submit_ddp.h"

#include "json/value.h"
#include "sdk/ddp_gang.h"
#include "up/processes.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <utility>

namespace codeflare::cli {

namespace {

using json::Value;

// The JSON that the SDK reads: no rule of DDPJobDefinition is written twice.
class Definition {
 public:
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) {
      object().set(arena(), key, Value::string(arena(), value));
    }
  }
  void number(std::string_view key, std::optional<std::int64_t> value) {
    if (value) {
      object().set(arena(), key, Value::integer(arena(), *value));
    }
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    Value list = Value::array();
    for (const std::string& value : values) {
      list.push_back(arena(), Value::string(arena(), value));
    }
    if (!values.empty()) {
      object().set(arena(), key, list);
    }
  }
  Result<void> pairs(std::string_view key, std::string_view option,
                     const std::vector<std::string>& values) {
    Value map = Value::object();
    for (const std::string& value : values) {
      const std::size_t equals = value.find('=');
      if (equals == 0 || equals == std::string::npos) {
        return fail(invalid_argument(std::string(option) + ": " + value + " is not KEY=VALUE"));
      }
      map.set(arena(), value.substr(0, equals), Value::string(arena(), value.substr(equals + 1)));
    }
    if (!values.empty()) {
      object().set(arena(), key, map);
    }
    return {};
  }
  json::Document take() { return std::move(made_); }
  const Value& root() const { return made_.root; }

 private:
  json::Arena& arena() { return made_.arena; }
  Value& object() { return made_.root; }

  json::Document made_{.arena = {}, .root = Value::object()};
};

CLI::Option* repeated(CLI::Option* option) {
  return option->expected(1)->take_all()->allow_extra_args(false);
}

}  // namespace

void add_ddp_flags(CLI::App& verb, DdpFlags& flags) {
  const std::string group = "Distributed training with torch";
  CLI::Option* script = verb.add_option("--script", flags.script,
                                        "Python script that every process runs; its arguments "
                                        "follow behind --");
  script->type_name("FILE")->group(group);
  verb.add_option("-m,--m", flags.module, "Python module instead of a script")
      ->type_name("MODULE")
      ->group(group)
      ->excludes(script);
  verb.add_option("-j", flags.shape, "replicas and processes of each (default 1x1)")
      ->type_name("REPLICASxPROCESSES")
      ->group(group);
  verb.add_option("--cpu,--cpus", flags.cpu, "CPUs of each replica (default 1)")
      ->type_name("AMOUNT")
      ->group(group);
  verb.add_option("--gpu,--gpus", flags.gpu, "GPUs of each replica (default 0)")
      ->type_name("N")
      ->group(group);
  verb.add_option("--memMB", flags.mem_mb, "memory of each replica in MB (default: no limit)")
      ->type_name("N")
      ->group(group);
  verb.add_option("--max-retries,--max_retries", flags.max_retries,
                  "attempts after a failure (default 0)")
      ->type_name("N")
      ->group(group);
  repeated(verb.add_option("--mount,--mounts", flags.mounts,
                           "volume of each replica: type=volume,src=CLAIM,dst=DIR[,readonly]; may "
                           "be repeated"))
      ->type_name("MOUNT")
      ->group(group);
  verb.add_option("--image", flags.image,
                  "container image (default: this machine's programs on 'codeflare up', else "
                  "CODEFLARE_IMAGE)")
      ->type_name("IMAGE")
      ->group(group);
  verb.add_option("--rdzv-port,--rdzv_port", flags.rdzv_port,
                  "port of the rendezvous at replica 0 (default 29500)")
      ->type_name("PORT")
      ->group(group);
  verb.add_option("--rdzv-backend,--rdzv_backend", flags.rdzv_backend,
                  "rendezvous back end of torchrun (default c10d)")
      ->type_name("NAME")
      ->group(group);
  repeated(verb.add_option("--scheduler-arg,--scheduler_args", flags.scheduler_args,
                           "namespace, service_account, image_secret, priority_class or "
                           "working_dir; may be repeated"))
      ->type_name("KEY=VALUE")
      ->group(group);
}

Result<json::Document> ddp_arguments(const DdpFlags& flags, const DdpJob& job) {
  Definition made;
  made.text("name", job.name);
  made.text("script", flags.script);
  made.text("m", flags.module);
  made.texts("script_args", job.script_args);
  made.text("j", flags.shape);
  made.text("cpu", flags.cpu);
  made.number("gpu", flags.gpu);
  made.number("memMB", flags.mem_mb);
  made.number("max_retries",
              flags.max_retries == 0 ? std::nullopt : std::optional(flags.max_retries));
  made.texts("mounts", flags.mounts);
  made.text("image", flags.image);
  made.number("rdzv_port", flags.rdzv_port);
  made.text("rdzv_backend", flags.rdzv_backend);
  made.text("workspace", job.working_dir.empty() ? "." : job.working_dir);
  TRY(made.pairs("env", "--env", job.env));
  TRY(made.pairs("scheduler_args", "--scheduler-arg", flags.scheduler_args));
  TRY(sdk::read_ddp(made.root()));
  return made.take();
}

Result<sdk::DdpDefinition> ddp_definition(const DdpFlags& flags, const DdpJob& job) {
  TRY_ASSIGN(const json::Document given, ddp_arguments(flags, job));
  return sdk::read_ddp(given.root);
}

Task<Result<void>> submit_ddp(Session& session, sdk::DdpDefinition definition) {
  CO_TRY_ASSIGN(std::string here, up::absolute_path("."));
  sdk::DdpPlace place{.ns = session.ns(), .base_directory = std::move(here)};
  CO_TRY(co_await sdk::submit_ddp_gang(session.client(), std::move(definition), std::move(place)));
  co_return Result<void>();
}

Task<Result<sdk::JobSpec>> ddp_for_cluster(Session& session, sdk::DdpDefinition definition,
                                           std::string cluster) {
  sdk::Clusters clusters(session.client(), session.discovery());
  CO_TRY_ASSIGN(const sdk::ClusterInfo info,
                co_await clusters.get({session.ns(), std::move(cluster)}));
  co_return sdk::ddp_on_ray(definition, info);
}

}  // namespace codeflare::cli
