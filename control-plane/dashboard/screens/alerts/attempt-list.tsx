import type { LoggedAttempt } from '../../../alerting/deliveries/types.ts'
import { formatCount, formatMs } from '../../core/format.ts'
import { Empty } from '../../parts/layout/states.tsx'
import { Moment } from '../../parts/moment.tsx'
import type { Delivery } from './delivery-words.tsx'

/** The log keeps the first attempts and the last ones. */
const KEPT_FIRST = 3

/** The attempts of a delivery in their order. What the log does not keep is counted. */
export function AttemptList({ delivery: { attempts, attempts_left_out: leftOut } }: { delivery: Delivery }) {
  if (attempts.length === 0) return <Empty text="There was no attempt yet." />
  const rows = attempts.map((attempt, i) => (
    <AttemptRow key={i} attempt={attempt} number={i < KEPT_FIRST ? i + 1 : i + 1 + leftOut} />
  ))
  const gap = leftOut > 0 && (
    <li key="gap" class="soft">
      {formatCount(leftOut, 'attempt')} in between, of which the log keeps no details.
    </li>
  )
  return (
    <ol class="list attempts">
      {rows.slice(0, KEPT_FIRST)}
      {gap}
      {rows.slice(KEPT_FIRST)}
    </ol>
  )
}

function AttemptRow({ attempt, number }: { attempt: LoggedAttempt; number: number }) {
  const { at, response_code: code, duration_ms: durationMs, error, response_snippet: answer } = attempt
  return (
    <li>
      <p class="attempt">
        <span class="soft">{number}</span>
        <Moment at={at} />
        <span class={error === null ? undefined : 'down'}>{code ?? 'no answer'}</span>
        <span>{formatMs(durationMs)}</span>
        {error !== null && (
          <span class="reason" dir="auto">
            {error}
          </span>
        )}
      </p>
      {answer !== null && answer !== '' && (
        <details open={error !== null}>
          <summary>Answer, first {formatCount(answer.length, 'character')}</summary>
          <pre dir="auto">{answer}</pre>
        </details>
      )}
    </li>
  )
}
