#pragma once

#include "json/value.h"

#include <string>
#include <utility>
#include <vector>

namespace codeflare::queue {

struct EmbeddedTemplate {
  std::string pointer;  // JSON pointer
  json::Value* value = nullptr;
};

// Every pod template inside an object of any kind: what has a `spec` with `containers`. A Pod is
// its own template, with an empty pointer.
std::vector<EmbeddedTemplate> embedded_templates(json::Value& object);

}  // namespace codeflare::queue
