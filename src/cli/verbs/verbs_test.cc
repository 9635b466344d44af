#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/gather/wrappers.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/list.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/status.h"
#include "cli/views/kinds.h"
#include "json/parse.h"
#include "model/config_map.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <sstream>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;
using testing::app_wrapper_crd;
using testing::VerbWorld;

std::string wrapper_yaml(const std::string& name, const std::string& more = "") {
  return "apiVersion: workload.codeflare.dev/v1beta1\n"
         "kind: AppWrapper\n"
         "metadata: {name: " +
         name + more +
         "}\n"
         "spec:\n"
         "  resources: {GenericItems: [{generictemplate: {apiVersion: v1, kind: ConfigMap, "
         "metadata: {name: c}}}]}\n";
}

// A world that knows AppWrappers.
struct World : VerbWorld {
  World() {
    write("crd.yaml", app_wrapper_crd());
    EXPECT_EQ(create({"crd.yaml"}), kDone) << console.err_text;
  }
  int create(std::vector<std::string> files, SessionFlags flags = {}, bool dry_run = false) {
    return verb([&](Session& s) { return run_create(s, {.files = files, .dry_run = dry_run}); },
                flags);
  }
  int remove(DeleteFlags how, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_delete(s, how); }, flags);
  }
  int list(ListFlags what, SessionFlags flags = {}, const std::string& user = "admin") {
    return verb([&](Session& s) { return run_list(s, what); }, flags, user);
  }
  int status(const std::string& name, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_status(s, {.kind = "aw", .names = {name}}); }, flags);
  }
  int hold(const std::string& name, bool held, SessionFlags flags = {}) {
    return verb(
        [&](Session& s) { return run_hold(s, {.kind = "appwrapper", .names = {name}}, held); },
        flags);
  }
  // As the controller would write it.
  void set_status(const std::string& name, const std::string& status) {
    const std::string body = R"({"status":)" + status + "}";
    verb([&](Session& s) { return patch_status(s, name, body); });
  }
  static Task<int> patch_status(Session& s, std::string name, std::string body) {
    const auto done =
        co_await s.client().patch(app_wrapper_kind().type, {"default", name},
                                  kube::PatchKind::merge, body, {.subresource = "status"});
    EXPECT_TRUE(done.has_value()) << done.error().message;
    co_return 0;
  }
};

TEST(Create, makes_kinds_and_objects_of_them_in_one_go) {
  VerbWorld world;
  world.write("all.yaml", app_wrapper_crd() + "---\n" + wrapper_yaml("train") +
                              "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
  const int code = world.verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); });
  EXPECT_EQ(code, kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "customresourcedefinition.apiextensions.k8s.io/appwrappers.workload.codeflare.dev "
            "created\n"
            "appwrapper.workload.codeflare.dev/train created\n"
            "configmap/c created\n");
  EXPECT_EQ(world.console.err_text, "");
}

TEST(Create, goes_on_after_a_failure_and_names_file_document_and_object) {
  World world;
  world.write("f.yaml", wrapper_yaml("a") + "---\n" + wrapper_yaml("a") +
                            "---\napiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: x}\n"
                            "---\nkind: Pod\n---\n" +
                            wrapper_yaml("b"));
  EXPECT_EQ(world.create({"f.yaml"}), kFailed);  // for different reasons
  EXPECT_EQ(world.console.out_text,
            "appwrapper.workload.codeflare.dev/a created\n"
            "appwrapper.workload.codeflare.dev/b created\n");
  const std::string& err = world.console.err_text;
  EXPECT_TRUE(err.contains("error: f.yaml: document 4: apiVersion is missing")) << err;
  EXPECT_TRUE(
      err.contains("error: f.yaml: document 2, AppWrapper a: appwrappers.workload"
                   ".codeflare.dev \"a\" already exists"))
      << err;
  EXPECT_TRUE(err.contains("error: f.yaml: document 3, Nothing x: ")) << err;
}

