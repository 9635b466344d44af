#include "s3/copy.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"
#include "net/url.h"

#include <gtest/gtest.h>

#include <charconv>
#include <map>

namespace codeflare::s3 {
namespace {

// Ends with an error after its text.
class CutBody final : public net::BodyStream {
 public:
  explicit CutBody(std::string text) : text_(std::move(text)) {}
  Task<Result<Bytes>> read() override {
    if (text_.empty()) {
      co_return fail(unavailable("connection reset"));
    }
    co_return Bytes::from(std::exchange(text_, {}));
  }

 private:
  std::string text_;
};

// A bucket in memory, with troubles.
struct FakeStore {
  std::map<std::string, std::string> objects;
  std::size_t page_size = 1000;
  int failures = 0;                 // answers of 503 before the next good one
  std::map<std::string, int> cuts;  // bodies of a key that break half way
  std::map<std::string, int> lies;  // more bytes than the listing says
  int refuse_status = 0;            // every answer
  std::string refuse_text;
  bool ranges = true;
  std::map<std::string, std::map<int, std::string>> uploads;  // parts by id
  int part_fails = 0;                                         // number of the part; 0: none
  int finish_lost = 0;                                        // answers that do not arrive
  std::string finish_text = "<CompleteMultipartUploadResult/>";
  std::size_t at_once = 0, at_once_max = 0;
  int requests = 0;

  Task<Result<net::Response>> answer(net::Request request) {
    ++requests;
    if (failures > 0) {
      --failures;
      co_return net::make_response(503, "application/xml", Bytes::from_static("busy"));
    }
    if (refuse_status != 0) {
      co_return net::make_response(refuse_status, "application/xml", Bytes::from(refuse_text));
    }
    const net::TargetParts target = net::split_target(request.target);
    if (target.path == "/b") {
      co_return list(std::string(target.query));
    }
    const std::string key = *net::percent_decode(target.path.substr(3));
    if (target.query.contains("upload")) {
      co_return co_await in_parts(key, *net::parse_query(target.query), std::move(request));
    }
    if (request.method == "PUT") {
      Task<Result<std::string>> reading = net::read_all(std::move(request.body), 1u << 30);
      CO_TRY_ASSIGN(objects[key], co_await std::move(reading));
      EXPECT_EQ(request.headers.get("x-amz-content-sha256"), sha256_hex(objects[key]));
      co_return net::make_response(200, "text/plain", Bytes());
    }
    at_once_max = std::max(at_once_max, ++at_once);
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(5)));
    --at_once;
    co_return get(key, request);
  }

  static net::Response text(int status, std::string body) {
    return net::make_response(status, "application/xml", Bytes::from(std::move(body)));
  }

  Task<Result<net::Response>> in_parts(std::string key, std::vector<net::QueryItem> query,
                                       net::Request request) {
    const std::string id = "id of " + key + " <&";
    if (query[0].name == "uploads") {
      uploads[id];
      co_return text(200, "<InitiateMultipartUploadResult><UploadId>id of " + key +
                              " &lt;&amp;</UploadId></InitiateMultipartUploadResult>");
    }
    if (!uploads.contains(query.back().value)) {
      co_return text(404, "<Error><Code>NoSuchUpload</Code></Error>");
    }
    EXPECT_EQ(query.back().value, id);
    if (request.method == "DELETE") {
      uploads.erase(id);
      co_return text(204, "");
    }
    Task<Result<std::string>> reading = net::read_all(std::move(request.body), 1u << 30);
    CO_TRY_ASSIGN(const std::string body, co_await std::move(reading));
    EXPECT_EQ(request.headers.get("x-amz-content-sha256"), sha256_hex(body));
    if (request.method == "PUT") {
      const int number = std::stoi(query[0].value);
      if (number == part_fails) {
        co_return text(403, "<Error><Code>AccessDenied</Code></Error>");
      }
      uploads[id][number] = body;
      net::Response stored = text(200, "");
      stored.headers.add("ETag", "\"" + query[0].value + "\"");
      co_return stored;
    }
    std::string whole, tags;
    for (const auto& [number, part] : uploads[id]) {
      whole += part;
      tags += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>\"" +
              std::to_string(number) + "\"</ETag></Part>";
    }
    EXPECT_EQ(body, "<CompleteMultipartUpload>" + tags + "</CompleteMultipartUpload>");
    if (finish_text.contains("Error")) {
      co_return text(200, finish_text);
    }
    objects[key] = whole;
    uploads.erase(id);
    if (finish_lost > 0) {
      --finish_lost;
      co_return fail(unavailable("connection reset"));
    }
    co_return text(200, finish_text);
  }

