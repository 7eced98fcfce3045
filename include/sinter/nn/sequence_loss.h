// Losses of sequences whose alignment with their labels is not known: the negative logarithm of the
// probability of all alignments together, computed by dynamic programming in logarithms.
#pragma once

#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/nn/loss.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// See ctc().
struct CtcOptions {
  /// The class that stands for "no label".
  std::int64_t blank = 0;
  /// 0 in place of infinity, for targets that do not fit into their inputs.
  bool zero_infinity = false;
};

/// See rnnt().
struct RnntOptions {
  /// The class that stands for "next frame"; -1: the last one.
  std::int64_t blank = -1;
  /// Of the gradient of the logits: to [-clamp, clamp], element by element; not positive: not at all.
  double clamp = -1;
  /// The first argument are logits; false: logarithms of probabilities.
  bool fused_log_softmax = true;
};

namespace detail {
SINTER_API AnyTensor ctc(const AnyTensor& log_probabilities, const AnyTensor& targets,
                         const AnyTensor& input_lengths, const AnyTensor& target_lengths,
                         const CtcOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor rnnt(const AnyTensor& logits, const AnyTensor& targets, const AnyTensor& input_lengths,
                          const AnyTensor& target_lengths, const RnntOptions& options, Reduction reduction,
                          Location where);
}  // namespace detail

/// Connectionist temporal classification, A. Graves et al., ICML 2006: log_probabilities (time, n, classes),
/// targets (n, labels), lengths (n). Of sequence i the first input_lengths[i] frames count, at least 0 and at
/// most time, and the first target_lengths[i] labels, at least 0 and at most labels; what is behind them may
/// have any value. The loss is infinite where no alignment has a probability above 0, with a gradient of 0;
/// NaN where a length is out of range, since checking it would have to wait for the device; and a label that
/// is no class throws ShapeError when the result is read.
///
/// The mean is PyTorch's: each loss divided by its number of labels (or 1), and then the mean over the batch.
/// Throws ShapeError when shapes do not fit, Error when the blank is no class. 16 bits are computed in f32.
/// Each frame is a few kernels over all sequences and labels, and hands what is recorded to the device, so
/// that one plan serves all frames and lengths. So does the backward pass, which can be differentiated again.
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> ctc(const Tensor<3>& log_probabilities, const Tensor<2, Int>& targets,
                           const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                           const CtcOptions& options = {}, Location where = Location::current()) {
  return Reduced<kReduction, 1>(detail::ctc(log_probabilities.dynamic(), targets.dynamic(),
                                            input_lengths.dynamic(), target_lengths.dynamic(), options,
                                            kReduction, where));
}

/// The same with all targets one behind the other, (sum of target_lengths). Reads the lengths of the targets,
/// which waits; throws ShapeError when their sum is another one or one is negative.
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> ctc(const Tensor<3>& log_probabilities, const Tensor<1, Int>& targets,
                           const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                           const CtcOptions& options = {}, Location where = Location::current()) {
  return Reduced<kReduction, 1>(detail::ctc(log_probabilities.dynamic(), targets.dynamic(),
                                            input_lengths.dynamic(), target_lengths.dynamic(), options,
                                            kReduction, where));
}

/// Sequence transduction with recurrent neural networks, A. Graves, 2012, as torchaudio's rnnt_loss: logits
/// (n, time, labels + 1, classes) of the joint network, for each frame and number of labels that were
/// emitted; targets (n, labels), lengths (n) with at least 1 frame. A path goes to the next frame by a blank,
/// or to the next label by that label, and ends with a blank. The loss is NaN where a length is out of range;
/// labels and errors are as in ctc(). The mean is over the batch. What is said there of
/// frames is here true of time + labels diagonals.
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> rnnt(const Tensor<4>& logits, const Tensor<2, Int>& targets,
                            const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                            const RnntOptions& options = {}, Location where = Location::current()) {
  return Reduced<kReduction, 1>(detail::rnnt(logits.dynamic(), targets.dynamic(), input_lengths.dynamic(),
                                             target_lengths.dynamic(), options, kReduction, where));
}

}  // namespace sinter::nn
