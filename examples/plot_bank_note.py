"""
One bank note, explained
========================

A classifier takes a photographed bank note for genuine. What is the smallest change of its four measurements
after which it would be taken for forged, even if the change is carried out slightly wrong?
"""

# %%
# Fit a tree-structured classifier to the notes that come with the package, and ask.
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots

bank = datasets.load_banknote()
names = bank.y.map(dict(enumerate(bank.class_names)))
clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, names)
explainer = CounterfactualExplainer(clf, budget=0.05)
e = explainer.explain(bank.X.iloc[0], target="forged")
print(e)

# %%
# What the network learned about the measurements: which depends on which.
clf.plot_dag()

# %%
# The change, in standard deviations.
plots.plot_changes(e)

# %%
# The plane of the two largest changes. All other features are held at the counterfactual's values, so the
# factual is a projection. The ball of errors that the budget allows is the small polygon in the inset.
plots.plot_plane(e, clf)

# %%
# The same in whitened coordinates, where distances are measured: the uncertainty ball is a square for the
# maximum norm, and the dashed square around the factual holds everything that is nearer.
plots.plot_whitened_plane(e, clf)
