"""Proofs: the certificate's format and two checkers that share nothing with the searches."""
