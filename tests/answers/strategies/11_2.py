class _Times:
    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

class FunctionEvent:
    @property
    def cpu_time_total(self):
        return 0.0 if self.is_async else self.time_range.elapsed_us()

class EventList:
    @property
    def self_cpu_time_total(self):
        return sum((event.self_cpu_time_total for event in self), 0.0)

# wrong 11_2_all_within_is_subtracted: the totals of all descendants
class FunctionEvent:
    @property
    def self_cpu_time_total(self):
        if self.is_async:
            return 0.0
        left, stack = self.cpu_time_total, list(self.cpu_children)
        while stack:
            event = stack.pop()
            left -= event.cpu_time_total
            stack += event.cpu_children
        return left

    @property
    def self_cpu_memory_usage(self):
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

# wrong 11_2_all_bytes_within_are_subtracted: the bytes of all descendants
class FunctionEvent:
    @property
    def self_cpu_time_total(self):
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        if self.is_async:
            return 0
        left, stack = self.cpu_memory_usage, list(self.cpu_children)
        while stack:
            event = stack.pop()
            left -= event.cpu_memory_usage
            stack += event.cpu_children
        return left
