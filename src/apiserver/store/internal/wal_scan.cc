#include "apiserver/store/internal/wal_scan.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kHeaderSummedBytes = 24;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::size_t kFrameSummedBytes = 8;  // of its header; then the page
constexpr std::size_t kSaltsAt = 8;
constexpr std::size_t kChecksumAt = 16;
constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: checksums of big-endian words
constexpr std::uint32_t kVersion = 3007000;

// As all fields of the format, whatever the checksums are made of.
std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (char byte : bytes.substr(at, 4)) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

std::uint32_t little_endian(const char* at) {
  auto byte = [at](int i) { return std::uint32_t{static_cast<unsigned char>(at[i])}; };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

bool is_page_size(std::uint32_t bytes) {
  return bytes >= 512 && bytes <= 65536 && std::has_single_bit(bytes);
}

// The only bit in which two pairs of words of the file differ: the byte that holds it, as `right`
// has it. None when more bits differ.
template <class Pair>
std::vector<WalCorrection> only_bit(const Pair& wrong, const Pair& right, std::uint64_t offset) {
  auto joined = [](const Pair& pair) { return std::uint64_t{pair.first} << 32 | pair.second; };
  const std::uint64_t bits = joined(wrong) ^ joined(right);
  if (!std::has_single_bit(bits)) {
    return {};
  }
  const auto byte = static_cast<std::uint64_t>(std::countr_zero(bits)) / 8;
  return {{offset + 7 - byte, static_cast<char>(joined(right) >> (8 * byte))}};
}

}  // namespace

void WalScan::add(std::string_view bytes) {
  piece_bytes_ = piece_bytes_ == 0 ? kHeaderBytes : piece_bytes_;
  while (!bytes.empty() && !done_) {
    if (piece_.empty() && bytes.size() >= piece_bytes_) {
      const std::string_view whole = bytes.substr(0, piece_bytes_);
      bytes.remove_prefix(whole.size());
      take(whole);
      continue;
    }
    const std::string_view part = bytes.substr(0, piece_bytes_ - piece_.size());
    piece_ += part;
    bytes.remove_prefix(part.size());
    if (piece_.size() == piece_bytes_) {
      take(std::exchange(piece_, {}));
    }
  }
}

void WalScan::take(std::string_view bytes) {
  if (piece_bytes_ == kHeaderBytes) {
    take_header(bytes);
    return;
  }
  const Frame frame = parse(bytes);
  ++frames_;
  if (past_) {
    take_past_header(frame);
  } else if (bad_) {
    take_behind(frame);
  } else {
    take_frame(frame);
  }
}

void WalScan::take_header(std::string_view bytes) {
  const std::uint32_t magic = big_endian(bytes, 0);
  const std::uint32_t page_bytes = past_ ? past_->page_bytes : big_endian(bytes, 8);
  const bool is_big = (magic & 1) != 0;
  order_ = past_ ? past_->order : is_big ? ByteOrder::big : ByteOrder::little;
  const Checksum stored{big_endian(bytes, kHeaderSummedBytes),
                        big_endian(bytes, kHeaderSummedBytes + 4)};
  const Checksum computed = sum({}, bytes.substr(0, kHeaderSummedBytes));
  state_.is_header_bad = (magic & ~1u) != kMagic || big_endian(bytes, 4) != kVersion ||
                         !is_page_size(page_bytes) || stored != computed;
  done_ = state_.is_header_bad && (!past_ || !is_page_size(page_bytes));
  salts_ = {big_endian(bytes, 16), big_endian(bytes, 20)};
  has_salts_ = !past_;
  chain_ = stored;
  previous_ = Link{stored, computed, false};
  piece_bytes_ = page_bytes + kFrameHeaderBytes;
  state_.bytes_valid = state_.is_header_bad ? 0 : kHeaderBytes;
}

WalScan::Frame WalScan::parse(std::string_view bytes) {
  return {.bytes = bytes,
          .page = big_endian(bytes, 0),
          .commit = big_endian(bytes, 4),
          .salts = {big_endian(bytes, kSaltsAt), big_endian(bytes, kSaltsAt + 4)},
          .stored = {big_endian(bytes, kChecksumAt), big_endian(bytes, kChecksumAt + 4)}};
}

std::uint64_t WalScan::offset() const {
  return kHeaderBytes + (frames_ - 1) * piece_bytes_;
}

WalScan::Checksum WalScan::sum(Checksum from, std::string_view bytes) const {
  std::uint32_t first = from.first;
  std::uint32_t second = from.second;
  const char* const end = bytes.data() + bytes.size();
  if (order_ == ByteOrder::little) {
    for (const char* at = bytes.data(); at < end; at += 8) {
      first += little_endian(at) + second;
      second += little_endian(at + 4) + first;
    }
  } else {
    for (const char* at = bytes.data(); at < end; at += 8) {
      first += std::byteswap(little_endian(at)) + second;
      second += std::byteswap(little_endian(at + 4)) + first;
    }
  }
  return {first, second};
}

WalScan::Checksum WalScan::sum(Checksum from, const Frame& frame) const {
  return sum(sum(from, frame.bytes.substr(0, kFrameSummedBytes)),
             frame.bytes.substr(kFrameHeaderBytes));
}

void WalScan::take_frame(const Frame& frame) {
  const Checksum computed = sum(chain_, frame);
  if (frame.salts != salts_ || frame.page == 0 || computed != frame.stored) {
    take_first_bad(frame, computed);
    return;
  }
  chain_ = computed;
  if (frame.commit != 0) {
    ++state_.commits;
    state_.bytes_valid = offset() + piece_bytes_;
  }
}

