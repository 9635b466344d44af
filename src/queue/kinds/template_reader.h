#pragma once

#include "json/value.h"
#include "model/pod.h"
#include "queue/kinds/problems.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
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
  std::optional<sched::Sizes> sizes{};  // elastic: from `count` on
  std::string queue{};                  // whose share its growth counts to
  model::PodSpec spec{};                // with what the kind's controller adds
  // Of its pods, with those that the kind's controller adds and people select by.
  model::StringMap labels{};
  bool undeclared = false;   // custompodresources need not speak of it
  bool missing = false;      // not in the object: to be put in (the submitter of a RayJob)
  bool amounts_bad = false;  // reported already, where they stand
};

struct WrappedKind;

// Reports amounts of a pod spec that the queue cannot count, and returns false if there are any.
// The queue passes its own check (check_pod_amounts): the kinds know no units of resources.
using CheckAmounts = bool (*)(const model::PodSpec& spec, const std::string& pointer,
                              bool limits_may_come, ItemProblems& problems);

// Reads the pod templates of the kinds we know. Reports problems to `problems`.
//   TemplateReader reader(item, check_pod_amounts, problems);
//   if (reader.knows_kind()) templates = reader.read();
class TemplateReader {
 public:
  TemplateReader(const json::Value& item, CheckAmounts check_amounts, ItemProblems& problems);

  bool knows_kind() const { return kind_ != nullptr; }
  std::vector<PodTemplate> read();

  // --- for the files of the kinds ---

  // A value in the item with its JSON pointer; null when nothing is there.
  struct At {
    const json::Value* value = nullptr;
    std::string pointer;
  };
  At root() const { return {&item_, ""}; }
  static At below(const At& at, std::string_view key);
  static At below(const At& at, std::size_t index);
  // At least zero, or nothing when absent; wrong ones are reported and count as zero.
  std::optional<std::int64_t> whole(const At& parent, std::string_view key);
  ItemProblems& problems() { return problems_; }

  // The template, valid until the next one; null when it cannot be read.
  PodTemplate* add_template(const At& pod_template, std::int64_t count,
                            std::optional<std::int64_t> total = std::nullopt);
  // One that was read already; `spec_pointer` is where its pod spec stands.
  void add(PodTemplate pod_template, const std::string& spec_pointer);

 private:
  void add_name_labels();

  const json::Value& item_;
  CheckAmounts check_amounts_;
  ItemProblems& problems_;
  const WrappedKind* kind_;
  std::vector<PodTemplate> found_;
};

}  // namespace codeflare::queue
