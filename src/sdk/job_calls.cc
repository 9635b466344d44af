// The calls about jobs, for skins in other languages.
#include "json/write.h"
#include "sdk/dashboard_tunnel.h"
#include "sdk/ddp_gang.h"
#include "sdk/ddp_job.h"
#include "sdk/gang_jobs.h"
#include "sdk/head_tunnel.h"
#include "sdk/internal/job_call.h"
#include "sdk/internal/log_pieces.h"
#include "sdk/own_cluster_submit.h"
#include "sdk/ray_token.h"

#include <array>
#include <utility>

namespace codeflare::sdk::internal {

namespace {

using json::Value;

// As Ray's own clients make them: without letters that look alike.
std::string ray_name(Random& random) {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ123456789";
  std::string name = "raysubmit_";
  for (int i = 0; i < 16; ++i) {
    name += kLetters[random.below(kLetters.size())];
  }
  return name;
}

Result<JobSpec> spec_of(const Call& call) {
  JobSpec spec{.name = call.text("name"),
               .command = call.text("command"),
               .working_dir = call.text("working_dir"),
               .env = call.texts("env"),
               .num_cpus = call.number("num_cpus"),
               .num_gpus = call.number("num_gpus"),
               .metadata = call.texts("metadata")};
  if (spec.name.empty()) {
    spec.name = ray_name(call.context.env.random);
  }
  if (const Value* given = call.arguments.root.find("runtime_env"); given != nullptr) {
    spec.runtime_env = json::to_text(*given);
  }
  if (const std::optional<double> bytes = call.number("memory"); bytes) {
    if (*bytes < 0 || *bytes > 1e18) {
      return fail(invalid_argument("entrypoint_memory: is not a number of bytes; give 0 or more"));
    }
    spec.memory_bytes = static_cast<std::uint64_t>(*bytes);
  }
  if (const Value* resources = call.arguments.root.find("resources"); resources != nullptr) {
    for (const json::Member& member : resources->members()) {
      const std::optional<double> amount =
          member.value.is_number() ? member.value.to_double() : std::nullopt;
      if (!amount || *amount < 0) {
        return fail(invalid_argument("entrypoint_resources: " + std::string(member.key) +
                                     " is not an amount; give a number from 0"));
      }
      spec.resources[std::string(member.key)] = *amount;
    }
  }
  return spec;
}

Task<Answer> job_submit(Call& call) {
  CO_TRY_ASSIGN(JobSpec spec, spec_of(call));
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_jobs(call));
  std::string name = spec.name;
  CO_TRY_ASSIGN(const std::vector<std::string> notes,
                co_await on->jobs->submit(on->target, std::move(spec)));
  co_return submitted(name, notes);
}

// With a Ray cluster of its own, which `config` describes; its name is the job's.
Task<Answer> job_submit_own(Call& call) {
  OwnClusterJob own;
  CO_TRY_ASSIGN(own.job, spec_of(call));
  CO_TRY_ASSIGN(own.cluster, config_argument(call));
  if (const std::optional<double> seconds = call.number("ttl"); seconds) {
    own.ttl_seconds = static_cast<std::int64_t>(*seconds);
  }
  CO_TRY_ASSIGN(Server server, co_await open(call));
  const std::string name = own.job.name;
  std::string ns = server.ns;
  CO_TRY_ASSIGN(
      const std::vector<std::string> notes,
      co_await submit_own_cluster(call.context.env, *server.client, *server.discovery,
                                  std::move(own), std::move(ns), call.text("base_directory")));
  co_return submitted(name, notes);
}

Task<Answer> job_get(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  CO_TRY_ASSIGN(const JobInfo job, co_await on->handle->get());
  co_return written([&](json::Arena& arena) { return described(arena, job); });
}

std::string listed(const std::vector<JobInfo>& jobs, const std::vector<std::string>& notes) {
  return written([&](json::Arena& arena) {
    Value rows = Value::array();
    for (const JobInfo& job : jobs) {
      rows.push_back(arena, described(arena, job));
    }
    Value lines = Value::array();
    for (const std::string& note : notes) {
      lines.push_back(arena, Value::string(arena, note));
    }
    Value answer = Value::object();
    answer.set_static(arena, "jobs", rows);
    answer.set_static(arena, "notes", lines);
    return answer;
  });
}

Task<Answer> job_list(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_jobs(call));
  CO_TRY_ASSIGN(const std::vector<JobInfo> jobs, co_await on->jobs->list(on->target));
  co_return listed(jobs, {});
}

