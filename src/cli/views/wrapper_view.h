#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// AppWrappers as text; pure.
namespace codeflare::cli {

// An AppWrapper with the group that it is of: both may hold the same name.
struct GroupedWrapper : model::AppWrapper {
  model::WrapperApi api = model::WrapperApi::workload_v1beta1;
};

// The columns of one AppWrapper in tables.
struct WrapperView {
  std::string uid;
  std::string ns;
  std::string name;
  model::WrapperApi api = model::WrapperApi::workload_v1beta1;
  std::string state;  // "Held" and "Deleting" besides MCAD's words
  std::int32_t priority = 0;
  std::string pods;     // "2/3": running or succeeded of all; "-" without any
  std::string reason;   // why it waits, or why it failed
  std::string message;  // the same in a sentence
  std::string nodes;    // "node-1:2,node-2:1"
  std::string cluster;  // of its plan, "local" for this one; empty without a plan
  WallTime submitted{};

  // Its plan is on a worker cluster.
  bool is_elsewhere() const;
  // It is in line: neither started nor ended, nor on its way out.
  bool waits = false;
  bool held = false;   // by its owner; it is in line, but not tried
  bool holds = false;  // it has places on nodes

  bool is_of_mcad() const { return api == model::WrapperApi::mcad_v1beta1; }
  std::string group() const;
  // Of one group alone: "team/train", "team/train of mcad.ibm.com".
  std::string full_name() const;
};

WrapperView view_of(const GroupedWrapper& wrapper);

// Why dispatched work does not run: "FailedCreate", "Job web: FailedCreate: exceeded quota".
struct Cause {
  std::string reason;
  std::string text;
};
// Where the status does not say it.
void add_cause(WrapperView& view, const Cause& cause);

struct ListOptions {
  bool all_namespaces = false;
  bool wide = false;
  bool clusters = false;  // there are worker clusters: say where each runs
};
// A line for each, ordered by namespace and name; with their groups when one is of MCAD's.
std::string render_list(std::vector<WrapperView> views, const ListOptions& options, WallTime now);

// All that its status says, for people.
std::string render_status(const GroupedWrapper& wrapper, WallTime now,
                          const std::optional<Cause>& cause = {});

// How long somebody has waited, or a dash when the time is not known.
std::string age_text(WallTime since, WallTime now);

// "node-1:2,node-2:1"
std::string nodes_text(const std::vector<model::PlannedPlace>& places);
// The same in a sentence, where a colon would look like a port: "node-1 (2 pods), node-2
// (1 pod)".
std::string nodes_in_words(std::string_view nodes);

}  // namespace codeflare::cli
