"""One file of translations for each language of letters."""
