// The smallest whole controller; copy this folder to begin one. See hello.h.

#include "examples/hello_controller/hello.h"
#include "runtime/standalone.h"

int main(int argc, char** argv) {
  return codeflare::runtime::run_standalone(argc, argv, {.name = "hello-controller"},
                                            [](codeflare::runtime::Manager& manager) {
                                              manager.controller("greetings")
                                                  .reconciles(hello::kGreetings)
                                                  .owns(hello::kConfigMaps)
                                                  .with<hello::Hello>();
                                            });
}
