#pragma once

#include "model/pod.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::controllers::apps {

inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";

// A short name for what a template says, made of letters and digits that spell no words: equal
// templates have equal ones. A collision count gives another one.
std::string template_hash(const model::PodTemplateSpec& of, std::int32_t collisions);

// Equal but for the hash label that a Deployment adds.
bool equal_ignoring_hash(model::PodTemplateSpec a, model::PodTemplateSpec b);

}  // namespace codeflare::controllers::apps
