"""Results in words: the same for the terminal, the page, the API, alerts and log lines.

vocabulary.py        the words for every metric, cause, verdict, label fault and regime
metric_words.py      the rows of metrics; verdict_words.py those of verdicts
label_words.py       the rows of label faults and regimes
headline.py          a diagnosis in one line; model_headline.py a running model
sentences.py         a diagnosis in whole sentences
advice.py            what to do next
audit_words.py       audits that nothing is corrected for, and labels that may need some
rate_changes.py      recall and the false positive rate, from what to what
reference_text.py    a reference in one line
compared.py          what was found on two stretches; two_answers.py the answers on it
deciding_window.py   the window whose verdict counts as the model's
missing_class.py     which class of cases two stretches lack
without_labels.py    what is known of a model while no metric is
unjudged_words.py    predictions that are made later than those that a verdict judges
durations.py         lengths of time in words
moved_lately.py      a stretch that moved, though another window decides
missing_evidence.py  what is missing where a verdict is `insufficient_evidence`
diagnosis_text.py    the text of `diagnose`; diagnosis_json.py its JSON
versions_text.py     the text of `compare`; versions_answer.py its JSON
versions_now.py      the versions of a running monitor, as an object and as text
replay_json.py       the JSON of `replay`
printable.py         text that is safe to show; terminal_columns.py its columns in a terminal
"""
