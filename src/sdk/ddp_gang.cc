#include "sdk/ddp_gang.h"

#include "base/split.h"
#include "json/write.h"
#include "model/node_extras.h"
#include "model/quantity.h"
#include "sdk/priority_class.h"
#include "sdk/program_image.h"
#include "sdk/run_job.h"
#include "sdk/shell_command.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

struct Mount {
  std::string type;
  std::string source;
  std::string target;
  bool read_only = false;
};

// TorchX's form: "type=volume", "src=claim", "dst=/data", "readonly", apart or joined by commas; a
// "type" begins the next one.
Result<std::vector<Mount>> parse_mounts(const std::vector<std::string>& texts) {
  std::vector<Mount> mounts;
  for (const std::string& text : texts) {
    for (const std::string_view word : split(text, ',')) {
      const std::size_t equals = word.find('=');
      const std::string_view key = word.substr(0, equals);
      const std::string value(equals == std::string_view::npos ? "" : word.substr(equals + 1));
      if (key == "type") {
        mounts.push_back({.type = value, .source = {}, .target = {}});
      } else if (mounts.empty()) {
        return fail(invalid_argument("mounts: '" + std::string(word) +
                                     "' comes before a type; write type=volume,src=CLAIM,dst=DIR"));
      } else if (key == "src" || key == "source") {
        mounts.back().source = value;
      } else if (key == "dst" || key == "target" || key == "destination") {
        mounts.back().target = value;
      } else if (key == "readonly") {
        mounts.back().read_only = value.empty() || value == "true";
      } else {
        return fail(invalid_argument("mounts: '" + std::string(word) +
                                     "' is none of type, src, dst and readonly"));
      }
    }
  }
  for (const Mount& mount : mounts) {
    if (mount.type != "volume" && mount.type != "bind") {
      return fail(invalid_argument("mounts: type '" + mount.type +
                                   "' is not supported; use volume (a PersistentVolumeClaim) or "
                                   "bind (a directory of the node)"));
    }
    if (mount.source.empty() || !mount.target.starts_with('/')) {
      return fail(invalid_argument("mounts: a " + mount.type + " needs src and an absolute dst"));
    }
  }
  return mounts;
}

void add_mounts(GangJob& gang, const std::vector<Mount>& mounts) {
  if (mounts.empty()) {
    return;
  }
  json::Writer volumes(gang.volumes.text);
  json::Writer places(gang.volume_mounts.text);
  volumes.begin_array();
  places.begin_array();
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Mount& mount = mounts[i];
    const std::string name = "mount-" + std::to_string(i);
    volumes.begin_object().member("name", name);
    if (mount.type == "volume") {
      volumes.key("persistentVolumeClaim").begin_object().member("claimName", mount.source);
      volumes.key("readOnly").boolean(mount.read_only).end_object();
    } else {
      volumes.key("hostPath").begin_object().member("path", mount.source).end_object();
    }
    volumes.end_object();
    places.begin_object().member("name", name).member("mountPath", mount.target);
    places.key("readOnly").boolean(mount.read_only).end_object();
  }
  volumes.end_array();
  places.end_array();
}

// TorchX's options of its Kubernetes schedulers that mean something here.
Result<void> read_scheduler_args(const DdpDefinition& definition, GangSubmission& submission) {
  for (const auto& [key, value] : definition.scheduler_args) {
    if (key == "namespace") {
      submission.gang.ns = value;
    } else if (key == "service_account") {
      submission.gang.service_account = value;
    } else if (key == "image_secret") {
      submission.gang.pull_secrets.push_back(value);
    } else if (key == "priority_class" || key == "priority_class_name") {
      submission.gang.priority_class = value;
    } else if (key != "working_dir") {
      return fail(invalid_argument(
          "scheduler_args: " + key +
          " is not an option for Kubernetes; use namespace, service_account, image_secret, "
          "priority_class or working_dir"));
    }
  }
  return {};
}

