#include "base/check.h"
#include "base/env/sim_env.h"
#include "net/gzip.h"
#include "net/testing/scripted_service.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace codeflare;
using namespace codeflare::net;

namespace {

// A little input may stand for very much output.
constexpr std::size_t kOutputMax = 256u << 10;
constexpr std::size_t kPieceMax = 64u << 10;

struct Decoded {
  std::string text;
  bool broken = false;
  bool too_much = false;
};

Task<Decoded> decode(std::string bytes, std::size_t step) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    pieces.push_back(bytes.substr(at, step));
  }
  Body body = gunzip(std::make_unique<testing::ListBody>(std::move(pieces)));
  Decoded decoded;
  while (decoded.text.size() < kOutputMax) {
    const Result<Bytes> piece = co_await body->read();
    if (!piece || piece->empty()) {
      decoded.broken = !piece;
      co_return decoded;
    }
    CHECK(piece->size() <= kPieceMax);
    decoded.text += piece->view();
  }
  decoded.too_much = true;
  co_return decoded;
}

}  // namespace

// However the bytes arrive, the text is the same; what is packed comes out again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  SimEnv sim;
  Loop& loop = sim.env().loop;
  const Decoded whole = run(loop, decode(bytes, size + 1)).value();
  const Decoded slow = run(loop, decode(bytes, 3)).value();
  if (!whole.too_much && !slow.too_much) {
    CHECK(whole.broken == slow.broken);
    // The begin of a damaged piece may be handed out or not.
    CHECK(whole.broken || whole.text == slow.text);
  }
  if (size < kOutputMax) {
    const Decoded again = run(loop, decode(gzip(bytes), 7)).value();
    CHECK(!again.broken && again.text == bytes);
  }
  return 0;
}
