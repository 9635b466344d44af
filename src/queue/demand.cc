#include "queue/demand.h"

#include "model/validation.h"
#include "queue/internal/demand_reader.h"
#include "queue/kinds/problems.h"

#include <string_view>

namespace codeflare::queue {
namespace {

void check_not_negative(Problems& problems, std::string_view field, std::int64_t value) {
  if (value < 0) {
    problems.add(field, "must not be negative, got " + std::to_string(value));
  }
}

void check_requeuing(const model::Requeuing& requeuing, Problems& problems) {
  const std::string path = "spec.schedulingSpec.requeuing.";
  check_not_negative(problems, path + "timeInSeconds", requeuing.time_in_seconds.value_or(0));
  check_not_negative(problems, path + "maxTimeInSeconds", requeuing.max_time_in_seconds);
  check_not_negative(problems, path + "maxNumRequeuings", requeuing.max_num_requeuings);
  check_not_negative(problems, path + "forceDeletionTimeInSeconds",
                     requeuing.force_deletion_time_in_seconds);
  const std::string& growth = requeuing.growth_type;
  if (!growth.empty() && growth != "exponential" && growth != "linear" && growth != "none") {
    problems.add(path + "growthType", "must be exponential, linear or none");
  }
}

void check_scheduling(const model::AppWrapperSpec& spec, Problems& problems) {
  check_not_negative(problems, "spec.ttlSecondsAfterFinished",
                     spec.ttl_seconds_after_finished.value_or(0));
  if (!spec.scheduling_spec) {
    return;
  }
  const std::string path = "spec.schedulingSpec.";
  check_not_negative(problems, path + "minAvailable", spec.scheduling_spec->min_available);
  if (spec.scheduling_spec->requeuing) {
    check_requeuing(*spec.scheduling_spec->requeuing, problems);
  }
  if (const auto& duration = spec.scheduling_spec->dispatch_duration) {
    check_not_negative(problems, path + "dispatchDuration.limit", duration->limit);
    check_not_negative(problems, path + "dispatchDuration.expected", duration->expected);
  }
  for (const auto& [key, value] : spec.scheduling_spec->node_selector) {
    const std::string field = path + "nodeSelector[" + key + "]";
    if (const auto complaints = model::check_qualified_name(key); !complaints.empty()) {
      problems.add(field, model::join(complaints));
    }
    if (const auto complaints = model::check_label_value(value); !complaints.empty()) {
      problems.add(field, model::join(complaints));
    }
  }
}

}  // namespace

Result<Demand> demand_of(const model::AppWrapper& wrapper) {
  Problems problems;
  Demand demand = read_demand(wrapper, problems);
  if (!problems.empty()) {
    return fail(invalid_argument(problems.summary()));
  }
  return demand;
}

std::string unheeded_text(const Demand& demand) {
  if (demand.unheeded.empty()) {
    return {};
  }
  const std::size_t more = demand.unheeded.size() - 1;
  return demand.unheeded.front() + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
         (more > 0 ? " are" : " is") +
         " ignored for placement; pods may be rejected by their node, or placed against the rule";
}

std::vector<std::string> problems_of(const model::AppWrapper& wrapper) {
  Problems problems;
  static_cast<void>(read_demand(wrapper, problems));
  check_scheduling(wrapper.spec, problems);
  return problems.found();
}

}  // namespace codeflare::queue
