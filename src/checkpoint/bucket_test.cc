#include "checkpoint/bucket.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/sim_env.h"
#include "checkpoint/refusal.h"
#include "checkpoint/service.h"
#include "checkpoint/testing/cut_disk.h"
#include "net/testing/scripted_service.h"
#include "net/url.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::checkpoint {
namespace {

using std::chrono::seconds;

const JobKey kJob{"default", "1111-2222"};

// A bucket in memory. `log` has each change.
struct FakeStore {
  std::map<std::string, std::string> objects;
  std::vector<std::string> log;
  std::string broken;  // keys that hold this text cannot be written
  std::map<int, std::string> pieces;
  bool down = false;
  bool slow_list = false;
  bool silent = false;  // bodies are taken and never answered
  bool slow = false;    // bodies are answered after a minute

  Task<Result<net::Response>> answer(net::Request request) {
    if (down) {
      co_return fail(unavailable("connection refused"));
    }
    const net::TargetParts target = net::split_target(request.target);
    if (target.path == "/b") {
      CO_TRY(co_await sleep_for(seconds(slow_list ? 30 : 0)));
      co_return list(*net::parse_query(target.query));
    }
    const std::string key = *net::percent_decode(target.path.substr(3));
    const std::vector<net::QueryItem> query = *net::parse_query(target.query);
    std::string body;
    if (request.body != nullptr) {
      net::Body given = std::move(request.body);
      CO_TRY_ASSIGN(body, co_await net::read_all(std::move(given), 1u << 30));
      EXPECT_EQ(request.headers.get("x-amz-content-sha256"), s3::sha256_hex(body));
    }
    if (silent && request.method == "PUT") {
      CO_TRY(co_await sleep_for(std::chrono::hours(100)));
    }
    if (slow && request.method == "PUT") {
      CO_TRY(co_await sleep_for(std::chrono::minutes(1)));
    }
    if (request.method == "GET") {
      co_return objects.contains(key) ? text(200, objects.at(key)) : missing();
    }
    if (!broken.empty() && key.contains(broken)) {
      co_return text(403, "<Error><Code>AccessDenied</Code></Error>");
    }
    co_return change(request.method, key, query, body);
  }

