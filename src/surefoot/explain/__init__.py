"""From a row to an explanation."""
