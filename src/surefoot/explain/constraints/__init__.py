"""What a person may change: one file for each kind of constraint."""
