/* Counting of scores in histograms: as `Scores.apply` of monitor/windows/scores.py, on its memory. */

#include "tallies.h"

typedef struct {
    i64 none, bins; /* the bin of no score; bins of a histogram */
    const i64 *kinds; /* histogram of each cell */
    size_t cells;
    i64 all; /* the histogram of all predictions */
} Scores;

enum { SOON = 64 /* changes between the one whose memory is fetched and the one that needs it */ };
enum { RECENT = 0, DAYS = 1, MOST_KINDS = 16, MOST_BINS = 1 << 20 };

/* Whether every score has its place, in half-hours or days; notes the models. */
static bool scores_fit(const Deltas *given, const Scores *as_given, const Tallies *tallies)
{
    const Deltas deltas = *given; /* copies, which no store below can change */
    const Scores scores = *as_given;
    const Tally halves = tallies->all[RECENT], days = tallies->all[DAYS];
    i64 least = 0, most = 0;
    if ((u64)scores.all >= MOST_KINDS || scores.bins < 1 || scores.bins > MOST_BINS)
        return false;
    for (size_t i = 0; i < deltas.rows; i++) {
        i64 score = deltas.score[i], cell = deltas.cell[i], count = deltas.count[i], model;
        if (score == scores.none)
            continue;
        if (score < 0 || score >= scores.bins || (u64)cell >= scores.cells ||
            (u64)scores.kinds[cell] > (u64)scores.all || (model = model_of(&deltas, i)) < 0 ||
            (u64)model >= halves.ring.models || (u64)model >= days.ring.models)
            return false;
        deltas.changed[model] = 1;
        least = count < least ? count : least;
        most = count > most ? count : most;
        if ((scores.kinds[cell] != scores.all || has_left(&halves, deltas.time[i], model)) &&
            has_left(&days, deltas.time[i], model))
            return false; /* it belongs to a week */
    }
    if ((!halves.ring.wide || !days.ring.wide) && (least < -1 || most > 1))
        return false;
    return model_fits(given, &halves.ring, scores.bins) &&
           model_fits(given, &days.ring, (scores.all + 1) * scores.bins);
}

/* Lets the cell of a score come into the caches. */
static void fetch_score(const Deltas *deltas, const Scores *scores, const Tally *recent,
                        const Tally *by_day, size_t i)
{
    i64 model = model_of(deltas, i), score = deltas->score[i];
    if (score == scores->none)
        return;
    i64 kind = scores->kinds[deltas->cell[i]];
    if (kind == scores->all)
        fetch_cell(&recent->ring, model, score);
    else
        fetch_cell(&by_day->ring, model, kind * scores->bins + score);
}

static void tally_scores(const Deltas *given, const Scores *as_given, Tallies *tallies)
{
    const Deltas deltas = *given; /* copies, which no store below can change */
    const Scores scores = *as_given;
    Tally recent = tallies->all[RECENT], by_day = tallies->all[DAYS];
    Panes halves = panes_of(&recent), days = panes_of(&by_day);
    for (size_t i = 0; i < deltas.rows; i++) {
        i64 score = deltas.score[i], count = deltas.count[i];
        if (i + SOON < deltas.rows)
            fetch_score(&deltas, &scores, &recent, &by_day, i + SOON);
        if (score == scores.none)
            continue;
        i64 model = model_of(&deltas, i), kind = scores.kinds[deltas.cell[i]];
        if (kind == scores.all && !has_left(&recent, deltas.time[i], model))
            put(&recent, pane_of(&halves, deltas.time[i]), model, score, count);
        else
            put(&by_day, pane_of(&days, deltas.time[i]), model, kind * scores.bins + score, count);
    }
    tallies->all[RECENT] = recent;
    tallies->all[DAYS] = by_day;
    note_changes(given);
    end_tallies(tallies);
}

const char scores_doc[] = PyDoc_STR(
"count_scores(deltas, models, kinds, of_all, no_score, bins, changes, rings, /)\n"
"--\n\n"
"Count scores in histograms, as `Scores.apply` of monitor.windows.scores does.\n\n"
"Args:\n"
"    deltas: time, bin of the score, group, cell and count of each change, int64.\n"
"    models: model number of each group, int64.\n"
"    kinds: histogram of each cell, int64.\n"
"    of_all: histogram of all predictions.\n"
"    no_score: bin of a prediction without one.\n"
"    bins: of a histogram.\n"
"    changes: of each model, int64; 1 is added where a score is counted.\n"
"    rings: of half-hours and days, as `count_delays` takes them; added to.\n\n"
"Returns:\n"
"    As `count_delays`; None, too, where a change lies behind the days.\n\n"
"Raises:\n"
"    ValueError: an array has another shape or another type.");

PyObject *count_scores(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Buffers buffers = {.count = 0};
    Deltas deltas = {0};
    Scores scores = {0};
    Tallies tallies = {.count = 0};
    PyObject *given, *models, *kinds, *changes, *rings, *result = NULL;
    long long all, none, bins;
    if (!PyArg_ParseTuple(arguments, "OOOLLLOO", &given, &models, &kinds, &all, &none, &bins, &changes,
                          &rings))
        return NULL;
    if (!read_deltas(&buffers, &deltas, given, &deltas.score, models, changes) ||
        !(scores.kinds = read_rows(&buffers, kinds, 8, &scores.cells)) ||
        !read_rings(&buffers, &tallies, rings, 2, 2, deltas.rows))
        goto end;
    scores.all = all;
    scores.none = none;
    scores.bins = bins;
    PyThreadState *state = deltas.rows >= RELEASE_FROM ? PyEval_SaveThread() : NULL;
    bool plain = scores_fit(&deltas, &scores, &tallies);
    if (plain)
        tally_scores(&deltas, &scores, &tallies);
    if (state)
        PyEval_RestoreThread(state);
    result = plain ? ahead_of(&tallies) : Py_NewRef(Py_None);
end:
    free_tallies(&tallies);
    PyMem_Free(deltas.changed);
    release(&buffers);
    return result;
}
