#pragma once

#include "base/result.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::internal {

// A kubeconfig's text, YAML or JSON, as a tree: a mapping, or null for an empty text. Errors are
// one line that begins with the path. Keys that occur twice become warnings when asked for.
Result<json::Document> parse_config_text(std::string_view text, const std::string& path,
                                         std::vector<std::string>* warnings);

std::string write_config_text(const json::Value& root);

// `text` without control characters, so that a message made of it stays one line.
std::string one_line(std::string_view text);

}  // namespace codeflare::kube::internal
