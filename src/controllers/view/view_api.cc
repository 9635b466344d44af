#include "controllers/view/view_api.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/pods_type.h"
#include "controllers/view/pruned_pod.h"
#include "controllers/view/status_answer.h"
#include "controllers/view/work_pods.h"
#include "json/write.h"
#include "model/codec/training_job.h"
#include "model/fields.h"
#include "queue/report.h"
#include "queue/training_work.h"

#include <charconv>
#include <chrono>
#include <utility>

namespace codeflare::controllers::view {

namespace {

using queue::Standing;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A new object reaches the queue within this time, else it is not for the queue.
constexpr Duration kKnownWithin = seconds(2);
constexpr Duration kLook = milliseconds(10);
// Explanations take at most one part in this many of the loop's time.
constexpr int kShare = 5;
constexpr std::size_t kWaitingMax = 64;
constexpr std::string_view kApiVersion = "view.codeflare.dev/v1alpha1";

net::Response json_answer(std::string text) {
  return net::make_response(200, "application/json", Bytes::from(std::move(text)));
}

Error not_served() {
  return not_found("the server could not find the requested resource");
}

Error not_leading() {
  return unavailable("this controller does not lead, its queue is not live");
}

Result<std::optional<std::int64_t>> number_in(const apiserver::Query& query,
                                              std::string_view name) {
  const auto text = query.get(name);
  if (!text) {
    return std::optional<std::int64_t>();
  }
  std::int64_t value = 0;
  const auto end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) {
    return fail(invalid_argument(std::string(name) + " \"" + std::string(*text) +
                                 "\": expected a number from 0"));
  }
  return std::optional(value);
}

// Keeps the client of the worker as long as its log is read.
class HeldBody final : public net::BodyStream {
 public:
  HeldBody(net::Body body, std::shared_ptr<kube::Client> client)
      : client_(std::move(client)), body_(std::move(body)) {}
  Task<Result<Bytes>> read() override { return body_->read(); }
  std::optional<Bytes> ready() override { return body_->ready(); }
  bool tell(net::BodyListener* listener) override { return body_->tell(listener); }

 private:
  std::shared_ptr<kube::Client> client_;
  net::Body body_;
};

void begin_explanation(json::Writer& w, const queue::WorkId& id, bool paused) {
  w.begin_object().member("kind", "Explanation").member("apiVersion", kApiVersion);
  w.key("metadata").begin_object().member("name", id.key.name).member("namespace", id.key.ns);
  w.member("uid", id.uid).end_object().key("paused").boolean(paused);
}

void add_report(json::Writer& w, const Result<queue::Report>& report) {
  if (report) {
    json::Arena arena;
    w.key("report").value(queue::to_json(arena, *report));
  } else {
    w.member("problem", report.error().message);
  }
}

}  // namespace

apiserver::ServedGroup ViewApi::group() {
  return {.group = std::string(kGroup),
          .version = std::string(kVersion),
          .kinds = {{"appwrappers", "", "Explanation", true, {"explain", "log"}},
                    {"trainingjobs", "", "Explanation", true, {"explain"}}},
          .handler = [this](const apiserver::RequestInfo&, const net::Request& request) {
            return send({.method = request.method, .target = request.target});
          }};
}

Task<Result<net::Response>> ViewApi::send(net::Request request) {
  Result<apiserver::RequestInfo> info =
      apiserver::RequestInfo::parse(request.method, request.target);
  if (!info) {
    co_return status_answer(info.error());
  }
  if (!sources_) {
    co_return status_answer(not_leading());
  }
  const TaskContext& context = co_await current_context();
  ++running_;
  Result<net::Response> response = co_await with_stop(stop_.token(), answer(*std::move(info)));
  if (--running_ == 0) {
    idle_.notify_all();
  }
  if (response || context.stop.stop_requested()) {
    co_return response;
  }
  co_return status_answer(sources_ ? response.error() : not_leading());
}

Task<void> ViewApi::end() {
  sources_.reset();
  stop_.request_stop();
  while (running_ > 0) {
    co_await idle_.wait_uncancellable();
  }
  stop_ = StopSource();
}

Task<Result<net::Response>> ViewApi::answer(apiserver::RequestInfo info) {
  const bool ours = info.is_resource && info.group == kGroup && info.version == kVersion &&
                    info.verb == "get" && !info.ns.empty() && !info.name.empty();
  if (ours && info.resource == "appwrappers" && info.subresource == "log") {
    co_return co_await log(std::move(info));
  }
  const bool wrapper = info.resource == "appwrappers";
  if (!ours || info.subresource != "explain" || (!wrapper && info.resource != "trainingjobs")) {
    co_return fail(not_served());
  }
  Question question{
      .ns = info.ns, .name = info.name, .uid = std::string(info.query.get("uid").value_or(""))};
  co_return co_await explain(wrapper ? queue::WorkKind::app_wrapper : queue::WorkKind::training_job,
                             std::move(question));
}

