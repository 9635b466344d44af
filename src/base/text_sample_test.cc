#include "base/text_sample.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare {
namespace {

std::string noise(Random& random, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    text.push_back(static_cast<char>(random.below(256)));
  }
  return text;
}

// A long text that is the same for all numbers but for a few words of different lengths.
std::string form(int number) {
  const std::string word = std::to_string(number);
  std::string text = "{\"name\":\"form-" + word + "\",\"fields\":[";
  for (int i = 0; i < 60; ++i) {
    text += "{\"field\":\"number " + std::to_string(i) + "\",\"value\":{}},";
  }
  return text + "],\"number\":" + word + ",\"end\":\"of the form\"}";
}

TEST(TextSample, what_was_packed_comes_back) {
  TextSample sample;
  SimEnv world;
  Random& random = world.env().random;
  std::vector<std::string> texts = {"", "a", "1234567", "12345678", form(1), form(22), form(1)};
  for (std::size_t size : {1u, 100u, 5'000u, 70'000u}) {
    texts.push_back(noise(random, size));
    texts.push_back(std::string(size, 'x'));
    texts.push_back(form(7) + texts.back() + form(8));
  }
  std::vector<std::string> packed;
  for (const std::string& text : texts) {
    packed.push_back(sample.pack(text));
  }
  // After all were learned: the sample never changes what it knows.
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(sample.unpack(packed[i], texts[i].size()), texts[i]) << i;
  }
}

TEST(TextSample, a_text_like_others_takes_little_more_than_what_is_its_own) {
  TextSample sample;
  sample.pack(form(1));
  for (int number = 2; number < 1'000; ++number) {
    EXPECT_LT(sample.pack(form(number)).size(), 32u) << number;
  }
  EXPECT_LT(sample.memory_bytes(), 4 * form(1).size());
}

TEST(TextSample, learns_another_kind_of_text_when_it_sees_one) {
  TextSample sample;
  SimEnv world;
  Random& random = world.env().random;
  const std::string other = noise(random, 3'000);
  sample.pack(form(1));
  EXPECT_LT(sample.pack(other).size(), 32u) << "kept in the sample, not twice";
  EXPECT_LT(sample.pack(other).size(), 32u);
  EXPECT_LT(sample.pack(form(2)).size(), 32u);
}

TEST(TextSample, stays_within_its_bounds_and_packs_what_it_cannot_learn) {
  TextSample sample;
  SimEnv world;
  Random& random = world.env().random;
  sample.pack(form(1));
  for (int i = 0; i < 200; ++i) {
    const std::string text = noise(random, 4'000);
    const std::string packed = sample.pack(text);
    EXPECT_LE(packed.size(), text.size() + 16);
    EXPECT_EQ(sample.unpack(packed, text.size()), text);
  }
  EXPECT_LT(sample.memory_bytes(), 3 * TextSample::kBytesMax);
  EXPECT_LT(sample.pack(form(2)).size(), 32u) << "what was learned first is still known";
  const std::string huge = noise(random, 1'000'000);
  EXPECT_EQ(sample.unpack(sample.pack(huge), huge.size()), huge);
}

// Texts cut and joined at random, so that matches begin and end anywhere.
TEST(TextSample, any_mixture_of_known_and_new_comes_back) {
  SimEnv world;
  Random& random = world.env().random;
  TextSample sample;
  const std::string known = form(123);
  sample.pack(known);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (auto parts = random.below(12); parts > 0; --parts) {
      const std::size_t from = random.below(known.size());
      text += known.substr(from, random.below(200));
      text += noise(random, random.below(20));
    }
    ASSERT_EQ(sample.unpack(sample.pack(text), text.size()), text) << round;
  }
}

}  // namespace
}  // namespace codeflare
