// expect: needs a visit_fields\(\) const
#include <sinter/module.h>

struct Model {
  int x;
  template <class F>
  void visit_fields(F&& f) {
    f("x", x);
  }
};

#ifdef SINTER_CONTROL
void visit(Model& model) {
#else
void visit(const Model& model) {
#endif
  sinter::visit_parameters(model, [](const auto&, auto&) {});
}
