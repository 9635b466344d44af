#pragma once

#include "kube/object.h"
#include "model/gvk.h"
#include "runtime/informer.h"

#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::runs {

// What the status of a Run needs to know of one of its pods.
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

RunPod run_pod_of(const kube::Object& pod);

// The pods of each Run, by label, kept in step with an informer.
class RunPods {
 public:
  explicit RunPods(runtime::Informer& pods);

  // In the order of their names.
  std::vector<RunPod> of(const model::ObjectKey& run) const;

 private:
  void change(const runtime::ObjectChange& change);

  std::map<model::ObjectKey, std::map<std::string, RunPod>> by_run_;
};

}  // namespace codeflare::controllers::runs
