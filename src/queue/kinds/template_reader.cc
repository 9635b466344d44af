#include "queue/kinds/template_reader.h"

#include "json/pointer.h"
#include "model/codec/pod.h"
#include "queue/kinds/kinds.h"

#include <utility>

namespace codeflare::queue {
namespace {

// No count beyond it is multiplied any further; the sum over all is checked by demand_of().
constexpr std::int64_t kCountMax = std::int64_t{1} << 31;

}  // namespace

TemplateReader::TemplateReader(const json::Value& item, CheckAmounts check_amounts,
                               ItemProblems& problems)
    : item_(item), check_amounts_(check_amounts), problems_(problems), kind_(find_kind_of(item)) {}

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
  const bool later = kind_ != nullptr && kind_->limits_may_come;
  pod_template.amounts_bad = !check_amounts_(pod_template.spec, spec_pointer, later, problems_);
  found_.push_back(std::move(pod_template));
}

}  // namespace codeflare::queue
