#include "net/internal/body_writer.h"

#include "net/internal/body_batch.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::net::internal {

namespace {

// The rest of a batch after the first attempt to write it; it points into the batch. Nearly always
// there is room for all of it: that way costs no allocation.
Result<std::vector<iovec>> write_now(Stream& stream, BodyBatch& batch, bool chunked) {
  BodyBatch::List list;
  std::span<iovec> rest = batch.framed(chunked, list);
  TRY(stream.write_some(rest));
  return std::vector<iovec>(rest.begin(), rest.end());
}

}  // namespace

Task<Result<void>> write_message(Stream& stream, Message message, std::function<void()> writing,
                                 std::function<void()> waiting) {
  BodyStream* const body = message.body;
  const Framing framing = message.framing;
  const bool chunked = framing.kind == Framing::Kind::chunked;
  std::uint64_t total = 0;
  bool ended = framing.kind == Framing::Kind::none;
  BodyBatch batch(std::move(message.start));
  std::optional<FanOut::Member> member;
  if (message.fan_out != nullptr && body != nullptr && chunked && stream.tls() != nullptr) {
    member.emplace(*message.fan_out, stream, *body, batch);
    if (!member->joined()) {
      member.reset();
    }
  }
  for (bool first = true; first || !ended; first = false) {
    if (ended || body == nullptr) {
      batch.end();
    } else if (first || member) {
      batch.add_ready(*body);
    }
    if (!first) {
      waiting();
    }
    if (!first && member && batch.empty()) {
      if (Result<void> woken = co_await member->wait(); !woken) {
        if (woken.error().code != ErrorCode::cancelled) {
          co_return fail(std::move(woken).error());
        }
        member.reset();  // read() knows how a body ends that is asked to stop
      }
    }
    if (!first && !member) {
      CO_TRY_ASSIGN(Bytes piece, co_await body->read());
      batch.add(std::move(piece));
      batch.add_ready(*body);
    }
    ended = batch.ended();
    total += batch.bytes();
    if (framing.kind == Framing::Kind::sized &&
        (total > framing.size || (ended && total < framing.size))) {
      co_return fail(internal_error("body has " + std::to_string(total) + " bytes instead of " +
                                    std::to_string(framing.size)));
    }
    // A sized body is over when its bytes are; its stream need not be asked for the end.
    ended |= framing.kind == Framing::Kind::sized && total == framing.size;
    writing();
    CO_TRY_ASSIGN(std::vector<iovec> rest, write_now(stream, batch, chunked));
    if (!rest.empty() || stream.holds_output()) {
      CO_TRY(co_await stream.write(std::span<iovec>(rest)));
    }
    batch.clear();
  }
  co_return Result<void>();
}

}  // namespace codeflare::net::internal
