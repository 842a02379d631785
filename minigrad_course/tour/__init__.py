"""The guided tour: a page whose code runs, a network that it trains, and what inference costs."""