  net::Response change(const std::string& method, const std::string& key,
                       const std::vector<net::QueryItem>& query, const std::string& body) {
    if (method == "DELETE" && !query.empty()) {
      log.push_back("drop " + short_of(key));
      return net::Response{.status = 204};
    }
    if (method == "DELETE") {
      log.push_back("delete " + short_of(key));
      objects.erase(key);
      return net::Response{.status = 204};
    }
    if (method == "POST" && query.front().name == "uploads") {
      return text(
          200,
          "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    }
    if (method == "POST") {
      std::string whole;
      for (const auto& [number, piece] : pieces) {
        whole += piece;
      }
      objects[key] = whole;
      log.push_back("put " + short_of(key) + " of " + std::to_string(pieces.size()) + " pieces");
      return text(200, "<CompleteMultipartUploadResult/>");
    }
    if (query.size() == 2) {
      pieces[std::stoi(query.front().value)] = body;
      net::Response response = text(200, "");
      response.headers.add("ETag", "\"tag\"");
      return response;
    }
    objects[key] = body;
    log.push_back("put " + short_of(key));
    return text(200, "");
  }

  // Without what differs between runs.
  static std::string short_of(const std::string& key) {
    const std::size_t name = key.find("1111-2222/") + 10;
    const std::size_t step = key.find('-', key.find('-', name) + 1);
    return key.substr(name, step - name) + key.substr(key.find('/', name));
  }

  net::Response list(const std::vector<net::QueryItem>& query) const {
    const auto prefix = std::ranges::find(query, "prefix", &net::QueryItem::name);
    std::string xml = "<ListBucketResult>";
    for (const auto& [key, value] : objects) {
      if (key.starts_with(prefix->value)) {
        xml += "<Contents><Key>" + key + "</Key><Size>" + std::to_string(value.size()) +
               "</Size></Contents>";
      }
    }
    return text(200, xml + "</ListBucketResult>");
  }

  static net::Response text(int status, std::string body) {
    return net::make_response(status, "application/xml", Bytes::from(std::move(body)));
  }
  static net::Response missing() { return text(404, "<Error><Code>NoSuchKey</Code></Error>"); }
};

// A service with a bucket, on a simulated disk.
class BucketTest : public testing::Test {
 protected:
  BucketTest() { open(); }
  ~BucketTest() override { close(); }

  template <typename T>
  T wait(Task<T> task) {
    if constexpr (std::is_void_v<T>) {
      EXPECT_TRUE(run(world_.env().loop, std::move(task)));
    } else {
      return *run(world_.env().loop, std::move(task));
    }
  }
  Env env() {
    const Env plain = world_.env();
    return {plain.loop,     plain.clock,     plain.random,  disk_,
            plain.launcher, plain.variables, plain.blocking};
  }
  void open(std::uint64_t piece_bytes = 1u << 20) {
    store_ = *wait(Store::open(env(), {.directory = "/data"}, Logger()));
    bucket_.emplace(*store_, client_, BucketOptions{.prefix = "saved/", .piece_bytes = piece_bytes},
                    Logger());
    metrics_ = std::make_unique<MetricsRegistry>();
    service_ =
        std::make_unique<Service>(env(), *store_, ServiceOptions{.bucket = &*bucket_}, *metrics_);
  }
  void close() {
    service_.reset();
    wait(bucket_->close());
    bucket_.reset();
    wait(store_->close());
    store_.reset();
  }
  void lose_disk() {
    close();
    EXPECT_TRUE(disk_.remove_all("/data"));
    open();
  }

  struct Answer {
    int status = 0;
    std::string text;
  };
  Answer send(const std::string& method, const std::string& path, std::string body = "") {
    net::Request request{.method = method, .target = "/v1/jobs/default/1111-2222" + path};
    request.body_size = body.size();
    request.body = net::body_of(std::move(body));
    return wait(answer(std::move(request)));
  }
  Task<Answer> answer(net::Request request) {
    Result<net::Response> response = co_await service_->send(std::move(request));
    Answer result{.status = response->status, .text = {}};
    if (response->body != nullptr) {
      net::Body body = std::move(response->body);
      result.text = (co_await net::read_all(std::move(body), 1u << 30)).value_or("<broken>");
    }
    co_return result;
  }
  Task<Answer> answer_after(Duration duration, net::Request request) {
    co_await pause(duration);
    co_return co_await answer(std::move(request));
  }
  // The status of the commit.
  Answer save(std::int64_t generation, std::int64_t step, const std::string& text,
              bool bucket = true) {
    const Answer begun =
        send("POST", "/checkpoints",
             R"({"generation":)" + std::to_string(generation) + R"(,"step":)" +
                 std::to_string(step) + R"(,"keep":2,"bucket":true,"metadata":{"epoch":3}})");
    if (begun.status >= 300) {
      return begun;
    }
    const std::string id = begun.text.substr(6, begun.text.find(',') - 6);
    EXPECT_EQ(send("PUT", "/checkpoints/" + id + "/parts/state", text).status, 200);
    return send("POST", "/checkpoints/" + id + "/commit", bucket ? R"({"bucket":true})" : "{}");
  }
  // The client leaves after a second.
  void commit_and_leave(int id) {
    net::Request request{
        .method = "POST",
        .target = "/v1/jobs/default/1111-2222/checkpoints/" + std::to_string(id) + "/commit"};
    request.body = net::body_of(R"({"bucket":true})");
    const Result<net::Response> left =
        wait(with_timeout(seconds(1), "answer", service_->send(std::move(request))));
    EXPECT_FALSE(left);
  }
  std::size_t manifests() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        objects_.objects, [](const auto& each) { return each.first.ends_with("manifest.json"); }));
  }
  // After what comes back in the background.
  Answer latest() {
    Answer found = send("GET", "/latest?bucket=true");
    for (int i = 0; i < 100 && found.text.contains("Restoring"); ++i) {
      wait(pause());
      found = send("GET", "/latest?bucket=true");
    }
    return found;
  }
  static Task<void> pause(Duration duration = seconds(1)) {
    static_cast<void>(co_await sleep_for(duration));
  }

  SimEnv world_;
  CutDisk disk_{world_.env().files, world_.env().random};
  FakeStore objects_;
  net::testing::ScriptedService http_{
      [this](net::Request request) { return objects_.answer(std::move(request)); }};
  s3::Client client_{
      world_.env(), http_, {.host = "store", .prefix = {}, .bucket = "b", .credentials = {}}};
  std::unique_ptr<Store> store_;
  std::optional<Bucket> bucket_;
  std::unique_ptr<MetricsRegistry> metrics_;
  std::unique_ptr<Service> service_;
};

using Log = std::vector<std::string>;

