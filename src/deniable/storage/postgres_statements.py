"""What is asked of a PostgreSQL store: each statement, and what is in none of the others.

Those that end in `SHOWN` ask for what is shown while a survey runs (`held_back`).
"""

from __future__ import annotations

from deniable.device.protocol.messages import FEWEST_TOGETHER

INSERT = """
    INSERT INTO arrived
    SELECT key, design, cell FROM unnest(%b::bytea[], %b::integer[], %b::text[]) AS came (key, design, cell)
    WHERE NOT EXISTS (SELECT FROM reports WHERE reports.key = came.key)
    ORDER BY key
    ON CONFLICT DO NOTHING
    RETURNING key
"""
FIND = """
    SELECT key, design, cell FROM arrived WHERE key = ANY(%b) UNION ALL
    SELECT key, design, cell FROM reports WHERE key = ANY(%b)
"""
FIND_SHOWN = "SELECT key, design, cell FROM reports WHERE key = ANY(%b) AND key NOT IN (SELECT key FROM held)"
SEAL = """
    WITH gone AS (DELETE FROM arrived RETURNING key, design, cell),
         sealed AS (INSERT INTO reports SELECT key, design, cell FROM gone ORDER BY key),
         summed AS (
             INSERT INTO totals SELECT design, count(*) FROM gone GROUP BY design
             ON CONFLICT (design) DO UPDATE SET reports = totals.reports + excluded.reports
         ),
         waiting AS (INSERT INTO held SELECT key, design, cell FROM gone ORDER BY key)
    INSERT INTO counts SELECT design, cell, count(*) FROM gone
    WHERE design NOT IN (SELECT design FROM totals WHERE NOT is_counted)
    GROUP BY design, cell ORDER BY design, cell
    ON CONFLICT (design, cell) DO UPDATE SET reports = counts.reports + excluded.reports
"""
# The step of `held`.
GROUP = """design, CASE WHEN left(cell, 2) = '["' THEN left(cell, 66) END"""
SHOW = f"""
    DELETE FROM held USING (
        SELECT key, row_number() OVER (PARTITION BY {GROUP} ORDER BY key) AS place,
            count(*) OVER (PARTITION BY {GROUP}) AS together FROM held
    ) AS waiting
    WHERE held.key = waiting.key AND place > {FEWEST_TOGETHER} AND together >= 2 * {FEWEST_TOGETHER}
"""  # noqa: S608 - our names
# Once for each design. Blocks are counted whatever their cells: each by itself, and often.
DECIDE = """
    UPDATE totals SET is_counted = (
        SELECT count(*) <= %s * totals.reports OR bool_or(left(cell, 2) = '["')
        FROM counts WHERE counts.design = totals.design
    ) WHERE is_counted IS NULL AND reports >= %s RETURNING design, is_counted
"""
# In the order of their keys, however they lie; `store` and `designs` have none that came with a report.
COPIED = {
    "reports": """
        SELECT key, design, cell FROM reports UNION ALL SELECT key, design, cell FROM arrived ORDER BY key
    """,
    "held": "SELECT key, design, cell FROM held UNION ALL SELECT key, design, cell FROM arrived ORDER BY key",
    "store": "SELECT salt FROM store",
    "designs": "SELECT number, id, body FROM designs ORDER BY number",
    "tokens": "SELECT purpose, digest FROM tokens ORDER BY purpose, digest",
    "kept": "SELECT name, value FROM kept ORDER BY name",
    "rejected": "SELECT reason, reports FROM rejected ORDER BY reason",
}
# Every cell with how many reports it stands for; the database looks at `reports` only where they are not counted.
CELLS = """
    SELECT cell, reports FROM counts WHERE design = %s UNION ALL
    SELECT cell, 1 FROM reports
        WHERE design = %s AND EXISTS (SELECT FROM totals WHERE design = %s AND NOT is_counted) UNION ALL
    SELECT cell, count(*) FROM arrived WHERE design = %s GROUP BY cell
"""
# The same of what is shown.
SHOWN = """
    SELECT cell, counts.reports - coalesce(away.reports, 0) AS reports
        FROM counts LEFT JOIN (
            SELECT cell, count(*) AS reports FROM held WHERE design = %s GROUP BY cell
        ) AS away USING (cell)
        WHERE design = %s AND counts.reports > coalesce(away.reports, 0) UNION ALL
    SELECT cell, 1 FROM reports
        WHERE design = %s AND EXISTS (SELECT FROM totals WHERE design = %s AND NOT is_counted)
        AND key NOT IN (SELECT key FROM held)
"""
COUNTS = f"SELECT cell, sum(reports)::bigint FROM ({CELLS}) AS each GROUP BY cell"  # noqa: S608 - ours, with its parameters
COUNTS_SHOWN = f"SELECT cell, sum(reports)::bigint FROM ({SHOWN}) AS each GROUP BY cell"  # noqa: S608 - likewise
COUNTS_IN_SHOWN = f"""
    SELECT cell, sum(reports)::bigint FROM ({SHOWN}) AS each
    WHERE left(cell, 66) = %s AND left(cell, 2) = '["' GROUP BY cell
"""  # noqa: S608 - likewise
COUNTS_IN = """
    SELECT cell, sum(reports)::bigint FROM (
        SELECT cell, reports FROM counts WHERE design = %s AND left(cell, 66) = %s AND left(cell, 2) = '["' UNION ALL
        SELECT cell, count(*) FROM arrived WHERE design = %s AND left(cell, 66) = %s GROUP BY cell
    ) AS each GROUP BY cell
"""
JOINED = "SELECT string_agg(cell, ','), string_agg(reports::text, ',') FROM ({}) AS each GROUP BY hashtext(cell) & 15"
COLUMNS, COLUMNS_SHOWN = JOINED.format(CELLS), JOINED.format(SHOWN)
TOTAL = """
    SELECT coalesce((SELECT reports FROM totals WHERE design = %s), 0)
         + (SELECT count(*) FROM arrived WHERE design = %s)
"""
TOTAL_SHOWN = """
    SELECT coalesce((SELECT reports FROM totals WHERE design = %s), 0)
         - (SELECT count(*) FROM held WHERE design = %s)
"""
RECOUNT = """
    SELECT cell, count(*) FROM (
        SELECT cell FROM reports WHERE design = %s UNION ALL SELECT cell FROM arrived WHERE design = %s
    ) AS each GROUP BY cell
"""
SCAN = """
    SELECT key, cell FROM (
        (SELECT key, cell FROM reports WHERE design = %s AND key > %b ORDER BY key LIMIT 10000) UNION ALL
        (SELECT key, cell FROM arrived WHERE design = %s AND key > %b ORDER BY key LIMIT 10000)
    ) AS each ORDER BY key LIMIT 10000
"""
OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'deniable' AND pid <> ALL(%s)
"""
REJECT = """
    INSERT INTO rejected SELECT reason, reports FROM unnest(%s::text[], %s::bigint[]) AS r (reason, reports)
    ORDER BY reason
    ON CONFLICT (reason) DO UPDATE SET reports = rejected.reports + excluded.reports
"""
