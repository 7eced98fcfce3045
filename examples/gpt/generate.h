// Text from a model, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model.h"

namespace gpt {

// Continues `prompt` by `count` tokens, as far as the context reaches, and calls `show` with each. Draws by
// the probabilities at a temperature; at 0 takes the most likely. A token is known to the device before it is
// shown: the next one is recorded meanwhile.
void generate(const Gpt& model, std::string_view prompt, std::int64_t count, double temperature,
              const std::function<void(char)>& show);

}  // namespace gpt
