#include "queue/kinds/template_reader.h"

#include "json/pointer.h"
#include "model/codec/pod.h"
#include "model/pod_requests.h"
#include "model/resource_name.h"
#include "queue/kinds/kinds.h"
#include "queue/resources.h"

#include <utility>

namespace codeflare::queue {
namespace {

// No count beyond it is multiplied any further; the sum over all is checked by demand_of().
constexpr std::int64_t kCountMax = std::int64_t{1} << 31;

// Whether all is well.
bool check_amounts(const model::ResourceList& list, const std::string& pointer,
                   ItemProblems& problems) {
  if (const std::string problem = names_problem(list); !problem.empty()) {
    if (problem.starts_with("[")) {
      problems.add_decoding(pointer, problem);
    } else {
      problems.add(pointer, problem.substr(2));
    }
    return false;
  }
  bool good = true;
  for (const auto& [name, amount] : list) {
    if (const std::string problem = container_resource_problem(name); !problem.empty()) {
      problems.add_decoding(pointer, "[" + name + "]: " + problem);
      good = false;
      continue;
    }
    if (const auto one = to_resources({{name, amount}}); !one) {
      problems.add_decoding(pointer, one.error().message);
      good = false;
    }
  }
  return good;
}

// A server makes no pod of a request that its limit does not allow, or that has to have one. A
// limit that is absent may still come from a LimitRange, where pods are made later.
bool check_within_limits(const model::ResourceRequirements& resources, const std::string& pointer,
                         bool limits_may_come, ItemProblems& problems) {
  bool good = true;
  const auto complain = [&](std::string_view list, const std::string& name,
                            const std::string& what) {
    problems.add_decoding(pointer + std::string(list), "[" + name + "]: " + what);
    good = false;
  };
  for (const auto& [name, request] : resources.requests) {
    const model::Quantity* limit = resources.limits.find(name);
    const bool less_is_good = model::may_overcommit(name);
    if (limit == nullptr && !less_is_good) {
      if (limits_may_come) {
        continue;
      }
      complain("/limits", name, "required: limit must be set for non overcommitable resources");
    } else if (limit != nullptr && request != *limit && (request > *limit || !less_is_good)) {
      complain("/requests", name,
               std::string("must be ") + (less_is_good ? "less than or equal" : "equal") +
                   " to the limit of " + limit->to_string() + ", got " + request.to_string());
    }
  }
  return good;
}

// Whether all is well.
bool check_resources(const model::ResourceRequirements& resources, const std::string& pointer,
                     bool limits_may_come, ItemProblems& problems) {
  bool good = check_amounts(resources.requests, pointer + "/requests", problems);
  good &= check_amounts(resources.limits, pointer + "/limits", problems);
  return good && check_within_limits(resources, pointer, limits_may_come, problems);
}

// The requests of all containers together must fit into those of the pod as a whole.
bool check_pod_level(const model::PodSpec& spec, const std::string& pointer,
                     ItemProblems& problems) {
  model::PodSpec without = spec;
  without.resources.reset();
  const model::ResourceList sum = model::pod_requests(without);
  bool good = true;
  for (const auto& [name, request] : spec.resources->requests) {
    if (const model::Quantity* all = sum.find(name); all != nullptr && *all > request) {
      problems.add_decoding(pointer + "/requests",
                            "[" + name + "]: must be at least what its containers request, " +
                                all->to_string() + ", got " + request.to_string());
      good = false;
    }
  }
  return good;
}

bool check_containers(const std::vector<model::Container>& containers, const std::string& pointer,
                      bool limits_may_come, ItemProblems& problems) {
  bool good = true;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    good &=
        check_resources(containers[i].resources, pointer + "/" + std::to_string(i) + "/resources",
                        limits_may_come, problems);
  }
  return good;
}

}  // namespace

TemplateReader::TemplateReader(const json::Value& item, ItemProblems& problems)
    : item_(item), problems_(problems), kind_(find_kind_of(item)) {}

std::vector<PodTemplate> TemplateReader::read() {
  found_.clear();
  const At spec = below(root(), "spec");
  if (spec.value == nullptr) {
    problems_.add(spec.pointer, "required");
  } else if (!spec.value->is_object()) {
    problems_.add(spec.pointer, "expected an object");
  } else {
    kind_->read_templates(*this, spec);
  }
  add_name_labels();
  return std::move(found_);
}

void TemplateReader::add_name_labels() {
  const json::Value* metadata = item_.find("metadata");
  const std::string_view name =
      metadata == nullptr ? std::string_view() : metadata->string_or_empty("name");
  if (name.empty()) {
    return;  // the server will make up the name
  }
  for (PodTemplate& each : found_) {
    for (const std::string_view key : kind_->name_labels) {
      if (!kind_->template_labels_win || !each.labels.contains(key)) {
        each.labels.insert_or_assign(std::string(key), std::string(name));
      }
    }
  }
}

TemplateReader::At TemplateReader::below(const At& at, std::string_view key) {
  const json::Value* value = at.value == nullptr ? nullptr : at.value->find(key);
  if (value != nullptr && value->is_null()) {
    value = nullptr;
  }
  return {value, at.pointer + "/" + json::escape_token(key)};
}

TemplateReader::At TemplateReader::below(const At& at, std::size_t index) {
  return {&at.value->items()[index], at.pointer + "/" + std::to_string(index)};
}

std::optional<std::int64_t> TemplateReader::whole(const At& parent, std::string_view key) {
  const At at = below(parent, key);
  if (at.value == nullptr) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number =
      at.value->is_number() ? at.value->to_int64() : std::nullopt;
  if (!number || *number > kCountMax) {
    problems_.add(at.pointer, "expected a whole number of 32 bits");
    return 0;
  }
  if (*number < 0) {
    problems_.add(at.pointer, "must not be negative, got " + std::to_string(*number));
    return 0;
  }
  return number;
}

PodTemplate* TemplateReader::add_template(const At& pod_template, std::int64_t count,
                                          std::optional<std::int64_t> total) {
  if (pod_template.value == nullptr) {
    problems_.add(pod_template.pointer, "required");
    return nullptr;
  }
  Result<model::PodTemplateSpec> read =
      model::from_json<model::PodTemplateSpec>(*pod_template.value);
  if (!read) {
    problems_.add_decoding(pod_template.pointer, read.error().message);
    return nullptr;
  }
  add({.path = pod_template.pointer,
       .count = count,
       .total = total,
       .spec = std::move(read->spec),
       .labels = std::move(read->metadata.labels)},
      pod_template.pointer + "/spec");
  return &found_.back();
}

void TemplateReader::add(PodTemplate pod_template, const std::string& spec_pointer) {
  if (pod_template.spec.containers.empty()) {
    problems_.add(spec_pointer + "/containers", "required");
  }
  const model::PodSpec& spec = pod_template.spec;
  const bool later = kind_ != nullptr && kind_->limits_may_come;
  bool good = check_containers(spec.containers, spec_pointer + "/containers", later, problems_);
  good &=
      check_containers(spec.init_containers, spec_pointer + "/initContainers", later, problems_);
  good &= check_amounts(spec.overhead, spec_pointer + "/overhead", problems_);
  if (spec.resources) {
    good &= check_resources(*spec.resources, spec_pointer + "/resources", later, problems_) &&
            check_pod_level(spec, spec_pointer + "/resources", problems_);
  }
  pod_template.amounts_bad = !good;
  found_.push_back(std::move(pod_template));
}

}  // namespace codeflare::queue
