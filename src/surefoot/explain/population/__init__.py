"""Many rows: tables of explanations, and what they say about a population."""
