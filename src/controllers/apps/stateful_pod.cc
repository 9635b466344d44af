#include "controllers/apps/claim.h"
#include "controllers/apps/stateful_set_decision.h"
#include "model/resources.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

const model::ResourceType kSets = model::resource_type<model::StatefulSet>();

std::string claim_name(const model::StatefulSet& set, const std::string& of, std::int32_t ordinal) {
  return of + "-" + set.metadata.name + "-" + std::to_string(ordinal);
}

// The set's claims take the place of the template's volumes of the same names.
std::vector<model::Volume> volumes_of(const model::StatefulSet& set,
                                      const std::vector<model::Volume>& given,
                                      std::int32_t ordinal) {
  std::vector<model::Volume> volumes;
  for (const model::PersistentVolumeClaim& claim : set.spec.volume_claim_templates) {
    model::Volume volume{.name = claim.metadata.name};
    volume.persistent_volume_claim.emplace().claim_name =
        claim_name(set, claim.metadata.name, ordinal);
    volumes.push_back(std::move(volume));
  }
  for (const model::Volume& volume : given) {
    if (std::ranges::find(volumes, volume.name, &model::Volume::name) == volumes.end()) {
      volumes.push_back(volume);
    }
  }
  return volumes;
}

}  // namespace

std::int32_t ordinal_of(std::string_view pod, std::string_view set) {
  if (pod.size() < set.size() + 2 || !pod.starts_with(set) || pod[set.size()] != '-') {
    return -1;
  }
  const std::string_view digits = pod.substr(set.size() + 1);
  std::int32_t ordinal = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && ordinal >= 0 && std::to_string(ordinal) == digits ? ordinal : -1;
}

model::Pod stateful_pod(const model::StatefulSet& set, const SetRevision& revision,
                        std::int32_t ordinal) {
  const model::PodTemplateSpec& from = revision.pod_template;
  model::Pod pod;
  pod.metadata.name = set.metadata.name + "-" + std::to_string(ordinal);
  pod.metadata.ns = set.metadata.ns;
  pod.metadata.generate_name = set.metadata.name + "-";
  pod.metadata.labels = from.metadata.labels;
  pod.metadata.labels.insert_or_assign("statefulset.kubernetes.io/pod-name", pod.metadata.name);
  pod.metadata.labels.insert_or_assign("apps.kubernetes.io/pod-index", std::to_string(ordinal));
  pod.metadata.labels.insert_or_assign(std::string(kRevisionHashLabel), revision.name);
  pod.metadata.annotations = from.metadata.annotations;
  pod.metadata.finalizers = from.metadata.finalizers;
  pod.metadata.owner_references.push_back(controller_reference(kSets, set.metadata));
  pod.spec = from.spec;
  pod.spec.hostname = pod.metadata.name;
  pod.spec.subdomain = set.spec.service_name;
  pod.spec.volumes = volumes_of(set, from.spec.volumes, ordinal);
  return pod;
}

std::vector<model::PersistentVolumeClaim> claims_of(const model::StatefulSet& set,
                                                    std::int32_t ordinal) {
  std::vector<model::PersistentVolumeClaim> claims = set.spec.volume_claim_templates;
  for (model::PersistentVolumeClaim& claim : claims) {
    claim.metadata.name = claim_name(set, claim.metadata.name, ordinal);
    claim.metadata.ns = set.metadata.ns;
    if (set.spec.selector) {
      for (const auto& [key, value] : set.spec.selector->match_labels) {
        claim.metadata.labels.insert_or_assign(key, value);
      }
    }
    claim.status = {};
  }
  return claims;
}

}  // namespace codeflare::controllers::apps
