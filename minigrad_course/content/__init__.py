"""The course as files: stages and exercises, the text of lessons, and the package's source."""
