#include "node/stream/stream_exec.h"

#include "node/stream/run_program.h"

#include <utility>

namespace codeflare::node {

Task<Result<ExecOutcome>> StreamExec::run(ExecCommand command) {
  ExecOptions options{.container = std::move(command.container),
                      .command = std::move(command.command)};
  CO_TRY_ASSIGN(ProgramOutcome ended,
                co_await run_program(pods_, std::move(command.uid), std::move(options),
                                     command.output_bytes_max));
  co_return ExecOutcome{.exit_code = ended.exit_code, .output = std::move(ended.output)};
}

}  // namespace codeflare::node
