#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resources.h"

#include <cstdint>
#include <string>
#include <string_view>

// Image (codeflare.dev/v1alpha1): a container image that nodes fetch before any Run needs it.
namespace codeflare::model {

struct ImageSpec {
  std::string image;
  std::string image_pull_secret;
  StringMap node_selector;  // empty: every node
  Extra extra;

  friend bool operator==(const ImageSpec&, const ImageSpec&) = default;
};

struct ImageStatus {
  std::string image;              // that ready_nodes have
  List<std::string> ready_nodes;  // in the order of their names
  std::int32_t nodes = 0;         // that are to have it
  std::string ready;              // "2/3"
  List<Condition> conditions;     // Ready
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const ImageStatus&, const ImageStatus&) = default;
};

struct Image {
  ObjectMeta metadata;
  ImageSpec spec;
  ImageStatus status;
  Extra extra;

  friend bool operator==(const Image&, const Image&) = default;
};

template <>
struct ResourceTraits<Image> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "Image";
  static constexpr std::string_view plural = "images";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
