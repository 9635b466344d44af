#include "net/internal/chunk_decoder.h"

#include <algorithm>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kOverheadMax = 16u << 10;
// 15 hex digits stay clear of overflow.
constexpr std::uint8_t kSizeDigitsMax = 15;

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

}  // namespace

Wire<ChunkDecoder::Step> ChunkDecoder::decode(std::string_view input) {
  Step step;
  while (state_ != State::done && step.consumed < input.size()) {
    std::string_view rest = input.substr(step.consumed);
    if (state_ == State::data) {
      step.data = rest.substr(0, std::min<std::uint64_t>(left_, rest.size()));
      left_ -= step.data.size();
      step.consumed += step.data.size();
      if (left_ == 0) {
        state_ = State::data_end;
      }
      return step;
    }
    Wire<std::size_t> used = 0;
    switch (state_) {
      case State::size:
        used = read_size(rest);
        break;
      case State::extension:
        used = read_extension(rest);
        break;
      case State::data_end:
        used = read_data_end(rest);
        break;
      default:
        used = read_trailer(rest);
        break;
    }
    if (!used) {
      return std::unexpected(used.error());
    }
    step.consumed += *used;
  }
  step.done = state_ == State::done;
  return step;
}

Wire<std::size_t> ChunkDecoder::read_size(std::string_view input) {
  std::size_t i = 0;
  for (; i < input.size(); ++i) {
    int digit = hex_value(input[i]);
    if (digit < 0) {
      break;
    }
    if (++digits_ > kSizeDigitsMax) {
      return bad("chunk size is too large");
    }
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
  }
  if (i == input.size()) {
    return i;
  }
  if (digits_ == 0 || (input[i] != '\r' && input[i] != ';')) {
    return bad("malformed chunk size");
  }
  digits_ = 0;
  overhead_ = 0;
  state_ = State::extension;
  return i;
}

// From after the digits to the line end.
Wire<std::size_t> ChunkDecoder::read_extension(std::string_view input) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (++overhead_ > kOverheadMax) {
      return bad("chunk extension is too long");
    }
    if (after_cr_) {
      if (input[i] != '\n') {
        return bad("malformed chunk size line");
      }
      after_cr_ = false;
      state_ = left_ == 0 ? State::trailer : State::data;
      overhead_ = 0;
      return i + 1;
    }
    after_cr_ = input[i] == '\r';
    if (!after_cr_ && !valid_field_value(input.substr(i, 1))) {
      return bad("control byte in a chunk size line");
    }
  }
  return input.size();
}

Wire<std::size_t> ChunkDecoder::read_data_end(std::string_view input) {
  if (input[0] != (after_cr_ ? '\n' : '\r')) {
    return bad("chunk is longer than its size");
  }
  if (after_cr_) {
    state_ = State::size;
  }
  after_cr_ = !after_cr_;
  return 1;
}

// Lines up to an empty one. Their fields are not used, so only what could hide a line end matters.
Wire<std::size_t> ChunkDecoder::read_trailer(std::string_view input) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (++overhead_ > kOverheadMax) {
      return bad("trailer is too long", 431);
    }
    if (after_cr_) {
      if (input[i] != '\n') {
        return bad("malformed trailer");
      }
      after_cr_ = false;
      if (!line_has_text_) {
        state_ = State::done;
        return i + 1;
      }
      line_has_text_ = false;
      continue;
    }
    after_cr_ = input[i] == '\r';
    if (!after_cr_) {
      if (!valid_field_value(input.substr(i, 1))) {
        return bad("control byte in a trailer");
      }
      line_has_text_ = true;
    }
  }
  return input.size();
}

}  // namespace codeflare::net::internal
