#pragma once

#include "apiserver/registry/resource.h"
#include "apiserver/schema/field_errors.h"
#include "json/value.h"

#include <string_view>

namespace codeflare::apiserver {

// Shared by pods and by everything that embeds a pod template.

void default_pod_spec(json::Arena& arena, json::Value& spec);

// Annotations and spec of a pod; podspec/ checks the parts.
void validate_pod(const json::Value& pod, FieldErrors& errors);
// Labels, annotations and spec of a template at `path`.
void validate_pod_template(const json::Value& pod_template, std::string_view path,
                           FieldErrors& errors);

// Label rules for a map of labels at `path`.
void validate_labels(const json::Value& labels, std::string_view path, FieldErrors& errors);
// metav1.LabelSelector at `path`; false when it can't be used.
bool validate_label_selector(const json::Value& selector, std::string_view path,
                             FieldErrors& errors);
bool selector_matches(const json::Value& selector, const json::Value& labels);
void validate_nonnegative(const json::Value& parent, std::string_view key, std::string_view path,
                          FieldErrors& errors);

// Guaranteed, Burstable or BestEffort.
std::string_view qos_class(const json::Value& pod_spec);

}  // namespace codeflare::apiserver