Task<Answer> job_list_all(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  Jobs jobs(call.context.env, server.connection->service(), *server.client, *server.discovery, {});
  std::string ns = call.flag("all_namespaces") ? "" : server.ns;
  CO_TRY_ASSIGN(const std::vector<JobInfo> gangs, co_await list_gang_jobs(*server.client, ns));
  CO_TRY_ASSIGN(JobList all, co_await jobs.list_all(std::move(ns)));
  all.jobs.insert(all.jobs.end(), gangs.begin(), gangs.end());
  co_return listed(all.jobs, all.notes);
}

// `replica` and `tail`.
LogChoice choice_of(const Call& call) {
  const auto whole = [&](std::string_view key) {
    const std::optional<double> number = call.number(key);
    return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
  };
  return {.replica = whole("replica"), .tail = whole("tail")};
}

Task<Answer> job_logs(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  CO_TRY_ASSIGN(const std::string log, co_await on->handle->logs(choice_of(call)));
  co_return written([&](json::Arena& arena) { return Value::string(arena, log); });
}

Task<Result<void>> add_piece(LogPieces* pieces, std::string text) {
  pieces->add(text);
  co_return Result<void>();
}

Task<Answer> job_follow(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  LogPieces pieces([&](std::string_view text) {
    if (call.context.observer) {
      call.context.observer(
          written([&](json::Arena& arena) { return Value::string(arena, text); }));
    }
  });
  JobFollow options{.choice = choice_of(call),
                    .sink = [&](std::string text) { return add_piece(&pieces, std::move(text)); }};
  if (call.context.observer && call.flag("states")) {
    options.observer = [&](const JobInfo& job) {
      call.context.observer(written([&](json::Arena& arena) { return described(arena, job); }));
    };
  }
  CO_TRY_ASSIGN(const JobEnd end, co_await on->handle->follow(std::move(options)));
  pieces.finish();
  co_return written([&](json::Arena& arena) {
    Value answer = described(arena, end.job);
    answer.set_static(arena, "logError",
                      Value::string(arena, end.log_error ? end.log_error->message : ""));
    return answer;
  });
}

Task<Answer> job_stop(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  CO_TRY_ASSIGN(const JobStop stop, co_await on->handle->stop(call.flag("wait")));
  co_return written([&](json::Arena& arena) {
    Value answer = described(arena, stop.job);
    answer.set_static(arena, "wasRunning", Value::boolean(stop.was_running));
    return answer;
  });
}

Task<Answer> job_delete(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  CO_TRY(co_await on->handle->remove());
  co_return "null";
}

Task<Answer> job_wait(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_one(call));
  JobWait options{.goal = call.text("goal") == "running" ? JobGoal::running : JobGoal::finished,
                  .timeout = call.seconds("timeout")};
  if (call.context.observer) {
    options.observer = [&](const JobInfo& job) {
      call.context.observer(written([&](json::Arena& arena) { return described(arena, job); }));
    };
  }
  CO_TRY_ASSIGN(const JobInfo job, co_await on->handle->wait(std::move(options)));
  co_return written([&](json::Arena& arena) { return described(arena, job); });
}

// The URL of the jobs API, for other clients: they need the same credentials.
Task<Answer> job_address(Call& call) {
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_jobs(call));
  const model::ObjectKey& cluster = on->target.cluster;
  std::string url = on->target.address;
  if (url.empty()) {
    url = on->server.connection->config().server;
    while (url.ends_with('/')) {
      url.pop_back();
    }
    url += "/api/v1/namespaces/" + cluster.ns + "/services/" + cluster.name +
           "-head-svc:dashboard/proxy";
  }
  co_return written([&](json::Arena& arena) { return Value::string(arena, url); });
}

