#pragma once

#include "base/result.h"
#include "json/parse.h"
#include "model/codec/codec.h"
#include "node/wire/frame.h"

#include <string>
#include <string_view>

// The common part of the protocols: a message is a struct, written as JSON, alone in its frame.
// The programs' files on disk have the same form.
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
