import { formatDuration, formatMs, formatNumber } from '../../../../core/format.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import { Moment } from '../../../../parts/moment.tsx'

export type RehearsalRecord = OperationResponse<'rehearseMonitor'>['data']
type Outages = RehearsalRecord['before']
type Period = Outages['outages'][number]
type Kind = 'outage' | 'degradation'

/** One outage or degradation, with the stored settings, with the changed ones, or with both. */
type RehearsalRow = { kind: Kind; before: Period | null; after: Period | null }

const MAX_ROWS = 50

/** The sentence, the outages before and after, and what was not simulated. */
export function RehearsalResult({ record }: { record: RehearsalRecord }) {
  const { sentence, before, after, approximate, reasons, limits, checks } = record
  const rows = after === null ? [] : buildRehearsalRows(before, after)
  return (
    <>
      <p>
        <b>{sentence}</b>
        {approximate && ' This is approximate.'}{' '}
        <span class="soft">{formatNumber(checks)} checks were decided again.</span>
      </p>
      {rows.length > 0 && <RehearsalTable rows={rows.slice(0, MAX_ROWS)} />}
      {rows.length > MAX_ROWS && (
        <p class="soft">
          The first {MAX_ROWS} of {rows.length} are shown.
        </p>
      )}
      {[...reasons, ...limits].length > 0 && (
        <ul class="notes soft small">
          {[...reasons, ...limits].map(({ code, message }) => (
            <li key={code}>{message}</li>
          ))}
        </ul>
      )}
    </>
  )
}

const RehearsalTable = ({ rows }: { rows: readonly RehearsalRow[] }) => (
  <div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">As it was</th>
          <th scope="col">With these settings</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ kind, before, after }) => (
          <tr key={`${kind} ${before?.from} ${after?.from}`}>
            <th scope="row" class={kind === 'outage' ? 'down' : 'degraded'}>
              {kind === 'outage' ? 'Down' : 'Degraded'}
            </th>
            <td>{before ? <PeriodText period={before} /> : 'none'}</td>
            <td>{after ? <PeriodText period={after} /> : 'none'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** `21 Nov 2026, 14:02:07 for 4 min 10 s, detected after 12 s` */
const PeriodText = ({ period: { from, to, detected_after_ms: detectedAfterMs } }: { period: Period }) => (
  <>
    <Moment at={from} />{' '}
    <span class="soft">
      {to === null ? 'until now' : `for ${formatDuration(Date.parse(to) - Date.parse(from))}`}
      {detectedAfterMs !== null && `, detected after ${formatMs(detectedAfterMs)}`}
    </span>
  </>
)

/** Outages and degradations of both sides in order of time; those that overlap are one row. */
export function buildRehearsalRows(before: Outages, after: Outages): RehearsalRow[] {
  const rows = [
    ...pairPeriods('outage', before.outages, after.outages),
    ...pairPeriods('degradation', before.degradations, after.degradations),
  ]
  const toStartMs = ({ before, after }: RehearsalRow) => Date.parse((before ?? after)!.from)
  return rows.sort((a, b) => toStartMs(a) - toStartMs(b))
}

function pairPeriods(kind: Kind, before: readonly Period[], after: readonly Period[]): RehearsalRow[] {
  const left = new Set(after)
  const rows: RehearsalRow[] = before.map(one => {
    const same = [...left].find(other => overlaps(one, other)) ?? null
    if (same) left.delete(same)
    return { kind, before: one, after: same }
  })
  return [...rows, ...[...left].map(one => ({ kind, before: null, after: one }))]
}

const toEndMs = ({ to }: Period) => (to === null ? Number.POSITIVE_INFINITY : Date.parse(to))
const overlaps = (one: Period, other: Period) =>
  Date.parse(one.from) < toEndMs(other) && Date.parse(other.from) < toEndMs(one)
