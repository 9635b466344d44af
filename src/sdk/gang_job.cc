#include "sdk/gang_job.h"

#include "json/parse.h"
#include "model/quantity.h"
#include "model/validation.h"
#include "sdk/internal/object_builder.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

using internal::ObjectBuilder;
using json::Value;

constexpr std::string_view kIndexField =
    "metadata.annotations['batch.kubernetes.io/job-completion-index']";
constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
constexpr std::int64_t kPodsMax = 10'000;

// Becomes torchrun, unbuffered, so that its log has lines of the program at once. Pod 0 is the
// meeting point and knows itself by "localhost" alone, as torch compares names; the others wait
// until it listens, for pods of a gang do not start at one moment.
constexpr std::string_view kMeet = R"py(import os, socket, sys, time
host, port = sys.argv[1], sys.argv[2]
if os.environ.get("JOB_COMPLETION_INDEX", "0") == "0":
    host = "localhost"
else:
    end = time.monotonic() + 900
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
            break
        except OSError as error:
            if time.monotonic() > end:
                sys.exit(f"replica 0 did not listen at {host}:{port} within 15 minutes: {error}")
            time.sleep(0.5)
words = [sys.executable, "-u", "-m", "torch.distributed.run", f"--rdzv_endpoint={host}:{port}"]
os.execv(sys.executable, words + sys.argv[3:])
)py";

// Output before somebody attaches would be lost to them. The words behind are the command.
constexpr std::string_view kStartLine = R"sh(IFS= read -r line && exec "$0" "$@")sh";

bool has_service(const GangJob& gang) {
  return gang.pods > 1 || gang.torchrun;
}

// By the headless Service, which also names pods that are not ready.
std::string first_pod(const GangJob& gang) {
  return gang.name + "-0." + gang.name;
}

std::vector<std::string> command_of(const GangJob& gang) {
  std::vector<std::string> words;
  if (gang.torchrun) {
    words = {"python3", "-c", std::string(kMeet), first_pod(gang), std::to_string(gang.port),
             "--rdzv_backend=" + gang.rendezvous, "--rdzv_id=" + gang.name,
             "--nnodes=" + std::to_string(gang.pods),
             "--nproc_per_node=" + std::to_string(gang.processes_per_pod),
             "--max_restarts=" + std::to_string(gang.restarts),
             // Lines of every process have its rank in front; standard error goes by as it is. Both
             // are given, and as 1, because torch 1.13 reads 0 and 3 as nothing with Python 3.11.
             "--redirects=1", "--tee=1", "--role="};
  }
  if (gang.terminal) {
    words = {"sh", "-c", std::string(kStartLine)};
  }
  words.insert(words.end(), gang.argv.begin(), gang.argv.end());
  std::ranges::transform(words, words.begin(), literal_word);
  return words;
}

Value metadata(ObjectBuilder& build, const GangJob& gang) {
  Value metadata = build.named(gang.name);
  build.set_text(metadata, "namespace", gang.ns);
  build.set_if(metadata, "labels", build.map(gang.labels));
  build.set_if(metadata, "annotations", build.map(gang.annotations));
  return metadata;
}

Value service(ObjectBuilder& build, const GangJob& gang) {
  Value port = build.named("rendezvous");
  build.set(port, "port", build.number(gang.port));
  Value ports = Value::array();
  build.push(ports, port);
  Value spec = Value::object();
  build.set(spec, "clusterIP", build.text("None"));
  build.set(spec, "publishNotReadyAddresses", Value::boolean(true));
  build.set(spec, "selector", build.map({{std::string(kJobNameLabel), gang.name}}));
  build.set(spec, "ports", ports);
  Value object = Value::object();
  build.set(object, "apiVersion", build.text("v1"));
  build.set(object, "kind", build.text("Service"));
  build.set(object, "metadata", metadata(build, gang));
  build.set(object, "spec", spec);
  return object;
}

