// expect: does not say which tensors it holds
#include <string>

#include <sinter/module.h>

class Closed {
 public:
  explicit Closed(int) {}
#ifdef SINTER_CONTROL
  using not_a_module = void;
#endif

 private:
  std::string name_;
};
struct Model {
  Closed closed{1};
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
