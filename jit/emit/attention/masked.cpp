// Writes the scores of tiles of which a mask of places leaves a part.
#include <algorithm>
#include <utility>

#include "jit/emit/attention/scores.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

std::vector<ScoresText::Choice> ScoresText::choices_of(ExprId score) const {
  std::vector<Choice> choices;
  if (!scaled_dot(score)) return choices;
  for (; expr(score).op == Op::Where; score = expr(score).args[1])
    choices.push_back({score, expr(score).args[0], expr(score).args[2]});
  return choices;
}

/// The score that exponentials are of, if all that is known of a masked element is that it is minus infinity:
/// then its product may be that already, and the tile is like one in which all is seen. Nobody else may ask
/// for the product, or for a condition.
std::optional<ScoresText::MaskedDot> ScoresText::find_masked() const {
  const std::optional<ExprId> score = exponentiated();
  const std::optional<ScaledDot> dot = score ? scaled_dot(*score) : std::nullopt;
  if (!dot) return std::nullopt;
  MaskedDot masked{*dot, choices_of(*score)};
  // From the score down to the product.
  std::vector<ExprId> chain;
  for (const Choice& choice : masked.choices) {
    if (!is_argument(choice.instead)) return std::nullopt;
    chain.push_back(choice.score);
  }
  const ExprId product = chain.empty() ? *score : expr(chain.back()).args[1];
  chain.push_back(product);
  chain.push_back(dot->dot);
  const std::vector<ExprId>& conditions = masks_.conditions();
  bool is_alone = true;
  for (ExprId user = 0; user < k_.exprs.size(); ++user) {
    if (!live_[user]) continue;
    const auto place = std::find(chain.begin(), chain.end(), user);
    for_operands(expr(user), [&](ExprId operand) {
      const auto below = std::find(chain.begin(), chain.end(), operand);
      if (below != chain.end() && below != chain.begin() && (place == chain.end() || place + 1 != below))
        is_alone = false;
      const bool is_condition = std::find(conditions.begin(), conditions.end(), operand) != conditions.end();
      const bool joins = expr(user).kind == ExprKind::Elementwise && expr(user).op == Op::And;
      if (is_condition && !joins && place == chain.end()) is_alone = false;
    });
  }
  if (!is_alone) return std::nullopt;
  return masked;
}

std::optional<ExprId> ScoresText::exponentiated() const {
  if (is_softmax()) return expr(greatest_[0]).args[0];
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.kind != ExprKind::Elementwise || e.op != Op::Exp) continue;
    const Expr& difference = expr(e.args[0]);
    if (difference.kind == ExprKind::Elementwise && difference.op == Op::Sub &&
        expr(difference.args[0]).level == Level::Inner)
      return difference.args[0];
  }
  return std::nullopt;
}

/// True iff a column that does not exist adds nothing to sums if its score is minus infinity, and nothing is
/// read for it: what is added up are the exponentials.
bool ScoresText::sums_exponentials() const {
  const auto is_exponential = [&](ExprId id) {
    while (expr(id).kind == ExprKind::Elementwise && expr(id).op == Op::Cast) id = expr(id).args[0];
    return expr(id).kind == ExprKind::Elementwise && expr(id).op == Op::Exp;
  };
  const auto all = [&](const std::vector<ExprId>& reduced) {
    return std::all_of(reduced.begin(), reduced.end(),
                       [&](ExprId id) { return is_exponential(expr(id).args[0]); });
  };
  return is_softmax() && all(sums_) && all(combines_);
}

std::string ScoresText::plain_condition() const {
  const std::optional<ExprId> score = exponentiated();
  const std::optional<ScaledDot> dot = score ? scaled_dot(*score) : std::nullopt;
  const std::string positive = dot ? dot->scale + " > 0.f" : "";
  std::string masked;
  if (masked_) {
    masked = positive;
    for (const Choice& choice : masked_->choices)
      masked += " && " + e_.value(choice.instead) + " == -SN_INFINITY";
    if (!sums_exponentials()) masked += " && from + SN_COLUMNS <= size_n";
    masked = "(" + masked + ")";
  }
  // The greatest score is that of the greatest product.
  const std::string seen = is_softmax() && dot ? "(is_seen && " + positive + ")" : "is_seen";
  const std::string plain = masked.empty() ? seen : seen + " || " + masked;
  return row_exponential_ ? "are_near && (" + plain + ")" : plain;
}

void ScoresText::write_mask() {
  if (!masked_) return;
  std::vector<ExprId> conditions;
  std::string holds = "offset < columns_left";
  for (const Choice& choice : masked_->choices) {
    conditions.push_back(choice.condition);
    holds += " && " + e_.value(choice.condition);
  }
  const std::string score = name("scores", masked_->dot.dot) + "[i]";
  e_.open("if (!is_seen)");
  // Nobody else may write what tensor cores write while they are at work.
  wait_for_combines();
  open_scores(true, conditions, 0);
  e_.out.line(score + " = " + holds + " ? " + score + " : -SN_INFINITY;");
  close_scores();
  e_.close();
}

void ScoresText::write_margins(const std::vector<bool>& needed) {
  const std::string first = shared_.orders_columns() ? "lane % 4" : "column_of_lane";
  e_.out.line("const int columns_left = size_n - from - " + first + ";");
  std::vector<std::pair<ExprId, Margin>> margins;
  for (ExprId id = 0; id < needed.size(); ++id)
    if (needed[id])
      if (const std::optional<Margin> margin = masks_.margin(id)) margins.emplace_back(id, *margin);
  if (margins.empty()) return;
  std::vector<bool> places(k_.exprs.size());
  for (const auto& [id, margin] : margins) {
    e_.out.line("int " + name("margin", id) + "[2];");
    places[margin.from] = places[margin.to] = true;
  }
  for (ExprId id = static_cast<ExprId>(places.size()); id-- > 0;)
    if (places[id]) for_operands(expr(id), [&](ExprId arg) { places[arg] = true; });
  open_rows();
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[column_], e_.index("from + " + first)));
  for (ExprId id = 0; id < places.size(); ++id)
    if (places[id] && !is_argument(id)) e_.define(id);
  for (const auto& [id, margin] : margins)
    e_.out.line(name("margin", id) + "[r] = tc_margin(" + e_.value(margin.from) + ", " + e_.value(margin.to) +
                ");");
  e_.close();
}

}  // namespace sinter::emit
