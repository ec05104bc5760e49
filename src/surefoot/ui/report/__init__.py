"""Faces: they print and draw what others computed."""
