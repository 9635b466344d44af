#include "controllers/dispatch/copy_object.h"

#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/dispatch/marks.h"
#include "controllers/submitter/submitter.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/training_job.h"
#include "queue/clusters.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::controllers::dispatch {

namespace {

// Written by the hub's own admission, or read by its queue.
bool is_of_the_hub(std::string_view annotation) {
  constexpr std::array<std::string_view, 7> kLeftOut = {
      queue::kUserAnnotation,
      queue::kTimeAnnotation,
      kSealAnnotation,
      queue::kClustersAnnotation,
      queue::kClusterSelectorAnnotation,
      queue::kPreferAnnotation,
      "kubectl.kubernetes.io/last-applied-configuration",
  };
  return std::ranges::find(kLeftOut, annotation) != kLeftOut.end() ||
         annotation == kHubAnnotation || annotation == kHubUidAnnotation ||
         annotation == kFenceAnnotation || annotation == kFencedAnnotation;
}

void write_members(json::Writer& w, const json::Value* from, bool (*left_out)(std::string_view)) {
  if (from == nullptr) {
    return;
  }
  for (const json::Member& each : from->members()) {
    if (!left_out(each.key)) {
      w.key(each.key).value(each.value);
    }
  }
}

void write_scheduling(json::Writer& w, const json::Value& from) {
  w.key("schedulingSpec").begin_object();
  write_members(w, &from, [](std::string_view key) { return key == "clusterScheduling"; });
  w.end_object();
}

void write_spec(json::Writer& w, const json::Value& spec) {
  w.key("spec").begin_object();
  w.key("suspend").boolean(true);
  for (const json::Member& each : spec.members()) {
    if (each.key == "suspend" || each.key == "ttlSecondsAfterFinished") {
      continue;
    }
    if (each.key == "schedulingSpec" && each.value.is_object()) {
      write_scheduling(w, each.value);
    } else {
      w.key(each.key).value(each.value);
    }
  }
  w.end_object();
}

void write_run_policy(json::Writer& w, const json::Value* from) {
  w.key("runPolicy").begin_object();
  w.key("suspend").boolean(true);
  write_members(w, from, [](std::string_view key) {
    return key == "suspend" || key == "ttlSecondsAfterFinished";
  });
  w.end_object();
}

void write_training_spec(json::Writer& w, const json::Value& spec) {
  w.key("spec").begin_object();
  write_members(w, &spec, [](std::string_view key) { return key == "runPolicy"; });
  write_run_policy(w, spec.find("runPolicy"));
  w.end_object();
}

void write_version(json::Writer& w, const CopyObject& copy) {
  const model::ObjectMeta& meta = copy.wrapper.metadata;
  w.key("metadata").begin_object();
  w.member("uid", meta.uid).member("resourceVersion", meta.resource_version);
}

void write_number(json::Writer& w, std::string_view key, std::optional<std::int64_t> number) {
  w.key(key);
  if (number) {
    w.integer(*number);
  } else {
    w.null();
  }
}

// The sizes in the spec of a copy.
struct CopySizes {
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> desired;
  std::vector<std::int64_t> list;
  friend bool operator==(const CopySizes&, const CopySizes&) = default;
};

// The worker may never choose a larger size than the plan has: its queue would start with minSize
// pods where the hub's plan, which lost a node, has fewer.
CopySizes wanted_sizes(const RemoteWork& work) {
  const model::TrainingJobSpec& spec = work.job->spec;
  const std::int64_t size = work.size;
  CopySizes wanted{.min = spec.min_size,
                   .max = spec.max_size,
                   .step = spec.size_step,
                   .desired = size,
                   .list = {spec.sizes.begin(), spec.sizes.end()}};
  if (size < 1) {
    return wanted;
  }
  const bool in_list =
      wanted.list.empty() || std::ranges::find(wanted.list, size) != wanted.list.end();
  const bool in_steps = wanted.step.value_or(0) < 1 || size % *wanted.step == 0;
  if (!in_list || !in_steps) {
    return {.min = size, .max = size, .step = {}, .desired = size, .list = {}};
  }
  if (size < wanted.min.value_or(wanted.list.empty() ? 1 : wanted.list.front())) {
    wanted.min = size;
  }
  return wanted;
}

void write_sizes(json::Writer& w, const CopySizes& sizes) {
  write_number(w, "minSize", sizes.min);
  write_number(w, "maxSize", sizes.max);
  write_number(w, "sizeStep", sizes.step);
  write_number(w, "desiredSize", sizes.desired);
  w.key("sizes");
  if (sizes.list.empty()) {
    w.null();
    return;
  }
  w.begin_array();
  for (const std::int64_t size : sizes.list) {
    w.integer(size);
  }
  w.end_array();
}

void write_wanted(json::Writer& w, const RemoteWork& work) {
  w.key("priority").integer(work.wrapper.spec.priority);
  if (work.job != nullptr) {
    write_sizes(w, wanted_sizes(work));
  }
}

}  // namespace

