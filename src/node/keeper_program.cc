#include "node/pod_keeper.h"

#include <cstring>

// The keeper as a program of its own, for tests.
int main(int count, char** arguments) {
  if (count < 2 || std::strcmp(arguments[1], "pod-keeper") != 0) {
    return 2;
  }
  return codeflare::node::pod_keeper_main(count - 2, arguments + 2);
}
