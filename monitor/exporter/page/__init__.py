"""The page and the report: what the API says, for people.

    words       numbers, times and verdicts as people read them
    shapes      a shape and a colour for each verdict; lines of an SVG
    waterfall, timeline, plane, sparkline
                the figures, each a pure function of plain data
    now, when, why, where, curve
                the sections, made of what the API answers and nothing else
    document    the frame around them
    fleet       all models, a page at a time
    report      the same as one file
    routes      HTTP

Every text passes htpy, which escapes it; there is no inline script or style.
"""
