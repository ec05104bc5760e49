"""Write what the documentation takes from elsewhere: python docs/make.py.

The picture of README and front page is drawn; the page of experiments is put together from the result
files of ``surefoot reproduce`` (benchmarks/results/paper) and of the comparison with peers
(benchmarks/peers/results).
"""

from pathlib import Path

import matplotlib.pyplot as plt

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, plots
from surefoot.experiments.page import experiments_page

HERE = Path(__file__).parent
RESULTS = "../benchmarks/results/paper/"
PEERS = "../benchmarks/peers/results/peers.md"
LESSON = """\
What this says: with a budget, surefoot is the only one whose every counterfactual holds in the whole
ball, for six per cent more distance than the plain optimum; where a peer's point holds there, it is two
and a half to five times as far away. Of 658 valid counterfactuals of peers, none that stays within the
range of the data is nearer than the certified optimum; two of CFNOW's that leave it are. Our weaknesses
stand in the same tables: with the maximum norm nearly every feature changes (norm 1 changes few), NICE
is faster and its points, like those of CEML with l1, are more typical of the target class, and CEML with
l2 is nearer in its own metric."""


def loan():
    """What would have to change for a refused loan to be granted, beside the reasons why it was refused."""
    credit = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(credit.X, credit.y)
    e = CounterfactualExplainer(clf, immutable=["purpose"]).explain(credit.X.iloc[11], target="good")
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=(1, 1.1))
    plots.plot_changes(e, ax=axes[0])
    e.reasons.plot(ax=axes[1])
    figure.savefig(HERE / "images" / "loan.png", dpi=110)


def experiments():
    """The page of experiments: tables and figures of the result files, and what they mean."""
    page = experiments_page(HERE / RESULTS, RESULTS)
    meaning = (HERE / RESULTS / "meaning.md").read_text(encoding="utf-8")
    # The tables over all data sets; a link out of the documentation would be a warning.
    peers = (HERE / PEERS).read_text(encoding="utf-8").split("\n## Banknote")[0]
    peers = peers.replace("[README](../README.md)", "`benchmarks/peers/README.md`").replace("\n## ", "\n### ")
    rest = "The same for each data set and classifier: `benchmarks/peers/results/peers.md`."
    return "\n".join([page, meaning, "## Against peers", "", peers, LESSON, "", rest, ""])


if __name__ == "__main__":
    loan()
    (HERE / "experiments.md").write_text(experiments(), encoding="utf-8")
