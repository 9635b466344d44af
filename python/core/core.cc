// The extension codeflare_sdk._core: one function over sdk::call(), plain data in and out. Python's
// classes, display and documentation are in Python.
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "model/status.h"
#include "sdk/calls.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace py = pybind11;

namespace codeflare {
namespace {

// A failed call, on its way to the exception `_core.CallError(code, message, reason, kind, name)`.
struct CallFailure {
  Error error;
};

// How long Ctrl-C may go unnoticed.
constexpr Duration kSignalCheck = std::chrono::milliseconds(50);

// Asks Python for signals, and whether to stop, until one has raised an exception, which is kept
// for the caller.
Task<void> watch_signals(const py::object& stopped, StopSource& stop,
                         std::optional<py::error_already_set>& raised) {
  while (co_await sleep_for(kSignalCheck)) {
    py::gil_scoped_acquire gil;
    bool ends = PyErr_CheckSignals() != 0;
    if (ends) {
      raised.emplace();
    } else if (!stopped.is_none()) {
      try {
        ends = stopped().cast<bool>();
      } catch (py::error_already_set& error) {
        raised.emplace(std::move(error));
        ends = true;
      }
    }
    if (ends) {
      stop.request_stop();
      co_return;
    }
  }
}

struct Observer {
  py::object function;
  StopSource& stop;
  std::optional<py::error_already_set>& raised;

  void operator()(const std::string& text) const {
    py::gil_scoped_acquire gil;
    try {
      function(text);
    } catch (py::error_already_set& error) {
      raised.emplace(std::move(error));
      stop.request_stop();
    }
  }
};

Task<Result<std::string>> watched(sdk::CallContext context, std::string name, std::string arguments,
                                  const py::object& stopped, StopSource& stop,
                                  std::optional<py::error_already_set>& raised) {
  const TaskContext& own = co_await current_context();
  TaskGroup signals(*own.loop);
  signals.spawn(watch_signals(stopped, stop, raised));
  Result<std::string> answer = co_await with_stop(
      stop.token(), sdk::call(std::move(context), std::move(name), std::move(arguments)));
  co_await signals.close();
  co_return answer;
}

std::string call(std::string name, std::string arguments, const py::object& observer,
                 const py::object& stopped) {
  std::optional<py::error_already_set> raised;
  std::optional<Result<std::string>> answer;
  // The copies that coroutines hold must not touch Python's counts without the GIL.
  {
    StopSource stop;
    const Observer observe{observer, stop, raised};
    py::gil_scoped_release released;
    RealEnv world;
    sdk::CallContext context{.env = world.env(), .observer = {}};
    if (!observer.is_none()) {
      context.observer = [&observe](const std::string& text) { observe(text); };
    }
    answer = run(world.env().loop, watched(std::move(context), std::move(name),
                                           std::move(arguments), stopped, stop, raised));
  }
  if (raised) {
    throw py::error_already_set(std::move(*raised));
  }
  if (!answer) {
    throw CallFailure{internal_error("the call did not end")};
  }
  if (!*answer) {
    throw CallFailure{std::move(*answer).error()};
  }
  return **std::move(answer);
}

}  // namespace
}  // namespace codeflare

PYBIND11_MODULE(_core, module) {
  using codeflare::CallFailure;
  module.doc() = "Behaviour of codeflare_sdk, in C++.";
  static py::exception<CallFailure> call_error(module, "CallError");
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) {
        std::rethrow_exception(pointer);
      }
    } catch (const CallFailure& failure) {
      const codeflare::Error& error = failure.error;
      const codeflare::model::Status* status = codeflare::model::status_of(error);
      const bool details = status != nullptr && status->details.has_value();
      const py::tuple values = py::make_tuple(
          std::string(codeflare::to_string(error.code)), error.message,
          status == nullptr ? "" : status->reason, details ? status->details->kind : "",
          details ? status->details->name : "", status == nullptr ? 0 : status->code);
      PyErr_SetObject(call_error.ptr(), values.ptr());
    }
  });
  module.def("call", &codeflare::call, py::arg("name"), py::arg("arguments"),
             py::arg("observer") = py::none(), py::arg("stopped") = py::none(),
             "Calls by name with a JSON object; the answer is JSON. Ends when stopped() is true.");
  module.def("call_names", &codeflare::sdk::call_names, "The names that call() knows.");
  module.attr("__version__") = CODEFLARE_VERSION;
}
