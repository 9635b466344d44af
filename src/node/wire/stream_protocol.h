#pragma once

#include "model/codec/codec.h"
#include "model/extra.h"
#include "node/wire/keeper_protocol.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The agent's requests to a keeper on a connection of its own, to be given descriptors; with the
// rules of keeper_protocol.h for versions.
namespace codeflare::node {

// Requests go on to an init as one packet.
inline constexpr std::size_t kStreamRequestBytesMax = 128u << 10;

struct StreamRequest {
  std::int32_t protocol = kKeeperProtocol;
  std::string verb;                  // "exec", "attach", "dial"
  std::string name;                  // of the container
  std::vector<std::string> command;  // of exec
  bool input = false;                // of exec: whether anything will be written
  bool terminal = false;             // of exec
  std::int32_t columns = 0;          // of the terminal; 0: not known
  std::int32_t rows = 0;
  std::string address;  // of dial, literal
  std::int32_t port = 0;
  // The signal for the program of exec and its group when the connection goes; 0: SIGHUP.
  std::int32_t hangup_signal = 0;
  Extra extra;

  friend bool operator==(const StreamRequest&, const StreamRequest&) = default;
};

struct StreamAnswer {
  std::int32_t protocol = kKeeperProtocol;
  bool event = false;    // not an answer: news for whoever keeps the state
  std::string error;     // empty: done
  bool missing = false;  // the error is that there is no such program
  // What the descriptors are that come with this frame, in order: "input", "output", "error",
  // "terminal", "socket".
  std::vector<std::string> descriptors;
  bool ended = false;  // the program, with an error the container; nothing comes afterwards
  std::int32_t exit_code = 0;
  Extra extra;

  friend bool operator==(const StreamAnswer&, const StreamAnswer&) = default;
};

const model::codec::StructInfo& describe(model::codec::Tag<StreamRequest>);
const model::codec::StructInfo& describe(model::codec::Tag<StreamAnswer>);

// Whether a connection that asks this is given away.
bool is_stream_verb(std::string_view verb);

}  // namespace codeflare::node
