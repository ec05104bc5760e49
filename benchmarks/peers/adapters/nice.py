"""NICE (NICEx): its default and the two other strategies that need no auto-encoder."""

from functools import partial

from nice import NICE
from setting import Answer


def prepare(case, optimization):
    explainer = NICE(
        predict_fn=case.model.predict_proba,
        X_train=case.X.to_numpy(copy=True),  # it writes into what it is given
        cat_feat=[case.X.columns.get_loc(name) for name in case.categories],
        y_train=case.y.to_numpy(),
        optimization=optimization,
    )

    def explain(factual):
        return Answer(explainer.explain(factual.to_numpy(copy=True)[None], [case.target])[0])

    return explain


PEERS = {
    "NICE sparsity": partial(prepare, optimization="sparsity"),
    "NICE proximity": partial(prepare, optimization="proximity"),
    "NICE none": partial(prepare, optimization="none"),
}
