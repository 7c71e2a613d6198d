import { useRef, useState } from 'preact/hooks'
import { useFollowing } from '../../../browser/following.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import type { Probe } from './probe-words.ts'

type Region = OperationResponse<'listRegions'>['data'][number]

const NO_ERRORS = buildFormErrors([])

/** Makes the command that adds a probe, and shows whether a new one has connected. */
export function Enrolment({ regions, probes }: { regions: readonly Region[]; probes: readonly Probe[] }) {
  const { me, execute, isInteractive } = useFrame()
  const [region, setRegion] = useState<Region['region']>(regions[0]?.region ?? 'us-east')
  const [created, setCreated] = useState<OperationResponse<'createProbeToken'>['data'] | null>(null)
  const { isBusy, error, run } = useAttempt()
  const request = { body: { region } }
  const create = async (event: Event) => {
    event.preventDefault()
    setCreated(null)
    const answer = await run(() => execute('createProbeToken', request))
    if (answer) setCreated(answer.data)
  }
  return (
    <div class="stack">
      <NeedsRole what="Adding a probe" needed="admin" />
      {hasRole(me, 'admin') && (
        <>
          <NeedsScript what="Adding a probe" call={call('createProbeToken', request)} />
          <form class="stack scripted" onSubmit={create}>
            <SelectField
              path="enrol-region"
              label="Region"
              errors={NO_ERRORS}
              value={region}
              options={regions.map(({ region: code, name }) => [code, `${name} (${code})`])}
              onChange={next => {
                setRegion(next as Region['region'])
                setCreated(null)
              }}
            />
            <FormMessages error={error} shown={[]} />
            <div class="actions">
              <button type="submit" disabled={isBusy || !isInteractive}>
                Create the command
              </button>
            </div>
            <AsCall call={call('createProbeToken', request)} />
          </form>
        </>
      )}
      {created && created.install_command === null && (
        <>
          <p>
            This token enrols one probe, is shown only once, and is valid for 7 days. Set it as PROBE_TOKEN of the
            probe. For a line that installs a probe, run “npm run build:probe” on the server and set PROBE_FOLDER.
          </p>
          <div class="secret-value">
            <code class="command">{created.token}</code>
            <CopyButton text={created.token} what="the token" />
          </div>
        </>
      )}
      {created?.install_command && (
        <>
          <p>
            Run this line on the new machine (Linux with systemd, curl and sudo). It contains a token for one probe, is
            shown only once, and is valid for 7 days.
          </p>
          <div class="secret-value">
            <code class="command">{created.install_command}</code>
            <CopyButton text={created.install_command} what="the command" />
          </div>
          <p class="soft small">
            The new machine must reach this address and the port for probes. The files of the probe are built on the
            server with “npm run build:probe”.
          </p>
        </>
      )}
      <NewProbes region={region} probes={probes} isExpected={created !== null} />
    </div>
  )
}

/**
 * The probes of a region that connected after the page was opened. While one is expected, the page reads the probes every few
 * seconds.
 */
function NewProbes({ region, probes, isExpected }: { region: string; probes: readonly Probe[]; isExpected: boolean }) {
  const { refresh } = useFrame()
  const known = useRef(new Set(probes.map(({ id }) => id)))
  const arrived = probes.filter(
    ({ id, region: its, connected_since: since }) => its === region && since !== null && !known.current.has(id),
  )
  useFollowing(isExpected && arrived.length === 0 ? region : null, refresh)
  return (
    <p class="missing" role="status">
      {arrived.length === 0 ? (
        `Waiting for a new probe in ${region}. It appears here when it connects.`
      ) : (
        <>
          Connected:{' '}
          {arrived.map(({ id, name, live }, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <b dir="auto">{name}</b> {live ? 'gets work' : 'is being given work'}
            </span>
          ))}
          .
        </>
      )}
    </p>
  )
}
