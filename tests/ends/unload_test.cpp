// A program that does not link the library: loads it and a module that uses it, and closes both in either
// order. usage: unload_test LIBRARY MODULE module_first|library_first|only_module
#include <string>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

#include "tests/ends/check.h"

int main(int count, char** arguments) {
  if (count != 4) return 2;
  ends::hang_after(60);
  const std::string order = arguments[3];
  const auto open = [](const char* path) {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ends::require(handle != nullptr, handle ? "" : dlerror());
    return handle;
  };
  for (int round = 0; round < 2; ++round) {
    void* library = order == "only_module" ? nullptr : open(arguments[1]);
    void* module = open(arguments[2]);
    const auto use = reinterpret_cast<int (*)(int)>(dlsym(module, "use_sinter"));
    ends::require(use != nullptr, "the module has its function");
    ends::require(use(0) == 0, "the module computes");
    // A thread that has used the library ends after it was closed.
    int other = 1;
    std::thread thread([&] { other = use(1); });
    thread.join();
    ends::require(other == 0, "the module computes in another thread");
    if (order == "library_first") dlclose(library);
    dlclose(module);
    if (order == "module_first") dlclose(library);
    usleep(20'000);  // threads of the pool wake up, or not
  }
}
