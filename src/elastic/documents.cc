#include "elastic/documents.h"

#include "json/parse.h"
#include "model/codec/describe.h"

#include <algorithm>
#include <span>

namespace codeflare::elastic {

namespace {

constexpr std::size_t kDocumentBytesMax = 1u << 20;

template <typename E>
struct Word {
  E value;
  std::string_view name;
};

constexpr Word<MemberState> kStates[] = {
    {MemberState::starting, "starting"}, {MemberState::registered, "registered"},
    {MemberState::stopping, "stopping"}, {MemberState::ready, "ready"},
    {MemberState::hosting, "hosting"},   {MemberState::running, "running"},
    {MemberState::left, "left"},         {MemberState::failed, "failed"},
    {MemberState::done, "done"},
};

constexpr Word<ExitClass> kClasses[] = {
    {ExitClass::none, ""},
    {ExitClass::user, "user"},
    {ExitClass::infrastructure, "infrastructure"},
    {ExitClass::out_of_memory, "outOfMemory"},
    {ExitClass::planned, "planned"},
};

template <typename E>
std::string_view name_in(std::span<const Word<E>> words, E value) {
  return std::ranges::find(words, value, &Word<E>::value)->name;
}

template <typename E>
std::optional<E> value_in(std::span<const Word<E>> words, std::string_view name) {
  auto at = std::ranges::find(words, name, &Word<E>::name);
  return at == words.end() ? std::nullopt : std::optional(at->value);
}

template <typename T>
Result<T> parse_document(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text, {.max_bytes = kDocumentBytesMax}));
  return model::from_json<T>(document.root);
}

}  // namespace

std::string_view to_string(MemberState state) {
  return name_in<MemberState>(kStates, state);
}

std::optional<MemberState> parse_member_state(std::string_view text) {
  return value_in<MemberState>(kStates, text);
}

std::string_view to_string(ExitClass exit) {
  return name_in<ExitClass>(kClasses, exit);
}

std::optional<ExitClass> parse_exit_class(std::string_view text) {
  return value_in<ExitClass>(kClasses, text);
}

const MemberRef* Membership::find(std::int32_t index) const {
  auto at = std::ranges::find(members, index, &MemberRef::index);
  return at == members.end() ? nullptr : &*at;
}

const RoundRank* Round::find(std::int32_t index) const {
  auto at = std::ranges::find(ranks, index, &RoundRank::index);
  return at == ranks.end() ? nullptr : &*at;
}

}  // namespace codeflare::elastic

namespace codeflare::model::codec {

// Enumerations are words on the wire.
template <typename E, std::optional<E> (*parse)(std::string_view)>
struct WordCodec {
  static bool decode(DecodeContext& context, const json::Value& value, void* member) {
    if (!value.is_string()) {
      return context.wrong_kind("a string", value);
    }
    const std::optional<E> known = parse(value.as_string());
    if (!known) {
      return context.fail("unknown word");
    }
    *static_cast<E*>(member) = *known;
    return true;
  }
  static json::Value encode(json::Arena& arena, const void* member) {
    return json::Value::string(arena, elastic::to_string(*static_cast<const E*>(member)));
  }
  static bool empty(const void* member) {
    return elastic::to_string(*static_cast<const E*>(member)).empty();
  }
};

template <>
struct CodecOf<elastic::MemberState>
    : WordCodec<elastic::MemberState, elastic::parse_member_state> {};
template <>
struct CodecOf<elastic::ExitClass> : WordCodec<elastic::ExitClass, elastic::parse_exit_class> {};

}  // namespace codeflare::model::codec

namespace codeflare::elastic {

using model::codec::Field;
using model::codec::field;
using model::codec::Presence;
using model::codec::struct_info;
using model::codec::StructInfo;
using model::codec::Tag;

const StructInfo& describe(Tag<MemberRef>) {
  static constexpr Field kFields[] = {
      field<&MemberRef::index>("index", Presence::always),
      field<&MemberRef::pod>("pod"),
  };
  static constexpr StructInfo kInfo = struct_info<MemberRef>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Membership>) {
  static constexpr Field kFields[] = {
      field<&Membership::generation>("generation", Presence::always),
      field<&Membership::reason>("reason"),
      field<&Membership::members>("members", Presence::always),
      field<&Membership::not_after>("notAfter"),
  };
  static constexpr StructInfo kInfo = struct_info<Membership>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Member>) {
  static constexpr Field kFields[] = {
      field<&Member::generation>("generation", Presence::always),
      field<&Member::state>("state"),
      field<&Member::pod>("pod"),
      field<&Member::agent>("agent"),
      field<&Member::address>("address"),
      field<&Member::port>("port"),
      field<&Member::nproc>("nproc"),
      field<&Member::library>("library"),
      field<&Member::step>("step", Presence::always),
      field<&Member::samples_per_second>("samplesPerSecond"),
      field<&Member::step_seconds>("stepSeconds"),
      field<&Member::loss>("loss"),
      field<&Member::remaining_samples>("remainingSamples"),
      field<&Member::saved_step>("savedStep"),
      field<&Member::unsaved>("unsaved"),
      field<&Member::exit_class>("class"),
      field<&Member::exit_code>("exitCode"),
      field<&Member::message>("message"),
  };
  static constexpr StructInfo kInfo = struct_info<Member>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RoundRank>) {
  static constexpr Field kFields[] = {
      field<&RoundRank::index>("index", Presence::always),
      field<&RoundRank::rank>("rank", Presence::always),
      field<&RoundRank::nproc>("nproc", Presence::always),
      field<&RoundRank::agent>("agent"),
      field<&RoundRank::address>("address"),
      field<&RoundRank::port>("port"),
  };
  static constexpr StructInfo kInfo = struct_info<RoundRank>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Round>) {
  static constexpr Field kFields[] = {
      field<&Round::generation>("generation", Presence::always),
      field<&Round::address>("address"),
      field<&Round::port>("port"),
      field<&Round::ranks>("ranks", Presence::always),
      field<&Round::world_size>("worldSize", Presence::always),
      field<&Round::source>("source", Presence::always),
      field<&Round::library>("library"),
  };
  static constexpr StructInfo kInfo = struct_info<Round>(kFields);
  return kInfo;
}

Result<Membership> parse_membership(std::string_view text) {
  return parse_document<Membership>(text);
}

Result<Member> parse_member(std::string_view text) {
  return parse_document<Member>(text);
}

Result<Round> parse_round(std::string_view text) {
  return parse_document<Round>(text);
}

}  // namespace codeflare::elastic
