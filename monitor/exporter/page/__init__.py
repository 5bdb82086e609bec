"""The page and the report: the answers of the API as HTML.

A request passes through in this order:

    routes         HTTP
    query          its parameters, checked
    page_content   the answers it needs, read from `monitor.exporter.api.queries`
    model_list, model_page, html_report
                   a whole page
    now, when, version_section, why, where, plane
                   the sections of a model
    timeline, waterfall, plane_figure, sparkline
                   the figures, each a pure function of the answers
    html_document, paging, iso_curves, drawing, unit_square, chart_table, formats
                   the frame, links, curves, SVG, numbers and times as text

Verdicts and metrics have their words in `monitor.report.vocabulary`. htpy escapes every
text; there is no inline script or style.
"""
