import { formatMs } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import { formatOutcome } from '../../../parts/monitors/result-words.ts'
import { type Bar, Strip } from '../../../parts/strip.tsx'

export type TestResult = OperationResponse<'testMonitor'>['data']['results'][number]
type Timings = NonNullable<TestResult['timings']>

const STATES: Record<TestResult['status'], Bar['state']> = {
  up: 'ok',
  degraded: 'degraded',
  down: 'failing',
  unknown: 'none',
  missed: 'none',
}

const PHASES: readonly (readonly [key: keyof Timings, name: string])[] = [
  ['dns_ms', 'DNS'],
  ['connect_ms', 'connect'],
  ['tls_ms', 'TLS'],
  ['first_byte_ms', 'first byte'],
  ['transfer_ms', 'transfer'],
]

/** One check in each region, as it would count. `results` null: the checks run. */
export const TestResults = ({ regions, results }: { regions: readonly string[]; results: TestResult[] | null }) => (
  <div class="test-results" role="status">
    <p>
      <Strip
        label="Test"
        bars={regions.map(name => ({
          name,
          state: STATES[results?.find(({ region }) => region === name)?.status ?? 'unknown'],
        }))}
      />
      {results === null ? `Checking from ${regions.join(', ')} …` : summarize(results)}
    </p>
    {results && <ResultList results={results} />}
  </div>
)

function summarize(results: readonly TestResult[]): string {
  const count = (status: TestResult['status']) => results.filter(one => one.status === status).length
  const parts = (['up', 'degraded', 'down', 'unknown'] as const).map(status => [count(status), status] as const)
  const named = parts.filter(([number]) => number > 0).map(([number, status]) => `${number} ${status}`)
  return `${named.join(', ')} of ${results.length} ${results.length === 1 ? 'region' : 'regions'}. Nothing was saved.`
}

/** One row a region: status and time, the result in words, the phases. */
function ResultList({ results }: { results: readonly TestResult[] }) {
  const longest = Math.max(1, ...results.map(one => one.response_time_ms ?? 0))
  return (
    <ul class="list">
      {results.map(result => (
        <li key={result.region}>
          <p>
            <span>
              {result.region} <b class={result.status}>{result.status}</b>
            </span>
            <span>{result.response_time_ms !== null && formatMs(result.response_time_ms)}</span>
          </p>
          <p class="small">{formatOutcome(result)}</p>
          {result.timings && <Phases timings={result.timings} longest={longest} />}
        </li>
      ))}
    </ul>
  )
}

const WIDTH = 400

/** The phases one after the other, to the scale of the slowest region, and as text. */
function Phases({ timings, longest }: { timings: Timings; longest: number }) {
  const shown = PHASES.filter(([key]) => timings[key] > 0)
  let x = 0
  return (
    <>
      <svg
        class="phases"
        width="100%"
        height="8"
        preserveAspectRatio="none"
        viewBox={`0 0 ${WIDTH} 8`}
        aria-hidden="true"
      >
        {PHASES.map(([key], i) => {
          const width = (timings[key] / longest) * WIDTH
          x += width
          return <rect key={key} class={`phase-${i}`} x={x - width} y="0" width={width} height="8" />
        })}
      </svg>
      <span class="soft small">{shown.map(([key, name]) => `${name} ${formatMs(timings[key])}`).join(', ')}</span>
    </>
  )
}
