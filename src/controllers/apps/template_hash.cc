#include "controllers/apps/template_hash.h"

#include "model/codec/pod.h"

namespace codeflare::controllers::apps {

namespace {

// FNV-1a.
std::uint32_t hash_of(std::string_view text, std::uint32_t hash = 2166136261u) {
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  }
  return hash;
}

}  // namespace

std::string template_hash(const model::PodTemplateSpec& of, std::int32_t collisions) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::uint32_t hash = hash_of(model::to_json_text(of));
  if (collisions > 0) {
    hash = hash_of(std::to_string(collisions), hash);
  }
  std::string text = std::to_string(hash);
  for (char& digit : text) {
    digit = kLetters[static_cast<unsigned char>(digit) % kLetters.size()];
  }
  return text;
}

bool equal_ignoring_hash(model::PodTemplateSpec a, model::PodTemplateSpec b) {
  a.metadata.labels.erase(std::string(kTemplateHashLabel));
  b.metadata.labels.erase(std::string(kTemplateHashLabel));
  return a == b;
}

}  // namespace codeflare::controllers::apps