TEST(Create, reads_directories_in_order_and_standard_input) {
  World world;
  world.write("/d/2.yaml", wrapper_yaml("second"));
  world.write("/d/1.json", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"first"}})");
  world.write("/d/notes.txt", "not this");
  EXPECT_EQ(world.create({"/d"}, {.output = "name"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "configmap/first\nappwrapper.workload.codeflare.dev/second\n");
  world.console.input = wrapper_yaml("third");
  EXPECT_EQ(world.create({"-"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.create({"/nowhere"}), kUsage);
}

TEST(Create, a_dry_run_keeps_nothing) {
  World world;
  world.write("f.yaml", wrapper_yaml("a"));
  EXPECT_EQ(world.create({"f.yaml"}, {}, true), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "appwrapper.workload.codeflare.dev/a created (server dry run)\n");
  EXPECT_EQ(world.status("a"), kNotFound);
}

TEST(Create, the_namespace_asked_for_and_the_objects_own_must_agree) {
  World world;
  world.write("f.yaml", wrapper_yaml("a", ", namespace: other"));
  EXPECT_EQ(world.create({"f.yaml"}, {.ns = "default"}), kUsage);
  EXPECT_EQ(
      world.console.err_text,
      "error: f.yaml: document 1, AppWrapper other/a: namespace is other, but -n is default\n");
}

TEST(Create, prints_the_objects_as_json_on_request) {
  World world;
  world.write("f.yaml", wrapper_yaml("a") + "---\n" + wrapper_yaml("b"));
  EXPECT_EQ(world.create({"f.yaml"}, {.output = "json"}), kDone);
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value()) << world.console.out_text;
  EXPECT_EQ(document->root.string_or_empty("kind"), "List");
  ASSERT_EQ(document->root.find("items")->size(), 2u);
  EXPECT_EQ(document->root.find("items")->items()[0].get({"metadata", "managedFields"}), nullptr);
}

TEST(Delete, waits_until_the_finalizer_is_gone) {
  World world;
  world.write("f.yaml", wrapper_yaml("a", ", finalizers: [example.com/hold]"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.remove({.files = {"f.yaml"}, .timeout = seconds(3)}), kTimeUp);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a deleted\n");
  EXPECT_EQ(world.console.err_text,
            "error: appwrapper.workload.codeflare.dev/a: still there after 3s, held by "
            "example.com/hold\n");
  EXPECT_EQ(world.remove({.files = {"f.yaml"}, .wait = false}), kDone);
  // Somebody lets go while the verb waits.
  const int code = world.verb([](Session& s) -> Task<int> {
    struct Both {
      static Task<int> let_go(Session& session) {
        static_cast<void>(co_await sleep_for(seconds(5)));
        const auto done = co_await session.client().patch(app_wrapper_kind().type, {"default", "a"},
                                                          kube::PatchKind::merge,
                                                          R"({"metadata":{"finalizers":null}})");
        EXPECT_TRUE(done.has_value()) << done.error().message;
        co_return 0;
      }
      static Task<int> run(Session& session) {
        std::vector<Task<int>> tasks;
        tasks.push_back(run_delete(session, {.files = {"f.yaml"}}));
        tasks.push_back(let_go(session));
        const std::vector<int> codes = co_await when_all(std::move(tasks));
        co_return codes[0];
      }
    };
    return Both::run(s);
  });
  EXPECT_EQ(code, kDone) << world.console.err_text;
  EXPECT_EQ(world.status("a"), kNotFound);
}

TEST(Delete, shows_progress_on_a_terminal_alone) {
  World world;
  world.write("f.yaml", wrapper_yaml("a", ", finalizers: [example.com/hold]"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone) << world.console.err_text;
  world.console.terminal = true;
  EXPECT_EQ(world.remove({.files = {"f.yaml"}, .timeout = seconds(3)}), kTimeUp);
  EXPECT_TRUE(world.console.err_text.contains(
      "\rwaiting until appwrapper.workload.codeflare.dev/a is gone (0s, held by "
      "example.com/hold)\x1b[K"))
      << world.console.err_text;
}

TEST(Delete, by_name_and_what_is_not_there_is_an_error_unless_ignored) {
  World world;
  world.write("f.yaml", wrapper_yaml("a"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone);
  EXPECT_EQ(world.remove({.kind = "aw", .names = {"a", "b"}}), kNotFound);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a deleted\n");
  EXPECT_EQ(world.console.err_text, "error: appwrappers.workload.codeflare.dev \"b\" not found\n");
  EXPECT_EQ(world.remove({.files = {"f.yaml"}, .ignore_not_found = true}), kDone);
  EXPECT_EQ(world.remove({.kind = "pods", .names = {"a"}}), kUsage);
}

TEST(List, shows_a_table_names_or_objects) {
  World world;
  EXPECT_EQ(world.list({.kind = "aw"}), kDone);
  EXPECT_EQ(world.console.err_text, "no appwrappers found in namespace default\n");
  world.write("f.yaml", wrapper_yaml("a") + "---\n" + wrapper_yaml("b", ", labels: {app: x}"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone);
  world.set_status("b", R"({"state":"Pending","conditions":[{"type":"Queued","status":"True",)"
                        R"("reason":"Fragmented","message":"in pieces"}]})");
  EXPECT_EQ(world.list({.kind = "appwrappers"}), kDone);
  EXPECT_EQ(world.console.out_text,
            "NAME   STATE     PRIORITY   PODS   REASON       AGE\n"
            "a      Pending   0          -                   0s\n"
            "b      Pending   0          -      Fragmented   0s\n");
  EXPECT_EQ(
      world.list({.kind = "aw", .all_namespaces = true, .selector = "app=x"}, {.output = "name"}),
      kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/b\n");
  EXPECT_EQ(world.list({.kind = "aw"}, {.output = "yaml"}), kDone);
  EXPECT_TRUE(world.console.out_text.starts_with("apiVersion: v1\nitems:\n- apiVersion: workload"))
      << world.console.out_text;
}

TEST(List, a_server_without_the_kind_and_a_caller_without_the_right_are_told_apart) {
  VerbWorld bare;
  EXPECT_EQ(bare.verb([](Session& s) { return run_list(s, {.kind = "aw"}); }), kNotFound);
  EXPECT_TRUE(bare.console.err_text.contains("install the kind with")) << bare.console.err_text;
  World world;
  EXPECT_EQ(world.list({.kind = "aw"}, {}, "ann"), kNotAllowed);
  EXPECT_TRUE(world.console.err_text.contains("forbidden")) << world.console.err_text;
}

TEST(Status, shows_one_or_says_that_there_is_none) {
  World world;
  world.write("f.yaml", wrapper_yaml("a"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone);
  EXPECT_EQ(world.status("a"), kDone);
  EXPECT_TRUE(world.console.out_text.starts_with("Name:       a\nNamespace:  default\n"))
      << world.console.out_text;
  EXPECT_EQ(world.status("a", {.output = "json"}), kDone);
  EXPECT_TRUE(json::parse(world.console.out_text).has_value());
  EXPECT_EQ(world.status("none"), kNotFound);
  EXPECT_EQ(world.console.err_text,
            "error: appwrappers.workload.codeflare.dev \"none\" not found\n");
}

TEST(Hold, sets_suspend_and_release_takes_it_back) {
  World world;
  world.write("f.yaml", wrapper_yaml("a"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone);
  EXPECT_EQ(world.hold("a", true), kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a held\n");
  EXPECT_EQ(world.hold("a", true), kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a is already held\n");
  EXPECT_EQ(world.list({.kind = "aw"}), kDone);
  EXPECT_TRUE(world.console.out_text.contains("Held")) << world.console.out_text;
  EXPECT_EQ(world.hold("a", false), kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a released\n");
  EXPECT_EQ(world.hold("a", false, {.output = "name"}), kDone);
  EXPECT_EQ(world.console.out_text, "appwrapper.workload.codeflare.dev/a\n");
  EXPECT_EQ(world.hold("none", true), kNotFound);
}

TEST(Hold, changes_nothing_of_what_has_finished_or_is_being_deleted) {
  World world;
  world.write("f.yaml", wrapper_yaml("a", ", finalizers: [example.com/hold]"));
  ASSERT_EQ(world.create({"f.yaml"}), kDone);
  for (const std::string state : {"Completed", "Failed", "Deleted"}) {
    world.set_status("a", R"({"state":")" + state + R"("})");
    EXPECT_EQ(world.hold("a", true), kFailed);
    EXPECT_EQ(world.console.out_text, "");
    EXPECT_EQ(world.console.err_text,
              "error: appwrapper.workload.codeflare.dev/a has already finished (" + state +
                  "): there is nothing to hold; nothing was changed\n");
    EXPECT_EQ(world.hold("a", false), kFailed);
    EXPECT_TRUE(world.console.err_text.contains("nothing to release")) << world.console.err_text;
  }
  world.set_status("a", R"({"state":"Running"})");
  EXPECT_EQ(world.remove({.files = {"f.yaml"}, .wait = false}), kDone);
  EXPECT_EQ(world.hold("a", true), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("is being deleted: ")) << world.console.err_text;
  EXPECT_EQ(world.status("a", {.output = "json"}), kDone);
  EXPECT_FALSE(world.console.out_text.contains("suspend")) << world.console.out_text;
}

struct QueueWorld : World {
  QueueWorld() {
    write("f.yaml", wrapper_yaml("a") + "---\n" + wrapper_yaml("b"));
    EXPECT_EQ(create({"f.yaml"}), kDone) << console.err_text;
  }
  int queue(QueueFlags how = {}, SessionFlags flags = {}, const std::string& user = "admin") {
    return verb([&](Session& s) { return run_queue(s, how); }, flags, user);
  }
  int pause(bool on, SessionFlags flags = {}) {
    return verb([&](Session& s) { return run_pause(s, {}, on); }, flags);
  }
};

TEST(QueueVerb, lists_the_line_and_whether_it_is_paused) {
  QueueWorld world;
  EXPECT_EQ(world.queue(), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "POSITION   NAMESPACE   NAME   PRIORITY   STATE     TIME   REASON\n"
            "1          default     a      0          Waiting   0s\n"
            "2          default     b      0          Waiting   0s\n"
            "2 waiting, 0 running\n");
  // Neither the namespace nor the ConfigMap is there yet.
  EXPECT_EQ(world.pause(true), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "queue paused: no work starts, running work continues\n");
  EXPECT_EQ(world.queue(), kDone);
  EXPECT_TRUE(world.console.out_text.contains("the queue is paused")) << world.console.out_text;
  EXPECT_EQ(world.pause(false), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "queue resumed\n");
  EXPECT_EQ(world.queue({}, {.output = "json"}), kDone);
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value());
  EXPECT_FALSE(document->root.find("paused")->as_bool());
  EXPECT_EQ(world.queue({}, {.output = "yaml"}), kUsage);
}

TEST(QueueVerb, what_the_controller_reads_is_data_paused_of_its_config_map) {
  QueueWorld world;
  ASSERT_EQ(world.pause(true, {.output = "json"}), kDone) << world.console.err_text;
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->root.get({"metadata", "namespace"})->as_string(), "codeflare-system");
  EXPECT_EQ(document->root.get({"metadata", "name"})->as_string(), "codeflare-queue");
  EXPECT_EQ(document->root.get({"data", "paused"})->as_string(), "true");
}

// Watches while `act` happens, and ends a while after it.
int watch_while(QueueWorld& world, std::function<Task<void>(Session&)> act,
                SessionFlags flags = {}) {
  struct Both {
    static Task<int> change(Session& session, std::function<Task<void>(Session&)> what) {
      static_cast<void>(co_await sleep_for(seconds(2)));
      co_await what(session);
      static_cast<void>(co_await sleep_for(seconds(2)));
      co_return 0;
    }
    static Task<int> run(Session& session, std::function<Task<void>(Session&)> what) {
      std::vector<Task<int>> tasks;
      tasks.push_back(run_queue(session, {.watch = true}));
      tasks.push_back(change(session, std::move(what)));
      co_return (co_await when_any(std::move(tasks))).value;
    }
  };
  return world.verb([&](Session& s) { return Both::run(s, act); }, flags);
}

Task<void> delete_a(Session& session) {
  const auto done = co_await session.client().remove(app_wrapper_kind().type, {"default", "a"});
  EXPECT_TRUE(done.has_value());
}

TEST(QueueVerb, a_watch_appends_what_changes) {
  QueueWorld world;
  EXPECT_EQ(watch_while(world, delete_a), 0);
  EXPECT_TRUE(
      world.console.out_text.ends_with("2 waiting, 0 running\n"
                                       "default/b is waiting at position 1\n"
                                       "default/a was deleted\n"))
      << world.console.out_text;
}

TEST(QueueVerb, a_watch_as_json_is_an_object_a_line_for_each_change) {
  QueueWorld world;
  EXPECT_EQ(watch_while(world, delete_a, {.output = "json"}), 0);
  std::vector<std::string> events;
  std::istringstream lines(world.console.out_text);
  for (std::string line; std::getline(lines, line);) {
    const Result<json::Document> document = json::parse(line);
    ASSERT_TRUE(document.has_value()) << line;
    events.push_back(std::string(document->root.string_or_empty("event")) + " " +
                     std::string(document->root.string_or_empty("name")));
  }
  EXPECT_EQ(events, (std::vector<std::string>{"waits a", "waits b", "waits b", "deleted a"}))
      << world.console.out_text;
}

TEST(QueueVerb, there_is_one_line_for_both_groups) {
  QueueWorld world;
  std::string old = wrapper_yaml("older");
  old.replace(old.find("workload.codeflare.dev"), 22, "mcad.ibm.com");
  world.write("old.yaml", app_wrapper_crd(controllers::kLegacyAppWrapperCrd) + "---\n" + old);
  ASSERT_EQ(world.create({"old.yaml"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.queue(), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("default     older")) << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.ends_with("3 waiting, 0 running\n")) << world.console.out_text;
  EXPECT_EQ(watch_while(world, delete_a), 0);
  EXPECT_TRUE(
      world.console.out_text.contains("default/older of mcad.ibm.com is waiting at position 2"))
      << world.console.out_text;
}

TEST(QueueVerb, a_watch_redraws_on_a_terminal) {
  QueueWorld world;
  world.console.terminal = true;
  EXPECT_EQ(watch_while(world, delete_a), 0);
  EXPECT_TRUE(world.console.out_text.starts_with("\x1b[H\x1b[2JPOSITION"));
  EXPECT_TRUE(world.console.out_text.ends_with("1 waiting, 0 running\n")) << world.console.out_text;
}

}  // namespace
}  // namespace codeflare::cli
