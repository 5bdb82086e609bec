"""The demo: ten months of real flights in a minute.

    flights.py     the bundled sample and its settings
    playback.py    replays recorded events at a given speed
    months.py      counts of each month, once its labels are complete
    month_rows.py  table of the months
    story.py       conclusion drawn from the months
    faults/        `demo --alerts`: two faults in turn, and the alerts of each
    claims.py      events of `sample`, made up from a seed

The sample (CC0): 57,286 flights from New York between March and December 2013,
each with a model's prediction whether it would be 15 minutes late, and, if it
landed, whether it was.
"""
