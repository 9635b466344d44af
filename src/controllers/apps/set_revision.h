#pragma once

#include "kube/object.h"
#include "model/gvk.h"
#include "model/meta.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

// apps/v1 ControllerRevision: a numbered template in the history of a StatefulSet.
struct SetRevision {
  std::string name;
  std::string uid;
  std::int64_t number = 0;
  model::PodTemplateSpec pod_template;

  friend bool operator==(const SetRevision&, const SetRevision&) = default;
};

inline constexpr std::string_view kRevisionHashLabel = "controller-revision-hash";

const model::ResourceType& revision_type();

// Nothing when it holds no template.
std::optional<SetRevision> revision_of(const kube::Object& object);

// As it is sent: labels of the template, and the data in the form that `kubectl rollout undo`
// applies.
std::string revision_body(const SetRevision& revision, const std::string& set_name,
                          const model::OwnerReference& owner);

// The revisions among which a set with this template stands.
struct Revisions {
  SetRevision update;     // of the template as it is now
  SetRevision current;    // of the pods that are not updated yet
  bool create = false;    // `update` does not exist yet
  bool renumber = false;  // `update` is an older one that is the newest again
  std::int32_t collisions = 0;
};
Revisions find_revisions(const std::string& set_name, const model::PodTemplateSpec& now,
                         const std::vector<SetRevision>& known, std::string_view current_name,
                         std::int32_t collisions);

}  // namespace codeflare::controllers::apps
