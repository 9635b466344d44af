#pragma once

#include "base/result.h"
#include "json/parse.h"
#include "model/codec/codec.h"
#include "node/wire/frame.h"

#include <string>
#include <string_view>

// What the protocols have in common: a message is a struct, written as JSON, alone in its frame.
// What the programs keep on disk is written in the same way.
namespace codeflare::node {

template <typename T>
Result<T> parse_message(std::string_view json) {
  TRY_ASSIGN(const json::Document document, json::parse(json, {.max_bytes = kFrameBytesMax}));
  return model::from_json<T>(document.root);
}

template <typename T>
std::string framed(const T& message) {
  return frame(model::to_json_text(message));
}

}  // namespace codeflare::node
