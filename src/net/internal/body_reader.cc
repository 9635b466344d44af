#include "net/internal/body_reader.h"

#include <algorithm>
#include <string>

namespace codeflare::net::internal {

Wire<BodyReader::Step> BodyReader::step(std::string_view bytes) {
  Step result;
  switch (framing_.kind) {
    case Framing::Kind::none:
      break;
    case Framing::Kind::sized:
      result.data = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
      result.consumed = result.data.size();
      left_ -= result.consumed;
      done_ = left_ == 0;
      break;
    case Framing::Kind::chunked: {
      Wire<ChunkDecoder::Step> decoded = chunks_.decode(bytes);
      if (!decoded) {
        return std::unexpected(decoded.error());
      }
      result = {decoded->consumed, decoded->data};
      done_ = decoded->done;
      break;
    }
    case Framing::Kind::until_close:
      result = {bytes.size(), bytes};
      break;
  }
  taken_ += result.data.size();
  return result;
}

Wire<std::optional<Bytes>> BodyReader::take(InputBuffer& input) {
  while (!done() && !input.empty()) {
    Wire<Step> next = step(input.view());
    if (!next) {
      return std::unexpected(next.error());
    }
    std::optional<Bytes> piece;
    if (!next->data.empty()) {
      piece = Bytes::from(std::string(next->data));
    }
    input.consume(next->consumed);
    if (piece) {
      return piece;
    }
  }
  return std::nullopt;
}

Wire<std::optional<Bytes>> BodyReader::take(std::string_view fresh, InputBuffer& input) {
  while (!done() && !fresh.empty()) {
    Wire<Step> next = step(fresh);
    if (!next) {
      return std::unexpected(next.error());
    }
    fresh.remove_prefix(next->consumed);
    if (!next->data.empty()) {
      input.append(fresh);
      return Bytes::from(std::string(next->data));
    }
  }
  input.append(fresh);
  return std::nullopt;
}

bool BodyReader::end_of_input() {
  if (framing_.kind == Framing::Kind::until_close) {
    done_ = true;
  }
  return done();
}

}  // namespace codeflare::net::internal
