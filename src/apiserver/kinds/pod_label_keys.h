#pragma once

#include "json/value.h"

namespace codeflare::apiserver {

// Terms of affinity and spread constraints may name labels of the pod itself (matchLabelKeys,
// mismatchLabelKeys). When the pod is made, their selectors get the values that it has.
void merge_label_keys(json::Arena& arena, json::Value& pod);

}  // namespace codeflare::apiserver
