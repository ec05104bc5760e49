"""What is asked, as a value, and the problem of quadratics, rows and choices that it poses."""
