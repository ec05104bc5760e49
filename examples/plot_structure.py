"""
Does the suggestion hang together?
==================================

Naive Bayes looks at each feature by itself; a tree knows that features depend on each other. The same
question to both gives different suggestions. How plausible is each, judged by what is expected of a feature
given the features it depends on?
"""

# %%
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets

bank = datasets.load_banknote()
tree = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
naive = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
note = bank.X.iloc[3]

for name, clf in (("naive", naive), ("tan", tree)):
    e = CounterfactualExplainer(clf, budget=0.05).explain(note, target=1)
    there = tree.networks_[1]
    x = e.counterfactual.to_numpy()
    z = (x - there.expected(x)) / there.variances**0.5
    print(f"{name:<6} distance {e.distance:.2f}, accuracy of the classifier {clf.score(bank.X, bank.y):.1%}")
    deviations = ", ".join(
        f"{feature} {value:+.1f}" for feature, value in zip(bank.feature_names, z, strict=True)
    )
    print(f"       deviations from what the tree expects, in standard deviations: {deviations}")

# %%
# The explanation itself says what is expected of each feature before and after, and how far the suggestion is
# from that in conditional standard deviations.
e = CounterfactualExplainer(tree, budget=0.05).explain(note, target=1)
print(e.expectations().round(2).to_string(index=False))
print(f"{e.density_percentile:.0f} % of the forged notes are less typical")
