#include "checkpoint/rules.h"

#include "checkpoint/crc32c.h"
#include "checkpoint/documents.h"
#include "checkpoint/refusal.h"
#include "checkpoint/token.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::checkpoint {
namespace {

using Ids = std::vector<CheckpointId>;

std::string reason_of(const Error& error) {
  const Refusal* refusal = refusal_of(error);
  return refusal == nullptr ? "" : refusal->reason;
}

TEST(Crc32c, has_the_known_values) {
  EXPECT_EQ(crc32c(0, ""), 0u);
  EXPECT_EQ(crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8a9136aau);
}

TEST(Crc32c, of_pieces_combines_to_that_of_the_whole) {
  const std::string text = "The checksum of a part follows from those of its chunks.";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const std::string_view first = std::string_view(text).substr(0, at);
    const std::string_view second = std::string_view(text).substr(at);
    EXPECT_EQ(crc32c(crc32c(0, first), second), crc32c(0, text));
    EXPECT_EQ(crc32c_combine(crc32c(0, first), crc32c(0, second), second.size()), crc32c(0, text));
  }
}

TEST(Crc32c, text_has_eight_digits) {
  EXPECT_EQ(checksum_text(0xab), "000000ab");
  EXPECT_EQ(parse_checksum("000000AB").value(), 0xabu);
  EXPECT_FALSE(parse_checksum("ab"));
  EXPECT_FALSE(parse_checksum("0x0000ab"));
  EXPECT_FALSE(parse_checksum("0000000g"));
}

TEST(Rules, names_cannot_leave_their_directory) {
  for (const char* good : {"model", "optimizer.0", "rank-3_b", "0"}) {
    EXPECT_TRUE(check_name("part", good)) << good;
  }
  for (const char* bad : {"", ".", "..", "../x", "a/b", ".hidden", "a b", "ü", "-x"}) {
    EXPECT_FALSE(check_name("part", bad)) << bad;
  }
  EXPECT_TRUE(check_job({"default", "1111-2222"}));
  EXPECT_FALSE(check_job({"..", "x"}));
  EXPECT_FALSE(check_job({"default", "A"}));
  EXPECT_FALSE(check_job({"", "x"}));
}

TEST(Rules, the_latest_has_the_newest_generation_then_step_then_id) {
  EXPECT_TRUE(
      is_newer({.id = 1, .generation = 2, .step = 1}, {.id = 9, .generation = 1, .step = 9}));
  EXPECT_TRUE(
      is_newer({.id = 1, .generation = 2, .step = 5}, {.id = 9, .generation = 2, .step = 4}));
  EXPECT_TRUE(
      is_newer({.id = 2, .generation = 2, .step = 5}, {.id = 1, .generation = 2, .step = 5}));
  EXPECT_FALSE(is_newer({.id = 2}, {.id = 2}));
}

TEST(Rules, a_part_has_neither_gaps_nor_overlaps) {
  Part part;
  EXPECT_TRUE(check_complete("p", part));
  part[0] = {.offset = 0, .size = 4};
  part[4] = {.offset = 4, .size = 4};
  EXPECT_TRUE(check_complete("p", part));
  part[9] = {.offset = 9, .size = 1};
  EXPECT_EQ(reason_of(check_complete("p", part).error()), "Incomplete");
  EXPECT_EQ(refusal_of(check_complete("p", part).error())->number_or_zero("offset"), 8);
  part.erase(9);
  part[6] = {.offset = 6, .size = 4};
  EXPECT_EQ(refusal_of(check_complete("p", part).error())->number_or_zero("offset"), 6);
  part.erase(6);
  part.erase(0);
  EXPECT_FALSE(check_complete("p", part));
}