TEST(BucketNames, carry_generation_and_step_and_others_are_not_ours) {
  const auto entry = parse_bucket_name("7-1200-ab-cd");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->generation, 7);
  EXPECT_EQ(entry->step, 1200);
  EXPECT_LT(*parse_bucket_name("7-1200-z"), *parse_bucket_name("10-3-a"));
  for (const char* name : {"", "7", "7-", "7-8", "7-8-", "-7-8-a", "x-8-a", "7-x-a"}) {
    EXPECT_FALSE(parse_bucket_name(name)) << name;
  }
}

TEST_F(BucketTest, a_commit_writes_the_manifest_last_and_old_ones_lose_theirs_first) {
  EXPECT_EQ(save(1, 10, "ten").status, 200);
  EXPECT_EQ(objects_.log, Log({"put 1-10/parts/state", "put 1-10/manifest.json"}));
  EXPECT_EQ(save(1, 20, "twenty").status, 200);
  objects_.log.clear();
  EXPECT_EQ(save(2, 15, "fifteen").status, 200);
  wait(pause());
  EXPECT_EQ(objects_.log, Log({"put 2-15/parts/state", "put 2-15/manifest.json",
                               "delete 1-10/manifest.json", "delete 1-10/parts/state"}));
}

TEST_F(BucketTest, a_service_that_lost_its_disk_gets_the_newest_checkpoint_back) {
  save(1, 30, "thirty");
  save(2, 20, "twenty");
  lose_disk();
  const Answer found = latest();
  EXPECT_EQ(found.status, 200) << found.text;
  EXPECT_TRUE(found.text.contains(R"("generation":2,"step":20)")) << found.text;
  EXPECT_TRUE(found.text.contains(R"("metadata":{"epoch":3})")) << found.text;
  EXPECT_EQ(send("GET", "/checkpoints/1/parts/state").text, "twenty");
  EXPECT_EQ(save(1, 40, "late").status, 409) << "the fence comes back with the checkpoint";
  EXPECT_EQ(save(2, 21, "more").status, 200);
}

TEST_F(BucketTest, an_old_group_cannot_save_first_at_a_service_that_lost_its_disk) {
  save(2, 20, "twenty");
  lose_disk();
  const Answer late = save(1, 40, "late");
  EXPECT_EQ(late.status, 409);
  EXPECT_TRUE(late.text.contains("OldGeneration")) << late.text;
  EXPECT_TRUE(latest().text.contains(R"("generation":2,"step":20)"));
}

TEST_F(BucketTest, a_checkpoint_that_comes_back_after_a_newer_generation_has_begun_counts) {
  save(1, 30, "thirty");
  lose_disk();
  EXPECT_EQ(send("POST", "/fence", R"({"generation":5})").status, 200);
  EXPECT_TRUE(latest().text.contains(R"("generation":5,"step":30)"));
}

TEST_F(BucketTest, a_checkpoint_without_its_manifest_does_not_count_and_is_removed_later) {
  EXPECT_EQ(save(1, 10, "ten").status, 200);
  objects_.broken = "manifest";
  const Answer failed = save(1, 20, "twenty");
  EXPECT_EQ(failed.status, 503);
  EXPECT_TRUE(failed.text.contains("BucketFailed") && failed.text.contains("AccessDenied"))
      << failed.text;
  lose_disk();
  EXPECT_TRUE(latest().text.contains(R"("step":10)"));
  objects_.broken.clear();
  EXPECT_EQ(save(1, 30, "thirty").status, 200);
  wait(pause());
  EXPECT_EQ(std::ranges::count(objects_.log, "delete 1-20/parts/state"), 1);
}

TEST_F(BucketTest, a_repeated_commit_sends_nothing_again_once_the_bucket_has_it) {
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  objects_.broken.clear();
  EXPECT_EQ(send("POST", "/checkpoints/1/commit", R"({"bucket":true})").status, 200);
  const std::size_t before = objects_.log.size();
  EXPECT_EQ(send("POST", "/checkpoints/1/commit", R"({"bucket":true})").status, 200);
  EXPECT_EQ(objects_.log.size(), before);
}

TEST_F(BucketTest, a_damaged_part_is_not_brought_back) {
  save(1, 10, "ten");
  for (auto& [key, value] : objects_.objects) {
    value = value == "ten" ? "net" : value;
  }
  lose_disk();
  const Answer broken = latest();
  EXPECT_EQ(broken.status, 503) << "never a beginning from nothing";
  EXPECT_TRUE(broken.text.contains("RestoreFailed") && broken.text.contains("crc32c"))
      << broken.text;
}

