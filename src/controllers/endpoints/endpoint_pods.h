#pragma once

#include "kube/object.h"
#include "model/gvk.h"
#include "model/labels.h"
#include "model/meta.h"
#include "runtime/informer.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::endpoints {

// The facts about a pod that the endpoints of a Service need.
struct EndpointPod {
  struct Port {
    std::string name;
    std::string protocol;
    std::int32_t number = 0;
  };
  std::string name;
  std::string uid;
  model::StringMap labels;
  std::string address;
  std::string node;
  std::string hostname;
  std::string subdomain;
  std::vector<Port> ports;  // those with a name
  bool ready = false;
  bool deleting = false;
  bool over = false;
};

EndpointPod endpoint_pod_of(const kube::Object& pod);

// The pods of each namespace, kept in step with an informer. Each is read when somebody asks for
// those of its namespace: most namespaces have no Services that select any.
class EndpointPods {
 public:
  explicit EndpointPods(runtime::Informer& pods);

  // In the order of their names.
  std::vector<EndpointPod> selected(std::string_view ns, const model::Selector& selector) const;

 private:
  struct Entry {
    runtime::ObjectRef unread;  // null once `pod` is made from it
    EndpointPod pod;
  };

  void change(const runtime::ObjectChange& change);

  // Reading what is there changes nothing for those who ask.
  mutable std::map<std::string, std::map<std::string, Entry>, std::less<>> by_namespace_;
};

}  // namespace codeflare::controllers::endpoints
