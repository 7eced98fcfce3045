// Kernels that compile in threads of their own.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "jit/ir/kernel.h"
#include "jit/tune/device.h"
#include "src/runtime/backend.h"

namespace sinter::runtime {

/// A kernel that compiles, or has been compiled, or has failed.
class Compilation {
 public:
  explicit Compilation(ir::Kernel kernel) : kernel_(std::move(kernel)) {}

  tune::Trial::State state();
  /// Waits for its end, at most until `deadline`.
  void wait(tune::Time deadline);
  /// Null unless it has been compiled.
  ExecutableRef executable();
  /// Why it failed.
  std::string failure();
  /// The executable is not wanted, or not any more.
  void release();

 private:
  friend class Compilations;
  void run(Backend& backend) noexcept;
  void end(ExecutableRef executable, std::string failure) noexcept;

  const ir::Kernel kernel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  tune::Trial::State state_ = tune::Trial::State::Compiling;
  ExecutableRef executable_;
  std::string failure_;
  bool is_released_ = false;
};

/// The compilations of one device. One that nobody waits for any more goes on to its end: the code goes to
/// the kernel cache. All functions may be called by any thread.
class Compilations {
 public:
  explicit Compilations(Backend& backend) : backend_(backend) {}
  /// Waits for all.
  ~Compilations();
  Compilations(const Compilations&) = delete;
  Compilations& operator=(const Compilations&) = delete;

  /// Where no thread can be had, the compilation has failed.
  std::shared_ptr<Compilation> begin(ir::Kernel kernel);

  /// In a forked child, which has none of the threads.
  void lose();

 private:
  struct Running {
    std::thread thread;
    std::shared_ptr<Compilation> compilation;
  };

  Backend& backend_;
  std::mutex mutex_;
  std::list<Running> running_;
};

}  // namespace sinter::runtime
