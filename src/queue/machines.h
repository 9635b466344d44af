#pragma once

#include "model/app_wrapper.h"
#include "model/machine_request.h"
#include "model/machine_type.h"
#include "model/meta.h"
#include "queue/work.h"
#include "sched/spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Machines that the queue may ask for: offers in, requests and words out. Queue::plan_machines.
namespace codeflare::queue {

// On Nodes of machines: the MachineRequest, and the MachineType.
inline constexpr std::string_view kRequestLabel = "scale.codeflare.dev/request";
inline constexpr std::string_view kMachineTypeLabel = "scale.codeflare.dev/machine-type";
// On Nodes whose request is not complete; the value is the request.
inline constexpr std::string_view kPendingTaint = "scale.codeflare.dev/pending";
// On pods that only hold room for others: they take nothing in the queue's eyes.
inline constexpr std::string_view kPlaceholderLabel = "scale.codeflare.dev/placeholder";
// On AppWrappers, of InstaScale: names of types for the pod sets, in order, joined by '_'.
inline constexpr std::string_view kOrderedInstanceLabel = "orderedinstance";

struct MachineOffer {
  std::string type;  // of another cluster CLUSTER/TYPE
  model::MachineTypeSpec spec{};
  std::int64_t in_use = 0;  // asked for and not gone
  // Why it cannot be asked for now: "failed at ...: no capacity; next try at ...". Empty: it can.
  std::string resting{};
  // Its machines come for work that is sent there, within limits of that cluster alone. Empty:
  // here.
  std::string cluster{};
};

// A machine that was asked for and cannot be used yet.
struct MachineOnOrder {
  std::string request;
  std::string type;
  model::StringMap labels{};  // beside those of its type
};

struct MachineMarket {
  std::vector<MachineOffer> offers{};
  std::vector<MachineOnOrder> on_order{};
  // By request: what was asked for, since when, and how many are ready. For people.
  std::map<std::string, std::string> requests{};
  // By request: when such machines usually are ready; absent: a type of them does not say.
  std::map<std::string, sched::Time> ready_at{};
  // The rest of the limits; absent: unlimited.
  std::optional<std::int64_t> machines_left{};
  std::optional<double> budget_left{};
  std::optional<double> namespace_budget{};         // of each namespace
  std::map<std::string, double> namespace_costs{};  // per hour, by namespace
  // How the limits are called.
  std::string machines_limit{};  // "--max-scaleout 3"
  std::string budget_limit{};
};

struct MachineAsk {
  WorkId work;
  std::vector<std::pair<std::string, std::int64_t>> machines;  // by type
  model::StringMap labels{};                                   // of the Nodes
  model::List<model::MachinePods> pods{};                      // of the work, on these machines
  // Machines of another cluster, whose own controller asks for them once the work is there.
  std::string cluster{};
  std::vector<model::PlannedPlace> places{};  // there, of all of its pods
};

// Machine news for one that waits.
struct MachineNote {
  bool scaling = false;  // they come: the reason is ScalingUp. Else the text follows the reason's
  std::string text;
  std::set<std::string> requests{};    // incomplete ones that have machines for it
  std::optional<sched::Time> ready{};  // all of them usually are by then
  friend bool operator==(const MachineNote&, const MachineNote&) = default;
};

struct MachinePlan {
  std::vector<MachineAsk> asks;
  std::map<std::string, MachineNote> notes;  // by UID
};

// The labels that Nodes get for an AppWrapper, as InstaScale named them; invalid labels are left
// out.
model::StringMap machine_labels(const WorkId& work);
// A machine as the core sees it. Without a number of pods it has room for 110.
sched::NodeSpec machine_spec(const model::MachineTypeSpec& type, const std::string& name,
                             const model::StringMap& labels);
// In plans: a place on a machine of that cluster that has no node yet.
std::string new_machine_place(std::string_view cluster, std::string_view type);
bool is_new_machine(std::string_view place);
// "2 machines of type big, 1 of type small"
std::string machines_text(const std::vector<std::pair<std::string, std::int64_t>>& machines);

}  // namespace codeflare::queue
