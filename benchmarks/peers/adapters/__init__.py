"""One file for each peer.

Each has a dict ``PEERS``: name -> prepare(case), which does what is done once for a classifier and returns
explain(factual) -> Answer, or None where the peer does not take that kind of classifier.
"""

from adapters import ceml, cfnow, dice, nice, surefoot

PEERS = surefoot.PEERS | dice.PEERS | nice.PEERS | cfnow.PEERS | ceml.PEERS
