#pragma once

#include "json/value.h"
#include "queue/kinds/life.h"
#include "queue/kinds/pod_counts.h"
#include "queue/kinds/reported_end.h"
#include "queue/kinds/template_reader.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::queue {

// The fields that a kind's count_pods reads: of the spec, or of each entry of a list or map in it.
struct CountFields {
  std::string_view list{};  // "workerGroupSpecs"; empty: the spec itself
  std::span<const std::string_view> names{};
};

// The queue's knowledge of one kind of wrapped objects. Each kind has a file in this folder with
// one such value; kinds.cc lists them.
struct WrappedKind {
  std::string_view group;
  std::string_view kind;

  // Adds the pod templates to the reader; `spec` is the object's, and is an object.
  void (*read_templates)(TemplateReader& reader, const TemplateReader::At& spec);

  // Labels with the object's name that its controller puts on every pod.
  std::span<const std::string_view> name_labels{};
  // A label of the template wins over a name label of the same key.
  bool template_labels_win = false;

  // How many pods the object, as it is now, makes of a template; see PodCount. Null: the count of
  // its templates cannot change, or is not followed.
  std::optional<std::int64_t> (*count_pods)(const PodCount& asked) = nullptr;
  CountFields count_fields{};  // caches of items keep these and no other fields of the spec

  // Whether it ends by itself, as it was written.
  Life (*life)(const json::Value& object) = never_ends;
  // A LimitRange may give its pods limits that the object does not have: the server checks them
  // when pods are made, not when the object is.
  bool limits_may_come = false;
  // Why the object has failed, for people; empty when it has not.
  std::string (*failure)(const json::Value& object) = any_failure;
  // It has ended well: no more pods will come.
  bool (*succeeded)(const json::Value& object) = any_success;
};

}  // namespace codeflare::queue
