// Recurrent layers: plain ones, LSTM and GRU, of several layers and in both directions. Weights, their names
// and the order of gates are PyTorch's; sequences are (batch, length, d_in).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/dropout.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// How a recurrent layer goes from one hidden state h to the next, for input x, a = W x + b and c = V h + d:
///   tanh, relu   h' = f(a + c)
///   lstm         i, f, g, o = a + c;  s' = sigmoid(f) s + sigmoid(i) tanh(g),  h' = sigmoid(o) tanh(s')
///   gru          r, z, n of a and of c;  n = tanh(a_n + sigmoid(r) c_n),  h' = (1 - sigmoid(z)) n +
///   sigmoid(z) h
/// S. Hochreiter, J. Schmidhuber, "Long short-term memory", 1997; K. Cho et al., "Learning phrase
/// representations using RNN encoder-decoder", 2014.
enum class RecurrentKind : std::uint8_t { tanh, relu, lstm, gru };

/// Of one layer and direction; rows are those of all gates, one gate below the other.
struct RecurrentWeights {
  Tensor<2> weight_ih;                        // (gates d_hidden, d_in)
  Tensor<2> weight_hh;                        // (gates d_hidden, d_hidden)
  std::optional<Tensor<1>> bias_ih, bias_hh;  // (gates d_hidden)
};

/// A state is (layers directions, batch, d_hidden), layer by layer, forward before backward.
struct RecurrentState {
  Tensor<3> hidden;
  std::optional<Tensor<3>> cell = std::nullopt;  // of an LSTM
};

struct RecurrentOutput {
  /// The hidden states of the last layer, (batch, length, directions d_hidden).
  Tensor<3> output;
  /// After the last element; of the backward direction after the first.
  RecurrentState state;
};

/// See RecurrentKind; made by RnnConfig, LstmConfig and GruConfig.
class SINTER_API Recurrent {
 public:
  /// Weights under PyTorch's names: weight_ih_l0, weight_hh_l0_reverse, ...
  template <class F>
  void visit_fields(F&& f) {
    visit(*this, f);
  }
  template <class F>
  void visit_fields(F&& f) const {
    visit(*this, f);
  }

  /// x (batch, length, d_in). Begins with `state`, or with zeros. Throws ShapeError when shapes do not fit or
  /// the length is 0, Error when the state has a cell and the layer none, or the other way round, or the
  /// number of `weights` is not that of whole layers.
  RecurrentOutput forward(const Tensor<3>& x, const std::optional<RecurrentState>& state = std::nullopt,
                          Location where = Location::current()) const;
  /// Of sequences that are shorter than the longest: `lengths` (batch), each 0 to length, of which the device
  /// alone knows the values. What stands behind the end of a sequence counts for nothing, the output there is
  /// 0, the state is that at its own end, and the backward direction begins there: what PyTorch gives for
  /// packed sequences. Throws as above.
  RecurrentOutput forward(const Tensor<3>& x, const Tensor<1, Int>& lengths,
                          const std::optional<RecurrentState>& state = std::nullopt,
                          Location where = Location::current()) const;

  RecurrentKind kind;
  std::int64_t d_hidden;
  bool bidirectional;
  Dropout dropout;  // of what goes from layer to layer
  std::vector<RecurrentWeights> weights;

  Recurrent(RecurrentKind kind, std::int64_t d_hidden, bool bidirectional, Dropout dropout)
      : kind(kind), d_hidden(d_hidden), bidirectional(bidirectional), dropout(dropout) {}

 private:
  RecurrentOutput run(const AnyTensor& x, const AnyTensor& lengths,
                      const std::optional<RecurrentState>& state, const Location& where) const;
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    for (std::size_t i = 0; i < self.weights.size(); ++i) {
      const std::string suffix = self.bidirectional
                                     ? "_l" + std::to_string(i / 2) + (i % 2 == 1 ? "_reverse" : "")
                                     : "_l" + std::to_string(i);
      f("weight_ih" + suffix, self.weights[i].weight_ih);
      f("weight_hh" + suffix, self.weights[i].weight_hh);
      f("bias_ih" + suffix, self.weights[i].bias_ih);
      f("bias_hh" + suffix, self.weights[i].bias_hh);
    }
    f("dropout", self.dropout);
  }
};

using Rnn = Recurrent;
using Lstm = Recurrent;
using Gru = Recurrent;

/// h' = tanh(W x + b + V h + d), or max(0, ..).
struct SINTER_API RnnConfig {
  std::int64_t d_in, d_hidden;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool bias = true;
  double dropout = 0;  // between layers
  bool relu = false;   // instead of tanh

  /// All uniform in +-1 / sqrt(d_hidden), as PyTorch does. Throws ShapeError when a size is not positive.
  Rnn init(const Device& device, Location where = Location::current()) const;
};

struct SINTER_API LstmConfig {
  std::int64_t d_in, d_hidden;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool bias = true;
  double dropout = 0;

  Lstm init(const Device& device, Location where = Location::current()) const;
};

struct SINTER_API GruConfig {
  std::int64_t d_in, d_hidden;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool bias = true;
  double dropout = 0;

  Gru init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
