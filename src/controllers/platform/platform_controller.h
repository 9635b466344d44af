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

// A Secret that an object names in its own namespace.
struct NamedSecret {
  std::string field;  // "spec.s3.secret"
  std::string name;
};

// An object whose condition Ready says what is wrong with it before any Run uses it.
struct Checked {
  model::ObjectMeta metadata;
  model::ReadyStatus status;
  std::vector<platform::Problem> problems;
  std::string ready_reason;
  std::vector<NamedSecret> secrets{};
};

// Ready: True, or False with the problems as its message; nothing changes when it says so already.
model::ReadyStatus ready_status(const Checked& checked, WallTime now);

// Observes, asks for the Secrets that the object names, and writes Ready. Secrets are read one by
// one and never cached; those that are missing are looked for again.
class ReadyReconciler : public runtime::Reconciler {
 public:
  ReadyReconciler(const runtime::ControllerContext& context, runtime::ResourceType type);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) final;

 protected:
  // Nothing: the object is gone.
  virtual std::optional<Checked> observe(const runtime::ObjectKey& key) const = 0;

 private:
  Task<Result<std::vector<platform::Problem>>> missing_secrets(std::string ns,
                                                               std::vector<NamedSecret> secrets);

  Env env_;
  kube::Client& client_;
  runtime::Actor& actor_;
  runtime::ResourceType type_;
};

class ApplicationReconciler final : public ReadyReconciler {
 public:
  explicit ApplicationReconciler(const runtime::ControllerContext& context);

 protected:
  std::optional<Checked> observe(const runtime::ObjectKey& key) const override;

 private:
  const runtime::Store& applications_;
  const runtime::Store& data_sets_;
  const runtime::Store& sizes_;
};

class DataSetReconciler final : public ReadyReconciler {
 public:
  explicit DataSetReconciler(const runtime::ControllerContext& context);

 protected:
  std::optional<Checked> observe(const runtime::ObjectKey& key) const override;

 private:
  const runtime::Store& data_sets_;
};

void add_platform_controllers(runtime::Manager& manager);

}  // namespace codeflare::controllers::platform_kinds
