"""
Three norms, three kinds of steps
=================================

The norm says what counts as near, and how the step may miss. The maximum norm moves every coordinate a
little and is robust against an error in each of them at once; the sum moves few coordinates; the Euclidean
norm is in between.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots

bank = datasets.load_banknote()
clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)

figure, axes = plt.subplots(1, 3, figsize=(14, 5.4), layout="constrained")
for ax, norm in zip(axes, (np.inf, 2, 1), strict=True):
    explainer = CounterfactualExplainer(clf, budget=0.2, norm=norm, whitening="dag", bounds=None)
    e = explainer.explain(bank.X.iloc[0], target=1)
    plots.plot_whitened_plane(e, clf, coordinates=(0, 2), ax=ax)
    ax.set_title(f"p = {norm:g}, distance {e.distance:.2f}")
    u = clf.networks_[0].whitening("dag").matrix @ (e.counterfactual - e.factual).to_numpy()
    print(f"p = {norm:g}: whitened coordinates move by {u.round(2)}")
