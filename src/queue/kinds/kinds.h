#pragma once

#include "queue/kinds/kind.h"

#include <span>
#include <string_view>

namespace codeflare::queue {

// Each is defined in the file of its name; kTrainingJob in queue/training_kind.cc, as its rules are
// those of TrainingJobs in the queue.
extern const WrappedKind kDeployment;
extern const WrappedKind kJob;
extern const WrappedKind kJobSet;
extern const WrappedKind kPod;
extern const WrappedKind kPyTorchJob;
extern const WrappedKind kRayCluster;
extern const WrappedKind kRayJob;
extern const WrappedKind kReplicaSet;
extern const WrappedKind kStatefulSet;
extern const WrappedKind kTrainingJob;

// All of them.
std::span<const WrappedKind* const> wrapped_kinds();
// Null: the kind is not known.
const WrappedKind* find_kind(std::string_view group, std::string_view kind);
// By apiVersion, any version of its group, and kind.
const WrappedKind* find_kind_of(const json::Value& object);

}  // namespace codeflare::queue
