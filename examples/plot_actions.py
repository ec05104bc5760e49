"""
What may change, and what may not
=================================

A suggestion to become younger helps nobody. Features may be fixed, may only rise or fall, or be kept within
bounds; every suggestion honours that, and a request that cannot be met says what stands in the way.
"""

# %%
# A patient of the Pima data who is taken to be diabetic.
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots

pima = datasets.load_pima()
clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(pima.X, pima.y)
patient = pima.X.iloc[8]

free = CounterfactualExplainer(clf, budget=0.05).explain(patient, target=0)
print(free.changes().round(2).to_string(index=False))

# %%
# Age, pregnancies and pedigree are what they are; insulin and glucose may move within limits.
explainer = CounterfactualExplainer(
    clf,
    budget=0.05,
    immutable=["preg", "age", "pedi", "skin"],
    bounds={"plas": (90, 200), "mass": (20, 45), "pres": (60, 120), "insu": (0, 600)},
)
possible = explainer.explain(patient, target=0)
print(possible)

# %%
# The price of the restrictions is a longer way.
print(f"distance {free.distance:.2f} when all may change, {possible.distance:.2f} under the restrictions")
plots.plot_changes(possible)

# %%
# If only the blood pressure may change, there is no way, and the explanation says what would open one.
stuck = CounterfactualExplainer(clf, immutable=[name for name in pima.X.columns if name != "pres"])
print(stuck.explain(patient, target=0, on_failure="return"))
