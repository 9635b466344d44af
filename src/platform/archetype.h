#pragma once

#include "base/result.h"
#include "json/value.h"
#include "model/application.h"
#include "model/run_policy.h"
#include "platform/pod_parts.h"
#include "platform/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// All that an archetype needs to make the objects of a Run.
struct Program {
  const model::ApplicationSpec& spec;
  std::vector<std::string> words;  // behind the command
  RunResources resources;
  PodParts parts;
  model::StringMap labels;
  std::int32_t retries = 0;
  std::string priority_class;
  std::optional<model::RunPolicyPlacement> placement;
};

// The objects of a shell or torch Run: an Indexed Job, and a Service where pods must find each
// other. A shell reads the command of a shell Application and nothing of the Run; no shell reads
// anything of a torch Run.
Result<json::Document> gang_of(const Program& program);

// The objects of a ray Run: a RayJob with a submitter pod.
Result<json::Document> ray_job_of(const Program& program);

// Of the pod that submits to Ray.
inline constexpr std::string_view kSubmitterContainer = "ray-job-submitter";

// Adds to a pod spec what archetypes have in common: messages from logs, security context, nodes.
void finish_pod(json::Arena& arena, json::Value& pod_spec, const Program& program);

// cpu, memory and nvidia.com/gpu of a worker.
model::StringMap amounts_of(const RunResources& resources);

// "main.py" of "python3 main.py": the interpreter is torchrun's.
std::string without_python(std::string_view command);

}  // namespace codeflare::platform