Value variables(ObjectBuilder& build, const GangJob& gang) {
  Value list = Value::array();
  const auto add = [&](std::string_view name, std::string_view value) {
    Value item = build.named(name);
    build.set(item, "value", build.text(literal_word(value)));
    build.push(list, item);
  };
  if (gang.pods > 1 && !gang.torchrun) {
    if (!gang.env.contains("RANK")) {
      Value field = Value::object();
      build.set(field, "fieldPath", build.text(kIndexField));
      Value from = Value::object();
      build.set(from, "fieldRef", field);
      Value rank = build.named("RANK");
      build.set(rank, "valueFrom", from);
      build.push(list, rank);
    }
    for (const auto& [name, value] : model::StringMap{{"WORLD_SIZE", std::to_string(gang.pods)},
                                                      {"MASTER_ADDR", first_pod(gang)},
                                                      {"MASTER_PORT", std::to_string(gang.port)}}) {
      if (!gang.env.contains(name)) {
        add(name, value);
      }
    }
  }
  for (const auto& [name, value] : gang.env) {
    add(name, value);
  }
  return list;
}

Value container(ObjectBuilder& build, const GangJob& gang) {
  Value container = build.named(kGangContainer);
  build.set(container, "image", build.text(gang.image));
  build.set(container, "command", build.texts(command_of(gang)));
  build.set_text(container, "workingDir", gang.workdir);
  for (const char* const field : {"stdin", "stdinOnce", "tty"}) {
    if (gang.terminal) {
      build.set(container, field, Value::boolean(true));
    }
  }
  build.set_if(container, "env", variables(build, gang));
  Value resources = Value::object();
  build.set_if(resources, "requests", build.map(gang.resources));
  build.set_if(resources, "limits", build.map(gang.resources));
  build.set_if(container, "resources", resources);
  Value mounts = build.list(gang.volume_mounts);
  if (gang.shared_memory) {
    Value mount = build.named("dshm");
    build.set(mount, "mountPath", build.text("/dev/shm"));
    build.push(mounts, mount);
  }
  build.set_if(container, "volumeMounts", mounts);
  return container;
}

Value pod_spec(ObjectBuilder& build, const GangJob& gang) {
  Value spec = Value::object();
  build.set(spec, "restartPolicy", build.text("Never"));
  if (has_service(gang)) {
    build.set(spec, "subdomain", build.text(gang.name));
  }
  build.set_if(spec, "initContainers", build.list(gang.init_containers));
  Value containers = Value::array();
  build.push(containers, container(build, gang));
  build.set(spec, "containers", containers);
  Value volumes = build.list(gang.volumes);
  if (gang.shared_memory) {
    Value memory = Value::object();
    build.set(memory, "medium", build.text("Memory"));
    if (const auto limit = gang.resources.find("memory"); limit != gang.resources.end()) {
      build.set(memory, "sizeLimit", build.text(limit->second));
    }
    Value volume = build.named("dshm");
    build.set(volume, "emptyDir", memory);
    build.push(volumes, volume);
  }
  build.set_if(spec, "volumes", volumes);
  build.set_if(spec, "nodeSelector", build.map(gang.node_selector));
  build.set_if(spec, "tolerations", build.list(gang.tolerations));
  Value secrets = Value::array();
  for (const std::string& name : gang.pull_secrets) {
    build.push(secrets, build.named(name));
  }
  build.set_if(spec, "imagePullSecrets", secrets);
  build.set_text(spec, "priorityClassName", gang.priority_class);
  build.set_text(spec, "serviceAccountName", gang.service_account);
  return spec;
}

// A drained or lost node is not the program's failure: the pod is made anew, elsewhere.
Value disruptions_do_not_count(ObjectBuilder& build) {
  Value condition = Value::object();
  build.set(condition, "type", build.text("DisruptionTarget"));
  build.set(condition, "status", build.text("True"));
  Value conditions = Value::array();
  build.push(conditions, condition);
  Value rule = Value::object();
  build.set(rule, "action", build.text("Ignore"));
  build.set(rule, "onPodConditions", conditions);
  Value rules = Value::array();
  build.push(rules, rule);
  Value policy = Value::object();
  build.set(policy, "rules", rules);
  return policy;
}