  net::Response list(const std::string& query) {
    std::string after, prefix;
    const auto items = *net::parse_query(query);
    for (const net::QueryItem& item : items) {
      if (item.name == "continuation-token") {
        after = item.value;
      } else if (item.name == "prefix") {
        prefix = item.value;
      }
    }
    std::string xml, last;
    std::size_t count = 0;
    bool more = false;
    for (auto at = objects.upper_bound(after); at != objects.end(); ++at) {
      if (!at->first.starts_with(prefix)) {
        continue;
      }
      if (count == page_size) {
        more = true;
        break;
      }
      ++count;
      last = at->first;
      xml += "<Contents><Key>" + last + "</Key><Size>" + std::to_string(at->second.size()) +
             "</Size></Contents>";
    }
    xml = "<ListBucketResult>" + xml + "<IsTruncated>" + (more ? "true" : "false") +
          "</IsTruncated><NextContinuationToken>" + last +
          "</NextContinuationToken></ListBucketResult>";
    return net::make_response(200, "application/xml", Bytes::from(xml));
  }

  net::Response get(const std::string& key, const net::Request& request) {
    std::string text = objects.at(key) + std::string(static_cast<std::size_t>(lies[key]), 'x');
    const std::size_t whole = text.size();
    net::Response response;
    if (const auto range = request.headers.get("Range"); range && ranges) {
      std::size_t from = 0;
      std::from_chars(range->data() + 6, range->data() + range->size(), from);
      text = text.substr(from);
      response.status = 206;
      response.headers.add("Content-Range", "bytes " + std::to_string(from) + "-" +
                                                std::to_string(whole - 1) + "/" +
                                                std::to_string(whole));
    } else if (lies[key] == 0) {
      response.body_size = whole;
    }
    if (cuts[key] > 0) {
      --cuts[key];
      response.body = std::make_unique<CutBody>(text.substr(0, text.size() / 2));
    } else {
      response.body = net::body_of(text);
    }
    return response;
  }
};

struct World {
  SimEnv sim;
  FakeStore store;
  net::testing::ScriptedService service{
      [this](net::Request request) { return store.answer(std::move(request)); }};
  Client client{sim.env(), service, {.host = "s3", .prefix = {}, .bucket = "b", .credentials = {}}};

  Result<CopyCount> get(const std::string& prefix = "", bool writable = false) {
    return *run(sim.env().loop, copy_in(client, *handles(), options(prefix, writable)));
  }
  Result<CopyCount> put(const std::string& prefix = "") {
    return *run(sim.env().loop, copy_back(client, *handles(), options(prefix, true)));
  }
  FileHandles* handles() { return *handles_of(sim.env().files); }
  CopyOptions options(const std::string& prefix, bool writable) {
    return {.directory = "/data",
            .prefix = prefix,
            .state_file = writable ? "/state/s" : "",
            .writable = writable,
            .part_bytes = part_bytes};
  }
  std::uint64_t part_bytes = 64u << 20;
  std::string file(const std::string& path) {
    return sim.env().files.read("/data/" + path, 1u << 30).value_or("<missing>");
  }
};

TEST(Copy, gets_every_object_of_every_page_eight_at_a_time) {
  World w;
  w.store.page_size = 100;
  for (int i = 0; i < 350; ++i) {
    w.store.objects["d/" + std::to_string(i)] = "text " + std::to_string(i);
  }
  w.store.objects["other"] = "x";
  const auto count = w.get("d/");
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->objects, 350u);
  EXPECT_EQ(w.file("349"), "text 349");
  EXPECT_EQ(w.file("other"), "<missing>");
  EXPECT_EQ(w.store.at_once_max, 8u);
}

TEST(Copy, makes_directories_and_empty_files) {
  World w;
  w.store.objects = {{"a/", ""}, {"b/c/empty", ""}, {"b/c/full", "f"}};
  ASSERT_TRUE(w.get());
  EXPECT_EQ(w.file("b/c/empty"), "");
  EXPECT_EQ(w.file("b/c/full"), "f");
  EXPECT_EQ(w.sim.env().files.info("/data/a")->type, FileInfo::Type::directory);
}

TEST(Copy, a_cut_connection_goes_on_where_it_broke) {
  for (const bool ranges : {true, false}) {
    World w;
    w.store.ranges = ranges;
    std::string large;
    for (int i = 0; i < 200'000; ++i) {
      large += std::to_string(i);
    }
    w.store.objects["large"] = large;
    w.store.cuts["large"] = 5;
    const auto count = w.get();
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(w.file("large"), large);
  }
}

TEST(Copy, a_connection_that_always_breaks_is_told) {
  World w;
  w.store.objects["a"] = "";
  w.store.objects["x"] = "y";
  w.store.cuts["x"] = 1000;
  const auto count = w.get();
  ASSERT_FALSE(count);
  EXPECT_EQ(reason_of(count.error()), "Network");
  EXPECT_TRUE(count.error().message.contains("object x, 0 of 1 bytes received"))
      << count.error().message;
}

TEST(Copy, repeats_what_a_busy_server_refuses) {
  World w;
  w.store.objects["a"] = "b";
  w.store.failures = 4;
  ASSERT_TRUE(w.get());
  EXPECT_EQ(w.file("a"), "b");
}

