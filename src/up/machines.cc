#include "up/machines.h"

#include "base/split.h"
#include "controllers/fakenode/fake_nodes.h"
#include "kube/typed.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/condition.h"
#include "model/resources.h"
#include "model/validation.h"
#include "node/agent/node_registration.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::up {

namespace {

using controllers::scale::MachineOrder;
using controllers::scale::MachineView;
using model::MachineType;

// On MachineTypes that come from the command line.
constexpr std::string_view kFromLabel = "scale.codeflare.dev/made-by";
constexpr std::string_view kFromUp = "up";
constexpr std::int64_t kPodsMax = 110;
// Addresses of fake machines are behind those of fake nodes.
constexpr std::size_t kAddressBase = 32'512;
constexpr std::size_t kAddresses = 32'000;

model::StringMap without_host(model::StringMap labels) {
  labels.erase("kubernetes.io/hostname");
  return labels;
}

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0
             ? std::optional(value)
             : std::nullopt;
}

Duration delay_of(const model::MachineTypeSpec& type) {
  const auto text = type.parameters.find(std::string(kDelayParameter));
  return std::chrono::seconds(text == type.parameters.end() ? 0 : whole(text->second).value_or(0));
}

model::ResourceList capacity_of(const MachineOrder& order) {
  model::ResourceList capacity = order.spec.capacity;
  if (capacity.find("pods") == nullptr) {
    capacity.set("pods", model::Quantity(kPodsMax));
  }
  return capacity;
}

Error bad(const std::string& text, const std::string& why) {
  return invalid_argument("--machine-type " + text + ": " + why);
}

Result<void> read_part(const std::string& text, const std::string& part, MachineType& type) {
  const std::size_t mark = part.find('=');
  const std::string key = part.substr(0, mark);
  const std::string value = mark == std::string::npos ? "" : part.substr(mark + 1);
  if (key == "fake" && value.empty()) {
    type.spec.parameters.insert_or_assign(std::string(kNodesParameter), "fake");
    return {};
  }
  if (key == "max") {
    const auto max = whole(value);
    if (!max || *max > 100) {
      return fail(bad(text, "max=" + value + ": expected 0 to 100"));
    }
    type.spec.max = *max;
    return {};
  }
  if (key == "cost") {
    double cost = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), cost);
    if (error != std::errc() || end != value.data() + value.size() || !(cost >= 0)) {
      return fail(bad(text, "cost=" + value + ": expected a number such as 2.5"));
    }
    type.spec.cost_per_hour = cost;
    return {};
  }
  if (key == "delay") {
    if (!whole(value)) {
      return fail(bad(text, "delay=" + value + ": expected seconds"));
    }
    type.spec.parameters.insert_or_assign(std::string(kDelayParameter), value);
    type.spec.start_seconds = *whole(value);
    return {};
  }
  if (key.starts_with("label:")) {
    type.spec.labels.insert_or_assign(key.substr(6), value);
    return {};
  }
  const std::string resource = key == "gpus" ? std::string(model::kGpuResource) : key;
  const Result<model::Quantity> amount = model::Quantity::parse(value);
  const bool known = key == "cpu" || key == "memory" || key == "gpus" || key == "pods" ||
                     key.find('/') != std::string::npos;
  if (!known || !amount || amount->sign() < 0) {
    return fail(bad(text, part + ": expected cpu=8, memory=16Gi, gpus=1, max=3, cost=2.5, "
                                 "label:KEY=VALUE, delay=SECONDS or fake"));
  }
  type.spec.capacity.set(resource, *amount);
  return {};
}

}  // namespace

Result<MachineType> parse_machine_type(const std::string& text) {
  const std::size_t mark = text.find('=');
  MachineType type;
  type.metadata.name = text.substr(0, mark);
  if (mark == std::string::npos || !model::check_dns1123_subdomain(type.metadata.name).empty()) {
    return fail(bad(text, "expected NAME=cpu=8,memory=16Gi,max=3"));
  }
  type.metadata.labels.emplace(std::string(kFromLabel), std::string(kFromUp));
  type.spec.provider = kLocalProvider;
  type.spec.max = 1;
  for (const std::string_view part : split(std::string_view(text).substr(mark + 1), ',')) {
    TRY(read_part(text, std::string(part), type));
  }
  if (type.spec.capacity.find("cpu") == nullptr || type.spec.capacity.find("memory") == nullptr) {
    return fail(bad(text, "cpu and memory are required"));
  }
  return type;
}

Task<Result<void>> ensure_machine_types(kube::Client& client, std::vector<MachineType> wanted) {
  kube::Api<MachineType> types(client);
  std::set<std::string> names;
  for (const MachineType& type : wanted) {
    names.insert(type.metadata.name);
  }
  kube::ListOptions ours{.label_selector = std::string(kFromLabel) + "=" + std::string(kFromUp)};
  CO_TRY_ASSIGN(const kube::Api<MachineType>::List found, co_await types.list(std::move(ours)));
  for (const MachineType& type : found.items) {
    if (!names.contains(type.metadata.name)) {
      CO_TRY(co_await types.remove(type.metadata.name));
    }
  }
  for (MachineType& type : wanted) {
    Result<MachineType> there = co_await types.get(type.metadata.name);
    if (there) {
      there->metadata.labels.insert_or_assign(std::string(kFromLabel), std::string(kFromUp));
      there->spec = std::move(type.spec);
      CO_TRY(co_await types.update(*std::move(there)));
    } else if (there.error().code == ErrorCode::not_found) {
      CO_TRY(co_await types.create(std::move(type)));
    } else {
      co_return fail(there.error());
    }
  }
  co_return Result<void>();
}