model::ResourceType copy_type(WorkKind kind) {
  return kind == WorkKind::training_job ? model::resource_type<model::TrainingJob>()
                                        : app_wrapper_type(model::WrapperApi::workload_v1beta1);
}

std::string_view name_of(WorkKind kind) {
  return kind == WorkKind::training_job ? model::ResourceTraits<model::TrainingJob>::kind
                                        : model::ResourceTraits<model::AppWrapper>::kind;
}

WorkKind kind_of(const RemoteWork& work) {
  return work.job != nullptr ? WorkKind::training_job : WorkKind::app_wrapper;
}

Result<CopyObject> read_copy_object(const kube::Object& object, WorkKind kind) {
  CopyObject copy;
  if (kind == WorkKind::training_job) {
    TRY_ASSIGN(copy.job, object.as<model::TrainingJob>());
    copy.wrapper = as_wrapper(*copy.job);
  } else {
    TRY_ASSIGN(copy.wrapper, to_app_wrapper(object));
  }
  return copy;
}

Result<model::AppWrapper> read_without_spec(const kube::Object& object, WorkKind kind) {
  if (kind == WorkKind::app_wrapper) {
    return to_app_wrapper_without_spec(object);
  }
  TRY_ASSIGN(CopyObject copy, read_copy_object(object, kind));
  return std::move(copy.wrapper);
}

CopyMark mark_of(const model::ObjectMeta& copy) {
  return {std::string(model::find_or_empty(copy.annotations, kHubAnnotation)),
          std::string(model::find_or_empty(copy.annotations, kHubUidAnnotation))};
}

CopyMark mark_of(const kube::Object& copy) {
  const Result<json::Document> parsed = copy.parse();
  const json::Value* annotations = parsed ? parsed->root.get({"metadata", "annotations"}) : nullptr;
  if (annotations == nullptr) {
    return {};
  }
  return {std::string(annotations->string_or_empty(kHubAnnotation)),
          std::string(annotations->string_or_empty(kHubUidAnnotation))};
}

Result<std::string> copy_body(const kube::Object& object, const std::string& hub, WorkKind kind) {
  TRY_ASSIGN(const json::Document parsed, object.parse());
  const json::Value* spec = parsed.root.find("spec");
  if (spec == nullptr || !spec->is_object()) {
    return fail(invalid_argument(std::string(name_of(kind)) + " " + object.key().to_string() +
                                 " has no spec"));
  }
  const model::ResourceType type = copy_type(kind);
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", type.api_version()).member("kind", type.kind);
  w.key("metadata").begin_object();
  w.member("namespace", object.ns()).member("name", object.name());
  w.key("labels").begin_object();
  write_members(w, parsed.root.get({"metadata", "labels"}),
                [](std::string_view key) { return key == kCopyLabel; });
  w.member(kCopyLabel, hub).end_object();
  w.key("annotations").begin_object();
  write_members(w, parsed.root.get({"metadata", "annotations"}), is_of_the_hub);
  w.member(kHubAnnotation, hub).member(kHubUidAnnotation, object.uid()).end_object();
  w.end_object();
  if (kind == WorkKind::training_job) {
    write_training_spec(w, *spec);
  } else {
    write_spec(w, *spec);
  }
  w.end_object();
  return body;
}

bool is_as_wanted(const CopyObject& copy, const RemoteWork& work) {
  if (copy.wrapper.spec.priority != work.wrapper.spec.priority) {
    return false;
  }
  if (work.job == nullptr || !copy.job) {
    return true;
  }
  const model::TrainingJobSpec& is = copy.job->spec;
  return wanted_sizes(work) == CopySizes{.min = is.min_size,
                                         .max = is.max_size,
                                         .step = is.size_step,
                                         .desired = is.desired_size,
                                         .list = {is.sizes.begin(), is.sizes.end()}};
}

std::string wanted_patch(const CopyObject& copy, const RemoteWork& work) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.end_object().key("spec").begin_object();
  write_wanted(w, work);
  w.end_object().end_object();
  return body;
}

std::string release_patch(const CopyObject& copy, const RemoteWork& work,
                          const std::optional<Fence>& fence) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.key("annotations").begin_object().key(kFenceAnnotation);
  if (fence) {
    w.string(to_text(*fence));
  } else {
    w.null();
  }
  w.end_object().end_object();
  w.key("spec").begin_object();
  if (work.job != nullptr) {
    w.key("runPolicy").begin_object().key("suspend").boolean(false).end_object();
  } else {
    w.key("suspend").boolean(false);
  }
  write_wanted(w, work);
  w.end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::dispatch
