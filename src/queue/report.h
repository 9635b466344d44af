#pragma once

#include "base/result.h"
#include "json/value.h"
#include "queue/queue.h"
#include "sched/explanation.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Explanations for people: the same words in the status, in events and in `codeflare explain`.
namespace codeflare::queue {

// "cpu: 12 asked, 3.5 free of 16 on 2 allowed nodes (the most on one: 2)".
struct ReportLine {
  std::string resource;
  // As quantities: of the whole gang, on all allowed nodes, of those nodes; of its largest pod, the
  // most that one allowed node has free, and could ever have.
  std::string requested, free, capacity, pod, best_node, largest_node;
  bool short_in_sum = false;
};

// One domain of an AppWrapper that has to stay within one: a zone, a cluster.
struct ReportDomain {
  std::string name;
  std::int64_t nodes = 0;
  std::int64_t pods = 0;     // of the AppWrapper
  std::int64_t fitting = 0;  // of these, that would fit there now
  std::string text;          // what is short there, with numbers
  std::string held_by{};     // "team-a/eval until 2026-01-02T03:04:05Z and 2 more"; empty: nobody
};

struct Report {
  WorkId id;
  Standing standing;
  std::string sentence;
  std::int64_t position = 0;
  // Where it has to stay within one value of a label: the label, and its values, the nearest first.
  std::string within;
  std::vector<ReportDomain> domains;
  std::vector<ReportLine> shortages;     // within the nearest domain, if there are domains
  std::vector<std::string> constraints;  // "taint dedicated=ml:NoSchedule excludes 1 of 2 nodes: n"
  std::vector<std::string> holders;      // who holds what it needs, largest first
  std::string outside;                   // what pods outside the queue hold of it; empty: nothing
  std::vector<std::string> advice;       // what would start it now
  std::optional<Time> estimated_start;
  std::string estimated_in{};  // the first of `domains` that will have room
  std::string estimate_note;   // how sure that is, or why there is none
  // Not even if all work ends, all nodes are uncordoned and all taints gone.
  bool never_fits = false;
};

Result<Report> explain(Queue& queue, std::string_view uid, Time now);
json::Value to_json(json::Arena& arena, const Report& report);
// Reads the output of to_json(). Fails on other documents.
Result<Report> report_from_json(const json::Value& root);

// One sentence with the numbers, for the Queued condition.
std::string sentence(const sched::Explanation& explanation);
// "needs 16 CPUs, 12 of 32 free on 4 eligible nodes (4 short)", or that it has room.
std::string domain_sentence(const sched::DomainReport& domain);
// Of a gang of one, for the PodScheduled condition.
std::string pod_sentence(const sched::Explanation& explanation);

}  // namespace codeflare::queue
