// A processor that keeps the scores of attention out of memory from other sizes on than this one does.
#pragma once

#include <cstddef>
#include <memory>

#include "tests/support/forwarding_backend.h"

namespace sinter::testing {

/// A processor of whose scores so many bytes, or more, stay out of memory, whatever pays; 0: none do.
class Processor final : public ForwardingBackend {
 public:
  Processor(std::unique_ptr<runtime::Backend> inner, std::size_t fewest_striped)
      : ForwardingBackend(std::move(inner)), traits_(this->inner().traits()) {
    traits_.fewest_striped = fewest_striped;
    if (fewest_striped > 0) traits_.memory_bytes = 1;
  }
  const ir::DeviceTraits& traits() const override { return traits_; }

 private:
  ir::DeviceTraits traits_;
};

}  // namespace sinter::testing
