#include "checkpoint/service.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "checkpoint/client.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/refusal.h"
#include "checkpoint/testing/cut_disk.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::checkpoint {
namespace {

const JobKey kJob{"default", "1111-2222"};

// A service on a simulated disk, and a client with the job's token.
class ServiceTest : public testing::Test {
 protected:
  ServiceTest() { open({.directory = "/data"}); }
  ~ServiceTest() override { close(); }

  Env env() {
    const Env plain = world.env();
    return {plain.loop,     plain.clock,     plain.random,  disk,
            plain.launcher, plain.variables, plain.blocking};
  }
  template <typename T>
  T wait(Task<T> task) {
    if constexpr (std::is_void_v<T>) {
      EXPECT_TRUE(run(world.env().loop, std::move(task)));
    } else {
      return *run(world.env().loop, std::move(task));
    }
  }
  void open(StoreOptions options) {
    auto opened = wait(Store::open(env(), std::move(options), Logger()));
    ASSERT_TRUE(opened) << opened.error().to_string();
    store = *std::move(opened);
    service = std::make_unique<Service>(env(), *store, ServiceOptions{.key = key}, metrics);
    client.emplace(*service, mint_token(key, {.job = kJob}));
  }
  void close() {
    wait(store->close());
    client.reset();
    service.reset();
    store.reset();
  }
  void reopen(StoreOptions options = {.directory = "/data"}) {
    close();
    open(std::move(options));
  }

  Result<Checkpoint> begin(std::int64_t generation, std::int64_t step) {
    return wait(client->begin(kJob, {.generation = generation, .step = step}));
  }
  Result<Chunk> put(CheckpointId id, std::string text, std::uint64_t offset = 0) {
    PutRequest request{.part = "model", .offset = offset, .size = text.size()};
    return wait(client->put(kJob, id, request, net::body_of(std::move(text))));
  }
  Result<Checkpoint> commit(CheckpointId id) { return wait(client->commit(kJob, id)); }
  CheckpointId save(std::int64_t generation, std::int64_t step, std::string text) {
    const CheckpointId id = begin(generation, step).value().id;
    EXPECT_TRUE(put(id, std::move(text)));
    EXPECT_TRUE(commit(id));
    return id;
  }

  struct Answer {
    int status = 0;
    std::string text;
    net::Headers headers;
  };
  Answer send(std::string method, std::string target, std::string body = "",
              std::optional<Secret> token = std::nullopt, std::string range = "") {
    net::Request request{.method = std::move(method), .target = std::move(target)};
    const Secret used = token.value_or(mint_token(key, {.job = kJob}));
    request.headers.add("Authorization", "Bearer " + used.reveal());
    if (!range.empty()) {
      request.headers.add("Range", range);
    }
    request.body = net::body_of(std::move(body));
    return wait(answer(std::move(request)));
  }
  Task<Answer> answer(net::Request request) {
    Result<net::Response> response = co_await service->send(std::move(request));
    Answer result{.status = response->status, .text = "", .headers = response->headers};
    if (response->body != nullptr) {
      net::Body body = std::move(response->body);
      result.text = (co_await net::read_all(std::move(body), 1u << 30)).value_or("<broken>");
    }
    co_return result;
  }
  std::string part_of(CheckpointId id, std::string range = "") {
    return send("GET", path(id) + "/parts/model", "", std::nullopt, std::move(range)).text;
  }
  static std::string path(CheckpointId id) {
    return "/v1/jobs/default/1111-2222/checkpoints/" + std::to_string(id);
  }
  static std::string reason(const Error& error) {
    return refusal_of(error) == nullptr ? error.to_string() : refusal_of(error)->reason;
  }

  SimEnv world;
  CutDisk disk{world.env().files, world.env().random};
  Secret key{"a key of the tests"};
  MetricsRegistry metrics;
  std::unique_ptr<Store> store;
  std::unique_ptr<Service> service;
  std::optional<Client> client;
};

TEST_F(ServiceTest, shows_a_checkpoint_when_it_is_committed_and_not_before) {
  const Result<Checkpoint> begun = begin(1, 100);
  ASSERT_TRUE(begun) << begun.error().to_string();
  EXPECT_EQ(begun->state, State::open);
  ASSERT_TRUE(put(begun->id, "hello "));
  ASSERT_TRUE(put(begun->id, "world", 6));
  EXPECT_EQ(wait(client->latest(kJob)).error().code, ErrorCode::not_found);
  EXPECT_TRUE(wait(client->list(kJob))->empty());
  EXPECT_EQ(send("GET", path(begun->id) + "/parts/model").status, 404);
  const Result<Checkpoint> done = commit(begun->id);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->state, State::committed);
  EXPECT_EQ(wait(client->latest(kJob))->id, begun->id);
  EXPECT_EQ(part_of(begun->id), "hello world");
  EXPECT_EQ(crc32c_of(done->parts.at("model")), crc32c(0, "hello world"));
}

