"""Defaults of choosing a model that the command line names in its help, which loads no tables."""

# Refits that a model keeps: their shares are steps of 5 %. Ten times more would make files and answers ten
# times slower.
KEPT = 20
# Rows on which models are compared. Ten times as many would hardly ever choose another one, and take ten
# times as long.
CHOOSE_ON = 20_000
