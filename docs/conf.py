import surefoot

project = "surefoot"
copyright = "the surefoot developers"
release = surefoot.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),
}
myst_enable_extensions = ["dollarmath", "amsmath"]
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"
templates_path = ["_templates"]
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = "surefoot"
html_theme_options = {"navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
