"""Views, joins and other changes of shape."""
