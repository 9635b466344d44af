#pragma once

#include "base/result.h"
#include "model/codec/codec.h"
#include "model/extra.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Documents that the controller and the agents of a TrainingJob write for each other; one writer
// each. See docs/decisions/0014. Fields are added, never changed; unknown ones are kept.
namespace codeflare::elastic {

using model::Extra;

enum class MemberState : std::uint8_t {
  starting,    // its workers have the library and are not up yet
  registered,  // waits for a membership
  stopping,    // got notice of `generation`
  ready,       // no worker of an older generation runs; `step` is final
  hosting,     // the lowest member: its store listens at `address` and `port`
  running,
  left,
  failed,
  done,
};
std::string_view to_string(MemberState state);
std::optional<MemberState> parse_member_state(std::string_view text);

// Whose fault an exit is; decides whether it counts against backoffLimit.
enum class ExitClass : std::uint8_t { none, user, infrastructure, out_of_memory, planned };
std::string_view to_string(ExitClass exit);
std::optional<ExitClass> parse_exit_class(std::string_view text);

// Reasons of a membership.
namespace reason {
inline constexpr std::string_view kStart = "Start";
inline constexpr std::string_view kGrow = "Grow";
inline constexpr std::string_view kShrink = "Shrink";
inline constexpr std::string_view kReplace = "Replace";
inline constexpr std::string_view kPause = "Pause";
inline constexpr std::string_view kFinish = "Finish";
}  // namespace reason

struct MemberRef {
  std::int32_t index = 0;
  std::string pod;  // its UID
  Extra extra;

  friend bool operator==(const MemberRef&, const MemberRef&) = default;
};

struct Membership {
  std::int64_t generation = 0;  // 0: there was none yet
  std::string reason;
  std::vector<MemberRef> members;  // by index; none: a pause
  std::string not_after;           // RFC 3339; members that are not ready by then are dropped
  Extra extra;

  const MemberRef* find(std::int32_t index) const;
  friend bool operator==(const Membership&, const Membership&) = default;
};

struct Member {
  std::int64_t generation = 0;  // what `state` is about
  MemberState state = MemberState::registered;
  std::string pod;      // its UID
  std::string agent;    // one life of an agent: a restarted one has another
  std::string address;  // of the pod
  std::int32_t port = 0;
  std::int32_t nproc = 1;
  bool library = false;   // its workers said hello
  std::int64_t step = 0;  // committed
  std::optional<double> samples_per_second;
  std::optional<double> step_seconds;
  std::optional<double> loss;
  std::optional<std::int64_t> remaining_samples;  // of the whole job
  std::int64_t saved_step = 0;
  std::string unsaved;  // why its last save failed; empty: it did not, or another one saves
  ExitClass exit_class = ExitClass::none;
  std::int32_t exit_code = 0;
  std::string message;
  Extra extra;

  friend bool operator==(const Member&, const Member&) = default;
};

struct RoundRank {
  std::int32_t index = 0;
  std::int32_t rank = 0;  // of its first worker
  std::int32_t nproc = 1;
  std::string agent;
  std::string address;
  std::int32_t port = 0;
  Extra extra;

  friend bool operator==(const RoundRank&, const RoundRank&) = default;
};

// Written once per generation, when every member is ready for it.
struct Round {
  std::int64_t generation = 0;
  std::string address;
  std::int32_t port = 0;
  std::vector<RoundRank> ranks;  // by index
  std::int32_t world_size = 0;
  std::int32_t source = 0;  // rank whose state counts
  bool library = false;     // workers of new members are started before they register
  Extra extra;

  const RoundRank* find(std::int32_t index) const;
  friend bool operator==(const Round&, const Round&) = default;
};

const model::codec::StructInfo& describe(model::codec::Tag<MemberRef>);
const model::codec::StructInfo& describe(model::codec::Tag<Membership>);
const model::codec::StructInfo& describe(model::codec::Tag<Member>);
const model::codec::StructInfo& describe(model::codec::Tag<RoundRank>);
const model::codec::StructInfo& describe(model::codec::Tag<Round>);

Result<Membership> parse_membership(std::string_view text);
Result<Member> parse_member(std::string_view text);
Result<Round> parse_round(std::string_view text);

}  // namespace codeflare::elastic
