"""surefoot with the paper's preset within the range of the data; numbers may take any value."""

from functools import partial

from setting import Answer

from surefoot import CounterfactualExplainer


def prepare(case, **settings):
    explainer = CounterfactualExplainer(
        case.model,
        preset="paper",
        bounds="data",
        data=(case.X, case.y),
        time_limit=60,
        **settings,
    )

    def explain(factual):
        e = explainer.explain(factual, case.target, on_failure="return")
        if e.counterfactual is None:
            return Answer(None)
        return Answer(e.counterfactual.to_numpy(), e.distance / e.lower_bound - 1)

    return explain


PEERS = {
    "surefoot (budget 0)": partial(prepare, budget=0.0),
    "surefoot (budget 0.05)": partial(prepare, budget=0.05),
    "surefoot (budget 0.05, norm 2)": partial(prepare, budget=0.05, norm=2),
    "surefoot (budget 0.05, norm 1)": partial(prepare, budget=0.05, norm=1),
    "surefoot (budget 0, norm 1)": partial(prepare, budget=0.0, norm=1),
}
