#include "controllers/scale/machine_sets.h"

#include "base/split.h"
#include "controllers/scale/shape.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/meta.h"
#include "model/codec/node.h"
#include "model/node_extras.h"
#include "model/validation.h"
#include "queue/machines.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace codeflare::controllers::scale {

namespace {

constexpr std::string_view kSetLabel = "machine.openshift.io/cluster-api-machineset";
// Kubelets of OpenShift keep this by default: system-reserved and the eviction threshold.
constexpr std::int64_t kReservedMilliCpu = 500;
constexpr std::int64_t kReservedMebibytes = 1024 + 100;

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0
             ? std::optional(value)
             : std::nullopt;
}

std::string text_at(const json::Value& root, std::initializer_list<std::string_view> path) {
  const json::Value* found = root.get(path);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

Result<model::ObjectMeta> read_metadata(const json::Value& root) {
  const json::Value* metadata = root.find("metadata");
  return metadata == nullptr ? fail(data_loss("object without metadata"))
                             : model::from_json<model::ObjectMeta>(*metadata);
}

// Clouds name the type of a virtual machine in their own ways.
std::string instance_type_of(const json::Value& root) {
  const json::Value* value = root.get({"spec", "template", "spec", "providerSpec", "value"});
  for (const std::string_view field : {"instanceType", "vmSize", "machineType"}) {
    if (value != nullptr && !value->string_or_empty(field).empty()) {
      return std::string(value->string_or_empty(field));
    }
  }
  return {};
}

Result<void> read_node_parts(const json::Value& spec, MachineSet& set) {
  if (const json::Value* labels = spec.get({"metadata", "labels"}); labels != nullptr) {
    for (const json::Member& label : labels->members()) {
      set.node_labels.emplace(label.key, label.value.is_string() ? label.value.as_string() : "");
    }
  }
  if (const json::Value* taints = spec.find("taints"); taints != nullptr) {
    for (const json::Value& taint : taints->items()) {
      TRY_ASSIGN(model::Taint read, model::from_json<model::Taint>(taint));
      set.node_taints.push_back(std::move(read));
    }
  }
  return {};
}

std::string problem_of(const std::string& title, const json::Value& root) {
  const std::string reason = text_at(root, {"status", "errorReason"});
  const std::string message = text_at(root, {"status", "errorMessage"});
  if (reason.empty() && message.empty()) {
    return {};
  }
  return title + ": " + reason + (reason.empty() || message.empty() ? "" : ": ") + message;
}

std::string number_of(const MachineOrder& order) {
  return order.name.substr(order.request.size() + 1);
}

// Requests are named by the UID of their work.
std::string count_prefix(std::string_view request) {
  return "scale.codeflare.dev/" + std::string(request) + ".";
}

std::string count_key(const MachineOrder& order) {
  return count_prefix(order.request) + type_suffix(order.type);
}

std::set<std::string> read_numbers(const std::string& text) {
  std::set<std::string> numbers;
  for (const std::string_view number : split(text, ',')) {
    numbers.emplace(number);
  }
  numbers.erase("");
  return numbers;
}

std::string text_of(const std::set<std::string>& numbers) {
  return model::join({numbers.begin(), numbers.end()}, ",");
}

std::string work_text(const MachineOrder& order) {
  return order.work.name + "-" + order.work.ns;
}

// InstaScale's label for reused sets; empty when it would be too long.
std::string instascale_key(const MachineOrder& order) {
  std::string key = "instascale.codeflare.dev-" + work_text(order);
  return model::check_qualified_name(key).empty() ? key : std::string();
}

void write_instascale_label(json::Writer& w, const MachineSet& set, const MachineOrder& order,
                            std::int64_t change) {
  const std::string key = instascale_key(order);
  if (key.empty()) {
    return;
  }
  const std::int64_t machines =
      whole(model::find_or_empty(set.metadata.labels, key)).value_or(0) + change;
  w.key("labels").begin_object().key(key);
  if (machines > 0) {
    w.string(std::to_string(machines));
  } else {
    w.null();
  }
  w.end_object();
}

std::set<std::string> numbers_of(const std::vector<MachineOrder>& orders) {
  std::set<std::string> numbers;
  for (const MachineOrder& order : orders) {
    numbers.insert(number_of(order));
  }
  return numbers;
}

// Labels and taints that the Nodes of a copy get from OpenShift, which also puts them back when
// somebody removes them: not those of the request.
void write_node_parts(json::Writer& w, const MachineSet& set, const MachineOrder& order) {
  w.key("metadata").begin_object().key("labels").begin_object();
  for (const auto& [key, value] : order.labels) {
    if (key != queue::kRequestLabel && key != queue::kMachineTypeLabel) {
      w.member(key, value);
    }
  }
  w.end_object().end_object();
  std::vector<model::Taint> taints = set.node_taints;
  taints.insert(taints.end(), order.spec.taints.begin(), order.spec.taints.end());
  w.key("taints").begin_array();
  json::Arena arena;
  for (const model::Taint& taint : taints) {
    w.value(model::to_json(arena, taint));
  }
  w.end_array();
}

// The differences between the spec of a copy and that of its set.
std::string copy_spec_patch(const MachineSet& set, const std::vector<MachineOrder>& orders) {
  const MachineOrder& first = orders.front();
  const std::string name = copy_name(first);
  std::string patch;
  json::Writer w(patch);
  w.begin_object().key("replicas").integer(static_cast<std::int64_t>(orders.size()));
  w.key("selector").begin_object().key("matchLabels").begin_object();
  w.member(kSetLabel, name).end_object().end_object();
  w.key("template").begin_object().key("metadata").begin_object().key("labels").begin_object();
  w.member(kSetLabel, name).end_object().end_object();
  w.key("spec").begin_object();
  write_node_parts(w, set, first);
  w.end_object().end_object().end_object();
  return patch;
}

}  // namespace

