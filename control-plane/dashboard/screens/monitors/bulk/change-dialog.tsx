import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { MonitorChange } from '../../../../../deploy/client/index.ts'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type DataQuery } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, listOtherMessages } from '../../../parts/forms/field-errors.ts'
import { Dialog } from '../../overlays/dialog.tsx'
import { ChangeFields, useChannels } from './change-fields.tsx'
import { buildChange, type ChangeForm, EMPTY_FORM } from './change-request.ts'
import { type BulkResult, summarizeResult } from './change-words.ts'
import { ResultList } from './result-list.tsx'

export type BulkAction = 'pause' | 'resume' | 'silence' | 'change' | 'delete'

/** Actions with a form. */
type FormAction = 'change' | 'silence'
const hasForm = (action: BulkAction): action is FormAction => action === 'change' || action === 'silence'

const FIXED: Record<Exclude<BulkAction, FormAction>, MonitorChange> = {
  pause: { is_paused: true },
  resume: { is_paused: false },
  delete: { delete: true },
}
const VERBS: Record<BulkAction, string> = {
  ...{ pause: 'Pause', resume: 'Resume', silence: 'Silence', change: 'Change', delete: 'Delete' },
}

type Names = ReadonlyMap<string, string>

/** A change of the selected monitors: what changes, then the difference by monitor, then `onDone` with the results. */
export function ChangeDialog({
  action,
  ids,
  onClose,
  onDone,
}: {
  action: BulkAction
  ids: readonly string[]
  onClose(): void
  onDone(result: BulkResult, channels: Names): void
}) {
  const { execute, nowMs, timeZone } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [form, setForm] = useState<ChangeForm>(action === 'silence' ? { ...EMPTY_FORM, kind: 'silence' } : EMPTY_FORM)
  const [preview, setPreview] = useState<{ result: BulkResult; change: MonitorChange } | null>(null)
  const channels = useChannels(form.kind === 'channels')
  const change = hasForm(action) ? buildChange(form, nowMs, timeZone) : FIXED[action]
  const send = (wanted: MonitorChange, isDryRun: boolean) =>
    run(() => execute('changeMonitors', toArguments(ids, wanted, isDryRun)))
  const show = async () => {
    const answer = change && (await send(change, true))
    if (answer) setPreview({ result: answer.data, change })
  }
  const apply = async () => {
    const answer = preview && (await send(preview.change, false))
    if (answer) onDone(answer.data, channels ?? new Map())
  }
  useEffect(() => {
    if (!hasForm(action)) void show()
  }, [])
  const errors = buildFormErrors(error?.details ?? [])
  return (
    <Dialog id="bulk-change" title={`${VERBS[action]} ${formatCount(ids.length, 'monitor')}`} onClose={onClose}>
      {error &&
        listOtherMessages(error, ['change']).map(message => (
          <p key={message} class="wrong" role="alert">
            {message}.
          </p>
        ))}
      {preview ? (
        <Difference
          action={action}
          verb={preview.change.silence === null ? 'End the silence of' : VERBS[action]}
          preview={preview.result}
          request={call('changeMonitors', toArguments(ids, preview.change, false))}
          channels={channels ?? new Map()}
          isBusy={isBusy}
          onApply={apply}
          onBack={hasForm(action) ? () => setPreview(null) : onClose}
        />
      ) : hasForm(action) ? (
        <form
          class="stack"
          onSubmit={event => {
            event.preventDefault()
            void show()
          }}
        >
          <ChangeFields
            form={form}
            change={part => setForm({ ...form, ...part })}
            errors={errors}
            channels={channels}
          />
          <div class="actions">
            <button type="submit" class="main" disabled={isBusy || change === null}>
              Show the difference
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
          {change && <AsCall call={call('changeMonitors', toArguments(ids, change, false))} />}
        </form>
      ) : (
        <Waiting hasFailed={error !== null} onClose={onClose} />
      )}
    </Dialog>
  )
}

const toArguments = (ids: readonly string[], change: MonitorChange, isDryRun: boolean) => ({
  body: { monitor_ids: [...ids], change, dry_run: isDryRun },
})

const Waiting = ({ hasFailed, onClose }: { hasFailed: boolean; onClose(): void }) => (
  <>
    {!hasFailed && <p role="status">Comparing…</p>}
    <div class="actions">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  </>
)

function Difference({
  action,
  verb,
  preview,
  request,
  channels,
  isBusy,
  onApply,
  onBack,
}: {
  action: BulkAction
  /** of the button */
  verb: string
  preview: BulkResult
  request: DataQuery
  channels: Names
  isBusy: boolean
  onApply(): void
  onBack(): void
}) {
  const [typed, setTyped] = useState('')
  const form = useRef<HTMLFormElement>(null)
  // the element that had the focus is gone; later it could already be at another one
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input, .actions button:enabled')?.focus(), [])
  const { changed } = preview
  const count = formatCount(changed, 'monitor')
  const isConfirmed = action !== 'delete' || typed.trim() === String(changed)
  return (
    <form
      ref={form}
      class="stack"
      onSubmit={event => {
        event.preventDefault()
        if (isConfirmed && changed > 0) onApply()
      }}
    >
      <p role="status">{summarizeResult(preview, false)}.</p>
      <ResultList result={preview} channels={channels} />
      {action === 'delete' && changed > 0 && (
        <div class="field">
          <label for="delete-count">
            Type <span class="mono">{changed}</span> to delete {count}. This cannot be undone.
          </label>
          <input
            id="delete-count"
            inputMode="numeric"
            autocomplete="off"
            value={typed}
            onInput={event => setTyped(event.currentTarget.value)}
          />
        </div>
      )}
      <div class="actions">
        <button
          type="submit"
          class={action === 'delete' ? 'danger' : 'main'}
          disabled={isBusy || changed === 0 || !isConfirmed}
        >
          {verb} {count}
        </button>
        <button type="button" onClick={onBack}>
          {hasForm(action) ? 'Back' : 'Cancel'}
        </button>
      </div>
      <AsCall call={request} />
    </form>
  )
}
