#pragma once

#include "apiserver/rest/internal/server.h"
#include "apiserver/rest/internal/write_options.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"

#include <functional>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// The outcome of a write.
struct Written {
  Bytes text{};  // the new state as it is stored
  bool created = false;
  bool removed = false;  // the update took away what still held a deleting object
};

// Runs the rules that look at more than the object. finish() must be called once for every
// validate(), whatever came of the write.
class AdmissionChain {
 public:
  AdmissionChain(Call& call, AdmissionRequest request);
  Result<void> mutate();
  Result<void> validate();
  AdmissionRequest& request() { return request_; }
  // Ends this attempt of the write; what mutate() reserved stays for the next one.
  void end_attempt();
  void finish(bool committed);

 private:
  Call& call_;
  AdmissionRequest request_;
  std::size_t kept_ = 0;  // on_finish entries of mutate()
};

// A new object, decoded and in the storage version: metadata, strategy, admission, validation, then
// the store. A generated name is tried again when it is taken.
Task<Result<Written>> create_object(Call& call, json::Arena& arena, json::Value object,
                                    WriteOptions options);

// Makes the new state out of the stored one, both in the storage version. Called again with the
// newer state when somebody else wrote meanwhile; `arena` is that attempt's.
using Transform = std::function<Result<json::Value>(json::Arena& arena, const json::Value& live)>;

struct UpdateRequest {
  std::string ns;
  std::string name;
  std::string subresource{};
  Transform transform;
  // The transform touches nothing but the request: it may run off the loop.
  bool apart = false;
};

// not_found_error when there is no such object.
Task<Result<Written>> update_object(Call& call, UpdateRequest update, WriteOptions options);

// Takes from `live` what the endpoint does not change: status for the main resource, everything
// else for /status, and so on.
void keep_other_parts(const Call& call, std::string_view subresource, json::Arena& arena,
                      json::Value& object, const json::Value& live);

// Defaults, schema and strategy checks that creation and update share.
const schema::Node* storage_schema(const Resource& resource);
const Strategy& strategy_of(const Resource& resource);
// For aside(): work that calls the strategy stays on the loop when the strategy needs the loop.
std::size_t bytes_apart(const Resource& resource, std::size_t bytes);
void set_defaults(const Resource& resource, WriteContext& context, json::Value& object);
// Built-in objects get the one form in which upstream would show them.
void settle_form(const Resource& resource, json::Arena& arena, json::Value& object);
Result<void> validate_object(const Resource& resource, WriteContext& context,
                             const json::Value& object, const json::Value* live);
// The version under which writers are recorded: that of the request where versions differ by their
// name only, else that of the storage, in which all fields are named.
std::string manager_version(const Call& call);
void record_manager(const Call& call, json::Arena& arena, const json::Value* live,
                    json::Value& object, const WriteOptions& options, std::string_view subresource,
                    WallTime now);

}  // namespace codeflare::apiserver::internal
