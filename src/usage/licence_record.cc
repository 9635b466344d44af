#include "usage/licence_record.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <utility>

namespace codeflare::usage {

namespace {

constexpr std::size_t kIdDigits = 16;

std::string hex(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 0xf];
  }
  return text;
}

std::string mac(const Secret& licence, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const std::string& key = licence.reveal();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return hex(digest.data(), size);
}

std::string text_of(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : std::string();
}

std::optional<WallTime> time_of(std::string_view text) {
  const Result<WallTime> time = parse_rfc3339(text);
  return time ? std::optional(*time) : std::nullopt;
}

std::string seal_of(const Secret& licence, const std::string& last_good,
                    const std::string& newest) {
  return mac(licence, "record " + last_good + " " + newest);
}

}  // namespace

std::string licence_id(const Secret& licence) {
  return mac(licence, "id").substr(0, kIdDigits);
}

void write_record(json::Writer& writer, const LicenceState& state, const Secret& licence) {
  const std::string last_good = text_of(state.last_good);
  const std::string newest = text_of(state.newest);
  writer.begin_object().member("id", licence_id(licence));
  const auto member = [&](std::string_view name, const std::string& text) {
    writer.key(name);
    text.empty() ? writer.null() : writer.string(text);
  };
  member("lastGood", last_good);
  member("newest", newest);
  writer.member("seal", seal_of(licence, last_good, newest)).end_object();
}

LicenceState read_record(const json::Value* record, const Secret& licence) {
  LicenceState state{.last = {.message = "not checked since the start"}};
  if (record == nullptr) {
    return state;
  }
  const std::string last_good(record->string_or_empty("lastGood"));
  const std::string newest(record->string_or_empty("newest"));
  if (record->string_or_empty("seal") != seal_of(licence, last_good, newest)) {
    return state;
  }
  state.last_good = time_of(last_good);
  state.newest = time_of(newest);
  return state;
}

bool is_offline(const Secret& licence) {
  const std::string& text = licence.reveal();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

}  // namespace codeflare::usage
