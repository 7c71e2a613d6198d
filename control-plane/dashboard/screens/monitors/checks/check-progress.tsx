import { formatMs } from '../../../core/format.ts'
import { Moment } from '../../../parts/moment.tsx'
import { formatOutcome } from '../../../parts/monitors/result-words.ts'
import { Status, toShownStatus } from '../../../parts/status.tsx'
import type { CheckRun } from './requested-check.ts'

type Result = CheckRun['results'][number]

/** The progress of a check that a person has requested, with the result of each region. Null: there is none. */
export const CheckProgress = ({ check }: { check: CheckRun | null }) => (
  <>
    {/* there before its content, and read out part by part */}
    <div class="check-progress" role="status" aria-atomic="false">
      {check && !check.error && (
        <>
          <p>
            <Sentence {...check} />
          </p>
          <ul>
            {sortResults(check).map(result => (
              <li key={result.region}>
                {result.region} <Status status={toShownStatus(result.status)} />{' '}
                <span dir="auto">{formatResult(result)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
    {check?.error && (
      <p class="wrong" role="alert">
        <bdi>{check.monitor.name}</bdi> was not checked: {check.error.message}.
      </p>
    )}
  </>
)

function Sentence({ monitor: { name, regions }, results, state }: CheckRun) {
  const waiting = regions.filter(region => !results.some(one => one.region === region))
  if (state === 'running')
    return (
      <>
        Checking <bdi>{name}</bdi>
        {waiting.length > 0 && ` from ${waiting.join(', ')}`} …
      </>
    )
  return (
    <>
      Checked <bdi>{name}</bdi> now
      {results[0] && (
        <>
          , at <Moment at={results[0].started_at ?? results[0].scheduled_at} part="time" />
        </>
      )}
      :
    </>
  )
}

/** In the order of the regions of the monitor. */
const sortResults = ({ monitor: { regions }, results }: CheckRun): Result[] =>
  [...results].sort((a, b) => regions.indexOf(a.region) - regions.indexOf(b.region))

/** `200 in 81 ms` */
function formatResult(result: Result): string {
  const { error, failed_assertions: failed, response_time_ms: ms } = result
  const isTimed = error === null && failed.length === 0 && ms !== null
  return isTimed ? `${formatOutcome(result)} in ${formatMs(ms)}` : formatOutcome(result)
}
