#pragma once

#include "apiserver/registry/resource.h"
#include "apiserver/request/user.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

enum class Operation : std::uint8_t { create, update, remove };

// A write on its way, between decoding and the store. Objects come in the storage version.
struct AdmissionRequest {
  const User& user;
  const Resource& resource;
  Operation operation = Operation::create;
  std::string_view subresource{};
  std::string_view ns{};
  std::string_view name{};           // empty while generateName is pending
  json::Value* object = nullptr;     // null for remove
  const json::Value* old = nullptr;  // null for create
  bool dry_run = false;              // nothing may be reserved
  WriteContext& context;
  // Set by mutate() when it added something that defaults may have to complete.
  bool defaults_wanted = false;
  // Called once when the write has ended, with whether it was committed: undoes reservations.
  std::vector<std::function<void(bool committed)>> on_finish{};
};

// A rule that looks at more than the object itself. mutate() runs before validation, validate()
// after it and as the last thing before the store, in one turn of the loop: neither may wait.
class Admission {
 public:
  virtual ~Admission() = default;
  virtual Result<void> mutate(AdmissionRequest&) { return {}; }
  virtual Result<void> validate(AdmissionRequest&) { return {}; }
};

}  // namespace codeflare::apiserver
