"""
Many rows at once
=================

A batch keeps the order of its rows, and rows that fail keep their place. The same call runs on two cores with
``n_jobs=2``, or on a Dask, Ray or Spark cluster inside ``joblib.parallel_config``.
"""

# %%
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots

pima = datasets.load_pima()
clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(pima.X, pima.y)
diabetic = pima.X[clf.predict(pima.X) == 1].head(40)
explainer = CounterfactualExplainer(clf, budget=0.05, immutable=["age", "preg"])
es = explainer.explain_batch(diabetic, target=0, progress=False)
print(es)
print(es.found.to_frame()[["distance", "coverage", "density_percentile"]].describe().round(2))

# %%
# How far these patients are from the other decision.
plots.plot_distances(es)

# %%
# Which features change most.
plots.plot_feature_shares(es)
