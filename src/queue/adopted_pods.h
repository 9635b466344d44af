#pragma once

#include "model/app_wrapper.h"
#include "model/pod.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace codeflare::queue {

// Pods of work that MCAD dispatched. MCAD labelled the pods that it made a template for; those that
// another controller makes (of a RayCluster) are known by the object that controls them alone. They
// get MCAD's label here, so that nobody else has to tell the difference.
//   adopted.learn(wrapper); ... adopted.mark(pod); queue.upsert_pod(pod);
class AdoptedPods {
 public:
  // Learns the wrapped objects, if MCAD dispatched it. Call first: pods seen before do not change.
  void learn(const model::AppWrapper& wrapper);
  void forget(std::string_view uid);
  void mark(model::Pod& pod) const;
  // No pod needs a mark.
  bool empty() const { return items_.empty(); }

 private:
  struct Wrapper {
    std::string uid;
    std::string name;
  };
  using Item = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Item, Wrapper> items_;  // by namespace, group, kind and name
};

}  // namespace codeflare::queue
