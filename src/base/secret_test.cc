#include "base/secret.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>

namespace codeflare {
namespace {

TEST(Secret, reveals_its_text_only_on_request) {
  Secret secret("hunter2");
  EXPECT_EQ(secret.reveal(), "hunter2");
  EXPECT_FALSE(secret.empty());
  EXPECT_TRUE(Secret().empty());
  std::ostringstream out;
  out << secret;
  EXPECT_EQ(out.str(), "<redacted>");
  EXPECT_EQ(testing::PrintToString(secret), "<redacted>");
}

TEST(Secret, copies_and_moves_like_a_value) {
  Secret a("one");
  Secret b = a;
  EXPECT_EQ(a, b);
  Secret c = std::move(a);
  EXPECT_EQ(c, b);
  b = Secret("another, which is too long for a short string");
  EXPECT_NE(c, b);
  c = b;
  EXPECT_EQ(c, b);
  c = std::move(b);
  EXPECT_EQ(c.reveal(), "another, which is too long for a short string");
  EXPECT_NE(Secret("abc"), Secret("abd"));
  EXPECT_NE(Secret("abc"), Secret("ab"));
}

TEST(Secret, wipes_all_that_a_string_has_reserved) {
  std::string text = "hunter2 hunter2 hunter2 hunter2 hunter2";
  const std::size_t size = text.size();
  const char* bytes = text.data();
  wipe(text);
  EXPECT_TRUE(text.empty());
  // The string still owns the memory.
  ASSERT_EQ(text.data(), bytes);
  ASSERT_GE(text.capacity(), size);
  text.resize(size, 'x');
  wipe(text);
  text.resize(text.capacity());
  EXPECT_EQ(text.find_first_not_of('\0'), std::string::npos);
}

// A short string keeps its bytes inside the object, where they can be looked at after its end.
TEST(Secret, leaves_no_bytes_behind_when_it_ends_or_moves) {
  alignas(Secret) unsigned char memory[sizeof(Secret)];
  auto holds_it = [&] {
    return std::string(reinterpret_cast<const char*>(memory), sizeof(memory)).contains("hunter2");
  };
  auto* secret = new (memory) Secret("hunter2");
  EXPECT_TRUE(holds_it());
  Secret moved = std::move(*secret);
  EXPECT_FALSE(holds_it());
  *secret = moved;
  EXPECT_TRUE(holds_it());
  *secret = Secret("no");
  EXPECT_FALSE(holds_it());
  *secret = std::move(moved);
  EXPECT_TRUE(holds_it());
  std::destroy_at(secret);
  EXPECT_FALSE(holds_it());
}

}  // namespace
}  // namespace codeflare
