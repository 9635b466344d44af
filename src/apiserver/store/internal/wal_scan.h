#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// SQLite's write-ahead log (https://sqlite.org/fileformat2.html, section 4), read as its recovery
// reads it: a header, then frames of one page each. The frames of one transaction follow each other
// and the last one has a commit mark. Each checksum covers everything before it, and frames count
// only with the header's salts. Recovery takes the commits up to the first bad frame.

namespace codeflare::apiserver {

// Commits that recovery would drop although they were synced or, of the last one, completely
// written.
struct WalDamage {
  std::uint64_t frame = 0;  // the first bad one, from 1; 0: the header
  std::uint64_t offset = 0;
  std::string problem;
  std::uint64_t commits_behind = 0;  // 0: it is the last transaction itself
};

// The one bit that, set right, completes the last transaction.
struct WalCorrection {
  std::uint64_t offset = 0;
  char byte = 0;  // as it should be
};

struct WalState {
  bool is_header_bad = false;  // recovery takes such a log for an empty one
  // Through the last commit that recovery finds, with the correction made; what lies behind was
  // never acknowledged, unless there is damage.
  std::uint64_t bytes_valid = 0;
  std::uint64_t commits = 0;
  std::optional<WalDamage> damage;
  std::optional<WalCorrection> correction;
  // Where the newest committed version of each page is: filled where the header is passed over.
  std::map<std::uint32_t, std::uint64_t> pages;
};

// Tells a log whose end is torn from a damaged one, in one pass.
//
// A transaction is written only when the one before is synced (one append() at a time, synchronous
// = FULL). So a power cut tears the last transaction only, and its commit mark is the last one. A
// frame that continues the checksums of a commit behind the first bad frame proves damage. Frames
// behind the end are normal: of the time before the log was started over (other salts), or of a
// transaction that a full disk ended (no commit, and it does not continue the checksums).
//
// When one bit was flipped in the last transaction, the checksums tell so, and mostly which one.
// Setting that right is correct also where a torn sector differs by one bit. Where several bits
// come into question (the upper ones of a word, at a distance), it is damage.
class WalScan {
 public:
  enum class ByteOrder : std::uint8_t { little, big };
  WalScan() = default;
  // Passes over a bad header: frames that continue each other's checksums count.
  struct PastHeader {
    std::uint32_t page_bytes;
    ByteOrder order;
  };
  explicit WalScan(PastHeader past) : past_(past) {}

  // The bytes of the file in order, in pieces of any size.
  void add(std::string_view bytes);
  WalState finish();

 private:
  struct Checksum {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool operator==(const Checksum&) const = default;
  };
  struct Salts {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool operator==(const Salts&) const = default;
  };
  struct Frame {
    std::string_view bytes;
    std::uint32_t page = 0;
    std::uint32_t commit = 0;  // pages of the database behind the transaction; 0: it goes on
    Salts salts;
    Checksum stored;
  };
  // The state that the next frame may continue.
  struct Link {
    Checksum stored;
    Checksum computed;
    bool is_commit = false;  // for sure: the checksum covers the mark
  };
  // Each would make the first bad frame a good one.
  struct Corrections {
    std::vector<WalCorrection> content;  // or salts: the stored checksum is right
    std::vector<WalCorrection> checksum;
    std::size_t size() const { return content.size() + checksum.size(); }
  };

  static Frame parse(std::string_view bytes);
  void take(std::string_view bytes);
  void take_header(std::string_view bytes);
  void take_frame(const Frame& frame);
  void take_first_bad(const Frame& frame, Checksum computed);
  void take_behind(const Frame& frame);
  void take_past_header(const Frame& frame);
  bool continues(const Frame& frame, const Link& link) const;
  Checksum sum(Checksum from, std::string_view bytes) const;
  Checksum sum(Checksum from, const Frame& frame) const;
  Corrections correct(const Frame& frame, Checksum computed) const;
  std::vector<WalCorrection> correct_content(const Frame& frame, Checksum computed) const;
  bool may_commit(const Frame& frame) const;
  std::uint64_t offset() const;  // of the frame that is taken

  std::optional<PastHeader> past_;
  std::string piece_;            // begun by one add(), finished by the next
  std::size_t piece_bytes_ = 0;  // of the header, then of each frame
  bool done_ = false;
  ByteOrder order_ = ByteOrder::little;
  Salts salts_;
  bool has_salts_ = false;
  std::uint64_t frames_ = 0;
  Checksum chain_;
  std::optional<WalDamage> bad_;
  bool is_damage_ = false;
  std::optional<Link> previous_;
  Corrections corrections_;
  bool is_correctable_ = false;                 // so far: the transaction is whole but for one bit
  std::optional<std::uint64_t> corrected_end_;  // and here is its commit
  std::map<std::uint32_t, std::uint64_t> uncommitted_;
  WalState state_;
};

}  // namespace codeflare::apiserver
