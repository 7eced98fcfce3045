// Threads that LLVM may not come back from.
#include "src/runtime/host/machine_code/fatal_errors.h"

#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

#include <sinter/error.h>

#include "src/base/exit_gate.h"

namespace sinter::runtime::host {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool failed = false;
  std::string reason;  // of the first fatal error
};

/// Never destroyed: threads that stand still may hold on to it.
State& state() {
  static State& instance = *new State;
  return instance;
}

/// LLVM's static objects end with the process, in whose threads it may still compile.
base::ExitGate& gate() {
  static base::ExitGate& instance = *new base::ExitGate([] { gate().close(); });
  return instance;
}

struct Call {
  std::function<void()> work;
  std::exception_ptr error;
  bool done = false;
};

thread_local bool may_stop_here = false;

void on_fatal_error(const char* reason) {
  if (!may_stop_here) {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;
  }
  {
    std::lock_guard lock(state().mutex);
    if (!state().failed) state().reason = reason;
    state().failed = true;
  }
  state().changed.notify_all();
  for (;;) ::pause();
}

void run(Call& call) {
  try {
    call.work();
  } catch (...) {
    call.error = std::current_exception();
  }
}

}  // namespace

void watch_fatal_errors(const LlvmApi& api) { api.install_fatal_error_handler(on_fatal_error); }

bool llvm_has_ended() {
  const base::ExitGate::Entry entry(gate());
  return !entry;
}

bool llvm_has_failed() {
  std::lock_guard lock(state().mutex);
  return state().failed;
}

void run_llvm(std::function<void()> work) {
  const base::ExitGate::Entry entry(gate());
  if (!entry) throw CompileError("[host] LLVM has ended with the process");
  const struct Renew {  // what the call has made of static objects ends after the gate is closed
    ~Renew() { gate().renew(); }
  } renew;
  auto call = std::make_shared<Call>();
  call->work = std::move(work);
  std::thread thread;
  try {
    if (!llvm_has_failed())
      thread = std::thread([call] {
        may_stop_here = true;
        run(*call);
        std::lock_guard lock(state().mutex);
        call->done = true;
        state().changed.notify_all();
      });
  } catch (const std::system_error&) {
    run(*call);  // no thread can be had: here, where a fatal error ends the process
    call->done = true;
  }
  bool done = false;
  std::string reason;
  {
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [&] { return call->done || state().failed; });
    done = call->done;
    reason = state().reason;
  }
  if (thread.joinable()) done ? thread.join() : thread.detach();
  if (!done) throw CompileError("[host] LLVM has given up: " + reason);
  if (call->error) std::rethrow_exception(call->error);
}

}  // namespace sinter::runtime::host
