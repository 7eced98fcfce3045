// Reads the command line.
#include "options.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace guide {

const char* const kUsage =
    R"(usage: guide [options]
Trains a small convolutional network to read handwritten digits, then shows what it makes of a few of them.

  --device NAME    host, cuda, cuda:1, vulkan, vulkan:0 (default: $SINTER_DEVICE, else the best there is)
  --epochs N       passes over the training images (default 3)
  --batch N        images in one training step (default 64)
  --images N       train on the first N images only
  --lr X           learning rate of Adam (default 0.001)
  --seed N         start of all random numbers (default 42)
  --data DIR       the folder that holds mnist/ or fashion-mnist/ (default: $SINTER_DATA, else data)
  --save FILE      where the weights are kept (default: guide.safetensors in the folder above)
  --predict-only   no training: load the weights and show predictions
  --help           this text
)";

namespace {

template <class Number>
Number parse_number(const std::string& option, std::string_view text, Number least) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= least) || number > Number(1e18))
    throw UsageError(option + " wants " + (least > 0 ? "a number above 0" : "a number") + ", not \"" +
                     std::string(text) + "\"");
  return number;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  const char* data = std::getenv("SINTER_DATA");
  options.data = data && *data ? data : "data";
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    std::optional<std::string_view> attached;
    if (auto equals = name.find('='); name.starts_with("--") && equals != std::string::npos) {
      attached = std::string_view(argv[i]).substr(equals + 1);
      name.resize(equals);
    }
    auto value = [&]() -> std::string_view {
      if (attached) return *attached;
      if (i + 1 >= argc) throw UsageError(name + " wants a value");
      return argv[++i];
    };
    if (name == "--device")
      options.device = value();
    else if (name == "--epochs")
      options.epochs = parse_number<std::size_t>(name, value(), 1);
    else if (name == "--batch")
      options.batch = parse_number<std::size_t>(name, value(), 1);
    else if (name == "--images")
      options.images = parse_number<std::size_t>(name, value(), 1);
    else if (name == "--lr")
      options.learning_rate = parse_number<double>(name, value(), 1e-300);
    else if (name == "--seed")
      options.seed = parse_number<std::uint64_t>(name, value(), 0);
    else if (name == "--data")
      options.data = value();
    else if (name == "--save")
      options.save = value();
    else if (name == "--predict-only" && !attached)
      options.predict_only = true;
    else if ((name == "--help" || name == "-h") && !attached)
      options.help = true;
    else
      throw UsageError("there is no option \"" + std::string(argv[i]) + "\"");
  }
  if (options.save.empty()) options.save = options.data / "guide.safetensors";
  return options;
}

}  // namespace guide
