// expect: a configuration has numbers, texts, enums
// What a pointer points to has no JSON.
#include <sinter/config.h>

struct Config {
#ifdef SINTER_CONTROL
  int layers = 1;
#else
  int* layers = nullptr;
#endif
};

std::string text() { return sinter::config::to_json(Config{}); }
