#include "cli/views/training_explain_view.h"

#include "base/human_duration.h"
#include "cli/views/fields.h"
#include "cli/views/training_view.h"
#include "queue/training_work.h"

namespace codeflare::cli {

namespace {

void add_list(std::string& out, const std::string& title, const std::vector<std::string>& lines) {
  if (!lines.empty()) {
    out += title + ":\n";
  }
  for (const std::string& line : lines) {
    out += "  " + one_line(line) + "\n";
  }
}

std::vector<std::string> grown_lines(const std::vector<GrownJob>& jobs) {
  std::vector<std::string> lines;
  for (const GrownJob& job : jobs) {
    lines.push_back(job.ns + "/" + job.name + ": " + std::to_string(job.size) + " pods, " +
                    std::to_string(job.size - job.min) + " above its minimum " +
                    std::to_string(job.min) + ", priority " + std::to_string(job.priority));
  }
  return lines;
}

void add_running(std::string& out, const ExplainedTraining& explained) {
  const std::int64_t now = explained.job.status.current_size;
  if (explained.planned != now) {
    add_field(out, "Next size", std::to_string(explained.planned) + ", now " + std::to_string(now));
  }
  add_field(out, "Growth", explained.growth);
  add_field(out, "Shrinks for", explained.shrinks_for);
}

void add_waiting(std::string& out, const queue::Report& report, WallTime now) {
  if (report.position > 0) {
    add_field(out, "Position", std::to_string(report.position));
  }
  add_field(out, "Waits", report.sentence);
  if (report.estimated_start) {
    add_field(out, "Start", "in about " + human_duration(*report.estimated_start - now));
  }
  if (report.never_fits) {
    add_field(out, "Never fits", "not even on an empty cluster");
  }
  add_list(out, "Resources in use by", report.holders);
  add_list(out, "To start it", report.advice);
}

}  // namespace

std::string render_training_explanation(const ExplainedTraining& explained, WallTime now) {
  std::string out = render_training_status(explained.job, now);
  if (!queue::is_finished(explained.job.status)) {
    if (explained.planned > 0) {
      add_running(out, explained);
    } else if (explained.report) {
      add_waiting(out, *explained.report, now);
    }
    add_list(out, "TrainingJobs above their minimum", grown_lines(explained.grown));
  }
  add_list(out, "Not read", explained.missing);
  return out;
}

}  // namespace codeflare::cli
