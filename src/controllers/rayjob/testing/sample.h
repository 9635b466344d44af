#pragma once

#include "json/parse.h"
#include "model/codec/ray_job.h"
#include "model/ray_job.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::controllers::rayjob::testing {

inline const std::string kClusterSpec =
    R"({"rayVersion":"2.60.0","headGroupSpec":{"rayStartParams":{},"template":{"spec":{
      "containers":[{"name":"ray-head","image":"ray:2.60.0",
        "resources":{"requests":{"cpu":"1","memory":"2G"}}}]}}}})";

// A RayJob "train"; `more` are further members of the spec, each with a comma at its end.
inline std::string sample(const std::string& more = "") {
  return R"({"apiVersion":"ray.io/v1","kind":"RayJob",
    "metadata":{"name":"train","namespace":"default","labels":{"team":"a"}},
    "spec":{)" +
         more + R"("entrypoint":"python train.py","rayClusterSpec":)" + kClusterSpec + "}}";
}

inline model::RayJob read_job(const std::string& text) {
  const auto document = json::parse(text);
  EXPECT_TRUE(document) << document.error().to_string();
  auto job = model::from_json<model::RayJob>(document->root);
  EXPECT_TRUE(job) << job.error().to_string();
  job->metadata.uid = "job-uid";
  job->metadata.generation = 1;
  return *std::move(job);
}

inline model::RayJob sample_job(const std::string& more = "") {
  return read_job(sample(more));
}

}  // namespace codeflare::controllers::rayjob::testing