Value job(ObjectBuilder& build, const GangJob& gang) {
  Value pod_metadata = Value::object();
  build.set_if(pod_metadata, "labels", build.map(gang.labels));
  build.set_if(pod_metadata, "annotations", build.map(gang.annotations));
  Value pod = Value::object();
  build.set_if(pod, "metadata", pod_metadata);
  build.set(pod, "spec", pod_spec(build, gang));
  Value spec = Value::object();
  build.set(spec, "completionMode", build.text("Indexed"));
  build.set(spec, "completions", build.number(gang.pods));
  build.set(spec, "parallelism", build.number(gang.pods));
  build.set(spec, "backoffLimit", build.number(gang.backoff_limit));
  build.set(spec, "podFailurePolicy", disruptions_do_not_count(build));
  if (gang.deadline_seconds > 0) {
    build.set(spec, "activeDeadlineSeconds", build.number(gang.deadline_seconds));
  }
  build.set(spec, "template", pod);
  Value object = Value::object();
  build.set(object, "apiVersion", build.text("batch/v1"));
  build.set(object, "kind", build.text("Job"));
  build.set(object, "metadata", metadata(build, gang));
  build.set(object, "spec", spec);
  return object;
}

// The word of a condition (a Job's) or of the job status (a RayJob's) that means a good end.
std::string_view completion_of(const Value& object) {
  const std::string_view kind = object.string_or_empty("kind");
  return kind == "Job" ? "Complete" : kind == "RayJob" ? "Succeeded" : "";
}

class Problems {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  void add_all(std::string_view field, const model::Complaints& complaints) {
    if (!complaints.empty()) {
      add(std::string(field) + ": " + model::join(complaints));
    }
  }
  void range(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) {
      add(std::string(field) + " " + std::to_string(value) + ": must be from " +
          std::to_string(least) + " to " + std::to_string(most));
    }
  }
  void list(std::string_view field, const model::RawJson& json) {
    if (!json.empty()) {
      const Result<json::Document> parsed = json::parse(json.text);
      if (!parsed || !parsed->root.is_array()) {
        add(std::string(field) + ": must be a JSON list");
      }
    }
  }
  Result<void> result(const std::string& name) const {
    if (problems_.empty()) {
      return {};
    }
    return fail(invalid_argument("job '" + name + "': " + model::join(problems_)));
  }

 private:
  std::vector<std::string> problems_;
};

void check_variable(Problems& problems, const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (name.empty() || (name.front() >= '0' && name.front() <= '9') ||
      !std::ranges::all_of(name, plain)) {
    problems.add("variable '" + name +
                 "': must consist of letters, digits, '_', '-' or '.' and not begin with a digit");
  }
}

void check_amount(Problems& problems, const std::string& resource, const std::string& amount) {
  const std::string field = resource + " '" + amount + "'";
  const Result<model::Quantity> parsed = model::Quantity::parse(amount);
  if (!parsed) {
    problems.add(field + ": not a quantity; write numbers such as 2, 500m, 1.5 or 4Gi");
  } else if (*parsed <= model::Quantity()) {
    problems.add(field + ": must be more than 0");
  }
  problems.add_all("resource '" + resource + "'", model::check_qualified_name(resource));
}

}  // namespace

std::string literal_word(std::string_view word) {
  std::string literal;
  for (std::size_t i = 0; i < word.size(); ++i) {
    literal += word[i];
    const char next = i + 1 < word.size() ? word[i + 1] : '\0';
    if (word[i] == '$' && (next == '(' || next == '$')) {
      literal += '$';
    }
  }
  return literal;
}

