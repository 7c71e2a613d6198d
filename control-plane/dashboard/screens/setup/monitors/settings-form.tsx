import { type StateUpdater, useLayoutEffect, useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type Execute, type OperationError } from '../../../core/operations.ts'
import { type FormAttempt, useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { CONFLICT, isVersionError, MAX_ATTEMPTS, toVersionHeaders } from '../../../parts/forms/stored/stored-form.ts'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Review } from './change-review.tsx'
import { NameField, type RegionRecord } from './fields/main-fields.tsx'
import { TagFields } from './fields/other-fields.tsx'
import { FormConsequences, MonitorFormFields, SHOWN_FIELDS, useTest } from './form-body.tsx'
import { RehearsalPart } from './rehearsal/rehearsal-part.tsx'
import { listChangedFields, listDifferences, moveToCurrent, toSavedBodies } from './state/differences.ts'
import { findMadeProblems } from './state/monitor-body.ts'
import { type MonitorForm, type MonitorRecord, toMonitorForm } from './state/monitor-form.ts'
import { applyProposals } from './state/proposals.ts'

/** The stored settings that the form began with, and the time of their last change. */
type Base = { form: MonitorForm; updatedAt: string }
const toBase = (monitor: MonitorRecord): Base => ({ form: toMonitorForm(monitor), updatedAt: monitor.updated_at })

/**
 * The settings of a stored monitor. Only what was changed is sent. A form without changes follows the record. Otherwise, when
 * another person changed the settings since the form was opened, the difference is shown before anything is saved.
 */
export function SettingsForm({ monitor, regions }: { monitor: MonitorRecord; regions: RegionRecord[] | null }) {
  const { execute } = useFrame()
  const [base, setBase] = useState(() => toBase(monitor))
  const [form, setForm] = useState(base.form)
  const [review, setReview] = useState<MonitorRecord | null>(null)
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const changed = listChangedFields(base.form, form)
  const hasChanges = changed.length > 0
  useLeaveQuestion(hasChanges)
  const change = (part: Partial<MonitorForm>) => {
    setSaved(false)
    setForm(current => ({ ...current, ...part }))
  }
  const start = (from: Base, next: StateUpdater<MonitorForm>) => {
    setBase(from)
    setForm(next)
    setReview(null)
  }
  // after a save, the record that was read last is older than `base`
  const isNewer = monitor.updated_at > base.updatedAt && !attempt.isBusy
  const isStale = isNewer && listDifferences(base.form, toMonitorForm(monitor), form).length > 0
  // at once: a frame later, it would replace what a person types already
  useLayoutEffect(() => {
    if (!isStale || hasChanges) return
    start(toBase(monitor), toMonitorForm(monitor))
    setSaved(false)
    attempt.setError(null)
  }, [isStale, hasChanges, monitor])
  const save = async (from: Base, next: MonitorForm) => {
    // a data source decides about everything that can be missing
    const problem = toFormError(monitor.data_source ? [] : findMadeProblems(from.form, next))
    if (problem) return attempt.setError(problem)
    const outcome = await attempt.run(async () => ({ data: await saveChanges(execute, monitor.id, from, next) }))
    if (!outcome) return
    if (outcome.conflict) return setReview(outcome.conflict)
    attempt.setError(outcome.error)
    // what was typed meanwhile stays
    const { saved } = outcome
    const toNext = (current: MonitorForm) =>
      saved && !outcome.error ? moveToCurrent(next, toMonitorForm(saved), current) : current
    if (saved) start(toBase(saved), toNext)
    setSaved(outcome.error === null)
  }
  if (review) {
    const theirs = toBase(review)
    return (
      <Review
        differences={listDifferences(base.form, theirs.form, form)}
        isBusy={attempt.isBusy}
        onSave={() => {
          const moved = moveToCurrent(base.form, theirs.form, form)
          start(theirs, moved)
          void save(theirs, moved)
        }}
        onDiscard={() => start(theirs, theirs.form)}
        onBack={() => setReview(null)}
      />
    )
  }
  return (
    <SettingsElements
      {...{ monitor, regions, base, form, change, attempt, isSaved, hasChanges }}
      isForeign={isStale && hasChanges}
      onSave={() => save(base, form)}
      onReview={() => setReview(monitor)}
    />
  )
}