void LocalMachines::begin(runtime::Informer& nodes, UpNodes* process_nodes) {
  nodes_ = &nodes;
  process_nodes_ = process_nodes;
}

Result<bool> LocalMachines::is_fake(const model::MachineTypeSpec& type) const {
  const auto nodes = type.parameters.find(std::string(kNodesParameter));
  const std::string kind = nodes != type.parameters.end() ? nodes->second
                           : process_nodes_ == nullptr    ? "fake"
                                                          : "process";
  if (kind != "fake" && kind != "process") {
    return fail(failed_precondition("parameter nodes is " + kind + ": expected process or fake"));
  }
  if (kind == "process" && process_nodes_ == nullptr) {
    return fail(
        failed_precondition("this cluster has no process nodes; set parameter nodes to "
                            "fake, or start codeflare up with --nodes 1"));
  }
  return kind == "fake";
}

model::MachineTypeSpec LocalMachines::complete(const MachineType& type) const {
  model::MachineTypeSpec spec = type.spec;
  const Result<bool> fake = is_fake(spec);
  if (!fake) {
    return spec;
  }
  const model::StringMap own =
      without_host(*fake ? controllers::fakenode::fake_node(0, {}).metadata.labels
                         : node::node_object(process_nodes_->about(), {}).metadata.labels);
  for (const auto& [key, value] : own) {
    spec.labels.emplace(key, value);
  }
  return spec;
}

node::NodeDescription LocalMachines::describe(const MachineOrder& order) const {
  node::NodeDescription about = process_nodes_->about();
  const model::Quantity* disk = about.capacity.find("ephemeral-storage");
  model::ResourceList capacity = capacity_of(order);
  if (disk != nullptr && capacity.find("ephemeral-storage") == nullptr) {
    capacity.set("ephemeral-storage", *disk);
  }
  about.name = order.name;
  about.capacity = std::move(capacity);
  about.extras = {.labels = order.labels, .resources = {}};
  about.taints.assign(order.taints.begin(), order.taints.end());
  return about;
}

Task<Result<void>> LocalMachines::add_fake(MachineOrder order) {
  kube::Api<model::Node> nodes(client_);
  const std::size_t index = kAddressBase + std::hash<std::string>()(order.name) % kAddresses;
  model::Node node = controllers::fakenode::fake_node(index, {});
  node.status.addresses.back().address = order.name;
  node.metadata.name = order.name;
  node.metadata.labels.insert_or_assign("kubernetes.io/hostname", order.name);
  for (const auto& [key, value] : order.labels) {
    node.metadata.labels.insert_or_assign(key, value);
  }
  node.spec.taints = order.taints;
  node.status.capacity = node.status.allocatable = capacity_of(order);
  const model::NodeStatus wanted = node.status;
  Result<model::Node> made = co_await nodes.create(std::move(node));
  if (!made && made.error().code == ErrorCode::already_exists) {
    made = co_await nodes.get(order.name);
  }
  if (!made) {
    co_return fail(made.error());
  }
  if (!(made->status.allocatable == wanted.allocatable)) {
    made->status.capacity = wanted.capacity;
    made->status.allocatable = wanted.allocatable;
    made->status.addresses = wanted.addresses;
    made->status.node_info = wanted.node_info;
    CO_TRY(co_await nodes.update_status(*std::move(made)));
  }
  co_return Result<void>();
}

Task<Result<void>> LocalMachines::ask(std::vector<MachineOrder> orders) {
  for (MachineOrder& order : orders) {
    CO_TRY_ASSIGN(const bool fake, is_fake(order.spec));
    if (env_.clock.wall() < order.asked + delay_of(order.spec)) {
      continue;
    }
    if (fake) {
      CO_TRY(co_await add_fake(std::move(order)));
    } else {
      node::NodeDescription about = describe(order);
      CO_TRY(co_await process_nodes_->add(std::move(about)));
    }
  }
  co_return Result<void>();
}

std::vector<MachineView> LocalMachines::look(const std::vector<MachineOrder>& orders) const {
  std::vector<MachineView> views;
  for (const MachineOrder& order : orders) {
    MachineView& view = views.emplace_back();
    const kube::ObjectRef object = nodes_->store().get({"", order.name});
    if (object == nullptr) {
      continue;
    }
    view.there = true;
    view.node = order.name;
    const Result<model::Node> node = object->as<model::Node>();
    view.ready = node && model::is_condition_true(node->status.conditions, "Ready");
  }
  return views;
}

Task<Result<bool>> LocalMachines::give_back(MachineOrder order) {
  if (process_nodes_ != nullptr) {
    CO_TRY(co_await process_nodes_->remove(std::move(order.name)));
    co_return true;
  }
  const Result<kube::ObjectRef> removed =
      co_await client_.remove(model::resource_type<model::Node>(), {"", std::move(order.name)});
  if (!removed && removed.error().code != ErrorCode::not_found) {
    co_return fail(removed.error());
  }
  co_return true;
}

}  // namespace codeflare::up
