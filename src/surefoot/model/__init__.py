"""The fitted network: graph, densities, classifier, files, and other people's models as networks."""