TEST(Copy, wrong_keys_and_buckets_fail_at_once_with_the_servers_words) {
  World w;
  w.store.refuse_status = 403;
  w.store.refuse_text =
      "<Error><Code>SignatureDoesNotMatch</Code><Message>The signature is wrong</Message></Error>";
  const auto denied = w.get();
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().message,
            "bucket b at s3: SignatureDoesNotMatch: The signature is wrong");
  EXPECT_EQ(reason_of(denied.error()), "AccessDenied");
  w.store.refuse_status = 404;
  EXPECT_EQ(reason_of(w.get().error()), "NotFound");
  EXPECT_EQ(w.store.requests, 2);
}

TEST(Copy, an_object_of_another_size_than_listed_fails) {
  World w;
  w.store.objects["a"] = "b";
  w.store.lies["a"] = 3;
  const auto count = w.get();
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, ErrorCode::data_loss);
}

TEST(Copy, an_object_that_would_lie_elsewhere_fails) {
  World w;
  w.store.objects["../etc/passwd"] = "b";
  const auto count = w.get();
  ASSERT_FALSE(count);
  EXPECT_TRUE(count.error().message.contains("../etc/passwd")) << count.error().message;
}

TEST(Copy, puts_new_and_changed_files_back_and_no_others) {
  World w;
  w.store.objects = {{"d/same", "s"}, {"d/changed", "c"}, {"d/gone", "g"}};
  ASSERT_TRUE(w.get("d/", true));
  FileSystem& files = w.sim.env().files;
  run(w.sim.env().loop, [](Loop&) -> Task<void> {
    static_cast<void>(co_await sleep_for(std::chrono::seconds(1)));
  }(w.sim.env().loop));
  ASSERT_TRUE(files.write("/data/changed", "C"));
  ASSERT_TRUE(files.make_directories("/data/new"));
  ASSERT_TRUE(files.write("/data/new/file", "n"));
  ASSERT_TRUE(files.remove("/data/gone"));
  w.store.failures = 2;
  const auto count = w.put("d/");
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->objects, 2u);
  const std::map<std::string, std::string> expected = {
      {"d/same", "s"}, {"d/changed", "C"}, {"d/gone", "g"}, {"d/new/file", "n"}};
  EXPECT_EQ(w.store.objects, expected);
}

// A bucket, and a changed file of 300,007 bytes which goes back in parts of 50,000.
struct LargeFile : World {
  std::string content;

  LargeFile() {
    for (int i = 0; content.size() < 300'000; ++i) {
      content += std::to_string(i) + " ";
    }
    content.resize(300'007, 'x');
    part_bytes = 50'000;
    store.objects["d/small"] = "s";
    EXPECT_TRUE(get("d/", true));
    EXPECT_TRUE(sim.env().files.write("/data/large", content));
    EXPECT_TRUE(sim.env().files.write("/data/exact", content.substr(0, 50'000)));
  }
};

TEST(Copy, puts_large_files_back_in_parts) {
  LargeFile w;
  w.store.failures = 2;
  const int before = w.store.requests;
  const auto count = w.put("d/");
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->objects, 2u);
  EXPECT_EQ(w.store.objects["d/large"], w.content);
  EXPECT_EQ(w.store.objects["d/exact"], w.content.substr(0, 50'000));
  EXPECT_TRUE(w.store.uploads.empty());
  // Begin, seven parts, end; one for the other file; two that failed.
  EXPECT_EQ(w.store.requests - before, 12);
}

TEST(Copy, a_lost_answer_to_the_end_of_an_upload_is_no_failure) {
  LargeFile w;
  w.store.finish_lost = 1;
  ASSERT_TRUE(w.put("d/"));
  EXPECT_EQ(w.store.objects["d/large"], w.content);
}

TEST(Copy, an_upload_that_fails_is_dropped) {
  LargeFile part;
  part.store.part_fails = 3;
  const auto denied = part.put("d/");
  ASSERT_FALSE(denied);
  EXPECT_EQ(reason_of(denied.error()), "AccessDenied");
  EXPECT_TRUE(part.store.uploads.empty());
  EXPECT_FALSE(part.store.objects.contains("d/large"));

  LargeFile end;
  end.store.finish_text = "<Error><Code>EntityTooSmall</Code><Message>part 2</Message></Error>";
  const auto wrong = end.put("d/");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "bucket b at s3: EntityTooSmall: part 2");
  EXPECT_TRUE(end.store.uploads.empty());
}

TEST(Copy, a_second_attempt_replaces_the_files_of_the_first) {
  World w;
  w.store.objects = {{"a", "1"}, {"b", "2"}};
  ASSERT_TRUE(w.get("", true));
  w.store.objects["a"] = "longer";
  ASSERT_TRUE(w.get("", true));
  EXPECT_EQ(w.file("a"), "longer");
  EXPECT_EQ(w.put()->objects, 0u);
}

}  // namespace
}  // namespace codeflare::s3
