// expect: fields cannot be counted: one is a non-const reference
#include <sinter/module.h>

struct Model {
  int x;
#ifdef SINTER_CONTROL
  int y;
#else
  int& y;
#endif
};

void visit(Model& model) {
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
