import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { CountConfirmation } from '../../../../parts/forms/delete-form.tsx'
import { buildFormErrors, type FormErrors } from '../../../../parts/forms/field-errors.ts'
import { TextField } from '../../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../../parts/forms/leave-question.ts'
import { ForeignChange } from '../../../../parts/forms/stored/foreign-change.tsx'
import { RequestGroups } from './request-fields.tsx'
import { type SourceDocument, useSourceDocument } from './source-document.ts'
import { useSourceEditing } from './source-editing.ts'
import { type SourceRecord, toSourceBody } from './source-form.ts'
import { SourceRules } from './source-rules.tsx'

type EditorState = ReturnType<typeof useSourceEditing>

/** The fields that show their own errors. */
const SHOWN_FIELDS = [
  ...['name', 'url', 'method', 'headers', 'body', 'root_path', 'auth_type', 'auth_config'],
  ...['fetch_interval_s', 'timeout_ms', 'description', 'fields'],
]

/** Creates a data source, or changes a stored one: the request, the document, the rules and the monitors that they make. */
export function SourceEditor({ source }: { source: SourceRecord | null }) {
  const { me } = useFrame()
  const editing = useSourceEditing(source)
  const { base, form, wanted, proposed, attempt, update } = editing
  const fetched = useSourceDocument(form, source?.id ?? null)
  const error = attempt.error ?? fetched.attempt.error
  const element = useFocusOnError(error)
  const errors = buildFormErrors(error?.details ?? editing.problems)
  useLeaveQuestion(editing.hasChanges && !editing.isSaved)
  const saving = base
    ? call('updateDataSource', { path: { id: base.id }, body: update ?? {} })
    : call('createDataSource', { body: toSourceBody(wanted) })
  return (
    <form
      class="source scripted"
      ref={element}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        // nothing is created before the document was seen
        if (base === null && !fetched.preview) fetched.load()
        else void editing.save()
      }}
    >
      <Request editing={editing} fetched={fetched} errors={errors} />
      <SourceRules source={source} editing={editing} fetched={fetched} errors={errors} />
      {editing.removed.length > 0 && <Removal editing={editing} />}
      <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
      {canWrite(me) && (base !== null || fetched.preview) && (
        <>
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              {base ? 'Save the changes' : 'Create the data source'}
            </button>
          </div>
          {proposed && (
            <p class="soft small">
              The proposed rule <bdi class="mono">{proposed.path}</bdi> is saved too.
            </p>
          )}
          <p class="soft" role="status">
            {editing.isSaved && 'Saved.'}
          </p>
          <AsCall call={saving} />
        </>
      )}
    </form>
  )
}

/** Where the document is, and how it is requested. */
function Request({ editing, fetched, errors }: { editing: EditorState; fetched: SourceDocument; errors: FormErrors }) {
  const { me, isInteractive } = useFrame()
  const { form, base, change } = editing
  // Enter in a field fetches the document of a new source
  const isSubmit = base === null && !fetched.preview
  return (
    <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
      <ForeignChange what="this data source" form={editing} />
      <TextField
        path="url"
        label="Address of the document"
        type="url"
        placeholder="https://status.example.com/health.json"
        hint="It must return JSON."
        isRequired
        value={form.url}
        errors={errors}
        onChange={url => change({ url })}
      />
      <TextField
        path="name"
        label="Name"
        placeholder={(!base && toSourceBody(form).name) || undefined}
        value={form.name}
        errors={errors}
        onChange={name => change({ name })}
      />
      <RequestGroups form={form} errors={errors} change={change} />
      {canWrite(me) && (
        <div class="actions">
          <button
            type={isSubmit ? 'submit' : 'button'}
            class={fetched.preview ? undefined : 'main'}
            disabled={fetched.attempt.isBusy || form.url.trim() === ''}
            onClick={isSubmit ? undefined : fetched.load}
          >
            {fetched.preview ? 'Fetch again' : 'Fetch the document'}
          </button>
        </div>
      )}
      <FormMessages error={fetched.attempt.error} shown={SHOWN_FIELDS} />
    </fieldset>
  )
}

/** What saving archives, because its rule is removed. */
const Removal = ({ editing: { removed, typed, setTyped } }: { editing: EditorState }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  <div class="stack removal" role="group" aria-label="Monitors that are archived">
    <p>Saving archives the monitors of removed rules. They leave the list; their history stays.</p>
    <CountConfirmation names={removed} effect={`archive ${removed.length} monitors`} typed={typed} onType={setTyped} />
  </div>
)
