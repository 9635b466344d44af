#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"
#include "model/gvk.h"
#include "net/http.h"
#include "net/websocket_connection.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Several streams in one WebSocket, as exec, attach and port-forward have them: the first byte of a
// message names its channel.
namespace codeflare::kube::internal {

inline constexpr const char* kChannelsV5 = "v5.channel.k8s.io";  // 255 ends another channel
inline constexpr const char* kChannelsV4 = "v4.channel.k8s.io";

inline constexpr Duration kPodSocketOpenWithin = std::chrono::seconds(30);
// A connection without a word for this long is tried by a ping.
inline constexpr Duration kPodSocketQuiet = std::chrono::seconds(30);

// "/api/v1/namespaces/default/pods/x/exec".
Result<std::string> pod_path(const model::ObjectKey& pod, std::string_view subresource);

// Opens a WebSocket to a subresource of a pod. The server's rejection is the error, in its words.
Task<Result<net::WebSocketAnswer>> open_pod_socket(Env env, net::HttpService& service,
                                                   std::string target,
                                                   std::vector<std::string> protocols);

Task<Result<void>> write_channel(net::WebSocketConnection& socket, std::uint8_t channel,
                                 std::string_view bytes);

}  // namespace codeflare::kube::internal
