"""What people see: text, pages, plots and the command line. Nothing is computed here."""
