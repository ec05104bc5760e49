"""
The paper's method, round by round
==================================

The cutting-set procedure alternates between a master, which finds the nearest point that withstands the
perturbations known so far, and an adversary, which finds a worse one. The log-odds are not convex, which is
why both need a global solver; the certified search proves the same optimum without one.
"""

# %%
# The log-odds of class 1 over two features.
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, Qcqp, datasets, plots

bank = datasets.load_banknote()
clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)
plots.plot_surface(clf, 1, features=["variance", "curtosis"])

# %%
# The paper's QCQP, solved with SCIP: distance and bound rise, the violation falls to nothing.
note = bank.X.iloc[0]
paper = CounterfactualExplainer(clf, budget=0.1, method=Qcqp(backend="scip"), bounds=None)
e = paper.explain(note, target=1)
plots.plot_trace(e)

# %%
# The certified search finds the same distance, and its bound is proven.
ours = CounterfactualExplainer(clf, budget=0.1, bounds=None).explain(note, target=1)
print(f"qcqp      {e.distance:.4f} in {len(e.iterations)} rounds")
print(f"certified {ours.distance:.4f}, at least {ours.lower_bound:.4f}")
