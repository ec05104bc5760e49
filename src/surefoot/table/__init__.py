"""Tables as people have them: reading files, kinds of columns, complaints by row and column."""