// Ray's dashboard on loopback until the caller stops the call; the observer hears the URL.
Task<Answer> dashboard_serve(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("cluster")};
  CO_TRY(co_await server.clusters().get(key));
  CO_TRY_ASSIGN(Secret token, co_await ray_token(*server.client, key));
  TunnelOptions options{
      .port = 0, .token = std::move(token), .opened = [&](const std::string& url) {
        if (call.context.observer) {
          call.context.observer(
              written([&](json::Arena& arena) { return Value::string(arena, url); }));
        }
      }};
  CO_TRY(co_await serve_dashboard(call.context.env, server.connection->service(), std::move(key),
                                  std::move(options)));
  co_return "null";
}

// The port of Ray clients on loopback until the caller stops the call; the observer hears the URL.
Task<Answer> client_serve(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("cluster")};
  CO_TRY(co_await server.clusters().get(key));
  HeadTunnelOptions options{.opened = [&](std::uint16_t port) {
    if (call.context.observer) {
      const std::string url = "ray://127.0.0.1:" + std::to_string(port);
      call.context.observer(written([&](json::Arena& arena) { return Value::string(arena, url); }));
    }
  }};
  CO_TRY(co_await serve_head_port(call.context.env, server.connection->service(), *server.client,
                                  std::move(key), std::move(options)));
  co_return "null";
}

// --- DDP ------------------------------------------------------------------------------------

Result<DdpDefinition> definition_of(const Call& call) {
  const Value* given = call.arguments.root.find("definition");
  return read_ddp(given == nullptr ? Value::object() : *given);
}

Task<Answer> ddp_check(Call& call) {
  CO_TRY(definition_of(call));
  co_return "null";
}

// In pods of its own.
Task<Answer> ddp_submit_gang(Call& call, DdpDefinition definition) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  DdpPlace place{.ns = server.ns, .base_directory = call.text("base_directory")};
  const std::string name = definition.name;
  CO_TRY(co_await submit_ddp_gang(*server.client, std::move(definition), std::move(place)));
  co_return submitted(name, {});
}

// On the Ray cluster that is named, else in pods of its own. The name gets five letters, so that a
// definition can be submitted often.
Task<Answer> ddp_submit(Call& call) {
  CO_TRY_ASSIGN(DdpDefinition definition, definition_of(call));
  if (call.text("cluster").empty() && call.text("address").empty()) {
    definition.name = ddp_name(definition) + "-" + call.context.env.random.name_suffix();
    co_return co_await ddp_submit_gang(call, std::move(definition));
  }
  CO_TRY_ASSIGN(const std::unique_ptr<JobCall> on, co_await open_jobs(call));
  CO_TRY_ASSIGN(const ClusterInfo cluster, co_await on->server.clusters().get(on->target.cluster));
  definition.name = ddp_name(definition) + "-" + call.context.env.random.name_suffix();
  CO_TRY_ASSIGN(JobSpec spec, ddp_on_ray(definition, cluster));
  std::string name = spec.name;
  CO_TRY_ASSIGN(std::vector<std::string> notes,
                co_await on->jobs->submit(on->target, std::move(spec)));
  co_return submitted(name, notes);
}

constexpr std::array kJobCalls = {
    CallEntry{"client.serve", client_serve}, CallEntry{"dashboard.serve", dashboard_serve},
    CallEntry{"ddp.check", ddp_check},       CallEntry{"ddp.submit", ddp_submit},
    CallEntry{"job.address", job_address},   CallEntry{"job.delete", job_delete},
    CallEntry{"job.follow", job_follow},     CallEntry{"job.get", job_get},
    CallEntry{"job.list", job_list},         CallEntry{"job.list_all", job_list_all},
    CallEntry{"job.logs", job_logs},         CallEntry{"job.stop", job_stop},
    CallEntry{"job.submit", job_submit},     CallEntry{"job.submit_own", job_submit_own},
    CallEntry{"job.wait", job_wait},
};

}  // namespace

std::span<const CallEntry> job_calls() {
  return kJobCalls;
}

}  // namespace codeflare::sdk::internal
