"""Proofs: the checker of certificates, which shares nothing with the searches, and the worst perturbation."""
