// expect: does not say which tensors it holds
#include <functional>

#include <sinter/module.h>

struct Model {
#ifdef SINTER_CONTROL
  float (*activation)(float);
#else
  std::function<float(float)> activation;
#endif
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
