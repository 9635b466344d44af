#pragma once

#include "base/check.h"
#include "json/parse.h"
#include "model/codec/training_job.h"
#include "queue/marks.h"
#include "queue/testing/objects.h"

#include <chrono>
#include <string>

// TrainingJobs for tests.
namespace codeflare::queue::testing {

inline model::TrainingJob training_job_of(const std::string& text) {
  Result<json::Document> document = json::parse(text);
  CHECK(document.has_value());
  Result<model::TrainingJob> job = model::from_json<model::TrainingJob>(document->root);
  CHECK(job.has_value());
  return *std::move(job);
}

// Pods of one CPU each, in team-a; its uid is "uid-<name>".
inline model::TrainingJob training_job(const std::string& name, std::int64_t min, std::int64_t max,
                                       int age = 0) {
  model::TrainingJob job = training_job_of(
      R"({"metadata":{"name":")" + name + R"(","namespace":"team-a","uid":"uid-)" + name +
      R"("},"spec":{"replicaSpecs":{"template":{"spec":{"containers":[{"name":"trainingjob",)" +
      R"("image":"i","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})");
  job.spec.min_size = min;
  job.spec.max_size = max;
  job.metadata.creation_timestamp = kNow + std::chrono::seconds(age);
  return job;
}

// Worker number `index` of the job, as its controller makes it.
inline model::Pod worker(const model::TrainingJob& job, int index, const std::string& node = "") {
  model::Pod pod;
  pod.metadata.name = job.metadata.name + "-worker-" + std::to_string(index);
  pod.metadata.ns = job.metadata.ns;
  pod.metadata.uid = "pod-" + pod.metadata.name;
  pod.metadata.labels = job.spec.replica_specs.pod_template.metadata.labels;
  pod.metadata.labels.emplace(kUidLabel, job.metadata.uid);
  pod.metadata.labels.emplace(kPodSetLabel, "0");
  pod.metadata.creation_timestamp = kNow;
  pod.spec = job.spec.replica_specs.pod_template.spec;
  pod.spec.scheduler_name = kSchedulerName;
  pod.spec.node_name = node;
  pod.status.phase = "Pending";
  return pod;
}

}  // namespace codeflare::queue::testing
