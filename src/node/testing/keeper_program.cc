#include "node/holder/network_proxy.h"
#include "node/holder/node_holder.h"
#include "node/keeper/pod_keeper.h"

#include <cstring>

// Keeper and holder as a program of their own, for tests.
int main(int count, char** arguments) {
  if (count >= 2 && std::strcmp(arguments[1], "node-holder") == 0) {
    return codeflare::node::node_holder_main(count - 2, arguments + 2);
  }
  if (count >= 2 && std::strcmp(arguments[1], "node-egress") == 0) {
    return codeflare::node::node_egress_main(count - 2, arguments + 2);
  }
  if (count < 2 || std::strcmp(arguments[1], "pod-keeper") != 0) {
    return 2;
  }
  return codeflare::node::pod_keeper_main(count - 2, arguments + 2);
}
