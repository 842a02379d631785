"""Parts of the profiler: the recorder, and how its events are shown."""
