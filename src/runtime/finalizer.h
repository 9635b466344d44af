#pragma once

#include "kube/object.h"
#include "model/gvk.h"
#include "runtime/reconciler.h"

#include <string>
#include <string_view>

namespace codeflare::runtime {

// One finalizer of ours on objects of one kind: while it is there the server keeps a deleted object
// for us, so outside effects of it can be undone. Put it on before the first such effect, and off
// when the last is undone.
//   const Finalizer kGuard(kGreetings, "examples.codeflare.dev/guard");
//   if (greeting.deleting()) { ...undo, then plan.actions.push_back(kGuard.remove(greeting, why)) }
//   else if (!kGuard.on(greeting)) { plan.actions.push_back(kGuard.add(greeting, why)); }
// Objects whose finalizers a transform has dropped do not do.
class Finalizer {
 public:
  Finalizer(ResourceType type, std::string name);

  const std::string& name() const { return name_; }
  bool on(const kube::Object& object) const;

  // The list as it was seen with ours in it, or without. It replaces the server's list, so the
  // patch carries uid and resourceVersion: `conflict` when anybody wrote since, whose change would
  // be lost. The server rejects a new finalizer on an object that is being deleted.
  Action add(const kube::Object& object, std::string why) const;
  Action remove(const kube::Object& object, std::string why) const;

  // For built-in kinds whose objects change all the time: the server takes ours out of whatever
  // list is there then, so no version is needed. Custom resources know no such patch.
  Action remove_from_any_version(ObjectKey key, std::string_view uid, std::string why) const;

 private:
  ResourceType type_;
  std::string name_;
};

}  // namespace codeflare::runtime
