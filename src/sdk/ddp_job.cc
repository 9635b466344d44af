#include "sdk/ddp_job.h"

#include "base/close_words.h"
#include "json/write.h"
#include "model/quantity.h"
#include "sdk/cluster_json.h"
#include "sdk/device_names.h"
#include "sdk/internal/read_value.h"
#include "sdk/shell_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

constexpr std::string_view kDriverVariable = "CODEFLARE_DDP_DRIVER";
constexpr std::array<std::string_view, 17> kNames = {"script",
                                                     "m",
                                                     "script_args",
                                                     "name",
                                                     "cpu",
                                                     "gpu",
                                                     "memMB",
                                                     "h",
                                                     "j",
                                                     "env",
                                                     "max_retries",
                                                     "mounts",
                                                     "image",
                                                     "rdzv_port",
                                                     "rdzv_backend",
                                                     "workspace",
                                                     "scheduler_args"};

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = problem == std::errc() && end == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

class Reader {
 public:
  Result<DdpDefinition> read(const Value& given) {
    for (const json::Member& member : given.members()) {
      if (!member.value.is_null()) {
        read_member(std::string(member.key), member.value);
      }
    }
    if (made_.script.empty() == made_.m.empty()) {
      faults_.push_back(
          {"", "", "Exactly one of the following arguments must be defined: [script, m].", ""});
    }
    return faults_.empty() ? Result<DdpDefinition>(std::move(made_)) : fail(error());
  }

 private:
  void read_member(const std::string& name, const Value& value) {
    ValueReader reader(name, faults_);
    if (name == "script") {
      made_.script = reader.text(value).value_or("");
    } else if (name == "m") {
      made_.m = reader.text(value).value_or("");
    } else if (name == "script_args") {
      made_.script_args = reader.text_list(value).value_or(std::vector<std::string>());
    } else if (name == "name") {
      made_.name = reader.text(value).value_or("");
    } else if (name == "cpu") {
      read_cpu(value, reader);
    } else if (name == "gpu") {
      made_.gpu = at_least(0, value, reader);
    } else if (name == "memMB") {
      made_.mem_mb = at_least(1, value, reader);
    } else if (name == "h") {
      reader.wrong(value, "names a machine of TorchX, which nothing here knows",
                   "give cpu, gpu and memMB instead");
    } else if (name == "j") {
      read_shape(value, reader);
    } else if (name == "env") {
      made_.env = texts(value, reader);
    } else if (name == "max_retries") {
      made_.max_retries = at_least(0, value, reader).value_or(0);
    } else if (name == "mounts") {
      made_.mounts = reader.text_list(value).value_or(std::vector<std::string>());
    } else {
      read_placement(name, value, reader);
    }
  }

  void read_placement(const std::string& name, const Value& value, ValueReader& reader) {
    if (name == "image") {
      made_.image = reader.text(value).value_or("");
    } else if (name == "rdzv_port") {
      made_.rdzv_port = at_least(1, value, reader);
      if (made_.rdzv_port && *made_.rdzv_port > 65535) {
        reader.wrong(value, "is not a port", "give a number up to 65535");
      }
    } else if (name == "rdzv_backend") {
      made_.rdzv_backend = reader.text(value).value_or("");
    } else if (name == "workspace") {
      made_.workspace = reader.text(value).value_or("");
    } else if (name == "scheduler_args") {
      made_.scheduler_args = texts(value, reader);
    } else {
      const std::optional<std::string_view> meant = nearest_name(name, kNames);
      faults_.push_back({name, "", "is not an argument of DDPJobDefinition",
                         meant ? "did you mean " + std::string(*meant) + "?" : ""});
    }
  }

  void read_cpu(const Value& value, ValueReader& reader) {
    const std::optional<std::string> text = reader.cpu(value);
    const Result<model::Quantity> amount = model::Quantity::parse(text.value_or("0"));
    if (text && amount) {
      made_.cpu = *amount;
    }
  }

  static std::optional<std::int64_t> at_least(std::int64_t least, const Value& value,
                                              ValueReader& reader) {
    const std::optional<std::int64_t> number = reader.integer(value);
    if (number && *number < least) {
      return reader.wrong(value, "is too small", "give " + std::to_string(least) + " or more");
    }
    return number;
  }

  void read_shape(const Value& value, ValueReader& reader) {
    const std::optional<std::string> text = reader.text(value);
    if (!text) {
      return;
    }
    if (text->contains(':')) {
      reader.wrong(value, "asks for a varying number of replicas",
                   "give REPLICASxPROCESSES such as \"2x1\"");
      return;
    }
    const std::size_t at = text->find('x');
    made_.replicas = positive(std::string_view(*text).substr(0, at));
    made_.processes =
        at == std::string::npos ? 1 : positive(std::string_view(*text).substr(at + 1));
    if (!made_.replicas || !made_.processes) {
      reader.wrong(value, "is not REPLICASxPROCESSES", "give for example \"2x1\"");
    }
  }

  std::map<std::string, std::string> texts(const Value& value, ValueReader& reader) {
    const std::optional<model::StringMap> map = reader.text_map(value);
    std::map<std::string, std::string> all;
    if (map) {
      for (const auto& [key, text] : *map) {
        all.emplace(key, text);
      }
    }
    return all;
  }

  Error error() const {
    std::string text;
    for (const Fault& fault : faults_) {
      text += (text.empty() ? "" : "\n  ") + fault.sentence();
    }
    return invalid_argument(faults_.size() == 1
                                ? text
                                : "the job definition has " + std::to_string(faults_.size()) +
                                      " problems:\n  " + text);
  }