TEST_F(ServiceTest, every_request_may_be_repeated) {
  const CheckpointId id = begin(1, 100)->id;
  EXPECT_EQ(begin(1, 100)->id, id);
  ASSERT_TRUE(put(id, "wrong"));
  ASSERT_TRUE(put(id, "right"));
  ASSERT_TRUE(commit(id));
  EXPECT_TRUE(commit(id));
  EXPECT_EQ(begin(1, 100)->state, State::committed);
  EXPECT_EQ(part_of(id), "right");
  EXPECT_EQ(reason(put(id, "late").error()), "NotOpen");
  EXPECT_EQ(store->counts().bytes, 5u);
}

TEST_F(ServiceTest, answers_ranges) {
  const CheckpointId id = begin(1, 1)->id;
  ASSERT_TRUE(put(id, "0123", 0));
  ASSERT_TRUE(put(id, "4567", 4));
  ASSERT_TRUE(commit(id));
  EXPECT_EQ(part_of(id, "bytes=2-5"), "2345");
  EXPECT_EQ(part_of(id, "bytes=6-"), "67");
  EXPECT_EQ(part_of(id, "bytes=-1"), "7");
  const Answer part = send("GET", path(id) + "/parts/model", "", std::nullopt, "bytes=2-5");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.headers.get("Content-Range"), "bytes 2-5/8");
  EXPECT_EQ(send("GET", path(id) + "/parts/model", "", std::nullopt, "bytes=8-").status, 416);
}

TEST_F(ServiceTest, rejects_an_older_generation_everywhere) {
  const CheckpointId old = begin(7, 100)->id;
  ASSERT_TRUE(put(old, "old"));
  ASSERT_EQ(wait(client->fence(kJob, 8)).value(), 8);
  const Error refused = begin(7, 101).error();
  EXPECT_EQ(status_of(refused), 409);
  EXPECT_EQ(reason(refused), "OldGeneration");
  EXPECT_EQ(refusal_of(refused)->number_or_zero("newestGeneration"), 8);
  EXPECT_FALSE(put(old, "more", 3));
  EXPECT_FALSE(commit(old));
  EXPECT_EQ(reason(wait(client->fence(kJob, 7)).error()), "OldGeneration");
  reopen();
  EXPECT_EQ(reason(begin(7, 102).error()), "OldGeneration");
  EXPECT_TRUE(begin(8, 103));
}

TEST_F(ServiceTest, a_token_reaches_its_own_job_alone) {
  const CheckpointId id = save(1, 1, "secret");
  const Secret other = mint_token(key, {.job = {"default", "3333"}});
  EXPECT_EQ(send("GET", path(id) + "/parts/model", "", other).status, 403);
  EXPECT_EQ(send("DELETE", path(id), "", other).status, 403);
  EXPECT_EQ(send("GET", "/v1/jobs", "", other).status, 403);
  EXPECT_EQ(send("GET", path(id), "", Secret("cf1.default.1111-2222.0.AAAA")).status, 401);
  EXPECT_EQ(send("DELETE", "/v1/jobs/default/1111-2222").status, 403);
  const Secret admin = mint_token(key, {.job = {"*", "*"}});
  EXPECT_NE(send("GET", "/v1/jobs", "", admin).text.find("1111-2222"), std::string::npos);
  EXPECT_EQ(send("DELETE", "/v1/jobs/default/1111-2222", "", admin).status, 204);
  EXPECT_EQ(send("GET", "/v1/jobs/default/1111-2222/latest").status, 404);
  EXPECT_EQ(store->counts().bytes, 0u);
}

TEST_F(ServiceTest, compares_checksums) {
  const CheckpointId id = begin(1, 1)->id;
  const std::string at = path(id) + "/parts/model?offset=0&";
  EXPECT_EQ(send("PUT", at + "crc32c=00000000", "123456789").status, 400);
  EXPECT_EQ(store->counts().bytes, 0u);
  EXPECT_EQ(send("PUT", at + "crc32c=e3069283", "123456789").status, 200);
  EXPECT_EQ(send("PUT", at + "crc32=cbf43926", "123456789").status, 200);
  EXPECT_EQ(send("PUT", at + "crc32=cbf43927", "123456789").status, 400);
  const std::string commit_path = path(id) + "/commit";
  EXPECT_EQ(send("POST", commit_path, R"({"parts":[{"name":"model","size":8}]})").status, 409);
  EXPECT_EQ(
      send("POST", commit_path, R"({"parts":[{"name":"model","size":9,"crc32c":"e3069284"}]})")
          .status,
      409);
  EXPECT_EQ(send("POST", commit_path, R"({"parts":[]})").status, 409);
  EXPECT_EQ(
      send("POST", commit_path, R"({"parts":[{"name":"model","size":9,"crc32c":"e3069283"}]})")
          .status,
      200);
}

