// The tables together, and what is in none.
#include "tests/onnx/operators.h"

namespace sinter::testing::onnx {

std::vector<std::int64_t> Call::list(std::size_t i) const {
  const TensorData data = in(i).cast(DType::i64).to_data();
  const auto elements = data.span<std::int64_t>();
  return {elements.begin(), elements.end()};
}

const Operators& operators() {
  static const Operators table = [] {
    Operators all;
    add_elementwise(all);
    add_shapes(all);
    add_reductions(all);
    add_windows(all);
    return all;
  }();
  return table;
}

const std::map<std::string, std::string>& unmapped_operators() {
  static const std::map<std::string, std::string> table = [] {
    std::map<std::string, std::string> reasons;
    const auto add = [&](const char* reason, std::initializer_list<const char*> names) {
      for (const char* name : names) reasons[name] = reason;
    };
    add("control flow and lists are a program's own",
        {"If", "Loop", "Scan", "Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt",
         "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
         "SequenceMap", "SplitToSequence", "ConcatFromSequence"});
    add("text is no tensor", {"StringNormalizer", "TfIdfVectorizer"});
    add("optimizers are held against PyTorch's steps", {"Adagrad", "Adam", "Momentum"});
    add("layers are held against PyTorch's values",
        {"GRU", "LSTM", "RNN", "InstanceNormalization", "LayerNormalization", "MeanVarianceNormalization",
         "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "MaxUnpool"});
    add("random", {"Bernoulli", "Dropout", "RandomUniformLike", "RandomNormalLike"});
    add("integers with a scale and a zero point: quantize() has other schemes",
        {"ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv",
         "QLinearMatMul", "QuantizeLinear"});
    add("no such function", {"LRN", "LpNormalization", "MelWeightMatrix", "NonMaxSuppression",
                             "ReverseSequence", "RoiAlign", "Unique"});
    add("other rules of which elements are mixed than interpolate() has", {"Resize"});
    add("functions of a device: their cases are computed with 3.1415 for pi",
        {"BlackmanWindow", "HammingWindow", "HannWindow"});
    add("frames and batches are laid out otherwise than by stft()", {"STFT"});
    return reasons;
  }();
  return table;
}

const std::vector<std::pair<std::string, std::string>>& unmapped_cases() {
  static const std::vector<std::pair<std::string, std::string>> table = {
      {"hannwindow", "computed with 3.1415 for pi"},
      {"hammingwindow", "computed with 3.1415 for pi"},
      {"blackmanwindow", "computed with 3.1415 for pi"},
      {"BFLOAT16", "the files have u16 in the place of bf16"},
  };
  return table;
}

}  // namespace sinter::testing::onnx
