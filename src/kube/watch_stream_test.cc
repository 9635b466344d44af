#include "kube/watch_stream.h"

#include "base/env/sim_env.h"
#include "model/status.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::kube {
namespace {

constexpr std::size_t kMax = 1u << 20;

std::string object(const std::string& name, int rv) {
  return R"({"kind":"Pod","metadata":{"name":")" + name + R"(","resourceVersion":")" +
         std::to_string(rv) + R"("}})";
}

std::string line(const std::string& type, const std::string& body) {
  return R"({"type":")" + type + R"(","object":)" + body + "}\n";
}

// "ADDED a 1", ... and how it ended: "end" or the error.
Task<std::vector<std::string>> drain(std::unique_ptr<WatchStream> stream) {
  constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
  std::vector<std::string> seen;
  while (true) {
    Result<std::optional<WatchEvent>> event = co_await stream->next();
    if (!event) {
      seen.push_back(event.error().to_string());
      co_return seen;
    }
    if (!*event) {
      seen.push_back("end");
      co_return seen;
    }
    const WatchEvent& e = **event;
    seen.push_back(std::string(kNames[static_cast<int>(e.type)]) + " " +
                   (e.object ? std::string(e.object->name()) : std::string("-")) + " " +
                   e.resource_version + (e.initial_events_end ? " end-of-initial" : ""));
  }
}

std::vector<std::string> events_of(std::vector<std::string> pieces, std::size_t max = kMax) {
  SimEnv sim;
  net::Body body = std::make_unique<net::testing::ListBody>(std::move(pieces));
  return *run(sim.env().loop, drain(make_watch_stream(std::move(body), max)));
}

using Seen = std::vector<std::string>;

TEST(WatchStream, reads_events_wherever_the_bytes_are_cut) {
  const std::string text = line("ADDED", object("a", 1)) + line("MODIFIED", object("a", 2)) +
                           line("DELETED", object("a", 3));
  const Seen expected = {"ADDED a 1", "MODIFIED a 2", "DELETED a 3", "end"};
  EXPECT_EQ(events_of({text}), expected);
  for (std::size_t size = 1; size < 60; ++size) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size(); at += size) {
      pieces.push_back(text.substr(at, size));
    }
    EXPECT_EQ(events_of(pieces), expected) << "pieces of " << size;
  }
}

TEST(WatchStream, a_bookmark_says_how_far_we_are_and_when_initial_events_end) {
  EXPECT_EQ(
      events_of({line("BOOKMARK", R"({"metadata":{"resourceVersion":"7"}})"),
                 line("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"8",)"
                                  R"("annotations":{"k8s.io/initial-events-end":"true"}}})")}),
      (Seen{"BOOKMARK - 7", "BOOKMARK - 8 end-of-initial", "end"}));
}

TEST(WatchStream, an_error_event_is_the_servers_error) {
  SimEnv sim;
  net::Body body = net::body_of(
      line("ERROR", R"({"kind":"Status","status":"Failure","reason":"Expired","code":410,)"
                    R"x("message":"too old resource version: 1 (9)"})x"));
  std::unique_ptr<WatchStream> stream = make_watch_stream(std::move(body), kMax);
  const Result<std::optional<WatchEvent>> event = *run(sim.env().loop, stream->next());
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, ErrorCode::expired);
  EXPECT_EQ(event.error().message, "too old resource version: 1 (9)");
  ASSERT_NE(model::status_of(event.error()), nullptr);
  EXPECT_EQ(model::status_of(event.error())->code, 410);
}

TEST(WatchStream, a_body_that_ends_within_an_event_is_unavailable) {
  const std::string whole = line("ADDED", object("a", 1));
  for (std::size_t cut = 1; cut + 2 < whole.size(); ++cut) {
    const Seen seen = events_of({whole, whole.substr(0, cut)});
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0], "ADDED a 1");
    EXPECT_TRUE(seen[1].starts_with("unavailable: the watch ended within an event")) << seen[1];
  }
}

TEST(WatchStream, a_whole_event_counts_without_its_newline) {
  std::string text = line("ADDED", object("a", 1));
  text.pop_back();
  EXPECT_EQ(events_of({text}), (Seen{"ADDED a 1", "end"}));
}

TEST(WatchStream, blank_lines_are_nothing) {
  EXPECT_EQ(events_of({"\n\r\n", line("ADDED", object("a", 1)), "  \n"}),
            (Seen{"ADDED a 1", "end"}));
  EXPECT_EQ(events_of({}), (Seen{"end"}));
}

TEST(WatchStream, an_event_of_many_megabytes_passes_and_one_beyond_the_limit_does_not) {
  const std::string big = R"({"metadata":{"name":"a","resourceVersion":"1"},"x":")" +
                          std::string(5u << 20, 'x') + "\"}";
  const std::string text = line("ADDED", big);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += 4096) {
    pieces.push_back(text.substr(at, 4096));
  }
  EXPECT_EQ(events_of(pieces, 6u << 20), (Seen{"ADDED a 1", "end"}));
  EXPECT_EQ(events_of(pieces, 4u << 20),
            (Seen{"too_large: a watch event of more than 4194304 bytes"}));
}

TEST(WatchStream, what_is_no_event_is_damaged_data) {
  for (const char* text : {"hello\n", "{}\n", R"({"type":"ADDED"})", R"({"kind":"PodList"})",
                           R"({"type":"RENAMED","object":{"metadata":{"name":"a"}}})",
                           R"({"type":"ADDED","object":{"metadata":{}}})",
                           R"({"type":"BOOKMARK","object":{"metadata":{}}})"}) {
    const Seen seen = events_of({std::string(text) + "\n", "\n"});
    ASSERT_EQ(seen.size(), 1u) << text;
    EXPECT_TRUE(seen[0].starts_with("data_loss: watch event: ")) << seen[0];
  }
}

}  // namespace
}  // namespace codeflare::kube
