"""What people see: text, pages, plots and the command line. Faces print and draw; they do not compute."""
