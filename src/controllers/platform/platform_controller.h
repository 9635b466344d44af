#pragma once

#include "base/time.h"
#include "model/application.h"
#include "model/data_set.h"
#include "platform/problem.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::platform_kinds {

// An object whose condition Ready says what is wrong with it before any Run uses it.
struct Checked {
  model::ObjectMeta metadata;
  model::ReadyStatus status;
  std::vector<platform::Problem> problems;
  std::string ready_reason;
};

// Ready: True, or False with the problems as its message; nothing changes when it says so already.
model::ReadyStatus ready_status(const Checked& checked, WallTime now);

class ApplicationReconciler final : public runtime::StoryReconciler<Checked, model::ReadyStatus> {
 public:
  explicit ApplicationReconciler(const runtime::ControllerContext& context);

  std::optional<Checked> observe(const runtime::ObjectKey& key) const override;
  model::ReadyStatus desired(const Checked& observed, WallTime now) const override;
  runtime::Plan diff(const Checked& observed, const model::ReadyStatus& desired) const override;

 private:
  const runtime::Store& applications_;
  const runtime::Store& data_sets_;
  const runtime::Store& sizes_;
};

class DataSetReconciler final : public runtime::StoryReconciler<Checked, model::ReadyStatus> {
 public:
  explicit DataSetReconciler(const runtime::ControllerContext& context);

  std::optional<Checked> observe(const runtime::ObjectKey& key) const override;
  model::ReadyStatus desired(const Checked& observed, WallTime now) const override;
  runtime::Plan diff(const Checked& observed, const model::ReadyStatus& desired) const override;

 private:
  const runtime::Store& data_sets_;
};

void add_platform_controllers(runtime::Manager& manager);

}  // namespace codeflare::controllers::platform_kinds
