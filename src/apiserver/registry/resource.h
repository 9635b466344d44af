#pragma once

#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/schema.h"
#include "apiserver/store/object.h"
#include "base/async/stop_token.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "model/validation.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

struct User;

// One column of `kubectl get`.
struct Column {
  std::string name;
  std::string type = "string";  // integer, number, string, boolean, date
  std::string format{};
  std::string description{};
  int priority = 0;  // above 0: only with -o wide
};

// How a kind looks in a table: columns, and one cell per column for an object.
class TablePrinter {
 public:
  virtual ~TablePrinter() = default;
  virtual const std::vector<Column>& columns() const = 0;
  // `cells` is an array; ages are worked out against `now`.
  virtual void print(const json::Value& object, WallTime now, json::Arena& arena,
                     json::Value& cells) const = 0;
};

// The input of a write besides the object.
struct WriteContext {
  json::Arena& arena;
  WallTime now;
  std::string_view subresource;        // empty, "status", "scale", ...
  std::vector<std::string>* warnings;  // for Warning headers
  const User* user = nullptr;          // who writes
};

// The rules of one built-in kind. The base does what upstream does for a plain kind with `status`:
// on the main resource status is taken from the stored object (dropped at creation), on /status
// everything but status and metadata is; generation starts at 1 and grows when anything but
// metadata and status changes. Of other subresources that take the whole object only their own
// fields count (finalize: spec.finalizers, ephemeralcontainers: spec.ephemeralContainers, resize:
// spec.containers and spec.initContainers, approval: status.conditions). Objects come in the
// storage version.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Fields that the generated tables have no default for (or a conditional one). Idempotent.
  virtual void set_defaults(WriteContext&, json::Value& /*object*/) const {}
  // What is wrong with a name; with `prefix` it is a generateName. Most kinds: a DNS subdomain.
  virtual model::Complaints check_name(std::string_view name, bool prefix) const;
  // Clears and fills what users may not set, before admission and validation.
  virtual void prepare_create(WriteContext&, json::Value& /*object*/) const {}
  // The server chose metadata.name out of generateName, after prepare_create(): updates fields that
  // repeat the name. They show `previous`, which is empty at first. Runs after field owners are
  // recorded, so it adds no field that the writer would own.
  virtual void name_generated(WriteContext&, json::Value& /*object*/,
                              std::string_view /*previous*/) const {}
  virtual void prepare_update(WriteContext&, json::Value& /*object*/,
                              const json::Value& /*old*/) const {}
  virtual void validate(WriteContext&, const json::Value& /*object*/, FieldErrors&) const {}
  // Immutability and transitions; validate() has run already.
  virtual void validate_update(WriteContext&, const json::Value& /*object*/,
                               const json::Value& /*old*/, FieldErrors&) const {}
  // Seconds between the DELETE and the removal; 0: at once, as for all kinds but pods, whatever was
  // asked for.
  virtual std::int64_t grace_seconds(const json::Value& /*object*/,
                                     std::optional<std::int64_t> /*requested*/) const {
    return 0;
  }
  // Deletion begins: deletionTimestamp is set. Changes what else shows it (a namespace's phase).
  virtual void begin_delete(WriteContext&, json::Value& /*object*/) const {}
  // Nothing but metadata.finalizers and grace keeps a deleting object (a namespace: its
  // spec.finalizers do).
  virtual bool may_go(const json::Value& /*object*/) const { return true; }
  virtual bool keeps_status_at_creation() const { return false; }
  virtual bool generation() const { return true; }  // the kind has metadata.generation
  // A change of annotations is a new generation too.
  virtual bool annotations_count() const { return false; }
  virtual bool allow_unconditional_update() const { return true; }
  virtual bool allow_create_on_update() const { return false; }
  // Nothing above looks at more than its arguments: it may run off the loop.
  virtual bool pure() const { return true; }
};

// From one apiVersion ("autoscaling/v1") to another, in place; apiVersion is already rewritten.
using Conversion = std::function<Result<void>(json::Arena&, json::Value& object,
                                              std::string_view from, std::string_view to)>;

// A field that field selectors may name.
struct SelectableField {
  std::string name;      // "status.successful"
  std::string path{};    // where it stands when not under its name: "status.succeeded"
  std::string absent{};  // its text when it is absent: "false" for booleans
};

struct ScaleSubresource {
  std::string spec_replicas_path;     // ".spec.replicas"
  std::string status_replicas_path;   // ".status.replicas"
  std::string label_selector_path{};  // empty: none
};

struct Subresource {
  std::string name;  // "log", without the parent
  std::string kind;
  std::string group{};  // of the kind when it differs from the resource's
  std::string version{};
  std::vector<std::string> verbs;
};

struct ServedVersion {
  std::string version;  // "v1"
  const schema::Node* schema = nullptr;
  std::shared_ptr<const TablePrinter> printer{};  // null: name and age
  bool served = true;
  bool deprecated = false;
  std::string deprecation_warning{};
  bool has_status = false;
  std::optional<ScaleSubresource> scale{};
  std::vector<SelectableField> selectable_fields{};  // besides metadata.name and .namespace
  std::string storage_version_hash{};                // for discovery; empty: not shown
  std::vector<Subresource> subresources{};  // all, status and scale included: for discovery
};

// All that the server knows of one resource; built-in and custom ones differ only in who filled
// it in. Immutable while it is registered: a change of a CRD registers a new one.
struct Resource {
  std::string group;     // empty: core
  std::string plural;    // "pods"
  std::string singular;  // "pod"
  std::string kind;
  std::string list_kind;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  bool namespaced = true;
  std::vector<std::string> verbs{};  // create delete deletecollection get list patch update watch
  std::vector<ServedVersion> versions{};  // in order of preference
  std::size_t storage_version = 0;        // index into versions
  // The apiVersion of the stored text when it is not that of versions[storage_version]: events of
  // events.k8s.io are a view of the core group's.
  std::string stored_as{};
  std::shared_ptr<const Strategy> strategy{};
  Conversion convert{};  // empty: only apiVersion differs
  bool custom = false;
  // Its definition goes away: nothing new may come, what is there may still be changed and deleted.
  bool terminating = false;
  CollectionId collection = 0;
  // Stops when the resource is no longer served, which ends its watches; never for built-in ones.
  StopToken gone{};
  // Keeps compiled schemas alive.
  std::shared_ptr<const void> owner{};

  // "pods", "jobs.batch"
  std::string qualified_name() const { return group.empty() ? plural : plural + "." + group; }
  const ServedVersion* find_version(std::string_view version) const;  // served or not
  std::string api_version(const ServedVersion& version) const;        // "batch/v1"
  std::string storage_api_version() const;
  // Objects are written in this version; what was written before it became so may be of another.
  bool stores(const ServedVersion& version) const;
  // `text` is the apiVersion of this version.
  bool is_api_version(const ServedVersion& version, std::string_view text) const;
  bool has_verb(std::string_view verb) const;
};

}  // namespace codeflare::apiserver
