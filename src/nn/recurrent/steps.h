// The steps of a recurrent layer in one direction, and their gradients.
#pragma once

#include <cstdint>
#include <optional>

#include <sinter/any_tensor.h>
#include <sinter/nn/recurrent.h>

namespace sinter::nn::detail {

/// Sequences lie step by step: row `at batch + b` is that of sequence b at `at`, so that what a step reads
/// and writes are rows in one piece.
struct RecurrentSteps {
  RecurrentKind kind;
  std::int64_t batch, first, length, d_hidden;  // a part of a sequence, from step `first` on
  bool backward = false;
  AnyTensor lengths;  // (batch, 1); empty where all sequences are of full length
  Location where;

  /// (length batch, 1): where a sequence has not ended.
  AnyTensor within() const;
};

struct RecurrentCell {
  AnyTensor hidden, cell;  // (batch, d_hidden); no cell but for an LSTM
};

std::int64_t gates_of(RecurrentKind kind);

/// The hidden states of all steps, (length batch, d_hidden), and the cell behind the last one. `inputs`: W x
/// + b, (length batch, gates d_hidden), with d as well unless it is a GRU's, whose d is `bias`. Where a
/// sequence has ended, or, backward, not yet begun, its state stays as it is.
///
/// Its gradient is a function of its own: what does not wait for the steps behind it is computed for all of
/// them at once, the gradients of weights included. Plain operations would record twice as many for a step,
/// with a history of each.
RecurrentCell unrolled(const RecurrentSteps& steps, const AnyTensor& inputs, const RecurrentCell& begin,
                       const AnyTensor& weight, const AnyTensor& bias);

}  // namespace sinter::nn::detail
