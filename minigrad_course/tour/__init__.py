"""The guided tour: a page whose code runs, a network to train, and the cost of inference."""