Result<void> check(const GangJob& gang) {
  Problems problems;
  problems.add_all("name", model::check_dns1035_label(gang.name));
  const std::size_t longest = gang.name.size() + 1 + std::to_string(gang.pods).size();
  if (gang.name.size() <= model::kDnsLabelLengthMax && longest > model::kDnsLabelLengthMax) {
    problems.add("name: must be no more than " +
                 std::to_string(model::kDnsLabelLengthMax - (longest - gang.name.size())) +
                 " characters, so that names of pods fit");
  }
  if (gang.image.empty()) {
    problems.add("the image is missing");
  }
  if (gang.argv.empty() || gang.argv.front().empty()) {
    problems.add("the command is missing");
  }
  problems.range("number of pods", gang.pods, 1, kPodsMax);
  problems.range("processes per pod", gang.processes_per_pod, 1, kPodsMax);
  problems.range("port", gang.port, 1, 65535);
  problems.range("number of restarts", gang.restarts, 0, kPodsMax);
  problems.range("number of retries", gang.backoff_limit, 0, kPodsMax * kPodsMax);
  problems.range("deadline", gang.deadline_seconds, 0, std::int64_t{1} << 31);
  for (const auto& [resource, amount] : gang.resources) {
    check_amount(problems, resource, amount);
  }
  for (const auto& [name, value] : gang.env) {
    check_variable(problems, name);
  }
  for (const auto& [key, value] : gang.labels) {
    problems.add_all("label '" + key + "'", model::check_qualified_name(key));
    problems.add_all("label '" + key + "'", model::check_label_value(value));
  }
  problems.list("volumes", gang.volumes);
  problems.list("mounts", gang.volume_mounts);
  problems.list("init containers", gang.init_containers);
  problems.list("tolerations", gang.tolerations);
  return problems.result(gang.name);
}

json::Document gang_objects(const GangJob& gang) {
  json::Document document;
  ObjectBuilder build(document.arena);
  document.root = Value::array();
  if (has_service(gang)) {
    build.push(document.root, service(build, gang));
  }
  build.push(document.root, job(build, gang));
  return document;
}

json::Document wrap(const Wrapping& wrapping, const Value& objects) {
  json::Document document;
  ObjectBuilder build(document.arena);
  Value items = Value::array();
  for (const Value& object : objects.items()) {
    Value item = Value::object();
    build.set(item, "replicas", build.number(1));
    build.set_text(item, "completionstatus", completion_of(object));
    build.set(item, "generictemplate", object.clone(document.arena));
    build.push(items, item);
  }
  Value resources = Value::object();
  build.set(resources, "GenericItems", items);
  Value spec = Value::object();
  if (wrapping.priority) {
    build.set(spec, "priority", build.number(*wrapping.priority));
  }
  if (wrapping.suspended) {
    build.set(spec, "suspend", Value::boolean(true));
  }
  if (wrapping.limit_seconds > 0) {
    Value duration = Value::object();
    build.set(duration, "limit", build.number(wrapping.limit_seconds));
    Value scheduling = Value::object();
    build.set(scheduling, "dispatchDuration", duration);
    build.set(spec, "schedulingSpec", scheduling);
  }
  build.set(spec, "resources", resources);
  model::StringMap labels = wrapping.labels;
  for (const auto& [tree, node] : wrapping.quota) {
    labels.insert_or_assign(tree, node);
  }
  Value metadata = build.named(wrapping.name);
  build.set_text(metadata, "namespace", wrapping.ns);
  build.set_if(metadata, "labels", build.map(labels));
  build.set_if(metadata, "annotations", build.map(wrapping.annotations));
  Value object = Value::object();
  build.set(object, "apiVersion", build.text("workload.codeflare.dev/v1beta1"));
  build.set(object, "kind", build.text("AppWrapper"));
  build.set(object, "metadata", metadata);
  build.set(object, "spec", spec);
  document.root = object;
  return document;
}

}  // namespace codeflare::sdk
