#pragma once

#include "base/time.h"
#include "model/image.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::platform_kinds {

// On pods that fetch an Image: its name; and which image they fetch.
inline constexpr std::string_view kImageLabel = "codeflare.dev/image";
inline constexpr std::string_view kFetchesAnnotation = "codeflare.dev/fetches";

struct FetchNode {
  std::string name;
  bool ready = false;
};

// A pod that fetches an image.
struct FetchPod {
  std::string name;
  std::string uid{};
  std::string node{};
  std::string image{};  // that it fetches
  std::string phase{};
  bool deleting = false;
  WallTime created{};
  std::string trouble{};  // "ErrImagePull"
  std::string message{};
};

struct ImageObserved {
  model::Image image;
  std::vector<FetchNode> nodes;  // that the Image selects, in the order of their names
  std::vector<FetchPod> pods;
};

struct ImageDesired {
  model::ImageStatus status;
  std::vector<std::string> create;  // nodes that get a pod
  std::vector<FetchPod> remove;
  std::optional<Duration> again;
};

// So many nodes fetch at a time: a registry has limits.
inline constexpr std::size_t kFetchingMax = 10;
// A pod that failed is replaced after this long.
inline constexpr Duration kFetchAgain = std::chrono::minutes(1);

// A node has the image once a pod with it has run there. Pods go when their result is in the
// status; what the status says of an earlier image does not count. Pure.
ImageDesired decide_image(const ImageObserved& observed, WallTime now);

// At most one pod per Image and node.
std::string fetch_pod_name(const model::Image& image, const std::string& node);

// The pod: our program, copied in, runs in the image and ends, so any image will do.
std::string fetch_pod(const model::Image& image, const std::string& node,
                      const std::string& program_image);

}  // namespace codeflare::controllers::platform_kinds
