"""The narrow waist: a question as a value, and the problem of quadratics, rows and choices that it poses."""
