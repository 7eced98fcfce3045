// Where random numbers come from: the calling thread's stream on a device, or a generator of one's own.
#pragma once

#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/device.h>

namespace sinter {

/// Each operation that draws takes the seed and the next number of the stream: the same state gives the same
/// numbers, on every device.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

/// Of the calling thread on this device. A thread that has not drawn yet takes its stream with this.
SINTER_API RandomState random_state(const Device& device);

/// The calling thread goes on where the state was taken. Otherwise as Device::seed(state.seed).
SINTER_API void set_random_state(const Device& device, const RandomState& state);

/// Random numbers that follow from a seed alone, whatever else the program draws, on whichever device: what a
/// generator has drawn moves no device's stream, nor the other way round. A plain value: a copy draws what
/// the generator itself would. To be used by one thread at a time.
///
///   sn::Generator generator(7);
///   auto noise = sn::Tensor<2>::randn({4, 4}, device, generator);
///
/// The functions of Tensor<Rank, Kind> that draw, and the free ones, have a form with a generator behind the
/// device, or at the end where they take none; for all else (layers, initialisers, dropout) there is
/// DrawFrom.
class Generator {
 public:
  /// Generators of one seed take a stream each, below 2^22; stream 0 is also what a device draws after
  /// seed(seed). Throws Error for a larger one.
  explicit Generator(std::uint64_t seed = 0, std::uint64_t stream = 0) : state_(begin(seed, stream)) {}
  explicit Generator(const RandomState& state) : state_(state) {}

  const RandomState& state() const { return state_; }
  void set_state(const RandomState& state) { state_ = state; }
  friend bool operator==(const Generator&, const Generator&) = default;

 private:
  SINTER_API static RandomState begin(std::uint64_t seed, std::uint64_t stream);

  RandomState state_;
};

/// While it lives, what the calling thread draws comes from the generator, on every device: the parameters of
/// a model, masks of dropout. Innermost first; the generator has to outlive it.
///
///   sn::Generator generator(7);
///   const sn::DrawFrom draws(generator);
///   auto model = config.init(device);
class SINTER_API DrawFrom {
 public:
  explicit DrawFrom(Generator& generator);
  ~DrawFrom();
  DrawFrom(const DrawFrom&) = delete;
  DrawFrom& operator=(const DrawFrom&) = delete;

 private:
  Generator* outer_;
};

}  // namespace sinter
