#include "base/log.h"

#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/secret.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class LogTest : public testing::Test {
 protected:
  std::string text(std::string_view message, LogFields fields) {
    return format_log_text(record(message, fields)).substr(25);
  }
  std::string json(std::string_view message, LogFields fields) {
    return format_log_json(record(message, fields));
  }
  LogRecord record(std::string_view message, LogFields fields) {
    return {.time = parse_rfc3339("2026-11-16T00:14:39.1239Z").value(),
            .level = LogLevel::info,
            .message = message,
            .context = {},
            .fields = {fields.begin(), fields.size()}};
  }

  SimEnv world_;
  Clock& clock_ = world_.env().clock;
  LogCapture capture_;
};

TEST_F(LogTest, a_text_line_has_time_level_message_and_fields) {
  EXPECT_EQ(format_log_text(record("leader elected", {{"lease", "a/b"}, {"holder", "x"}})),
            "2026-11-16T00:14:39.123Z INFO  leader elected lease=a/b holder=x");
}

TEST_F(LogTest, text_values_are_quoted_when_needed) {
  EXPECT_EQ(text("m", {{"k", "plain-1.2:3/4"}}), "INFO  m k=plain-1.2:3/4");
  EXPECT_EQ(text("m", {{"k", ""}}), "INFO  m k=\"\"");
  EXPECT_EQ(text("m", {{"k", "two words"}}), "INFO  m k=\"two words\"");
  EXPECT_EQ(text("m", {{"k", "a=b"}}), "INFO  m k=\"a=b\"");
  EXPECT_EQ(text("m", {{"k", "say \"x\" \\"}}), "INFO  m k=\"say \\\"x\\\" \\\\\"");
  EXPECT_EQ(text("m", {{"k", "größe"}}), "INFO  m k=größe");
}

TEST_F(LogTest, control_characters_cannot_forge_a_line) {
  EXPECT_EQ(text("a\nb\x1b[1m", {{"k\n", "x\r\ny\t\x7f"}}),
            "INFO  a\\nb\\x1b[1m k\\n=\"x\\x0d\\ny\\t\\x7f\"");
}

TEST_F(LogTest, values_keep_their_types) {
  std::string owned = "owned";
  Error error = not_found("pods \"x\" not found");
  EXPECT_EQ(text("m", {{"text", owned},
                       {"int", -17},
                       {"max", std::numeric_limits<std::uint64_t>::max()},
                       {"size", sizeof(int)},
                       {"real", 0.25},
                       {"yes", true},
                       {"took", 1500ms},
                       {"err", error}}),
            "INFO  m text=owned int=-17 max=18446744073709551615 size=4 real=0.25 yes=true "
            "took=1.5s err=\"not_found: pods \\\"x\\\" not found\"");
}

TEST_F(LogTest, a_json_line_is_one_object_with_typed_values) {
  Error error = not_found("no \"x\"");
  EXPECT_EQ(json("leader elected", {{"lease", "a/b"},
                                    {"n", -3},
                                    {"real", 0.5},
                                    {"nan", std::numeric_limits<double>::quiet_NaN()},
                                    {"ok", false},
                                    {"took", 1500ms},
                                    {"err", error}}),
            R"({"time":"2026-11-16T00:14:39.123Z","level":"info","msg":"leader elected",)"
            R"("lease":"a/b","n":-3,"real":0.5,"nan":"nan","ok":false,"took":1.5,)"
            R"("err":"not_found: no \"x\""})");
}

TEST_F(LogTest, a_json_line_is_valid_whatever_the_text) {
  EXPECT_EQ(json("a\nb", {{"k\"", "\\ \x01 ü € 😀"}}),
            R"({"time":"2026-11-16T00:14:39.123Z","level":"info","msg":"a\nb",)"
            "\"k\\\"\":\"\\\\ \\u0001 ü € 😀\"}");
  // Bytes that are not UTF-8: alone, cut short, too long, half a pair, out of range.
  for (std::string bad : {"\xff", "\x80", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf0\x80\x80\x80"}) {
    std::string line = json("m", {{"k", bad}});
    EXPECT_TRUE(line.contains("\"k\":\"\\ufffd")) << line;
    for (char c : line) {
      EXPECT_LT(static_cast<unsigned char>(c), 0x80) << line;
    }
  }
}

TEST_F(LogTest, secrets_are_never_shown) {
  Secret secret("hunter2");
  EXPECT_EQ(text("m", {{"token", secret}}), "INFO  m token=<redacted>");
  EXPECT_FALSE(json("m", {{"token", secret}}).contains("hunter2"));
  capture_.logger(clock_).with({{"token", secret}}).info("m");
  EXPECT_FALSE(capture_.has("hunter2"));
}

TEST_F(LogTest, only_enabled_levels_reach_the_sink) {
  Logger log = capture_.logger(clock_, LogLevel::warn);
  log.error("one");
  log.warn("two", {{"n", 2}});
  log.info("three");
  log.debug("four");
  EXPECT_EQ(capture_.lines(), (std::vector<std::string>{"ERROR one", "WARN  two n=2"}));
  EXPECT_TRUE(log.enabled(LogLevel::error));
  EXPECT_FALSE(log.enabled(LogLevel::info));
}

TEST_F(LogTest, a_default_logger_says_nothing) {
  Logger log;
  EXPECT_FALSE(log.enabled(LogLevel::error));
  log.with({{"k", "v"}}).error("unheard");
}

TEST_F(LogTest, with_adds_fields_to_a_copy_and_owns_them) {
  Logger log = capture_.logger(clock_);
  std::optional<Logger> enriched;
  {
    std::string key = "a key that is longer than a short string";
    std::string value = "a value that is longer than a short string";
    Error error = conflict("gone soon");
    enriched = log.with({{key, value}}).with({{"n", 7}, {"why", error}});
  }
  enriched->info("said", {{"last", true}});
  log.info("plain");
  EXPECT_EQ(capture_.lines(),
            (std::vector<std::string>{
                "INFO  said a key that is longer than a short string=\"a value that is longer than "
                "a short string\" n=7 why=\"conflict: gone soon\" last=true",
                "INFO  plain"}));
}

TEST_F(LogTest, the_time_is_the_clocks) {
  std::string line;
  Logger log(clock_, LogLevel::info,
             [&](const LogRecord& record) { line = format_log_text(record); });
  log.info("now");
  EXPECT_TRUE(line.starts_with(to_rfc3339(clock_.wall(), 3) + " INFO  now")) << line;
}

TEST_F(LogTest, stderr_gets_one_line_per_record) {
  testing::internal::CaptureStderr();
  Logger(clock_, LogLevel::info, stderr_log_sink(LogFormat::text)).info("a", {{"k", "v"}});
  Logger(clock_, LogLevel::info, stderr_log_sink(LogFormat::json)).info("b");
  std::string out = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.contains("Z INFO  a k=v\n{\"time\":")) << out;
  EXPECT_TRUE(out.ends_with("\"msg\":\"b\"}\n")) << out;
}

TEST(LogLevel, is_read_by_name) {
  for (LogLevel level : {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug}) {
    EXPECT_EQ(parse_log_level(to_string(level)), level);
  }
  EXPECT_EQ(parse_log_level("loud").error().message,
            "'loud' is not a log level: error, warn, info or debug");
}

}  // namespace
}  // namespace codeflare
