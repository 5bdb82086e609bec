"""The join and the counts on a distributed engine, for more than one machine can hold.

    layout.py         how ids are divided among tasks and pages
    packets.py        decoded events as columns, divided among tasks
    changed_ids.py    ids as their pages were last written whole, and what has changed since
    pages.py          state of a task in pages of bytes, read and written where a batch touches it
    stored_pages.py   pages as bytes, and where they are stored
    page_rules.py     settings of the pages, and what of them a checkpoint holds to
    model_clocks.py   event time by model: as readers report it, and as tasks hold it
    touched_ids.py    the ids of a batch, through the columnar join
    group_codes.py    numbers of models and segment values in pages
    seven_bits.py     bytes of pages as Spark hands them over fastest
    tallies.py        changes of counts: summed, and written as `counts` events
    sizing.py         how many pages a job needs
    delivery.py       targets of the counts: a monitor, a directory, Kafka
    spark_faults.py   what went wrong, of what Spark raises
    spark_job.py      the job on Spark Structured Streaming
    spark_query.py    runs its query until it ends or is stopped
    spark_tasks.py    what its tasks run
    spark_daemon.py   starts the Python workers that run them
    spark_layout.py   numbers of tasks and pages, in the checkpoint
    kafka_records.py  Kafka source for Spark, without Spark's own connector

Only the last six import Spark.

An id belongs to a page, and a task has many pages, so the engine moves a few large rows
instead of one row per event, and a batch is joined by whole columns. The `counts` of a batch
carry the names of job and batch: a batch computed again replaces itself.
"""
