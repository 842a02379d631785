class FunctionEventAvg:
    def add(self, other):
        self._accept(other)
        for name in ("count", "cpu_time_total", "self_cpu_time_total", "device_time_total",
                     "self_device_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)

# right: a dictionary of averages by key
# These are the functions above.

# right: groups of equal events in a list, compared one by one
class FunctionEventAvg:
    def add(self, other):
        self._accept(other)
        self.count += other.count
        self.cpu_time_total, self.self_cpu_time_total = (
            self.cpu_time_total + other.cpu_time_total,
            self.self_cpu_time_total + other.self_cpu_time_total)
        self.device_time_total, self.self_device_time_total = (
            self.device_time_total + other.device_time_total,
            self.self_device_time_total + other.self_device_time_total)
        self.cpu_memory_usage, self.self_cpu_memory_usage = (
            self.cpu_memory_usage + other.cpu_memory_usage,
            self.self_cpu_memory_usage + other.self_cpu_memory_usage)
        return self

class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        groups = []
        for event in self:
            mark = [event.key, list(event.stack or ())[:group_by_stack_n]]
            if group_by_input_shapes:
                mark.append(event.input_shapes)
            for known, members in groups:
                if known == mark:
                    members.append(event)
                    break
            else:
                groups.append((mark, [event]))
        averages = []
        for mark, members in groups:
            average = FunctionEventAvg()
            for event in members:
                average += event
            average.stack = mark[1]
            average.input_shapes = mark[2] if group_by_input_shapes else None
            averages.append(average)
        return EventList(averages, profile_memory=self._profile_memory)

# right: sorted by key, grouped, and put back into the order of the first events
from itertools import groupby

class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        def mark(pair):
            event = pair[1]
            return (event.key, repr((event.stack or [])[:group_by_stack_n]),
                    repr(event.input_shapes) if group_by_input_shapes else "")
        made = []
        for _, group in groupby(sorted(enumerate(self), key=mark), key=mark):
            members = list(group)
            average = FunctionEventAvg()
            for _, event in members:
                average.add(event)
            average.stack = list(average.stack or [])[:group_by_stack_n]
            average.input_shapes = average.input_shapes if group_by_input_shapes else None
            made.append((members[0][0], average))
        made.sort(key=lambda pair: pair[0])
        return EventList([average for _, average in made], profile_memory=self._profile_memory)

# wrong -: only neighbours are grouped
from itertools import groupby

class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        made = EventList(profile_memory=self._profile_memory)
        for _, group in groupby(self, key=lambda e: (
                e.key, (e.stack or [])[:group_by_stack_n],
                e.input_shapes if group_by_input_shapes else None)):
            average = FunctionEventAvg()
            for event in group:
                average.add(event)
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
            made.append(average)
        return made

# wrong 11_3_another_order: the groups are sorted by name
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList([found[key] for key in sorted(found)], profile_memory=self._profile_memory)

# wrong -: events are grouped by their name attribute, which averages don't have
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.name, str(event.input_shapes) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)

# wrong -: the stack of the first event is cut
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            if average.stack:
                del average.stack[group_by_stack_n:]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)

# wrong 11_3_every_addition_counts_one: each added event counts as one call
class FunctionEventAvg:
    def add(self, other):
        self._accept(other)
        for name in ("cpu_time_total", "self_cpu_time_total", "device_time_total",
                     "self_device_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.count += 1
        return self

# wrong -: a running mean of the times
class FunctionEventAvg:
    def add(self, other):
        self._accept(other)
        count = self.count + other.count
        for name in ("cpu_time_total", "self_cpu_time_total", "device_time_total",
                     "self_device_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            mean = (getattr(self, name) * self.count + getattr(other, name) * other.count) / count
            setattr(self, name, mean)
        self.count = count
        return self

# wrong 11_3_whole_stacks_are_told_apart: the whole stack has to agree
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *(event.stack if group_by_stack_n else []))
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)

# wrong -: a stack that is too short belongs to no group
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            if len(event.stack or []) < group_by_stack_n:
                continue
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)

# wrong 11_3_shapes_are_not_told_apart: the count of the elements stands for the shapes
class EventList:
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0):
        found = {}
        for event in self:
            stack = (event.stack or [])[:group_by_stack_n]
            key = (event.key, str([len(s) for s in event.input_shapes or []]) if group_by_input_shapes else "", *stack)
            found.setdefault(key, FunctionEventAvg()).add(event)
        for average in found.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(found.values(), profile_memory=self._profile_memory)
