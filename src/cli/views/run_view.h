#pragma once

#include "base/time.h"
#include "model/application.h"
#include "model/data_set.h"
#include "model/run.h"
#include "platform/sizes.h"

#include <string>
#include <vector>

// Runs, and what they are made from, as text; pure.
namespace codeflare::cli {

std::string render_runs(const std::vector<model::Run>& runs, bool all_namespaces, WallTime now);
std::string render_applications(const std::vector<model::Application>& applications,
                                bool all_namespaces, WallTime now);
std::string render_data_sets(const std::vector<model::DataSet>& data_sets, bool all_namespaces,
                             WallTime now);
std::string render_sizes(const platform::SizeTable& sizes);

std::string render_run_status(const model::Run& run, WallTime now);
// The status and every value with its origin.
std::string render_run_details(const model::Run& run, WallTime now);
std::string render_effective(const std::vector<model::EffectiveValue>& values);

}  // namespace codeflare::cli
