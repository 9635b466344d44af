#pragma once

#include "json/value.h"
#include "model/pod.h"
#include "model/ray_cluster.h"
#include "queue/kinds/problems.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::queue {

// One pod template of a wrapped object and how many pods come of it.
struct PodTemplate {
  // JSON pointer to what has `metadata` and `spec` of the pods; absent when the controller of the
  // kind makes it up and we cannot put one in its place.
  std::optional<std::string> path;
  std::int64_t count = 1;
  std::optional<std::int64_t> total{};
  model::PodSpec spec{};  // with what the kind's controller adds
  // Of its pods, with those that the kind's controller adds and people select by.
  model::StringMap labels{};
  bool undeclared = false;   // custompodresources need not speak of it
  bool missing = false;      // not in the object: to be put in (default_submitter)
  bool amounts_bad = false;  // told already, where they stand
};

// Reads the pod templates of the kinds we know. What is wrong goes to `problems`.
//   PodTemplateReader reader(item, problems);
//   if (reader.knows_kind()) templates = reader.read();
class PodTemplateReader {
 public:
  PodTemplateReader(const json::Value& item, ItemProblems& problems);

  bool knows_kind() const { return read_kind_ != nullptr; }
  std::vector<PodTemplate> read();

 private:
  // A place in the item; `value` is null when nothing is there.
  struct At {
    const json::Value* value = nullptr;
    std::string pointer;
  };
  using ReadKind = void (PodTemplateReader::*)(const At& spec);
  static ReadKind find_kind(std::string_view group, std::string_view kind);  // null: unknown
  static At below(const At& at, std::string_view key);
  static At below(const At& at, std::size_t index);
  // At least zero, or the default when absent; wrong ones are told and count as zero.
  std::optional<std::int64_t> whole(const At& parent, std::string_view key);

  void read_pod(const At& spec);
  void read_replicas(const At& spec);
  void read_job(const At& spec);
  void read_job_set(const At& spec);
  void read_pytorch_job(const At& spec);
  void read_ray_cluster(const At& spec);
  void read_ray_job(const At& spec);

  void add_job(const At& job_spec, std::int64_t times, const model::StringMap& labels);
  void add_template(const At& pod_template, std::int64_t count,
                    std::optional<std::int64_t> total = std::nullopt,
                    const model::StringMap& labels = {});
  // The item's name as the value of these labels; none when the server will make up the name.
  model::StringMap name_labels(std::initializer_list<std::string_view> keys) const;
  // Names of services and pods are made of it: `most` characters leave room for the rest.
  void check_ray_name(std::size_t most);
  // The cluster of a RayCluster or RayJob; `in_head` runs beside the head container.
  std::optional<model::RayClusterSpec> add_ray(const At& cluster,
                                               const std::optional<model::Container>& in_head);
  void add_submitter(const At& job_spec, const std::optional<model::RayClusterSpec>& cluster);
  void add(PodTemplate pod_template, const std::string& spec_pointer);
  bool count_is_good(const At& group, std::string_view key,
                     const std::optional<std::int32_t>& count);

  const json::Value& item_;
  ItemProblems& problems_;
  ReadKind read_kind_ = nullptr;
  std::vector<PodTemplate> found_;
};

// The submitter pod that KubeRay runs for a RayJob that brings none.
model::PodSpec default_submitter(const std::string& image);

}  // namespace codeflare::queue