TEST_F(ServiceTest, a_damaged_file_breaks_off_instead_of_passing) {
  const CheckpointId id = save(1, 1, "0123456789");
  const std::string file =
      "/data/jobs/default/1111-2222/checkpoints/" + std::to_string(id) + "/c.1";
  ASSERT_TRUE(disk.write(file, "0123456780"));
  EXPECT_EQ(part_of(id), "<broken>");
  EXPECT_EQ(part_of(id, "bytes=0-3"), "0123");
}

TEST_F(ServiceTest, keeps_the_newest_and_removes_the_rest) {
  for (std::int64_t step = 1; step <= 6; ++step) {
    const Checkpoint begun =
        wait(client->begin(
                 kJob, {.generation = 1, .step = step, .retention = {.keep = 2, .keep_every = 3}}))
            .value();
    ASSERT_TRUE(put(begun.id, "x"));
    ASSERT_TRUE(commit(begun.id));
  }
  const auto listed = wait(client->list(kJob));
  ASSERT_TRUE(listed);
  std::vector<std::int64_t> steps;
  for (const Checkpoint& one : *listed) {
    steps.push_back(one.step);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{6, 5, 3}));
  reopen();
  EXPECT_EQ(wait(client->list(kJob))->size(), 3u);
  EXPECT_EQ(disk.list("/data/jobs/default/1111-2222/checkpoints")->size(), 3u);
}

TEST_F(ServiceTest, a_reader_finishes_although_its_checkpoint_expires) {
  const CheckpointId id = save(1, 1, "first");
  auto reading = store->read(kJob, id, "model", "");
  ASSERT_TRUE(reading);
  ASSERT_TRUE(wait(client->remove(kJob, id)));
  EXPECT_EQ(send("GET", path(id)).status, 404);
  save(1, 2, "second");
  EXPECT_EQ(wait(net::read_all(std::move(reading->body), 100)).value(), "first");
}

TEST_F(ServiceTest, a_full_disk_is_507_and_older_checkpoints_stay) {
  const CheckpointId id = save(1, 1, "kept");
  const CheckpointId next = begin(1, 2)->id;
  disk.set_full(true);
  const Error refused = put(next, "does not fit").error();
  EXPECT_EQ(status_of(refused), 507);
  EXPECT_EQ(reason(refused), "DiskFull");
  EXPECT_EQ(send("GET", "/healthz").status, 503);
  EXPECT_EQ(part_of(id), "kept");
  EXPECT_EQ(store->counts().bytes, 4u);
  disk.set_full(false);
  ASSERT_TRUE(put(next, "fits"));
  ASSERT_TRUE(commit(next));
  EXPECT_EQ(send("GET", "/healthz").status, 200);
}

TEST_F(ServiceTest, a_quota_counts_open_checkpoints) {
  reopen({.directory = "/data", .quotas = {{"default", 10}}});
  const CheckpointId id = begin(1, 1)->id;
  ASSERT_TRUE(put(id, "12345678"));
  EXPECT_EQ(reason(put(id, "345", 8).error()), "QuotaExceeded");
  EXPECT_EQ(reason(wait(client->begin(kJob, {.generation = 1, .step = 2, .bytes = 3})).error()),
            "QuotaExceeded");
  EXPECT_TRUE(put(id, "34", 8));
}

TEST_F(ServiceTest, an_abort_frees_everything) {
  const CheckpointId id = begin(1, 1)->id;
  ASSERT_TRUE(put(id, "12345678"));
  EXPECT_TRUE(wait(client->abort(kJob, id)));
  EXPECT_TRUE(wait(client->abort(kJob, id)));
  EXPECT_EQ(commit(id).error().code, ErrorCode::not_found);
  save(1, 2, "x");
  reopen();
  EXPECT_EQ(store->counts().bytes, 1u);
}

TEST_F(ServiceTest, ids_are_never_given_twice) {
  const CheckpointId open_one = begin(1, 1)->id;
  reopen();
  EXPECT_EQ(put(open_one, "x").error().code, ErrorCode::not_found);
  EXPECT_GT(begin(1, 1)->id, open_one);
}