std::string_view Machine::order() const {
  return model::find_or_empty(metadata.annotations, kMachineAnnotation);
}

bool Machine::is_marked() const {
  return !model::find_or_empty(metadata.annotations, kDeleteAnnotation).empty();
}

Result<MachineSet> read_machine_set(const kube::ObjectRef& object) {
  TRY_ASSIGN(const json::Document document, object->parse());
  const json::Value& root = document.root;
  MachineSet set;
  TRY_ASSIGN(set.metadata, read_metadata(root));
  if (const json::Value* replicas = root.get({"spec", "replicas"}); replicas != nullptr) {
    set.replicas = replicas->is_number() ? replicas->to_int64().value_or(0) : 0;
  }
  set.instance_type = instance_type_of(root);
  const json::Value* spec = root.get({"spec", "template", "spec"});
  if (spec != nullptr) {
    TRY(read_node_parts(*spec, set));
  }
  set.problem = problem_of("MachineSet " + set.metadata.name, root);
  set.object = object;
  return set;
}

Result<Machine> read_machine(const kube::Object& object) {
  TRY_ASSIGN(const json::Document document, object.parse());
  const json::Value& root = document.root;
  Machine machine;
  TRY_ASSIGN(machine.metadata, read_metadata(root));
  machine.set = model::find_or_empty(machine.metadata.labels, kSetLabel);
  machine.node = text_at(root, {"status", "nodeRef", "name"});
  machine.phase = text_at(root, {"status", "phase"});
  machine.problem = problem_of("Machine " + machine.metadata.name, root);
  if (machine.problem.empty() && machine.phase == "Failed") {
    machine.problem = "Machine " + machine.metadata.name + ": Failed";
  }
  return machine;
}

model::ResourceList machine_capacity(const MachineSet& set) {
  const auto amount = [&](std::string_view name) {
    return whole(model::find_or_empty(set.metadata.annotations,
                                      "machine.openshift.io/" + std::string(name)));
  };
  model::ResourceList capacity;
  if (const auto cpus = amount("vCPU")) {
    capacity.set(
        "cpu", model::Quantity::milli(std::max<std::int64_t>(*cpus * 1000 - kReservedMilliCpu, 0)));
  }
  if (const auto mebibytes = amount("memoryMb")) {
    capacity.set("memory",
                 model::Quantity(std::max<std::int64_t>(*mebibytes - kReservedMebibytes, 0) << 20,
                                 model::Quantity::Format::binary_si));
  }
  if (const auto gpus = amount("GPU"); gpus && *gpus > 0) {
    capacity.set(model::kGpuResource, model::Quantity(*gpus));
  }
  if (const auto pods = amount("maxPods")) {
    capacity.set("pods", model::Quantity(*pods));
  }
  return capacity;
}

