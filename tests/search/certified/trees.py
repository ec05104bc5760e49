"""What is in a certificate's tree."""


def leaves(node):
    """The leaves of a certificate's tree."""
    return leaves(node["below"]) + leaves(node["above"]) if "cut" in node else [node]


def cuts(node):
    """The functions that a certificate's tree cuts."""
    return [node["cut"][0], *cuts(node["below"]), *cuts(node["above"])] if "cut" in node else []
