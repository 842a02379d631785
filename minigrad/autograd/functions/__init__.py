"""Parts of `Function`: its context, arguments, outputs, forward mode and batches."""
