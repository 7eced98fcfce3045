// What the host's programs of Fourier transforms share.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "jit/library/fourier.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host::fourier {

/// Up to this many numbers altogether, sharing them takes longer than transforming them.
inline constexpr std::int64_t kFewestShared = 1 << 13;

class FourierProgram : public HostExecutable {
 public:
  explicit FourierProgram(const library::FourierOp& op)
      : op_(op),
        is_halved_(op.transform != library::Fourier::Complex && op.length % 2 == 0),
        size_(is_halved_ ? op.length / 2 : op.length) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }

 protected:
  /// What complex results are multiplied by.
  double factor() const {
    const auto length = static_cast<double>(op_.length);
    const double scale = op_.scale == library::FourierScale::One        ? 1
                         : op_.scale == library::FourierScale::ByLength ? 1 / length
                                                                        : 1 / std::sqrt(length);
    // Parting mirrored results gives twice what they are.
    return is_halved_ && op_.transform == library::Fourier::FromReal ? scale / 2 : scale;
  }
  bool is_shared() const { return op_.lines() * size_ >= kFewestShared; }

  library::FourierOp op_;
  bool is_halved_;     // pairs of real numbers are complex ones
  std::int64_t size_;  // complex numbers of a line
};

/// Lines lie in the lanes of vectors, as many at once as these have.
template <class T>
std::shared_ptr<HostExecutable> make_across(const library::FourierOp& op);
/// Each line is a matrix, whose columns and rows lie in the lanes. Lines have nothing beside them.
template <class T>
std::shared_ptr<HostExecutable> make_along(const library::FourierOp& op);

}  // namespace sinter::runtime::host::fourier
