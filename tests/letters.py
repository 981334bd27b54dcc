"""A model that needs no weights: what is written alike means alike."""

import numpy as np


class Letters:
    """A model whose vectors count letters."""

    id, revision, dims = "letters", "1", 26

    def encode(self, texts):
        """Texts to unit vectors [n, 26]."""
        rows = [[text.lower().count(chr(97 + place)) + 1e-6 for place in range(26)] for text in texts]
        made = np.array(rows, dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def calibration(self, cosine):
        """As it is."""
        return cosine
