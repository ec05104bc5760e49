"""One row or many: asked, answered, and asked again."""
