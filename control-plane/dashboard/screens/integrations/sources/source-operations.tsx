import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationError } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { CountConfirmation, DeleteForm, isCountConfirmed } from '../../../parts/forms/delete-form.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import type { SourceRecord } from './form/source-form.ts'

type SourceProps = { source: SourceRecord }

const AttemptError = ({ error }: { error: OperationError | null }) =>
  error && (
    <p class="wrong" role="alert">
      {error.message}.
    </p>
  )

/** Fetches the stored source now. Its time of the last fetch changes when that is done. */
export function RefreshButton({ source: { id } }: SourceProps) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [isAsked, setAsked] = useState(false)
  const fetching = call('refreshDataSource', { path: { id } })
  const refresh = async () => {
    setAsked(false)
    if (await run(() => execute(fetching.name, fetching.arguments))) setAsked(true)
  }
  return (
    <div>
      <button type="button" disabled={isBusy || !isInteractive} onClick={refresh}>
        Fetch now
      </button>
      <p class="soft small" role="status">
        {isAsked && 'The monitors are updated.'}
      </p>
      <AttemptError error={error} />
      <AsCall call={fetching} name="for fetching it now" />
    </div>
  )
}

const listChildren = ({ fields }: SourceRecord) => fields.flatMap(field => field.child_monitors)

/** Pauses or resumes the source, or its monitors. */
export const PauseSection = ({ source }: SourceProps) => (
  <Section id="pause" title="Pause">
    <SourceSwitch source={source} />
    <MonitorSwitches source={source} />
  </Section>
)

function SourceSwitch({ source: { id, is_paused: isPaused } }: SourceProps) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const pausing = call('updateDataSource', { path: { id }, body: { is_paused: !isPaused } })
  const change = () => run(() => execute(pausing.name, pausing.arguments))
  return (
    <>
      <p>
        {isPaused
          ? 'The data source is paused. When it is resumed, its document is fetched at once.'
          : 'While the data source is paused, its document is not fetched, and its monitors have no status. Their open outages stay open. An open incident about failed fetches is resolved.'}
      </p>
      <div class="actions">
        <button type="button" disabled={isBusy || !isInteractive} onClick={change}>
          {isPaused ? 'Resume the data source' : 'Pause the data source'}
        </button>
      </div>
      <AttemptError error={error} />
      <AsCall call={pausing} />
    </>
  )
}

/** Pauses or resumes the monitors of the source. The document is still fetched. */
function MonitorSwitches({ source }: SourceProps) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [sentence, setSentence] = useState<string | null>(null)
  const ids = listChildren(source).map(child => child.monitor_id)
  if (ids.length === 0) return null
  const pausing = (isPaused: boolean) =>
    call('changeMonitors', { body: { monitor_ids: ids, change: { is_paused: isPaused }, dry_run: false } })
  const setPaused = async (isPaused: boolean) => {
    setSentence(null)
    const change = pausing(isPaused)
    const outcome = await run(() => execute(change.name, change.arguments))
    if (outcome) setSentence(`${formatCount(outcome.data.changed, 'monitor')} ${isPaused ? 'paused' : 'resumed'}.`)
  }
  return (
    <>
      <p>
        Paused monitors have no status and send no alerts.
        {!source.is_paused &&
          ' The document is fetched nevertheless, and new keys become monitors that are not paused.'}
      </p>
      <div class="actions">
        <button type="button" disabled={isBusy || !isInteractive} onClick={() => setPaused(true)}>
          Pause {formatCount(ids.length, 'monitor')}
        </button>
        <button type="button" disabled={isBusy || !isInteractive} onClick={() => setPaused(false)}>
          Resume {formatCount(ids.length, 'monitor')}
        </button>
      </div>
      <p role="status">{sentence}</p>
      <AttemptError error={error} />
      <AsCall calls={{ paused: pausing(true), resumed: pausing(false) }} />
    </>
  )
}

/** Deletes the source with its monitors. More than one monitor is shown and counted. */
export function DeleteSection({ source }: SourceProps) {
  const { execute, navigate, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [typed, setTyped] = useState('')
  const names = listChildren(source).map(({ name }) => name)
  const deletion = call('deleteDataSource', { path: { id: source.id } })
  const onDone = () => navigate('/sources')
  const isConfirmed = isCountConfirmed(names.length, typed)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isConfirmed && (await run(() => execute(deletion.name, deletion.arguments))) !== null) onDone()
  }
  return (
    <Section id="delete" title="Delete">
      {names.length < 2 ? (
        <DeleteForm
          what="data source"
          name={source.name}
          consequences={`${names.length === 0 ? 'It has no monitor.' : `Its monitor ${names[0]} is deleted too.`} This cannot be undone.`}
          call={deletion}
          onDone={onDone}
        />
      ) : (
        <form class="stack" onSubmit={submit} autocomplete="off">
          <p>The data source and these monitors are deleted. They leave status pages. This cannot be undone.</p>
          <CountConfirmation
            names={names}
            effect={`delete the data source with ${formatCount(names.length, 'monitor')}`}
            typed={typed}
            onType={setTyped}
          />
          <div class="actions">
            <button type="submit" class="danger" disabled={!isConfirmed || isBusy || !isInteractive}>
              Delete the data source
            </button>
          </div>
          <AttemptError error={error} />
          <AsCall call={deletion} />
        </form>
      )}
    </Section>
  )
}
