#include "bench/queue_program/scenario.h"

#include "json/yaml.h"

#include <chrono>
#include <optional>
#include <span>
#include <utility>

namespace codeflare::bench {

namespace {

Result<std::int64_t> integer(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const std::optional<std::int64_t> number = value == nullptr ? std::nullopt : value->to_int64();
  if (!number || *number < 0) {
    return fail(invalid_argument(std::string(key) + ": expected a number that is not negative"));
  }
  return *number;
}

Result<Duration> milliseconds(const json::Value& object, std::string_view key) {
  TRY_ASSIGN(const std::int64_t number, integer(object, key));
  return Duration(std::chrono::milliseconds(number));
}

std::span<const json::Value> list(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? std::span<const json::Value>() : value->items();
}

Result<WorkClass> read_class(const json::Value& from) {
  WorkClass result{.name = std::string(from.string_or_empty("className"))};
  TRY_ASSIGN(result.runtime, milliseconds(from, "runtimeMs"));
  TRY_ASSIGN(result.priority, integer(from, "priority"));
  TRY_ASSIGN(result.cpu, integer(from, "request"));
  if (from.find("tasLevel") != nullptr) {
    return fail(unsupported("tasLevel: topologies are not part of this benchmark"));
  }
  return result;
}

Result<WorkSet> read_work(const json::Value& from) {
  WorkSet result;
  TRY_ASSIGN(result.count, integer(from, "count"));
  TRY_ASSIGN(result.interval, milliseconds(from, "creationIntervalMs"));
  for (const json::Value& each : list(from, "workloads")) {
    TRY_ASSIGN(WorkClass work_class, read_class(each));
    result.classes.push_back(std::move(work_class));
  }
  return result;
}

Result<QueueSet> read_queues(const json::Value& from) {
  QueueSet result{.name = std::string(from.string_or_empty("className"))};
  TRY_ASSIGN(result.count, integer(from, "count"));
  TRY_ASSIGN(result.nominal, integer(from, "nominalQuota"));
  TRY_ASSIGN(result.borrowing, integer(from, "borrowingLimit"));
  for (const json::Value& each : list(from, "workloadsSets")) {
    TRY_ASSIGN(WorkSet work, read_work(each));
    result.work.push_back(std::move(work));
  }
  return result;
}

Result<CohortSet> read_cohorts(const json::Value& from) {
  CohortSet result{.name = std::string(from.string_or_empty("className"))};
  TRY_ASSIGN(result.count, integer(from, "count"));
  std::int64_t cpus = 0;
  for (const json::Value& each : list(from, "queuesSets")) {
    TRY_ASSIGN(QueueSet queues, read_queues(each));
    cpus += queues.count * queues.nominal;
    result.queues.push_back(std::move(queues));
  }
  for (const QueueSet& queues : result.queues) {
    if (queues.nominal + queues.borrowing < cpus) {
      return fail(unsupported("borrowingLimit: a node of our trees borrows all or nothing"));
    }
  }
  return result;
}

template <typename F>
void each_work(const Scenario& scenario, F visit) {
  for (const QueueRef& queue : scenario.queues()) {
    for (const WorkSet& work : queue.set->work) {
      for (const WorkClass& each : work.classes) {
        visit(work.count, each);
      }
    }
  }
}

}  // namespace

std::vector<QueueRef> Scenario::queues() const {
  std::vector<QueueRef> result;
  for (const CohortSet& cohorts_of_kind : cohorts) {
    for (std::int64_t c = 0; c < cohorts_of_kind.count; ++c) {
      const std::string cohort = cohorts_of_kind.name + "-" + std::to_string(c);
      for (std::size_t s = 0; s < cohorts_of_kind.queues.size(); ++s) {
        const QueueSet& set = cohorts_of_kind.queues[s];
        for (std::int64_t q = 0; q < set.count; ++q) {
          result.push_back(
              {.cohort = cohort,
               .name = set.name + "-" + std::to_string(s) + "-" + std::to_string(q) + "-" + cohort,
               .set = &set});
        }
      }
    }
  }
  return result;
}

std::int64_t Scenario::workloads() const {
  std::int64_t sum = 0;
  each_work(*this, [&](std::int64_t count, const WorkClass&) { sum += count; });
  return sum;
}

std::int64_t Scenario::nominal() const {
  std::int64_t sum = 0;
  for (const QueueRef& queue : queues()) {
    sum += queue.set->nominal;
  }
  return sum;
}

double Scenario::work() const {
  double sum = 0;
  each_work(*this, [&](std::int64_t count, const WorkClass& each) {
    sum +=
        static_cast<double>(count * each.cpu) * std::chrono::duration<double>(each.runtime).count();
  });
  return sum;
}

const WorkClass* Scenario::find(std::string_view work_class) const {
  for (const CohortSet& cohort : cohorts) {
    for (const QueueSet& queues_of_kind : cohort.queues) {
      for (const WorkSet& work_set : queues_of_kind.work) {
        for (const WorkClass& each : work_set.classes) {
          if (each.name == work_class) {
            return &each;
          }
        }
      }
    }
  }
  return nullptr;
}

Result<Scenario> read_scenario(std::string_view yaml) {
  TRY_ASSIGN(const std::vector<json::Document> documents, json::parse_yaml(yaml));
  if (documents.size() != 1 || documents[0].root.find("topology") != nullptr) {
    return fail(unsupported("expected one document without a topology"));
  }
  Scenario scenario;
  for (const json::Value& each : list(documents[0].root, "cohorts")) {
    TRY_ASSIGN(CohortSet cohorts, read_cohorts(each));
    scenario.cohorts.push_back(std::move(cohorts));
  }
  if (scenario.workloads() == 0) {
    return fail(invalid_argument("there are no workloads in it"));
  }
  return scenario;
}

std::string_view class_of(std::string_view workload) {
  return workload.substr(0, workload.find('-'));
}

}  // namespace codeflare::bench
