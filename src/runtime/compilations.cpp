// Starts threads that compile, and waits for them.
#include "src/runtime/compilations.h"

#include <exception>
#include <system_error>
#include <utility>

namespace sinter::runtime {

using State = tune::Trial::State;

State Compilation::state() {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Compilation::wait(tune::Time deadline) {
  std::unique_lock lock(mutex_);
  ended_.wait_until(lock, deadline, [&] { return state_ != State::Compiling; });
}

ExecutableRef Compilation::executable() {
  const std::lock_guard lock(mutex_);
  return executable_;
}

std::string Compilation::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Compilation::release() {
  ExecutableRef gone;  // ends without the lock
  const std::lock_guard lock(mutex_);
  is_released_ = true;
  gone = std::move(executable_);
}

void Compilation::end(ExecutableRef executable, std::string failure) noexcept {
  {
    const std::lock_guard lock(mutex_);
    state_ = executable ? State::Ready : State::Failed;
    if (!is_released_) executable_ = std::move(executable);
    failure_ = std::move(failure);
  }
  ended_.notify_all();
}

void Compilation::run(Backend& backend) noexcept {
  const ir::Kernel* const kernel = &kernel_;
  try {
    end(backend.compile({&kernel, 1}).front(), "");
  } catch (const std::exception& error) {
    try {
      end(nullptr, error.what());
    } catch (...) {  // no memory for a copy of the reason
      end(nullptr, {});
    }
  }
}

Compilations::~Compilations() {
  for (Running& running : running_) running.thread.join();
}

void Compilations::lose() {
  // A thread that is not there cannot be joined.
  [[maybe_unused]] const auto* const stay = new std::list<Running>(std::move(running_));
  running_.clear();
}

std::shared_ptr<Compilation> Compilations::begin(ir::Kernel kernel) {
  auto compilation = std::make_shared<Compilation>(std::move(kernel));
  const std::lock_guard lock(mutex_);
  for (auto at = running_.begin(); at != running_.end();) {
    if (at->compilation->state() == State::Compiling) {
      ++at;
      continue;
    }
    at->thread.join();
    at = running_.erase(at);
  }
  Running& running = running_.emplace_back();
  running.compilation = compilation;
  try {
    running.thread = std::thread([this, compilation] { compilation->run(backend_); });
  } catch (const std::system_error& error) {
    running_.pop_back();
    compilation->end(nullptr, std::string("no thread can be had: ") + error.what());
  }
  return compilation;
}

}  // namespace sinter::runtime
