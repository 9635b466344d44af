#pragma once

#include <string_view>

// Labels and annotations of dispatch.codeflare.dev, on the hub's objects and on their copies.
namespace codeflare::controllers::dispatch {

// On a copy: the hub (the UID of its namespace kube-system) and the UID of the object there.
// Copies have the namespace and the name of the hub's object.
inline constexpr std::string_view kHubAnnotation = "dispatch.codeflare.dev/hub";
inline constexpr std::string_view kHubUidAnnotation = "dispatch.codeflare.dev/hub-uid";

// A label of every copy, so that the hub watches no other objects. Its value is the hub.
inline constexpr std::string_view kCopyLabel = "dispatch.codeflare.dev/copy-of-hub";

// On a copy: "LEASE DURATION". The worker stops the copy once that Lease of the hub was not renewed
// for so long (fence.h).
inline constexpr std::string_view kFenceAnnotation = "dispatch.codeflare.dev/fence";
// On a copy that its worker stopped for its fence: since when. It never starts again.
inline constexpr std::string_view kFencedAnnotation = "dispatch.codeflare.dev/fenced";

}  // namespace codeflare::controllers::dispatch
