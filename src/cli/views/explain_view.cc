#include "cli/views/explain_view.h"

#include "base/check.h"
#include "base/human_duration.h"
#include "cli/views/kinds.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "model/managed_cluster.h"
#include "model/quantity.h"
#include "model/resource_text.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

using Kind = queue::Standing::Kind;
using queue::Reason;

// The controller knows since when somebody reserves and whom it evicts; a queue made of the objects
// alone begins anew with both.
bool status_knows_better(const Explained& explained, const WrapperView& view) {
  return view.waits && !explained.live &&
         (view.reason == queue::word(Reason::reserved) ||
          view.reason == queue::word(Reason::preempting));
}

bool fits_now(const Explained& explained, const WrapperView& view) {
  return explained.report && explained.report->standing.kind == Kind::started &&
         !status_knows_better(explained, view);
}

// The place of the switch, and the command that resumes.
std::string paused_text(const Explained& explained) {
  const bool usual =
      explained.controller_ns.empty() || explained.controller_ns == queue::kControllerNamespace;
  const std::string ns = usual ? std::string(queue::kControllerNamespace) : explained.controller_ns;
  return "the queue is paused (ConfigMap " + ns + "/" + std::string(queue::kQueueConfigMap) +
         "); run 'codeflare queue resume" + (usual ? "" : " --controller-namespace " + ns) +
         "' to start work";
}

std::int64_t position_of(const Explained& explained) {
  return explained.report && explained.report->position > 0 ? explained.report->position
                                                            : explained.position;
}

std::string headline(const Explained& explained, const WrapperView& view, WallTime now) {
  std::string text = "appwrapper " + view.full_name();
  if (!view.waits) {
    text += " is " + view.state;
    return view.nodes.empty() ? text + "\n" : text + " on " + nodes_in_words(view.nodes) + "\n";
  }
  text += view.held ? " is held" : " is waiting";
  if (view.submitted != WallTime()) {
    text += ", submitted " + human_duration(now - view.submitted) + " ago";
  }
  if (const std::int64_t position = position_of(explained); position > 0 && !view.held) {
    text += ", position " + std::to_string(position) + " in the queue";
  }
  return text + "\n";
}

// "InsufficientQuota: quota node gold of tree team has no room..."
std::string with_reason(std::string reason, const std::string& message) {
  if (reason.ends_with('.')) {
    reason.pop_back();  // MCAD's
  }
  return reason + (reason.empty() || message.empty() ? "" : ": ") + message;
}

// The sentence: of the report when there is one, else of the status.
std::string sentence(const Explained& explained, const WrapperView& view) {
  if (view.held) {
    return view.message;
  }
  if (!view.waits) {
    return with_reason(view.reason, view.message);
  }
  if (fits_now(explained, view)) {
    return explained.paused ? "Paused: fits now, starts when the queue is resumed"
                            : "fits now; the controller starts it next";
  }
  const bool reported = explained.report && !explained.report->sentence.empty() &&
                        explained.report->standing.kind == Kind::waiting &&
                        !status_knows_better(explained, view);
  const std::string reason =
      reported ? std::string(queue::word(explained.report->standing.reason)) : view.reason;
  const std::string& message = reported ? explained.report->sentence : view.message;
  if (reason.empty() && message.empty()) {
    return "no reason in the status yet; check that the controller is running";
  }
  return with_reason(reason, message);
}

void append_list(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return;
  }
  out += "\n" + std::string(title) + ":\n";
  for (const std::string& line : lines) {
    out += "  " + one_line(line) + "\n";
  }
}

std::string short_of(const queue::ReportLine& line, const std::string& needed,
                     const std::string& free) {
  const Result<model::Quantity> wanted = model::Quantity::parse(needed);
  const Result<model::Quantity> found = model::Quantity::parse(free);
  return wanted && found && *wanted > *found ? model::human_amount(line.resource, *wanted - *found)
                                             : "";
}

// Of the sum, or of one pod on the best of the nodes that it may use.
std::string short_text(const queue::ReportLine& line) {
  if (line.short_in_sum) {
    return short_of(line, line.requested, line.free);
  }
  const std::string text = short_of(line, line.pod, line.best_node);
  return text.empty() ? "-" : text + " for one pod";
}

