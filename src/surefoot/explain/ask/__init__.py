"""From a row to a question."""