TEST_F(BucketTest, a_restore_that_failed_is_tried_again_by_the_next_request) {
  save(1, 10, "ten");
  const std::map<std::string, std::string> whole = objects_.objects;
  for (auto& [key, value] : objects_.objects) {
    value = value == "ten" ? "net" : value;
  }
  lose_disk();
  EXPECT_TRUE(send("GET", "/latest?bucket=true").text.contains("RestoreFailed"));
  objects_.objects = whole;
  EXPECT_EQ(latest().status, 200);
  EXPECT_EQ(
      send("GET", "/checkpoints/" + std::to_string((*store_->latest(kJob))->id) + "/parts/state")
          .text,
      "ten");
}

TEST_F(BucketTest, a_restore_that_nobody_saw_end_is_not_the_answer_of_a_later_one) {
  save(1, 10, "ten");
  lose_disk();
  objects_.slow_list = true;
  EXPECT_TRUE(send("GET", "/latest?bucket=true").text.contains("Restoring"));
  wait(pause(std::chrono::minutes(2)));
  EXPECT_TRUE(wait(store_->remove_job(kJob)));
  objects_.slow_list = false;
  EXPECT_EQ(latest().status, 200);
}

TEST_F(BucketTest, a_slow_restore_outlives_the_request_that_began_it) {
  save(1, 10, "ten");
  lose_disk();
  objects_.slow_list = true;
  EXPECT_TRUE(send("GET", "/latest?bucket=true").text.contains("Restoring"));
  wait(pause(std::chrono::minutes(2)));
  EXPECT_EQ(send("GET", "/latest?bucket=true").status, 200);
}

TEST_F(BucketTest, a_store_that_never_answers_fails_the_commit_in_minutes) {
  objects_.silent = true;
  const Instant began = world_.env().loop.now();
  const Answer failed = save(1, 10, "ten");
  EXPECT_EQ(failed.status, 503);
  EXPECT_TRUE(failed.text.contains("answered nothing for")) << failed.text;
  EXPECT_LT(world_.env().loop.now() - began, std::chrono::minutes(15));
}

TEST_F(BucketTest, a_copy_outlives_its_client) {
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  objects_.broken.clear();
  objects_.slow = true;
  commit_and_leave(1);
  EXPECT_EQ(manifests(), 0U);
  wait(pause(std::chrono::minutes(3)));
  EXPECT_EQ(manifests(), 1U);
}

TEST_F(BucketTest, a_failed_copy_is_repeated_without_a_client) {
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  wait(pause(std::chrono::minutes(1)));
  EXPECT_EQ(manifests(), 0U);
  objects_.broken.clear();
  wait(pause(std::chrono::minutes(4)));
  EXPECT_EQ(manifests(), 1U);
}

TEST_F(BucketTest, a_checkpoint_that_was_deleted_is_not_sent_again) {
  objects_.broken = "manifest";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  EXPECT_EQ(send("DELETE", "/checkpoints/1").status, 204);
  wait(pause(std::chrono::minutes(5)));
  objects_.log.clear();
  wait(pause(std::chrono::hours(5)));
  EXPECT_EQ(objects_.log, Log());
}

TEST_F(BucketTest, attempts_to_send_a_checkpoint_write_the_same_objects) {
  objects_.broken = "manifest";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  wait(pause(std::chrono::hours(1)));
  EXPECT_GT(objects_.log.size(), 3U);
  EXPECT_EQ(objects_.objects.size(), 1U);
}

TEST_F(BucketTest, a_checkpoint_that_retention_removes_meanwhile_still_arrives) {
  EXPECT_EQ(save(1, 1, "one").status, 200);
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  objects_.broken.clear();
  objects_.slow = true;
  commit_and_leave(2);
  for (int step : {20, 30, 40}) {
    save(1, step, "later", false);
  }
  EXPECT_EQ(send("GET", "/checkpoints/2").status, 404);
  wait(pause(std::chrono::minutes(3)));
  EXPECT_EQ(std::ranges::count(objects_.log, "put 1-10/manifest.json"), 1);
}

TEST_F(BucketTest, a_stopped_service_leaves_no_upload_behind) {
  close();
  open(4);
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "0123456789").status, 503);
  objects_.broken.clear();
  objects_.slow = true;
  commit_and_leave(1);
  objects_.log.clear();
  close();
  EXPECT_EQ(objects_.log, Log({"drop 1-10/parts/state"}));
  open();
}

TEST_F(BucketTest, a_job_that_begins_again_with_the_same_ids_is_sent_again) {
  EXPECT_EQ(save(1, 10, "ten").status, 200);
  EXPECT_TRUE(wait(store_->remove_job(kJob)));
  EXPECT_EQ(save(1, 20, "twenty").status, 200);
  EXPECT_EQ(manifests(), 2U);
}