void append_shortages(std::string& out, const queue::Report& report) {
  if (report.shortages.empty()) {
    return;
  }
  Table table({"  RESOURCE", "NEEDED", "FREE", "CAPACITY", "ONE POD", "BEST NODE", "LARGEST NODE",
               "SHORT"});
  for (const queue::ReportLine& line : report.shortages) {
    const auto human = [&](const std::string& text) {
      const Result<model::Quantity> amount = model::Quantity::parse(text);
      return amount ? model::human_amount(line.resource, *amount) : text;
    };
    table.add_row({"  " + line.resource, human(line.requested), human(line.free),
                   human(line.capacity), human(line.pod), human(line.best_node),
                   human(line.largest_node), short_text(line)});
  }
  const std::string where =
      report.domains.empty() ? "" : " of " + report.within + "=" + report.domains.front().name;
  out += "\nResources on eligible nodes" + where + ":\n" + table.to_text();
}

// One line for each zone or cluster that could hold all of it.
void append_domains(std::string& out, const queue::Report& report) {
  if (report.domains.empty()) {
    return;
  }
  const bool held = std::ranges::any_of(
      report.domains, [](const queue::ReportDomain& each) { return !each.held_by.empty(); });
  std::vector<std::string> header{"  " + report.within, "NODES", "PODS FIT", "MESSAGE"};
  if (held) {
    header.insert(header.end() - 1, "HELD BY");
  }
  Table table(header);
  for (const queue::ReportDomain& domain : report.domains) {
    std::vector<std::string> row{
        "  " + domain.name, std::to_string(domain.nodes),
        std::to_string(domain.fitting) + " of " + std::to_string(domain.pods),
        one_line(domain.text)};
    if (held) {
      row.insert(row.end() - 1, domain.held_by.empty() ? "-" : domain.held_by);
    }
    table.add_row(std::move(row));
  }
  out += "\nAll pods must fit within one of these, nearest first:\n" + table.to_text();
}

std::string_view advice_title(const Explained& explained, const queue::Report& report) {
  if (explained.paused) {
    return "To start it after the queue is resumed";
  }
  return report.never_fits ? "To start it" : "To start it now";
}

void append_estimate(std::string& out, const Explained& explained, const WrapperView& view,
                     WallTime now) {
  const queue::Report& report = *explained.report;
  if (!report.estimated_start && report.estimate_note.empty()) {
    return;
  }
  out += "\nEstimated start: ";
  if (explained.paused) {
    out += "unknown: the queue is paused";
  } else if (view.reason == queue::word(Reason::preempting)) {
    out += "unknown: starts when evicted work has ended";
  } else if (report.estimated_start) {
    out += *report.estimated_start <= now ? std::string("now")
                                          : "in " + human_duration(*report.estimated_start - now) +
                                                ", at " + to_rfc3339(*report.estimated_start);
    if (!report.estimated_in.empty()) {
      out += report.within == model::managed_cluster::kClusterLabel
                 ? " on cluster " + report.estimated_in
                 : " within " + report.within + "=" + report.estimated_in;
    }
    out += report.estimate_note.empty() ? "" : " (" + report.estimate_note + ")";
  } else {
    out += "unknown: " + report.estimate_note;
  }
  out += "\n";
}

// Why it was stopped after it had run.
void append_stop(std::string& out, const GroupedWrapper& wrapper, WallTime now) {
  if (const std::string stop = stop_text(wrapper, now); !stop.empty()) {
    out += "\nStopped before: " + stop + "\n";
  }
}

// The commands that help once it is over.
std::vector<std::string> next_steps(const Explained& explained) {
  const GroupedWrapper& wrapper = explained.wrapper;
  if (!model::is_terminal(wrapper.status) || !explained.work) {
    return {};
  }
  const std::string object = app_wrapper_kind(wrapper.api).word() + " " + wrapper.metadata.name +
                             " -n " + wrapper.metadata.ns;
  std::vector<std::string> steps;
  if (!explained.work->pods.empty()) {
    steps.push_back("codeflare logs " + object);
  } else if (wrapper.status.controller_first_dispatch_timestamp) {
    steps.emplace_back("its pods are deleted, and their logs with them");
  }
  if (wrapper.status.state != model::app_wrapper_state::kCompleted) {
    steps.push_back("codeflare delete " + object +
                    ", then correct the cause and create the AppWrapper again");
  }
  return steps;
}

