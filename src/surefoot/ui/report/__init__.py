"""Reports: text and pages about what was computed elsewhere."""
