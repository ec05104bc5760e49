"""Draw the pictures that README and front page show: python docs/images/make.py."""

from pathlib import Path

import matplotlib.pyplot as plt

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots

HERE = Path(__file__).parent


def bank_note():
    bank = datasets.load_banknote()
    names = bank.y.map(dict(enumerate(bank.class_names)))
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, names)
    e = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target="forged")
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1, 1.1))
    figure.get_layout_engine().set(rect=(0.0, 0.0, 0.99, 1.0))
    plots.plot_changes(e, ax=axes[0])
    plots.plot_plane(e, clf, ax=axes[1])
    figure.savefig(HERE / "bank_note.png", dpi=110)


if __name__ == "__main__":
    bank_note()
