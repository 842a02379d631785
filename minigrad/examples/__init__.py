"""Small programs with which the lessons begin; no other module imports them."""
