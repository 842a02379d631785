"""The measurements behind `minigrad bench`."""
