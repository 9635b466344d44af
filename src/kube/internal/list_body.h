#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::internal {

// A list answer whose objects are made one at a time, when they are asked for: beside the answer's
// text there is never more than the one that was asked for last. A server may send a list in one
// piece whatever limit it was given, so its pages alone would not keep it small.
class ListWalk {
 public:
  // The members of the list besides its items; those of the result are empty.
  const ObjectList& head() const { return head_; }
  // The next object; null behind the last one.
  Result<ObjectRef> next();

  static Result<ListWalk> over(std::string body);

 private:
  ListWalk() = default;

  std::unique_ptr<const std::string> body_;
  std::vector<std::string_view> items_;  // in the body
  std::size_t at_ = 0;
  ObjectList head_;
};

// Others get a turn after so many objects.
inline constexpr std::size_t kItemsPerTurn = 256;

// All objects of a list answer, straight from its text. Gives other work a turn now and then.
Task<Result<ObjectList>> parse_list(std::string body);

}  // namespace codeflare::kube::internal
