#include "elastic/agent_program.h"

int main(int argc, char** argv) {
  return codeflare::elastic::agent_program(argc - 1, argv + 1, "codeflare-agent");
}