void WalScan::take_first_bad(const Frame& frame, Checksum computed) {
  bad_ = WalDamage{.frame = frames_,
                   .offset = offset(),
                   .problem = frame.salts != salts_ ? "its salts are not those of the header"
                                                    : "its checksum is wrong"};
  corrections_ = correct(frame, computed);
  is_correctable_ = corrections_.size() > 0;
  // Of a frame that is wrong by more than a bit the mark may be what was there before.
  const bool is_commit = is_correctable_ && may_commit(frame);
  if (is_commit) {
    corrected_end_ = offset() + piece_bytes_;
  }
  previous_ = Link{frame.stored, computed, is_commit};
}

// The mark itself may be what was flipped.
bool WalScan::may_commit(const Frame& frame) const {
  std::string bytes(frame.bytes);
  bool may = frame.commit != 0 && corrections_.content.size() != 1;
  for (const WalCorrection& correction : corrections_.content) {
    const char found = std::exchange(bytes[correction.offset - offset()], correction.byte);
    may = may || parse(bytes).commit != 0;
    bytes[correction.offset - offset()] = found;
  }
  return may;
}

bool WalScan::continues(const Frame& frame, const Link& link) const {
  return sum(link.stored, frame) == frame.stored ||
         (link.computed != link.stored && sum(link.computed, frame) == frame.stored);
}

void WalScan::take_behind(const Frame& frame) {
  const std::optional<Link> before = std::exchange(previous_, std::nullopt);
  if (frame.salts != salts_) {
    is_correctable_ = false;
    return;
  }
  const bool is_next = before && continues(frame, *before);
  const bool is_commit = is_next && frame.commit != 0;
  is_damage_ = is_damage_ || (is_next && before->is_commit);
  bad_->commits_behind += is_commit ? 1 : 0;
  if (is_correctable_ && !corrected_end_) {
    is_correctable_ = is_next;
    // Which of the two is wrong, the content or its checksum, shows in the frame that goes on.
    if (is_next && frames_ == bad_->frame + 1) {
      const bool is_by_stored = sum(before->stored, frame) == frame.stored;
      (is_by_stored ? corrections_.checksum : corrections_.content).clear();
      is_correctable_ = corrections_.size() > 0;
    }
    if (is_correctable_ && is_commit) {
      corrected_end_ = offset() + piece_bytes_;
    }
  }
  previous_ =
      Link{frame.stored, is_next || !before ? frame.stored : sum(before->stored, frame), is_commit};
}

void WalScan::take_past_header(const Frame& frame) {
  const bool is_current = !has_salts_ || frame.salts == salts_;
  const bool is_next = is_current && previous_ && continues(frame, *previous_);
  previous_ = Link{frame.stored, frame.stored, false};
  if (!is_next) {
    return;
  }
  salts_ = frame.salts;
  has_salts_ = true;
  uncommitted_[frame.page] = offset() + kFrameHeaderBytes;
  if (frame.commit == 0) {
    return;
  }
  ++state_.commits;
  for (const auto& [page, at] : uncommitted_) {
    state_.pages[page] = at;
  }
  uncommitted_.clear();
  // Pages that a shrinking database has cut off are not folded in.
  state_.pages.erase(state_.pages.upper_bound(frame.commit), state_.pages.end());
}

WalScan::Corrections WalScan::correct(const Frame& frame, Checksum computed) const {
  if (frame.salts != salts_) {
    const bool is_sound = computed == frame.stored;
    return {.content = is_sound ? only_bit(frame.salts, salts_, offset() + kSaltsAt)
                                : std::vector<WalCorrection>(),
            .checksum = {}};
  }
  return {.content = correct_content(frame, computed),
          .checksum = only_bit(frame.stored, computed, offset() + kChecksumAt)};
}

// The checksum is linear: what a changed bit adds to it depends on where the bit is only, so each
// bit is tried without summing up again.
std::vector<WalCorrection> WalScan::correct_content(const Frame& frame, Checksum computed) const {
  std::vector<WalCorrection> found;
  const Checksum missing{frame.stored.first - computed.first,
                         frame.stored.second - computed.second};
  // How 1 more in the first or second word of a pair changes both sums, from the last pair back.
  Checksum by_first{1, 1};
  Checksum by_second{0, 1};
  auto go_back = [](Checksum by) {
    const std::uint32_t first = by.first + by.second;
    return Checksum{first, by.second + first};
  };
  std::string_view content = frame.bytes;
  for (std::size_t at = content.size(); at >= 8;) {
    at = at == kFrameHeaderBytes ? 0 : at - 8;
    for (std::size_t word : {at, at + 4}) {
      const Checksum by = word == at ? by_first : by_second;
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        const std::uint32_t in_byte = bit % 8;
        const std::size_t byte = word + (order_ == ByteOrder::little ? bit / 8 : 3 - bit / 8);
        const bool is_set = (static_cast<unsigned char>(content[byte]) >> in_byte & 1) != 0;
        const std::uint32_t added = is_set ? 0u - (1u << bit) : 1u << bit;
        if (by.first * added == missing.first && by.second * added == missing.second) {
          found.push_back({offset() + byte, static_cast<char>(content[byte] ^ (1 << in_byte))});
        }
      }
    }
    by_first = go_back(by_first);
    by_second = go_back(by_second);
  }
  return found;
}

WalState WalScan::finish() {
  if (is_damage_) {
    state_.damage = bad_;
  } else if (corrected_end_ && corrections_.size() > 1) {
    state_.damage = bad_;
    state_.damage->commits_behind = 0;
  } else if (corrected_end_) {
    state_.correction =
        corrections_.content.empty() ? corrections_.checksum.front() : corrections_.content.front();
    state_.bytes_valid = *corrected_end_;
    ++state_.commits;
  }
  return std::move(state_);
}

}  // namespace codeflare::apiserver