/** The form itself: notices, fields, actions, and what the settings mean. `isForeign`: both this and another person changed settings. */
function SettingsElements({
  monitor,
  regions,
  base,
  form,
  change,
  attempt,
  isSaved,
  hasChanges,
  isForeign,
  onSave,
  onReview,
}: {
  monitor: MonitorRecord
  regions: RegionRecord[] | null
  base: Base
  form: MonitorForm
  change(part: Partial<MonitorForm>): void
  attempt: FormAttempt
  isSaved: boolean
  hasChanges: boolean
  isForeign: boolean
  onSave(): void
  onReview(): void
}) {
  const { me, isInteractive } = useFrame()
  const test = useTest(form, regions, attempt)
  const element = useFocusOnError(attempt.error)
  const complete = applyProposals(form, null)
  const { update } = toSavedBodies(base.form, form)
  return (
    <form
      class="setup"
      ref={element}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSave()
      }}
    >
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <NeedsRole what="Changing the settings" needed="editor" />
        {isForeign && (
          <p class="banner" role="status">
            Another person changed these settings.{' '}
            <button type="button" class="plain" onClick={onReview}>
              Show the difference
            </button>
          </p>
        )}
        {monitor.data_source ? (
          <SourceFields form={form} change={change} error={attempt.error} source={monitor.data_source.name} />
        ) : (
          <MonitorFormFields {...{ form, change, regions, isNew: false, error: attempt.error }} />
        )}
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy || !hasChanges}>
              Save the changes
            </button>
            {form.type !== 'heartbeat' && !monitor.data_source && (
              <button type="button" disabled={test.isBusy} onClick={test.run}>
                Try it
              </button>
            )}
          </div>
        )}
        <p class="soft" role="status">
          {isSaved && !hasChanges && 'Saved.'}
        </p>
      </fieldset>
      {!monitor.data_source && (
        <FormConsequences {...{ form: complete, test, call: toUpdateCall(monitor, update) }}>
          {form.type !== 'heartbeat' && <RehearsalPart monitorId={monitor.id} update={update} />}
        </FormConsequences>
      )}
    </form>
  )
}

const toUpdateCall = ({ id }: MonitorRecord, body: ReturnType<typeof toSavedBodies>['update']) =>
  call('updateMonitor', { path: { id }, body: body ?? {} })

/** A monitor of a data source has a name and tags of its own; everything else is a setting of the data source. */
function SourceFields({
  form,
  change,
  error,
  source,
}: {
  form: MonitorForm
  change(part: Partial<MonitorForm>): void
  error: OperationError | null
  source: string
}) {
  const props = { form, change, errors: buildFormErrors(error?.details ?? []) }
  return (
    <>
      <p class="missing">The data source “{source}” decides what is checked. Its settings are there.</p>
      <NameField {...props} />
      <TagFields {...props} />
    </>
  )
}

/** `conflict`: settings that another person changed meanwhile; nothing was sent. `saved`: what is stored now, also before an error. */
type SaveOutcome = { conflict: MonitorRecord | null; saved: MonitorRecord | null; error: OperationError | null }

/**
 * Reads the monitor again, and sends the changes of the version that was read, unless another person changed settings. Credentials
 * have an operation of their own. A change of another person in between starts it again: what it changed is compared too.
 * `before`: what earlier attempts have stored.
 */
async function saveChanges(
  execute: Execute,
  id: string,
  base: Base,
  form: MonitorForm,
  before: MonitorRecord | null = null,
  attempt = 1,
): Promise<SaveOutcome> {
  const path = { id }
  const nothing: SaveOutcome = { conflict: null, saved: before, error: null }
  const again = (newBase: Base, stored: MonitorRecord | null) =>
    attempt === MAX_ATTEMPTS
      ? { ...nothing, saved: stored, error: CONFLICT }
      : saveChanges(execute, id, newBase, form, stored, attempt + 1)
  const current = await execute('readMonitor', { path })
  if ('error' in current) return { ...nothing, error: current.error }
  const differences = listDifferences(base.form, toMonitorForm(current.data.data), form)
  if (differences.length > 0) return { ...nothing, conflict: current.data.data }
  const { update, auth } = toSavedBodies(base.form, form)
  let saved: MonitorRecord = current.data.data
  let headers = toVersionHeaders(current)
  if (update) {
    const outcome = await execute('updateMonitor', { path, body: update, headers })
    if (isVersionError(outcome)) return await again(base, before)
    if ('error' in outcome) return { ...nothing, error: outcome.error }
    saved = outcome.data.data
    headers = toVersionHeaders(outcome)
  }
  if (auth) {
    const outcome = await execute('updateMonitorAuth', { path, body: auth, headers })
    if (isVersionError(outcome)) return await again(toBase(saved), update ? saved : before)
    if ('error' in outcome) return { ...nothing, saved, error: outcome.error }
    saved = outcome.data.data
  }
  return { ...nothing, saved }
}