std::optional<std::set<std::string>> counted(const MachineSet& set, const MachineOrder& order) {
  const auto found = set.metadata.annotations.find(count_key(order));
  if (found == set.metadata.annotations.end()) {
    return std::nullopt;
  }
  return read_numbers(found->second);
}

bool is_counted(const MachineSet& set, std::string_view order) {
  const std::size_t dash = order.rfind('-');
  if (dash == std::string_view::npos) {
    return false;
  }
  const std::string prefix = count_prefix(order.substr(0, dash));
  const std::string number(order.substr(dash + 1));
  return std::ranges::any_of(set.metadata.annotations, [&](const auto& annotation) {
    return annotation.first.starts_with(prefix) && read_numbers(annotation.second).contains(number);
  });
}

std::string copy_name(const MachineOrder& order) {
  return order.request + "-" + type_suffix(order.type);
}

bool is_copy(const MachineSet& set, const MachineOrder& order) {
  return set.metadata.name == copy_name(order) &&
         model::find_or_empty(set.metadata.labels, queue::kRequestLabel) == order.request;
}

std::string raise_patch(const MachineSet& set, const std::vector<MachineOrder>& orders) {
  const MachineOrder& first = orders.front();
  const auto machines = static_cast<std::int64_t>(orders.size());
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", set.metadata.resource_version);
  w.key("annotations").begin_object();
  w.member(count_key(first), text_of(numbers_of(orders))).end_object();
  write_instascale_label(w, set, first, machines);
  w.end_object().key("spec").begin_object();
  w.key("replicas").integer(set.replicas + machines).end_object().end_object();
  return body;
}

std::string copy_json(const MachineSet& set, const std::vector<MachineOrder>& orders) {
  const MachineOrder& first = orders.front();
  const Result<json::Document> from = set.object->parse();
  const Result<json::Document> patch = json::parse(copy_spec_patch(set, orders));
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "machine.openshift.io/v1beta1");
  w.member("kind", kMachineSets.kind).key("metadata").begin_object();
  w.member("name", copy_name(first)).member("namespace", set.metadata.ns);
  w.key("labels").begin_object().member(queue::kRequestLabel, first.request);
  if (model::check_label_value(work_text(first)).empty()) {
    w.member("instascale.codeflare.dev-aw", work_text(first));
  }
  w.end_object().key("annotations").begin_object();
  w.member(count_key(first), text_of(numbers_of(orders))).end_object().end_object();
  const json::Value* spec = from ? from->root.find("spec") : nullptr;
  const json::Document changed =
      json::apply_merge_patch(spec == nullptr ? json::Value::object() : *spec, patch->root);
  w.key("spec").value(changed.root).end_object();
  return body;
}

std::string release_patch(const MachineSet& set, const MachineOrder& order, bool lower) {
  std::set<std::string> numbers = counted(set, order).value_or(std::set<std::string>());
  numbers.erase(number_of(order));
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", set.metadata.resource_version);
  w.key("annotations").begin_object().key(count_key(order));
  if (numbers.empty() && !is_copy(set, order)) {
    w.null();
  } else {
    w.string(text_of(numbers));
  }
  w.end_object();
  if (!is_copy(set, order)) {
    write_instascale_label(w, set, order, -1);
  }
  w.end_object();
  if (lower) {
    w.key("spec").begin_object();
    w.key("replicas").integer(std::max<std::int64_t>(set.replicas - 1, 0)).end_object();
  }
  w.end_object();
  return body;
}

std::string bind_patch(const Machine& machine, const MachineOrder& order, bool mark) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", machine.metadata.resource_version);
  w.key("annotations").begin_object().member(kMachineAnnotation, order.name);
  if (mark) {
    w.member(kDeleteAnnotation, "true");
  }
  w.end_object().end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::scale
