"""Defaults that the command line names in its help, which loads neither tables nor models."""

# Values of a category. With ten times as many, most of them have too few rows for anything to be learned.
MOST_VALUES = 50
# Values of a category that a model takes at all. With ten times as many, a table of two of them would have a
# hundred million cells.
LARGEST_CATEGORY = 1_000

# Refits that a model keeps: their shares are steps of 5 %. Ten times more would make files and answers ten
# times slower.
KEPT = 20
# Rows on which models are compared. Ten times as many would hardly ever choose another one, and take ten
# times as long.
CHOOSE_ON = 20_000
# What a parameter of an edge of a tree costs, in nats: as much as it is expected to lose on new rows. Ten
# times as much, and trees of tables of a thousand rows have hardly an edge left.
EDGE_PENALTY = 0.5