Task<Result<queue::WorkId>> ViewApi::find(queue::WorkKind kind, Question question) {
  const model::ObjectKey key{question.ns, question.name};
  const Instant until = after(env_.loop.now(), kKnownWithin);
  while (true) {
    if (!sources_ || !sources_->driver.active()) {
      co_return fail(not_leading());
    }
    const queue::Queue& queue = sources_->driver.queue();
    const std::optional<queue::WorkId> id =
        question.uid.empty() ? queue.find(key, kind) : queue.id(question.uid);
    // A UID proves nothing: the caller was judged by namespace and name.
    const bool found = id && id->key == key && id->kind == kind;
    const bool tried = found && (queue.kind(id->uid) != Standing::Kind::waiting ||
                                 queue.standing(id->uid).reason != queue::Reason::evaluating);
    const bool hopeless = !sources_->driver.problem(question.uid).empty();
    const bool late = hopeless || env_.loop.now() >= until;
    if (tried || (found && late)) {
      co_return *id;
    }
    if (late) {
      co_return fail(not_found(
          std::string(kind == queue::WorkKind::app_wrapper ? "AppWrapper " : "TrainingJob ") +
          key.ns + "/" + key.name + " is not in the queue"));
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

Task<Result<void>> ViewApi::take_turn() {
  if (waiting_ >= kWaitingMax) {
    co_return fail(resource_exhausted(std::to_string(kWaitingMax) +
                                      " explanations are waiting already; try again"));
  }
  ++waiting_;
  Result<void> waited;
  while (waited && env_.loop.now() < next_) {
    waited = co_await sleep_until(next_);
  }
  --waiting_;
  co_return waited;
}

Task<Result<net::Response>> ViewApi::explain(queue::WorkKind kind, Question question) {
  CO_TRY_ASSIGN(const queue::WorkId id, co_await find(kind, std::move(question)));
  CO_TRY(co_await take_turn());
  if (!sources_) {
    co_return fail(not_leading());
  }
  const Instant begun = env_.clock.now();
  std::string text =
      kind == queue::WorkKind::app_wrapper ? explanation(id) : training_explanation(id);
  const Duration took = env_.clock.now() - begun;
  next_ = after(env_.loop.now(), took * (kShare - 1));
  co_return json_answer(std::move(text));
}

std::string ViewApi::explanation(const queue::WorkId& id) {
  std::string text;
  json::Writer w(text);
  begin_explanation(w, id, sources_->driver.queue().paused());
  add_report(w, sources_->driver.explain(id.uid));
  w.end_object();
  return text;
}

std::string ViewApi::training_explanation(const queue::WorkId& id) {
  const queue::Queue& queue = sources_->driver.queue();
  std::string text;
  json::Writer w(text);
  begin_explanation(w, id, queue.paused());
  if (const auto size = queue.size(id.uid); size && size->planned > 0) {
    w.key("planned").integer(size->planned);
    w.member_if_set("growth", queue.growth_sentence(id.uid, env_.clock.wall()));
    w.member_if_set("shrinksFor", queue.standing(id.uid).shrinks_for);
  } else {
    add_report(w, sources_->driver.explain(id.uid));
  }
  w.key("grown").begin_array();
  const model::ResourceType type = model::resource_type<model::TrainingJob>();
  for (const kube::ObjectRef& object : sources_->cache.informer(type).store().list()) {
    const Result<model::TrainingJob> job = object->as<model::TrainingJob>();
    if (!job || job->metadata.uid == id.uid) {
      continue;
    }
    if (const std::int64_t min = queue::sizes_of(job->spec).min; job->status.current_size > min) {
      w.begin_object().member("namespace", job->metadata.ns).member("name", job->metadata.name);
      w.key("size").integer(job->status.current_size).key("min").integer(min);
      w.key("priority").integer(job->spec.priority).end_object();
    }
  }
  w.end_array().end_object();
  return text;
}

Task<Result<net::Response>> ViewApi::log(apiserver::RequestInfo info) {
  const Sources sources = *sources_;
  const bool legacy = info.query.get("group") == model::group_of(model::WrapperApi::mcad_v1beta1);
  const auto api = legacy ? model::WrapperApi::mcad_v1beta1 : model::WrapperApi::workload_v1beta1;
  kube::LogOptions options{.container = std::string(info.query.get("container").value_or("")),
                           .follow = info.query.flag("follow"),
                           .previous = info.query.flag("previous"),
                           .timestamps = info.query.flag("timestamps")};
  CO_TRY_ASSIGN(options.tail_lines, number_in(info.query, "tailLines"));
  CO_TRY_ASSIGN(options.since_seconds, number_in(info.query, "sinceSeconds"));
  CO_TRY_ASSIGN(options.limit_bytes, number_in(info.query, "limitBytes"));
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await sources.client.get(app_wrapper_type(api), {info.ns, info.name}));
  CO_TRY_ASSIGN(model::AppWrapper wrapper, to_app_wrapper(*object));
  CO_TRY_ASSIGN(const WorkPods work,
                co_await find_work_pods(sources.client, sources.workers, std::move(wrapper)));
  const std::string pod(info.query.get("pod").value_or(""));
  // Only pods of the AppWrapper: the caller's right is to its logs.
  kube::ListOptions which{
      .ns = info.ns,
      .label_selector = work.selector,
      .field_selector = pod.empty() ? "" : "metadata.name=" + model::escape_field_value(pod)};
  CO_TRY_ASSIGN(const kube::ObjectList pods,
                co_await work.client->list_all(kPods, std::move(which)));
  if (pod.empty()) {
    co_return json_answer(pruned_list(pods));
  }
  if (pods.items.empty()) {
    co_return fail(not_found("pod " + pod + " of AppWrapper " + info.ns + "/" + info.name +
                             (work.cluster.empty() ? "" : " on cluster " + work.cluster) +
                             " not found"));
  }
  CO_TRY_ASSIGN(net::Body body, co_await work.client->logs({info.ns, pod}, std::move(options)));
  net::Response response{.headers = {{"Content-Type", "text/plain"}}};
  if (body != nullptr) {
    response.body = std::make_unique<HeldBody>(std::move(body), work.held);
  }
  co_return response;
}

}  // namespace codeflare::controllers::view