  DdpDefinition made_;
  std::vector<Fault> faults_;
};

// Paths and file:// URLs.
std::string directory_of(const std::string& workspace) {
  constexpr std::string_view kScheme = "file://";
  return workspace.starts_with(kScheme) ? workspace.substr(kScheme.size()) : workspace;
}

std::string decimal(const model::Quantity& amount) {
  const std::int64_t milli = amount.milli_value();
  if (milli % 1000 == 0) {
    return std::to_string(milli / 1000);
  }
  std::string fraction = std::to_string(1000 + milli % 1000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(milli / 1000) + "." + fraction;
}

// The sizes of one replica on a Ray cluster.
struct Sizes {
  model::Quantity cpu{1};
  std::int64_t gpu = 0;
  std::int64_t replicas = 1;
  std::int64_t processes = 1;
};

Sizes sizes_on(const DdpDefinition& definition, const ClusterInfo& cluster) {
  Sizes sizes;
  const std::optional<model::RayCluster> wrapped =
      cluster.objects.wrapper ? wrapped_cluster(*cluster.objects.wrapper) : std::nullopt;
  if (cluster.objects.ray || wrapped) {
    const ClusterConfig config = config_of(cluster.objects.ray ? *cluster.objects.ray : *wrapped);
    if (const auto cpu = model::Quantity::parse(config.worker_cpu_limits); cpu && cpu->sign() > 0) {
      sizes.cpu = *cpu;
    }
    if (const auto gpu = config.worker_extended_resource_requests.find(std::string(kGpu));
        gpu != config.worker_extended_resource_requests.end()) {
      sizes.gpu = positive(gpu->second).value_or(0);
    }
    sizes.replicas = std::max<std::int64_t>(config.num_workers, 1);
  }
  sizes.cpu = definition.cpu.value_or(sizes.cpu);
  sizes.gpu = definition.gpu.value_or(sizes.gpu);
  sizes.replicas = definition.replicas.value_or(sizes.replicas);
  sizes.processes = definition.processes.value_or(std::max<std::int64_t>(sizes.gpu, 1));
  return sizes;
}

Result<std::string> environment_of(const DdpDefinition& definition) {
  std::string text = "{}";
  for (const auto& [key, value] : definition.scheduler_args) {
    if (key == "requirements") {
      text = R"({"pip":)";
      json::append_quoted(text, value);
      text += "}";
    } else if (key != "working_dir" && key != "namespace" && key != "cluster_name") {
      return fail(
          invalid_argument("scheduler_args: " + key +
                           " is not an option for Ray clusters; use working_dir or requirements"));
    }
  }
  return text;
}

}  // namespace

Result<DdpDefinition> read_ddp(const Value& given) {
  return Reader().read(given);
}

std::string ddp_name(const DdpDefinition& definition) {
  if (!definition.name.empty()) {
    return definition.name;
  }
  std::string name = definition.m.empty() ? definition.script : definition.m;
  name = name.substr(name.find_last_of('/') + 1);
  if (definition.m.empty() && name.ends_with(".py")) {
    name.resize(name.size() - 3);
  } else if (!definition.m.empty()) {
    name = name.substr(name.find_last_of('.') + 1);
  }
  return name;
}

Result<JobSpec> ddp_on_ray(const DdpDefinition& definition, const ClusterInfo& cluster) {
  if (!definition.mounts.empty()) {
    return fail(invalid_argument("mounts: the pods of Ray cluster '" + cluster.key.name +
                                 "' run already; give the cluster volumes and volume_mounts"));
  }
  if (!definition.rdzv_backend.empty() && definition.rdzv_backend != "static") {
    return fail(invalid_argument("rdzv_backend: '" + definition.rdzv_backend +
                                 "' is not available on Ray; leave it out"));
  }
  TRY_ASSIGN(std::string environment, environment_of(definition));
  const Sizes sizes = sizes_on(definition, cluster);
  std::vector<std::string> words = {
      "python",
      "-c",
      "import os; exec(os.environ['" + std::string(kDriverVariable) + "'])",
      "--replicas",
      std::to_string(sizes.replicas),
      "--processes",
      std::to_string(sizes.processes),
      "--cpus",
      decimal(sizes.cpu),
      "--gpus",
      std::to_string(sizes.gpu)};
  const auto add = [&](std::string option, const std::optional<std::int64_t>& value) {
    if (value) {
      words.push_back(std::move(option));
      words.push_back(std::to_string(*value));
    }
  };
  add("--memory-mb", definition.mem_mb);
  add("--port", definition.rdzv_port);
  add("--retries", definition.max_retries);
  words.emplace_back("--");
  if (definition.m.empty()) {
    words.push_back(definition.script);
  } else {
    words.insert(words.end(), {"-m", definition.m});
  }
  words.insert(words.end(), definition.script_args.begin(), definition.script_args.end());
  const auto directory = definition.scheduler_args.find("working_dir");
  JobSpec spec{.name = definition.name,
               .command = shell_command(words),
               .working_dir = directory == definition.scheduler_args.end()
                                  ? directory_of(definition.workspace)
                                  : directory->second,
               .runtime_env = std::move(environment),
               .env = definition.env,
               .metadata = {{"codeflare.dev/kind", "ddp"},
                            {"codeflare.dev/replicas", std::to_string(sizes.replicas)}}};
  spec.env.insert_or_assign(std::string(kDriverVariable), std::string(ddp_driver()));
  return spec;
}

}  // namespace codeflare::sdk