std::string directory_of(const DdpDefinition& definition) {
  const auto given = definition.scheduler_args.find("working_dir");
  const std::string& text =
      given == definition.scheduler_args.end() ? definition.workspace : given->second;
  constexpr std::string_view kScheme = "file://";
  return text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
}

}  // namespace

Result<GangSubmission> ddp_gang(const DdpDefinition& definition, const DdpPlace& place) {
  if (!definition.rdzv_backend.empty() && definition.rdzv_backend != "c10d") {
    return fail(invalid_argument("rdzv_backend: '" + definition.rdzv_backend +
                                 "' is not available on Kubernetes; leave it out or use c10d"));
  }
  TRY_ASSIGN(const std::vector<Mount> mounts, parse_mounts(definition.mounts));
  const std::int64_t gpus = definition.gpu.value_or(0);
  GangSubmission submission{
      .gang = {.name = definition.name,
               .ns = place.ns,
               .image = definition.image.empty() ? place.image : definition.image,
               .argv = {},
               .pods = definition.replicas.value_or(1),
               .processes_per_pod = definition.processes.value_or(std::max<std::int64_t>(gpus, 1)),
               .torchrun = true,
               .port = definition.rdzv_port.value_or(29500),
               .restarts = definition.max_retries},
      .code = place.code,
      .program_image = place.program_image};
  GangJob& gang = submission.gang;
  if (definition.m.empty()) {
    gang.argv = {definition.script};
  } else {
    gang.argv = {"-m", definition.m};
  }
  gang.argv.insert(gang.argv.end(), definition.script_args.begin(), definition.script_args.end());
  std::vector<std::string> words = gang.argv;
  words.insert(words.begin(), "torchrun");
  submission.command = shell_command(words);
  gang.env = model::StringMap(definition.env.begin(), definition.env.end());
  gang.env.try_emplace("PYTHONUNBUFFERED", "1");
  gang.resources.insert_or_assign("cpu", definition.cpu ? definition.cpu->to_string() : "1");
  if (definition.mem_mb) {
    gang.resources.insert_or_assign("memory", std::to_string(*definition.mem_mb) + "M");
  }
  if (gpus > 0) {
    gang.resources.insert_or_assign(std::string(model::kGpuResource), std::to_string(gpus));
  }
  if (!definition.image.empty()) {
    gang.annotations.insert_or_assign(std::string(model::kImageRequiredAnnotation), "true");
  }
  // A replica that fails may take all others along.
  gang.backoff_limit = definition.max_retries * gang.pods;
  add_mounts(gang, mounts);
  TRY(read_scheduler_args(definition, submission));
  TRY(check(gang));
  return submission;
}

Task<Result<Submitted>> submit_ddp_gang(kube::Client& client, DdpDefinition definition,
                                        DdpPlace place) {
  place.program_image = program_image(client.env().variables);
  DdpPlace trial = place;
  trial.image = std::string(kMachineImage);
  CO_TRY(ddp_gang(definition, trial));  // before files are read and anything is asked
  if (const std::string directory = directory_of(definition); !directory.empty()) {
    const std::string path = join_path(place.base_directory, directory);
    const std::string script = join_path(path, definition.script);
    if (!definition.script.empty() && !client.env().files.exists(script)) {
      co_return fail(invalid_argument("script: '" + definition.script + "' not found in " + path +
                                      "; paths count from the directory that travels with the "
                                      "job"));
    }
    Result<CodeArchive> code =
        co_await run_blocking(client.env(), [&] { return pack_code(client.env().files, path); });
    if (!code) {
      co_return fail(std::move(code).error().with_context("workspace"));
    }
    place.code = *std::move(code);
  }
  if (definition.image.empty() && place.image.empty()) {
    CO_TRY_ASSIGN(place.image, co_await default_image(client));
  }
  CO_TRY_ASSIGN(GangSubmission submission, ddp_gang(definition, place));
  CO_TRY_ASSIGN(submission.queueing.priority,
                co_await priority_of_class(client, submission.gang.priority_class));
  co_return co_await submit_gang(client, std::move(submission));
}

}  // namespace codeflare::sdk
