"""The API: typed answers about a running monitor, as JSON over HTTP.

routes           the routes below /api/v1
handlers         threads, parameters and errors, which the page's routes use as well
queries, memo    each question with its answer, remembered until the state changes
status, selection, series, score_shares, segment_values, compare, curve, trends
                 how an answer is made, from frozen input
*_answer         the Structs of each answer; `diagnose --json` has its own in
                 `monitor.report.diagnosis_answer`
engine_access    how an answer reads the engine, which only the engine's thread may do
openapi          the document that describes the API, made from the Structs
"""
