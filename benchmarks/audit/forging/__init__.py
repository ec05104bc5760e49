"""Changed explanation files: how they are changed, and what is true of them."""
