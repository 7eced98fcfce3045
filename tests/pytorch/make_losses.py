#!/usr/bin/env python3
"""Computes with PyTorch what losses must give, and writes it beside this file. Run by hand when a case is added."""
import torch
import torch.nn.functional as F

from reference import case, leaf, values, write

REDUCTIONS = "none", "mean", "sum"


def each(name, function, *inputs, reductions=("none",)):
    for reduction in reductions:
        fresh = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
        case(f"{name}_{reduction}", lambda *x: function(*x, reduction=reduction), *fresh)


def lp(x, y, reduction):
    loss = (x - y).abs() ** 3
    return loss if reduction == "none" else getattr(loss, reduction)()


signs = torch.tensor([1.0, -1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1]).double()
each("mse", F.mse_loss, leaf(3, 4), leaf(3, 4), reductions=REDUCTIONS)
each("l1", F.l1_loss, leaf(3, 4), values(3, 4))
each("lp", lp, leaf(3, 4), leaf(3, 4))
each("smooth_l1", lambda x, y, reduction: F.smooth_l1_loss(x, y, reduction=reduction, beta=0.5), leaf(3, 4), leaf(3, 4))
each("huber", lambda x, y, reduction: F.huber_loss(x, y, reduction=reduction, delta=1.5), leaf(3, 4), leaf(3, 4))
probability, truth = (values(3, 4).abs() / 2.5 + 0.05).requires_grad_(), values(3, 4).abs() / 2
each("binary_cross_entropy", F.binary_cross_entropy, probability, truth)
each("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, leaf(3, 4), truth)
each("binary_cross_entropy_weighted",
     lambda x, y, reduction: F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor(2.5).double(),
                                                                reduction=reduction), leaf(3, 4), truth)
target = torch.softmax(values(3, 4), 1) * (values(3, 4) > -1)
for reduction in "none", "batchmean":
    case(f"kl_{reduction}", lambda x, y: F.kl_div(x, y, reduction=reduction), leaf(3, 4), target)
each("kl_log", lambda x, y, reduction: F.kl_div(x, y, reduction=reduction, log_target=True), leaf(3, 4), leaf(3, 4))
variance = (values(3, 4).abs() + 0.1).requires_grad_()
each("gaussian_nll", F.gaussian_nll_loss, leaf(3, 4), leaf(3, 4), variance)
each("gaussian_nll_full", lambda x, y, v, reduction: F.gaussian_nll_loss(x, y, v, full=True, reduction=reduction),
     leaf(3, 4), leaf(3, 4), variance)
counts = values(3, 4).abs().mul(3).floor()
each("poisson_nll", F.poisson_nll_loss, leaf(3, 4), counts)
each("poisson_nll_full", lambda x, y, reduction: F.poisson_nll_loss(x, y, log_input=False, full=True, reduction=reduction),
     (values(3, 4).abs() + 0.2).requires_grad_(), counts)
each("hinge_embedding", lambda x, y, reduction: F.hinge_embedding_loss(x, y, margin=1.3, reduction=reduction), leaf(3, 4),
     signs.reshape(3, 4))
each("soft_margin", F.soft_margin_loss, leaf(3, 4), signs.reshape(3, 4))
each("margin_ranking", lambda a, b, y, reduction: F.margin_ranking_loss(a, b, y, margin=0.3, reduction=reduction),
     leaf(3, 4), leaf(3, 4), signs.reshape(3, 4))
each("cosine_embedding", lambda a, b, y, reduction: F.cosine_embedding_loss(a, b, y, margin=-0.2, reduction=reduction),
     leaf(4, 3), leaf(4, 3), signs[:4])
each("triplet_margin", F.triplet_margin_loss, leaf(4, 3), leaf(4, 3), leaf(4, 3))
each("triplet_margin_swap",
     lambda a, p, n, reduction: F.triplet_margin_loss(a, p, n, margin=3.0, p=3.0, swap=True, reduction=reduction),
     leaf(4, 3), leaf(4, 3), leaf(4, 3))
labels = torch.tensor([1, 4, 0, 3])
each("multi_margin", lambda x, t, reduction: F.multi_margin_loss(x, t.long(), reduction=reduction), leaf(4, 5),
     labels.double(), reductions=REDUCTIONS)
each("multi_margin_weighted",
     lambda x, t, w, reduction: F.multi_margin_loss(x, t.long(), p=2, margin=0.7, weight=w, reduction=reduction),
     leaf(4, 5), labels.double(), values(5).abs(), reductions=REDUCTIONS)
each("multi_label_soft_margin", F.multilabel_soft_margin_loss, leaf(3, 4), (values(3, 4) > 0).double(), reductions=REDUCTIONS)

each("cross_entropy", lambda x, t, reduction: F.cross_entropy(x, t.long(), reduction=reduction), leaf(4, 5),
     labels.double(), reductions=REDUCTIONS)
weights = values(5).abs() + 0.25
each("cross_entropy_weighted",
     lambda x, t, w, reduction: F.cross_entropy(x, t.long(), w, label_smoothing=0.2, reduction=reduction), leaf(4, 5),
     labels.double(), weights, reductions=REDUCTIONS)
each("cross_entropy_ignored",
     lambda x, t, reduction: F.cross_entropy(x, t.long(), ignore_index=4, label_smoothing=0.1, reduction=reduction),
     leaf(4, 5), labels.double(), reductions=REDUCTIONS)
each("cross_entropy_ignored_weighted",
     lambda x, t, w, reduction: F.cross_entropy(x, t.long(), w, ignore_index=-100, reduction=reduction), leaf(4, 5),
     torch.tensor([1, -100, 0, 3]).double(), weights, reductions=REDUCTIONS)
each("cross_entropy_images", lambda x, t, reduction: F.cross_entropy(x, t.long(), reduction=reduction), leaf(2, 3, 2, 2),
     torch.tensor([[[1, 0], [2, 2]], [[0, 1], [1, 2]]]).double(), reductions=REDUCTIONS)
each("cross_entropy_soft",
     lambda x, t, w, reduction: F.cross_entropy(x, t, w, label_smoothing=0.1, reduction=reduction), leaf(4, 5),
     torch.softmax(values(4, 5), 1), weights, reductions=REDUCTIONS)
each("nll", lambda x, t, reduction: F.nll_loss(x, t.long(), reduction=reduction), leaf(4, 5), labels.double(), reductions=REDUCTIONS)

def bce_smooth(x, y, w, reduction):
    return F.binary_cross_entropy(x, y * 0.8 + 0.1, w, reduction=reduction)


each("binary_cross_entropy_classes", bce_smooth, probability, truth, values(4).abs(), reductions=REDUCTIONS)
each("binary_cross_entropy_logits_classes",
     lambda x, y, w, p, reduction: F.binary_cross_entropy_with_logits(x, y * 0.7 + 0.15, w, pos_weight=p, reduction=reduction),
     leaf(3, 4), truth, values(4).abs(), values(4).abs() + 0.5, reductions=REDUCTIONS)
each("multi_label_soft_margin_weighted",
     lambda x, y, w, reduction: F.multilabel_soft_margin_loss(x, y, w, reduction=reduction), leaf(3, 4),
     (values(3, 4) > 0).double(), values(4).abs())
write(__file__, "loss_cases")
