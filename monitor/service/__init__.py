"""The running process: feeds → engine → exporter.

    loop.py           polls, counts, and publishes a snapshot once a second
    sources.py        opens the sources of the configured feeds
    posted.py         HTTP feeds as one source: journaled, acknowledged, counted
    journal_faults.py  what is wrong with the journal at a start
    checkpointing.py  restores the state at the start, and saves it
    checkpoint_readings.py   series of checkpoints
    forwarder.py      seals and sends what was counted, for another monitor
    forwarded_batch.py   one batch of it
    forward_requests.py  posts it
    forward_faults.py    what it says where it must not
    first_rejections.py   reports the first rejected record of each kind
    recent_rejections.py  counts those of the last day, for page and API
    dead_letter_readings.py  series of the dead-letter file
    state_watch.py    looks whether the state directory stays in place
    event_clock.py    event time, which advances while no events arrive
    liveness.py       turns of the loop, and the longest stall
    queries.py        queries of other threads, answered by the loop
    reloads.py        reloads of the configuration: as a whole, or not at all
    changes.py        which changes need no restart
    changed_models.py  which models start anew under a changed configuration
    listeners.py      checks which listeners are open to other machines
    announce.py       messages on changed verdicts and new detections

One thread reads and counts. The exporter's threads read the snapshot published
last, which is frozen. `check-config` uses some of these modules, and needs no engine.
"""
