import { useMemo, useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { TestResult } from '../../alerts/test-result.tsx'
import { AxisList } from '../../incidents/axis/axis-list.tsx'
import type { MonitorRecord } from '../monitors/state/monitor-form.ts'
import { NextStep } from './next-step.tsx'
import { buildOutageExample } from './outage-example.ts'

type Channel = OperationResponse<'listAlertChannels'>['data'][number]

/**
 * What an outage looks like: a real test message to a channel with its receipt, and an incident made of fixed example data.
 * No monitor, incident or status page changes.
 */
export function OutageStep({
  channels,
  monitor,
  nextPath,
}: {
  channels: Result<OperationResponse<'listAlertChannels'>>
  monitor: MonitorRecord | null
  nextPath: string
}) {
  const { me, nowMs } = useFrame()
  const name = monitor?.name ?? 'Example shop'
  const { timeline, incident } = useMemo(
    () => buildOutageExample({ monitorId: monitor?.id ?? 'new', name, userId: me.user?.id ?? null }, nowMs),
    [monitor?.id, name],
  )
  return (
    <section aria-labelledby="outage-example">
      <div class="step">
        <h2 id="outage-example">See an outage</h2>
        <p>
          An example. Nothing of it is saved: no uptime, incident or status page changes, and only the test message
          below is sent.
        </p>
        <h3>1. The alert arrives</h3>
        <Loaded result={channels} what="The channels">
          {({ data }) => <TestAlert channel={data.find(({ is_paused }) => !is_paused) ?? null} />}
        </Loaded>
        <h3>2. The incident says what happened</h3>
        <section class="rehearsal" aria-label="Example of an incident">
          <h3 dir="auto">
            {incident.title} <span class="tag">example</span>
          </h3>
          <p class="soft">Resolved after 9 min. Two of three regions found it down, and a person acknowledged it.</p>
          <AxisList timeline={timeline} incident={incident} members={null} />
        </section>
        <NextStep path={nextPath} text="Go to the overview" isDone />
      </div>
    </section>
  )
}

/** Sends a real test message to a channel and shows its receipt. */
function TestAlert({ channel }: { channel: Channel | null }) {
  const { execute, isInteractive } = useFrame()
  const [testId, setTestId] = useState<string | null>(null)
  const { isBusy, error, run } = useAttempt()
  if (channel === null) {
    return (
      <p>
        There is no channel that could receive it. <a href="/start?step=alerts">Add a channel</a>
      </p>
    )
  }
  const send = async () => {
    setTestId(null)
    setTestId((await run(() => execute('testAlertChannel', { path: { id: channel.id } })))?.data.id ?? null)
  }
  return (
    <>
      <p>
        A message that is marked as a test goes to <b dir="auto">{channel.name}</b>, by the same way as every alert.
      </p>
      <div class="actions">
        <button type="button" disabled={!isInteractive || isBusy} onClick={send}>
          Send the alert
        </button>
      </div>
      <FormMessages error={error} shown={[]} />
      {testId && <TestResult key={testId} deliveryId={testId} />}
    </>
  )
}
