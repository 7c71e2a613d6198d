import { useState } from 'preact/hooks'
import { formatDuration, formatMs } from '../../../../core/format.ts'
import { useFrame } from '../../../../core/frame-context.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import type { Result } from '../../../../core/screen.ts'
import { CopyButton } from '../../../../parts/copy-button.tsx'
import { Section } from '../../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../../parts/layout/states.tsx'
import { Moment } from '../../../../parts/moment.tsx'
import { Shape, type ShownStatus } from '../../../../parts/status.tsx'
import type { Monitor } from '../../types.ts'
import { buildRuns, type JobRun } from './runs.ts'
import { buildSnippets } from './snippets.ts'

/** Of a heartbeat monitor: its last runs, and how its job sends pings. */
export const HeartbeatSections = ({
  monitor,
  checks,
}: {
  monitor: Monitor
  checks: Result<OperationResponse<'listMonitorChecks'>>
}) => {
  const hasPings = checks.data !== null && checks.data.meta.total > 0
  const runs = (
    <Section key="runs" id="runs" title="Runs">
      <Loaded result={checks} what="The runs">
        {({ data }) => <Runs runs={buildRuns(data)} />}
      </Loaded>
    </Section>
  )
  const pings = monitor.ping_url !== null && <PingSection key="pings" url={monitor.ping_url} />
  // before the first ping, the address is what a person needs
  return hasPings ? [runs, pings] : [pings, runs]
}

const OUTCOMES: Record<JobRun['outcome'], { shape: ShownStatus; name: string }> = {
  success: { shape: 'up', name: 'Succeeded' },
  fail: { shape: 'down', name: 'Failed' },
  overdue: { shape: 'down', name: 'Did not report in time' },
  running: { shape: 'unknown', name: 'Running' },
  log: { shape: 'unknown', name: 'Log without a result' },
}

const Runs = ({ runs }: { runs: readonly JobRun[] }) =>
  runs.length === 0 ? (
    <Empty text="The job has not reported yet. Its first ping starts the wait for the next one." />
  ) : (
    <ul class="list runs">
      {runs.map(run => (
        <Run key={run.id} run={run} />
      ))}
    </ul>
  )

function Run({ run: { outcome, at, durationMs, exitCode, log, lines } }: { run: JobRun }) {
  const { nowMs } = useFrame()
  const { shape, name } = OUTCOMES[outcome]
  const facts = [
    durationMs !== null && `took ${durationMs < 60_000 ? formatMs(durationMs) : formatDuration(durationMs)}`,
    outcome === 'running' && `for ${formatDuration(nowMs - Date.parse(at))}`,
    exitCode !== null && `exit code ${exitCode}`,
  ].filter(Boolean)
  const texts = [...lines.map(({ text }) => text), log].filter(text => text !== null && text !== '')
  return (
    <li>
      <p class="run">
        <Moment at={at} />
        <span class={`state ${shape}`}>
          <Shape status={shape} />
          {name}
        </span>
        <span class="soft">{facts.join(', ')}</span>
      </p>
      {texts.length > 0 && (
        <details class="group">
          <summary>
            Log <span class="soft small">the first 10 kB</span>
          </summary>
          {texts.map((text, i) => (
            <pre key={i} dir="auto">
              {text}
            </pre>
          ))}
        </details>
      )}
    </li>
  )
}

/** The ping URL, and texts for jobs. */
function PingSection({ url }: { url: string }) {
  const groups = buildSnippets(url)
  const [chosenId, setChosenId] = useState(groups[0]!.id)
  const chosen = groups.find(({ id }) => id === chosenId)!
  return (
    <Section id="pings" title="Report from the job">
      <p class="ping-url">
        <code dir="ltr">{url}</code> <CopyButton text={url} what="the ping URL" />
      </p>
      <p class="soft small">
        Anyone with this address can send pings. <code>/start</code>, <code>/fail</code>, <code>/log</code> and an exit
        code from <code>/0</code> to <code>/255</code> can follow it; 0 is a success. A body is kept as the log, up to
        10 kB.
      </p>
      <fieldset class="switches">
        <legend class="hidden">Tool</legend>
        {groups.map(({ id, name }) => (
          <label key={id} class="choice">
            <input type="radio" name="snippet" checked={id === chosenId} onChange={() => setChosenId(id)} />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      {chosen.parts.map(({ title, code }) => (
        <div key={`${chosen.id} ${title}`} class="snippet">
          <p class="snippet-head">
            <span>{title}</span> <CopyButton text={code} what={`${chosen.name}: ${title}`} />
          </p>
          <pre dir="ltr">{code}</pre>
        </div>
      ))}
    </Section>
  )
}
