# right: the latest op of each number in a dictionary
def linked(events):
    ops, pairs = {}, []
    for event in events:
        if event.scope != BACKWARD:
            ops[event.sequence_nr] = event
        elif event.sequence_nr >= 0 and event.sequence_nr in ops:
            pairs.append((ops[event.sequence_nr], event))
    return pairs

# right: each backward event looks back
def linked(events):
    events, pairs = list(events), []
    for i, event in enumerate(events):
        if event.scope == BACKWARD and event.sequence_nr >= 0:
            for j in range(i - 1, -1, -1):
                op = events[j]
                if op.scope != BACKWARD and op.sequence_nr == event.sequence_nr:
                    pairs.append((op, event))
                    break
    return pairs

# right: the places of all ops by number, searched by bisection
from bisect import bisect
from collections import defaultdict

def linked(events):
    events, places = list(events), defaultdict(list)
    for i, event in enumerate(events):
        if event.scope != BACKWARD:
            places[event.sequence_nr].append(i)
    pairs = []
    for i, event in enumerate(events):
        if event.scope == BACKWARD and event.sequence_nr > -1:
            found = bisect(places[event.sequence_nr], i)
            if found:
                pairs.append((events[places[event.sequence_nr][found - 1]], event))
    return pairs

# wrong 11_5_ops_after_the_backward: all ops first, then all backward events
def linked(events):
    events = list(events)
    ops = {e.sequence_nr: e for e in events if e.scope != BACKWARD and e.sequence_nr >= 0}
    return [(ops[e.sequence_nr], e) for e in events
            if e.scope == BACKWARD and e.sequence_nr in ops]

# wrong 11_5_one_pair_for_each_op: an op is used up by its backward event
def linked(events):
    ops, pairs = {}, []
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope != BACKWARD:
            ops[event.sequence_nr] = event
        elif event.sequence_nr in ops:
            pairs.append((ops.pop(event.sequence_nr), event))
    return pairs

# wrong 11_5_the_first_op_of_a_number: the first op of a number is kept
def linked(events):
    ops, pairs = {}, []
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope != BACKWARD:
            ops.setdefault(event.sequence_nr, event)
        elif event.sequence_nr in ops:
            pairs.append((ops[event.sequence_nr], event))
    return pairs

# wrong 11_5_threads_are_told_apart: op and backward have to run on one thread
def linked(events):
    ops, pairs = {}, []
    for event in events:
        key = event.thread, event.sequence_nr
        if event.scope != BACKWARD:
            ops[key] = event
        elif event.sequence_nr >= 0 and key in ops:
            pairs.append((ops[key], event))
    return pairs

# wrong -: an op has to end before its backward event begins
def linked(events):
    ops, pairs = {}, []
    for event in events:
        if event.scope != BACKWARD:
            ops[event.sequence_nr] = event
        elif event.sequence_nr >= 0 and event.sequence_nr in ops:
            op = ops[event.sequence_nr]
            if op.time_range.end <= event.time_range.start:
                pairs.append((op, event))
    return pairs

# wrong -: two passes over what may be an iterator
def linked(events):
    ops = {}
    for number, event in enumerate(events):
        if event.scope != BACKWARD and event.sequence_nr >= 0:
            ops.setdefault(event.sequence_nr, []).append((number, event))
    pairs = []
    for number, event in enumerate(events):
        if event.scope == BACKWARD:
            before = [op for at, op in ops.get(event.sequence_nr, ()) if at < number]
            if before:
                pairs.append((before[-1], event))
    return pairs

# wrong -: pairs in the order of the ops
def linked(events):
    events, pairs = list(events), []
    for i, op in enumerate(events):
        if op.scope == BACKWARD or op.sequence_nr < 0:
            continue
        for event in events[i + 1:]:
            if event.sequence_nr == op.sequence_nr:
                if event.scope != BACKWARD:
                    break
                pairs.append((op, event))
    return pairs

# wrong 11_5_one_pair_for_each_op: every backward event is matched by counting back
def linked(events):
    ops, pairs = [], []
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope != BACKWARD:
            ops.append(event)
        elif ops:
            pairs.append((ops.pop(), event))
    return pairs
