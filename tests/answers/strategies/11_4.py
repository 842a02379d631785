# right: filter, sort in reverse, cut
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: getattr(e, sort_by), reverse=True)
    return rows if row_limit < 0 else rows[:row_limit]

# right: the negative value as the key
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = list(events)
    if sort_by:
        rows.sort(key=lambda event: -getattr(event, sort_by))
    rows = [event for event in rows if event.cpu_parent is None] if top_level_events_only else rows
    return rows[:len(rows) if row_limit < 0 else row_limit]

# right: the largest of a heap
import heapq

def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if e.cpu_parent is None or not top_level_events_only]
    count = len(rows) if row_limit < 0 else row_limit
    if sort_by is None:
        return rows[:count]
    return heapq.nlargest(count, rows, key=lambda e: getattr(e, sort_by))

# right: the first of the largest is taken out again and again
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    left, shown = [], []
    for event in events:
        if not (top_level_events_only and event.cpu_parent is not None):
            left.append(event)
    while left and len(shown) != row_limit:
        best = 0
        if sort_by is not None:
            for i, event in enumerate(left):
                if getattr(event, sort_by) > getattr(left[best], sort_by):
                    best = i
        shown.append(left.pop(best))
    return shown

# wrong 11_4_equal_ones_change_places: sorted from the smallest, and turned round
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: getattr(e, sort_by))[::-1]
    return rows if row_limit < 0 else rows[:row_limit]

# wrong 11_4_cut_before_leaving_out: rows are cut before they are filtered
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = list(events)
    if sort_by is not None:
        rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
    if row_limit >= 0:
        rows = rows[:row_limit]
    return [e for e in rows if not top_level_events_only or e.cpu_parent is None]

# wrong 11_4_cut_before_sorting: rows are cut before they are sorted
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    rows = rows if row_limit < 0 else rows[:row_limit]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: getattr(e, sort_by), reverse=True)
    return rows

# wrong 11_4_no_row_shows_all: a limit of 0 is none
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: getattr(e, sort_by), reverse=True)
    return rows[:row_limit] if row_limit > 0 else rows

# wrong -: an event is at the top if no event of the list contains it
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    inner = {id(child) for e in events for child in getattr(e, "cpu_children", ())}
    rows = [e for e in events if not top_level_events_only or id(e) not in inner]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: getattr(e, sort_by), reverse=True)
    return rows if row_limit < 0 else rows[:row_limit]

# wrong -: a dictionary by value, in which equal values replace each other
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if not top_level_events_only or e.cpu_parent is None]
    if sort_by is not None:
        by_value = {getattr(e, sort_by): e for e in rows}
        rows = [by_value[value] for value in sorted(by_value, reverse=True)]
    return rows if row_limit < 0 else rows[:row_limit]

# wrong 11_4_another_number_of_rows: the limit is the last index
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if e.cpu_parent is None or not top_level_events_only]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: -getattr(e, sort_by))
    return rows if row_limit < 0 else rows[:row_limit - 1]

# wrong 11_4_another_number_of_rows: the row at the limit is shown too
def rows_shown(events, sort_by, row_limit, top_level_events_only):
    rows = [e for e in events if e.cpu_parent is None or not top_level_events_only]
    if sort_by is not None:
        rows = sorted(rows, key=lambda e: -getattr(e, sort_by))
    return rows if row_limit < 0 else rows[:row_limit + 1]