TEST_F(BucketTest, a_service_that_starts_while_the_bucket_is_down_saves_to_its_disk) {
  EXPECT_EQ(save(1, 10, "ten").status, 200);
  close();
  open();
  objects_.down = true;
  EXPECT_EQ(save(1, 20, "twenty", false).status, 200);
  EXPECT_TRUE(send("GET", "/latest?bucket=true").text.contains(R"("step":20)"));
}

TEST_F(BucketTest, deleting_a_job_ends_its_copy) {
  objects_.broken = "parts";
  EXPECT_EQ(save(1, 10, "ten").status, 503);
  objects_.broken.clear();
  objects_.slow = true;
  commit_and_leave(1);
  EXPECT_EQ(send("DELETE", "").status, 204);
  wait(pause(std::chrono::hours(1)));
  EXPECT_TRUE(objects_.objects.empty());
}

TEST_F(BucketTest, a_job_that_saves_without_the_bucket_does_not_depend_on_it) {
  objects_.down = true;
  EXPECT_EQ(send("GET", "/latest").status, 404);
  EXPECT_EQ(send("POST", "/checkpoints", R"({"generation":1,"step":1})").status, 201);
}

TEST_F(BucketTest, deleting_a_job_empties_the_disk_although_the_bucket_is_down) {
  EXPECT_EQ(save(1, 10, "ten").status, 200);
  objects_.down = true;
  const Answer failed = send("DELETE", "");
  EXPECT_TRUE(failed.text.contains("BucketFailed")) << failed.text;
  EXPECT_EQ(send("GET", "/latest").status, 404);
  objects_.down = false;
  EXPECT_EQ(send("DELETE", "").status, 204);
  EXPECT_EQ(manifests(), 0U);
  EXPECT_EQ(send("DELETE", "").status, 404);
}

TEST_F(BucketTest, deleting_a_job_answers_the_commit_that_waits) {
  ASSERT_EQ(save(1, 10, "ten", false).status, 200);
  objects_.slow = true;
  const auto request = [](const char* method, const char* rest, std::string body) {
    net::Request made{.method = method, .target = "/v1/jobs/default/1111-2222" + std::string(rest)};
    made.body = net::body_of(std::move(body));
    return made;
  };
  const auto [commit, removed] =
      wait(when_both(answer(request("POST", "/checkpoints/1/commit", R"({"bucket":true})")),
                     answer_after(seconds(5), request("DELETE", "", ""))));
  EXPECT_TRUE(commit.text.contains("being removed")) << commit.text;
  EXPECT_EQ(removed.status, 204);
}

TEST_F(BucketTest, large_parts_go_in_pieces) {
  close();
  open(4);
  ASSERT_EQ(save(1, 10, "0123456789").status, 200);
  EXPECT_EQ(objects_.log.front(), "put 1-10/parts/state of 3 pieces");
  lose_disk();
  EXPECT_EQ(latest().status, 200);
  EXPECT_EQ(send("GET", "/checkpoints/1/parts/state").text, "0123456789");
}

TEST_F(BucketTest, a_large_part_that_the_disk_has_damaged_is_not_finished_in_the_bucket) {
  close();
  open(4);
  ASSERT_EQ(save(1, 10, "0123456789", false).status, 200);
  const std::string chunk = "/data/jobs/default/1111-2222/checkpoints/1/c.1";
  ASSERT_TRUE(disk_.write(chunk, "0123x56789"));
  const Answer failed = send("POST", "/checkpoints/1/commit", R"({"bucket":true})");
  EXPECT_TRUE(failed.text.contains("crc32c")) << failed.text;
  EXPECT_EQ(objects_.log, Log({"drop 1-10/parts/state"}));
}

TEST_F(BucketTest, deleting_a_job_empties_its_part_of_the_bucket) {
  save(1, 10, "ten");
  objects_.objects["saved/default/other/1-1-x/manifest.json"] = "{}";
  EXPECT_EQ(send("DELETE", "").status, 204);
  EXPECT_EQ(objects_.objects.size(), 1U);
  EXPECT_EQ(latest().status, 404);
}

TEST_F(BucketTest, a_service_without_a_bucket_says_so_before_anything_is_sent) {
  MetricsRegistry metrics;
  service_ = std::make_unique<Service>(env(), *store_, ServiceOptions{}, metrics);
  const Answer answer = save(1, 10, "ten");
  EXPECT_EQ(answer.status, 409);
  EXPECT_TRUE(answer.text.contains("NoBucket")) << answer.text;
  service_.reset();
}

}  // namespace
}  // namespace codeflare::checkpoint
