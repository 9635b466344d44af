#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/list.h"
#include "cli/verbs/status.h"
#include "cli/views/kinds.h"
#include "model/pod.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

// Causes that pods or Events alone tell, in `status` and `list`.
namespace codeflare::cli {
namespace {

using testing::VerbWorld;

std::string wrapper_of(const std::string& name) {
  return "---\napiVersion: workload.codeflare.dev/v1beta1\nkind: AppWrapper\nmetadata: {name: " +
         name +
         "}\nspec: {resources: {GenericItems: [{generictemplate: {apiVersion: batch/v1, kind: Job, "
         "metadata: {name: " +
         name +
         "}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
         "resources: {requests: {cpu: 1}}}]}}}}}]}}\n";
}

std::string event_of(const std::string& name, const std::string& about, const std::string& reason,
                     const std::string& message) {
  return "---\napiVersion: v1\nkind: Event\nmetadata: {name: " + name +
         ", namespace: default}\ninvolvedObject: {namespace: default, " + about +
         "}\ntype: Warning\nreason: " + reason + "\nmessage: \"" + message +
         "\"\nlastTimestamp: \"2199-01-02T00:00:02Z\"\n";
}

// Dispatched, and one pod is planned; `status` has its counts.
Task<int> dispatch(Session& session, std::string name, std::string status) {
  std::string text = R"({"status":{"state":"Running","canrun":true,)" + status +
                     R"("plan":{"places":[{"podSet":0,"node":"n","count":1}]}}})";
  const Result<kube::ObjectRef> done = co_await session.client().patch(
      app_wrapper_kind().type, {"default", std::move(name)}, kube::PatchKind::merge,
      std::move(text), {.subresource = "status"});
  co_return done ? kDone : kFailed;
}

Task<int> add_pod(Session& session, std::string wrapper) {
  const auto found =
      co_await session.client().get(app_wrapper_kind().type, {"default", std::move(wrapper)});
  if (!found) {
    co_return kFailed;
  }
  std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"pulls-x","labels":)"
                    R"({"workload.codeflare.dev/appwrapper-uid":")" +
                    std::string((*found)->uid()) +
                    R"("}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})";
  const auto made = co_await session.client().create(model::resource_type<model::Pod>(), "default",
                                                     std::move(pod));
  if (!made) {
    co_return kFailed;
  }
  const auto waits = co_await session.client().patch(
      model::resource_type<model::Pod>(), {"default", "pulls-x"}, kube::PatchKind::merge,
      R"({"status":{"phase":"Pending","containerStatuses":[{"name":"c","image":"i","imageID":"",
          "ready":false,"restartCount":0,"state":{"waiting":{"reason":"ErrImagePull",
          "message":"not found"}}}]}})",
      {.subresource = "status"});
  co_return waits ? kDone : kFailed;
}

struct World : VerbWorld {
  World() {
    write(
        "all.yaml",
        testing::app_wrapper_crd() + wrapper_of("web") + wrapper_of("pulls") + wrapper_of("runs") +
            event_of("web.1", "kind: Job, name: web", "FailedCreate", "exceeded quota: small") +
            event_of("runs.1", "kind: Job, name: runs", "FailedCreate", "exceeded quota long ago"));
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
        << console.err_text;
    const std::pair<const char*, const char*> all[] = {
        {"web", ""}, {"pulls", R"("pending":1,)"}, {"runs", R"("running":1,)"}};
    for (const auto& [name, counts] : all) {
      EXPECT_EQ(verb([&](Session& s) { return dispatch(s, name, counts); }), kDone);
    }
    EXPECT_EQ(verb([](Session& s) { return add_pod(s, "pulls"); }), kDone);
  }
};

TEST(Causes, list_shows_why_dispatched_work_does_not_run) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) { return run_list(s, {}); }, {.output = "wide"}), kDone)
      << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.contains("Job web: FailedCreate: exceeded quota: small")) << text;
  EXPECT_TRUE(text.contains("   ErrImagePull   ")) << text;
  EXPECT_TRUE(text.contains("pod pulls-x, container c: ")) << text;
  EXPECT_FALSE(text.contains("long ago")) << text;
}

TEST(Causes, status_shows_why_dispatched_work_does_not_run) {
  World world;
  const auto status = [&](const std::string& name) {
    EXPECT_EQ(world.verb([&](Session& s) { return run_status(s, {.kind = name, .names = {}}); }),
              kDone)
        << world.console.err_text;
    return world.console.out_text;
  };
  EXPECT_TRUE(status("web").contains("Message:    Job web: FailedCreate: exceeded quota: small\n"))
      << status("web");
  EXPECT_TRUE(status("pulls").contains("Reason:     ErrImagePull\n")) << status("pulls");
}

TEST(Causes, other_objects_and_other_events_do_not_count) {
  World world;
  world.write("more.yaml",
              event_of("web.2", "kind: Job, name: website", "FailedCreate", "another object") +
                  event_of("web.3", "kind: Job, name: web", "BackoffLimitExceeded", "no create"));
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"more.yaml"}}); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_list(s, {}); }, {.output = "wide"}), kDone);
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.contains("exceeded quota: small")) << text;
  EXPECT_FALSE(text.contains("another object")) << text;
  EXPECT_FALSE(text.contains("no create")) << text;
}

}  // namespace
}  // namespace codeflare::cli
