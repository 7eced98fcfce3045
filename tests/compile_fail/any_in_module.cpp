// expect: does not say which tensors it holds
#include <any>

#include <sinter/module.h>

// Nobody knows what is in a std::any: it might be a layer.
struct Model {
#ifdef SINTER_CONTROL
  int any;
#else
  std::any any;
#endif
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
