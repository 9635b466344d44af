#pragma once

#include "model/labels.h"
#include "model/meta.h"
#include "model/pod.h"
#include "queue/demand.h"

#include <string>
#include <vector>

// The rules of pods about the pods beside them, as far as they are required: preferences are left
// to the scheduler that binds them.
namespace codeflare::queue {

// Not on a node with a pod that this selects.
struct ApartTerm {
  std::string field;
  model::Selector selector;
};

// Of one pod set.
struct Neighbours {
  model::StringMap labels;  // that its pods will have, as far as they are known
  std::vector<ApartTerm> apart{};
  // Fields about other places than single nodes, or about pods that it must be near to.
  std::vector<std::string> unheeded{};
};

// `path` is what stands before the fields of the spec.
Neighbours neighbours_of(const model::PodSpec& spec, model::StringMap labels, const std::string& ns,
                         const std::string& path);

// Numbers the pod sets that keep apart, from themselves or from each other. Returns the fields that
// placement ignores: those of `sets`, and terms that speak of pods of others, or that single sets
// out in a way that one number for all of them would be too strict for.
std::vector<std::string> keep_apart(const std::vector<Neighbours>& sets,
                                    std::vector<PodSetDemand>& pod_sets);

}  // namespace codeflare::queue
