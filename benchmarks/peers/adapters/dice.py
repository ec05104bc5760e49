"""DiCE (dice-ml): its three model-agnostic methods, one counterfactual each, everything else by default."""

from functools import partial

import dice_ml
from raiutils.exceptions import UserConfigValidationException
from setting import Answer


def prepare(case, method):
    data = dice_ml.Data(
        dataframe=case.X.assign(outcome=case.y),
        continuous_features=[name for name in case.X if name not in case.categories],
        outcome_name="outcome",
    )
    explainer = dice_ml.Dice(data, dice_ml.Model(model=case.model, backend="sklearn"), method=method)

    def explain(factual):
        try:
            # No random_seed: with one, every feature gets the same stream of random numbers.
            found = explainer.generate_counterfactuals(
                factual.to_frame().T, total_CFs=1, desired_class=case.target
            )
        except UserConfigValidationException as error:
            if "No counterfactuals found" not in str(error):
                raise
            return Answer(None)
        # What DiCE shows by default: the counterfactual after its post-hoc sparsity step.
        frame = found.cf_examples_list[0].final_cfs_df_sparse
        kind = object if case.categories else float
        return Answer(frame[case.X.columns].to_numpy(dtype=kind)[0] if len(frame) else None)

    return explain


PEERS = {
    "DiCE random": partial(prepare, method="random"),
    "DiCE genetic": partial(prepare, method="genetic"),
    "DiCE kdtree": partial(prepare, method="kdtree"),
}