TEST_F(ServiceTest, leases_fence_by_tokens_that_survive_a_restart) {
  const std::string at = "/v1/jobs/default/1111-2222/leases/save/";
  const auto token = [](const Answer& answer) {
    return json::parse(answer.text)->root.find("token")->to_int64().value();
  };
  const Answer first = send("POST", at + "acquire", R"({"holder":"a","seconds":30})");
  ASSERT_EQ(first.status, 200) << first.text;
  EXPECT_EQ(send("POST", at + "acquire", R"({"holder":"b"})").status, 409);
  reopen();
  EXPECT_EQ(send("POST", at + "acquire", R"({"holder":"b"})").status, 409);
  EXPECT_EQ(
      send("POST", at + "renew", R"({"holder":"a","token":)" + std::to_string(token(first)) + "}")
          .status,
      200);
  EXPECT_EQ(
      send("POST", at + "release", R"({"holder":"a","token":)" + std::to_string(token(first)) + "}")
          .status,
      204);
  const Answer second = send("POST", at + "acquire", R"({"holder":"b"})");
  ASSERT_EQ(second.status, 200) << second.text;
  EXPECT_GT(token(second), token(first));
  const std::string begin_path = "/v1/jobs/default/1111-2222/checkpoints";
  const auto body = [&](std::int64_t with) {
    return R"({"generation":1,"step":1,"lease":{"name":"save","token":)" + std::to_string(with) +
           "}}";
  };
  EXPECT_EQ(send("POST", begin_path, body(token(first))).status, 409);
  EXPECT_EQ(send("POST", begin_path, body(token(second))).status, 201);
}

TEST_F(ServiceTest, wrong_requests_get_a_reason) {
  const std::string at = "/v1/jobs/default/1111-2222";
  EXPECT_EQ(send("POST", at + "/checkpoints", "{").status, 400);
  EXPECT_EQ(send("POST", at + "/checkpoints", "[]").status, 400);
  EXPECT_EQ(send("POST", at + "/checkpoints", R"({"step":1})").status, 400);
  EXPECT_EQ(send("POST", at + "/checkpoints", R"({"generation":1,"step":-1})").status, 400);
  EXPECT_EQ(send("POST", at + "/checkpoints", R"({"generation":1,"step":1,"keep":0})").status, 400);
  EXPECT_EQ(send("PUT", at + "/checkpoints/1/parts/..%2fx", "x").status, 400);
  EXPECT_EQ(send("PUT", at + "/checkpoints/1/parts/model?ofset=1", "x").status, 400);
  EXPECT_EQ(send("GET", at + "/checkpoints/x").status, 400);
  EXPECT_EQ(send("PATCH", at + "/checkpoints/1").status, 404);
  EXPECT_EQ(send("GET", "/v1/jobs/../x/latest").status, 400);
  EXPECT_EQ(send("GET", "/other").status, 404);
  EXPECT_EQ(send("GET", "/ping", "", Secret("none")).status, 200);
  EXPECT_NE(send("GET", "/metrics").text.find("codeflare_checkpoint_requests_total"),
            std::string::npos);
}

TEST_F(ServiceTest, a_job_without_a_request_for_long_is_removed_if_asked_for) {
  using std::chrono::hours;
  save(1, 1, "kept");
  ASSERT_TRUE(wait(sleep_for(hours(100 * 24))));
  EXPECT_EQ(store->counts().checkpoints, 1U) << "nothing expires by default";
  reopen({.directory = "/data", .job_expiry = hours(48)});
  ASSERT_TRUE(wait(sleep_for(hours(47))));
  EXPECT_EQ(send("GET", "/v1/jobs/default/1111-2222/latest").status, 200);
  ASSERT_TRUE(wait(sleep_for(hours(47))));
  EXPECT_EQ(store->counts().jobs, 1U) << "it was read";
  ASSERT_TRUE(wait(sleep_for(hours(2))));
  EXPECT_EQ(store->counts().jobs, 0U);
  EXPECT_EQ(store->counts().bytes, 0U);
  reopen();
  EXPECT_EQ(store->counts().checkpoints, 0U) << "on disk too";
  save(2, 5, "anew");
  EXPECT_EQ(store->counts().checkpoints, 1U);
}

TEST_F(ServiceTest, an_idle_open_checkpoint_is_removed) {
  const CheckpointId id = begin(1, 1)->id;
  ASSERT_TRUE(put(id, "x"));
  ASSERT_TRUE(wait(sleep_for(std::chrono::minutes(17))));
  EXPECT_EQ(commit(id).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->counts().bytes, 0u);
}

}  // namespace
}  // namespace codeflare::checkpoint
