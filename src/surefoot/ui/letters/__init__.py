"""Letters: what a person is told about a decision, on one page and in plain words."""
