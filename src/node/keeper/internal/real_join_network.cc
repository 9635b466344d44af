#include "node/keeper/internal/real_join_network.h"

#include "node/wire/holder_call.h"

#include <cerrno>
#include <sched.h>

namespace codeflare::node::internal {

Result<void> join_network(const std::string& socket, const std::string& uid) {
  HolderRequest request{.verb = "join"};
  request.pod = PodRecord{.uid = uid};
  TRY_ASSIGN(const HolderReply reply, call_holder(socket, request));
  if (reply.descriptors.size() != 2) {
    return fail(failed_precondition("the holder of the pod network gave no namespaces"));
  }
  // The network belongs to the holder's user namespace: only from there it can be entered.
  if (::setns(reply.descriptors[0].get(), CLONE_NEWUSER) != 0) {
    return fail(posix_error(errno, "enter the holder's user namespace"));
  }
  if (::setns(reply.descriptors[1].get(), CLONE_NEWNET) != 0) {
    return fail(posix_error(errno, "enter the pod's network"));
  }
  return {};
}

}  // namespace codeflare::node::internal