void string_list(json::Writer& w, std::string_view name, const std::vector<std::string>& all) {
  w.key(name).begin_array();
  for (const std::string& each : all) {
    w.string(each);
  }
  w.end_array();
}

}  // namespace

std::string render_explanation(const Explained& explained, WallTime now) {
  const WrapperView view = view_of(explained.wrapper);
  std::string out = headline(explained, view, now);
  if (const std::string text = sentence(explained, view); !text.empty()) {
    out += "  " + one_line(text) + "\n";
  }
  if (explained.paused && view.waits) {
    out += "  " + paused_text(explained) + "\n";
  }
  const bool waits = view.waits && !view.held;
  if (waits && explained.report && explained.report->standing.kind == Kind::waiting) {
    const queue::Report& report = *explained.report;
    append_domains(out, report);
    append_shortages(out, report);
    append_list(out, "Excluded nodes", report.constraints);
    std::vector<std::string> holders = report.holders;
    if (!explained.outside.empty()) {
      holders.push_back(explained.outside);
    }
    // Work that fits on no empty cluster is not waiting for them.
    if (!report.never_fits || !explained.outside.empty()) {
      append_list(out, "Resources in use by", holders);
    }
    if (report.never_fits) {
      out += explained.outside.empty()
                 ? "\nDoes not fit even on an empty cluster.\n"
                 : "\nDoes not fit even if all running work of the queue ends.\n";
    }
    std::vector<std::string> advice = report.advice;
    if (report.never_fits && !explained.outside.empty()) {
      advice.emplace_back("or end pods outside the queue");
    }
    append_list(out, advice_title(explained, report), advice);
    if (!report.never_fits) {
      append_estimate(out, explained, view, now);
    }
  }
  if (view.waits && !view.held) {
    append_stop(out, explained.wrapper, now);
  } else if (explained.work) {
    out += render_work(explained.wrapper, *explained.work, std::string(out), now);
  }
  append_list(out, "Next", next_steps(explained));
  append_list(out, "Waiting for these to go", explained.leaving);
  if (!view.held) {
    append_list(out, "Not checked", explained.missing);
  }
  return out;
}

std::string render_past(const std::string& name, const std::vector<PastEvent>& events,
                        WallTime now) {
  constexpr std::size_t kEventsShown = 10;
  Table table({"  AGE", "REASON", "MESSAGE"});
  const std::size_t first = events.size() - std::min(events.size(), kEventsShown);
  for (std::size_t i = first; i < events.size(); ++i) {
    table.add_row(
        {"  " + age_text(events[i].time, now), events[i].reason, one_line(events[i].message)});
  }
  return "appwrapper " + name + " does not exist any more; its last Events:\n" + table.to_text();
}

std::string explanation_json(const Explained& explained, WallTime now) {
  const WrapperView view = view_of(explained.wrapper);
  std::string compact;
  json::Writer w(compact);
  w.begin_object().member("namespace", view.ns).member("name", view.name);
  w.member("group", view.group());
  w.member("state", view.state).key("waits").boolean(view.waits);
  w.key("paused").boolean(explained.paused);
  if (const std::int64_t position = position_of(explained); position > 0) {
    w.key("position").integer(position);
  }
  if (view.submitted != WallTime()) {
    w.member("submitted", to_rfc3339(view.submitted));
    w.key("waitSeconds").integer(view.waits ? (now - view.submitted) / std::chrono::seconds(1) : 0);
  }
  const bool told = explained.report && view.waits && !view.held;
  const bool reported = told && !status_knows_better(explained, view);
  const bool stopped = reported && explained.paused && fits_now(explained, view);
  w.member_if_set("reason", stopped    ? queue::word(Reason::paused)
                            : reported ? queue::word(explained.report->standing.reason)
                                       : std::string_view(view.reason));
  w.member_if_set("message", stopped    ? paused_text(explained)
                             : reported ? explained.report->sentence
                                        : view.message);
  if (told) {
    json::Arena arena;
    w.key("fitsNow").boolean(fits_now(explained, view));
    w.member_if_set("outside", explained.outside);
    w.key("report").value(queue::to_json(arena, *explained.report));
  }
  if (explained.work) {
    write_work(w, explained.wrapper, *explained.work, now);
  }
  if (!explained.leaving.empty()) {
    string_list(w, "leaving", explained.leaving);
  }
  string_list(w, "missing", explained.missing);
  w.end_object();
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root, 4) + "\n";
}

}  // namespace codeflare::cli
