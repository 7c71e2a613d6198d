import {
  computeDetectionLimits,
  type FailureMode,
  getCheckPace,
} from '../../../../../monitoring/monitors/settings/guarantee.ts'
import { formatDuration } from '../../../../core/format.ts'
import type { FormInput } from '../state/proposals.ts'

const MODES: Record<FailureMode, string> = {
  refused: 'refuses connections',
  wrong: 'gives a wrong answer',
  slow: 'gives a wrong answer slowly',
  hanging: 'does not answer',
}

/** A guarantee with a longer interval is of little use, as `GET /monitors/{id}/guarantee` says too. */
const LONG_INTERVAL_S = 900

/** The settings of a form on which the guarantee depends; null while one of them is not a possible number. */
function parsePace(form: FormInput) {
  const numbers = [form.interval_seconds, form.timeout_ms, form.retry_count]
  if (numbers.some(text => !/^\d+$/.test(text))) return null
  const [intervalSeconds, timeoutMs, retryCount] = numbers.map(Number) as [number, number, number]
  if (intervalSeconds < 30 || timeoutMs < 1_000 || retryCount > 5) return null
  return getCheckPace({ intervalSeconds, timeoutMs, retryCount })
}

/** What the settings promise, computed by the function of the server. It follows every change of the form. */
export function GuaranteeNote({ form }: { form: FormInput }) {
  if (form.type === 'heartbeat') return <HeartbeatNote form={form} />
  const pace = parsePace(form)
  if (pace === null) return null
  const limits = computeDetectionLimits(pace)
  const { messageMs, transitionMs: firstMs } = limits[0]!
  return (
    <aside class="guarantee" aria-label="Guarantee">
      <h2>An outage is reported at the latest</h2>
      <dl>
        {limits.map(({ kind, transitionMs }) => (
          <div key={kind}>
            <dt>when the target {MODES[kind]}</dt>
            <dd>after {formatDuration(Math.ceil(transitionMs / 1_000) * 1_000)}</dd>
          </div>
        ))}
      </dl>
      <Weaknesses form={form} intervalMs={pace.intervalMs} />
      <p class="soft small">
        From the beginning of the outage, while a probe works in each region. The first alert follows within{' '}
        {formatDuration(messageMs - firstMs)}.
      </p>
    </aside>
  )
}

function Weaknesses({ form, intervalMs }: { form: FormInput; intervalMs: number }) {
  const [only] = form.regions
  return (
    <>
      {form.regions.length === 1 && (
        <p class="degraded">
          Only {only} checks, so a network fault of that region can look like an outage. Choose three or more regions.
        </p>
      )}
      {intervalMs > LONG_INTERVAL_S * 1_000 && <p class="degraded">The interval is long. Choose a shorter one.</p>}
    </>
  )
}

function HeartbeatNote({ form }: { form: FormInput }) {
  const [interval, grace] = [Number(form.heartbeat_interval), Number(form.heartbeat_grace)]
  if (!(interval > 0 && grace >= 0)) return null
  return (
    <aside class="guarantee" aria-label="Guarantee">
      <h2>
        Down after {formatDuration(interval * 1_000)}
        {grace > 0 && ` and ${formatDuration(grace * 1_000)}`} without a ping
      </h2>
      <p class="soft small">Or at once, when the job itself reports a failure.</p>
    </aside>
  )
}
