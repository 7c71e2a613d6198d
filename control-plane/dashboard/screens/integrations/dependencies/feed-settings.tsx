import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import type { DependencyRecord } from './dependency-words.ts'
import { FEED_FIELDS, FeedFields, Report, toFeedForm, toFeedUpdate, useFeedTest } from './feed-form.tsx'

/** The address that is read. A changed one is read once before it is saved. */
export function FeedSettings({ dependency }: { dependency: DependencyRecord }) {
  const { me, execute, isInteractive } = useFrame()
  const path = { id: dependency.id }
  const editing = useStoredForm(dependency, {
    toForm: toFeedForm,
    toBody: toFeedUpdate,
    read: () => execute('readDependency', { path }),
    send: (body, headers) => execute('updateDependency', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const { report, isRead, readFeed } = useFeedTest(body, attempt)
  const submit = (event: Event) => {
    event.preventDefault()
    if (body !== null) void (isRead ? editing.save() : readFeed())
  }
  return (
    <form class="stack" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <ForeignChange what="this dependency" form={editing} />
        {dependency.slug !== null && (
          <p class="soft">
            The address comes from the catalog, and new releases update it. After you change it here, they do not.
          </p>
        )}
        <FeedFields form={form} errors={buildFormErrors(attempt.error?.details ?? [])} change={change} />
        <FormMessages error={attempt.error} shown={FEED_FIELDS} />
        {canWrite(me) && (
          <div class="actions">
            <button
              type="button"
              class={isRead ? undefined : 'main'}
              disabled={attempt.isBusy || body === null}
              onClick={readFeed}
            >
              Read the feed
            </button>
            <button type="submit" class={isRead ? 'main' : undefined} disabled={!editing.canSave || !isRead}>
              Save the feed
            </button>
          </div>
        )}
      </fieldset>
      {report && <Report report={report} />}
      {isRead && <p class="soft">Open incidents of the earlier feed are closed when you save, and no event is sent.</p>}
      <p class="soft" role="status">
        {editing.isSaved && 'Saved.'}
      </p>
      {body && <AsCall call={call('updateDependency', { path, body })} />}
    </form>
  )
}
