#pragma once

#include "model/gvk.h"
#include "model/pod.h"
#include "runtime/index.h"

#include <optional>
#include <string>

namespace codeflare::controllers::runs {

// The facts about one of its pods that the status of a Run needs.
struct RunPod {
  std::string name;
  std::string uid{};
  std::string phase{};
  std::string role{};   // of a RayJob's pods
  std::string index{};  // of an Indexed Job's pods
  bool deleting = false;
  bool ready = false;
  // Of the container that is worst off: "Error", "OOMKilled", "ErrImagePull", "AccessDenied" ...
  std::string trouble{};
  std::string message{};

  // Its log is that of the program.
  bool is_head() const {
    return role.empty() ? index.empty() || index == "0" : role == "submitter";
  }
};

RunPod run_pod_of(const model::Pod& pod);

using RunPods = runtime::Index<model::ObjectKey, RunPod>;  // by Run, as the label says
std::optional<RunPods::Entry> read_run_pod(const runtime::ObjectChange& change,
                                           const RunPod* before);

}  // namespace codeflare::controllers::runs
