"""Parts of `gradcheck`: numerical derivatives and the comparisons."""