TEST(Rules, retention_keeps_the_newest_and_every_kth) {
  std::vector<Checkpoint> all;
  for (std::int64_t n = 1; n <= 7; ++n) {
    all.push_back({.id = n, .state = State::committed, .step = n * 10, .number = n});
  }
  const auto expired_of = [&](Retention retention) {
    std::vector<const Checkpoint*> pointers;
    for (const Checkpoint& one : all) {
      pointers.push_back(&one);
    }
    return expired(std::move(pointers), retention);
  };
  EXPECT_EQ(expired_of({.keep = 2}), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(expired_of({.keep = 2, .keep_every = 3}), (Ids{1, 2, 4, 5}));
  EXPECT_EQ(expired_of({.keep = 0}), (Ids{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(expired_of({.keep = 100}), Ids{});
}

TEST(Rules, a_lease_changes_hands_only_when_it_has_ended) {
  const Instant now{};
  const HeldLease held{.lease = {.holder = "a", .token = 4, .seconds = 30},
                       .ends = now + std::chrono::seconds(10)};
  const LeaseRequest other{.name = "save", .holder = "b"};
  const Result<Lease> refused = acquire_lease(&held, other, now, 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(reason_of(refused.error()), "LeaseHeld");
  EXPECT_EQ(refusal_of(refused.error())->number_or_zero("secondsLeft"), 10);
  EXPECT_EQ(acquire_lease(&held, other, held.ends, 5)->token, 5);
  EXPECT_EQ(acquire_lease(&held, {.name = "save", .holder = "a"}, now, 5)->token, 4);
  EXPECT_TRUE(renew_lease(&held, {.name = "save", .holder = "a", .token = 4}, now));
  EXPECT_FALSE(renew_lease(&held, {.name = "save", .holder = "a", .token = 3}, now));
  EXPECT_FALSE(renew_lease(&held, {.name = "save", .holder = "a", .token = 4}, held.ends));
  EXPECT_FALSE(acquire_lease(nullptr, {.name = "save", .holder = "a", .seconds = 601}, now, 1));
  EXPECT_FALSE(acquire_lease(nullptr, {.name = "save", .holder = ""}, now, 1));
}

TEST(Rules, a_full_disk_and_a_used_quota_are_told_with_numbers) {
  const Error full = check_room("team", {.free_bytes = 10}, 11).error();
  EXPECT_EQ(status_of(full), 507);
  EXPECT_EQ(reason_of(full), "DiskFull");
  EXPECT_EQ(refusal_of(full)->number_or_zero("freeBytes"), 10);
  const Error quota =
      check_room("team", {.quota_bytes = 20, .used_bytes = 15, .free_bytes = 99}, 6).error();
  EXPECT_EQ(reason_of(quota), "QuotaExceeded");
  EXPECT_EQ(refusal_of(quota)->number_or_zero("usedBytes"), 15);
  EXPECT_TRUE(check_room("team", {.quota_bytes = 20, .used_bytes = 15, .free_bytes = 99}, 5));
}

TEST(Rules, ranges_are_those_of_http) {
  const auto range = [](std::string_view text) {
    const auto parsed = parse_range(text, 10);
    return !parsed    ? std::string("416")
           : !*parsed ? std::string("whole")
                      : std::to_string((*parsed)->begin) + "-" + std::to_string((*parsed)->end);
  };
  EXPECT_EQ(range("bytes=0-3"), "0-4");
  EXPECT_EQ(range("bytes=4-"), "4-10");
  EXPECT_EQ(range("bytes=-3"), "7-10");
  EXPECT_EQ(range("bytes=-30"), "0-10");
  EXPECT_EQ(range("bytes=2-99"), "2-10");
  EXPECT_EQ(range("bytes=10-"), "416");
  EXPECT_EQ(range("bytes=-0"), "416");
  EXPECT_EQ(range("bytes=5-3"), "whole");
  EXPECT_EQ(range("bytes=a-b"), "whole");
  EXPECT_EQ(range("bytes=0-1,3-4"), "whole");
  EXPECT_EQ(range(""), "whole");
}

TEST(Documents, read_back_what_was_written) {
  Checkpoint checkpoint{.id = 17,
                        .state = State::committed,
                        .generation = 7,
                        .step = 1200,
                        .world_size = 4,
                        .job_name = "bert",
                        .number = 12,
                        .metadata = R"({"epoch":3})",
                        .retention = {.keep = 5, .keep_every = 9}};
  checkpoint.parts["model"][0] = {.offset = 0, .size = 8, .crc32c = 0xabc, .file = "c.1"};
  checkpoint.parts["model"][8] = {.offset = 8, .size = 2, .crc32c = 0xdef, .file = "c.2"};
  const std::string text = checkpoint_text(checkpoint, Detail::manifest);
  const Result<Checkpoint> read = parse_checkpoint(text);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(checkpoint_text(*read, Detail::manifest), text);
  EXPECT_EQ(read->parts.at("model").at(8).file, "c.2");
  const Result<Checkpoint> summary = parse_checkpoint(checkpoint_text(checkpoint, Detail::summary));
  ASSERT_TRUE(summary) << summary.error().to_string();
  EXPECT_EQ(size_of(summary->parts.at("model")), 10u);
  EXPECT_EQ(crc32c_of(summary->parts.at("model")), crc32c_of(checkpoint.parts.at("model")));
}

TEST(Documents, damaged_ones_are_rejected) {
  EXPECT_FALSE(parse_checkpoint("{"));
  EXPECT_FALSE(parse_checkpoint(R"({"id":1})"));
  EXPECT_FALSE(parse_checkpoint(
      R"({"id":1,"state":"COMMITTED","generation":0,"step":0,"worldSize":0,"parts":[{"name":"../x"}]})"));
  EXPECT_FALSE(parse_record(R"({"generation":-1,"idCeiling":1,"tokenNext":1,"leases":[]})"));
  EXPECT_TRUE(parse_record(record_text(JobRecord{})));
}

TEST(Token, reaches_its_own_job_alone) {
  const Secret key("0123456789abcdef");
  const WallTime now{};
  const JobKey job{"default", "1111"};
  const Secret token = mint_token(key, {.job = job});
  const Result<TokenScope> scope = check_token(key, token.reveal(), now);
  ASSERT_TRUE(scope);
  EXPECT_TRUE(scope->reaches(job));
  EXPECT_FALSE(scope->reaches({"default", "2222"}));
  EXPECT_FALSE(scope->reaches({"other", "1111"}));
  EXPECT_FALSE(scope->reaches_namespace("default"));
  const TokenScope of_namespace{.job = {"default", "*"}};
  EXPECT_TRUE(of_namespace.reaches(job));
  EXPECT_FALSE(of_namespace.reaches({"other", "1111"}));
  EXPECT_FALSE(of_namespace.reaches_namespace("*"));
  const TokenScope admin{.job = {"*", "*"}};
  EXPECT_TRUE(admin.reaches({"other", "1111"}));
}

TEST(Token, cannot_be_changed_or_used_after_its_time) {
  const Secret key("0123456789abcdef");
  const std::string token = mint_token(key, {.job = {"default", "1111"}, .expiry = 100}).reveal();
  EXPECT_TRUE(check_token(key, token, WallTime(std::chrono::seconds(99))));
  EXPECT_FALSE(check_token(key, token, WallTime(std::chrono::seconds(100))));
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(check_token(key, changed, WallTime())) << at;
  }
  EXPECT_FALSE(check_token(Secret("another"), token, WallTime()));
  EXPECT_FALSE(check_token(Secret(), token, WallTime()));
  EXPECT_FALSE(check_token(key, "", WallTime()));
  EXPECT_FALSE(check_token(key, "cf1.", WallTime()));
}

}  // namespace
}  // namespace codeflare::checkpoint
