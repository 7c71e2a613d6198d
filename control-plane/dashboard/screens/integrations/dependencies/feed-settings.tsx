import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import type { DependencyRecord } from './dependency-words.ts'
import { FEED_FIELDS, FeedFields, type FeedForm, Report, toFeedForm, toFeedUpdate, useFeedTest } from './feed-form.tsx'

/** The address that is read. A changed one is read once before it is saved. */
export function FeedSettings({ dependency }: { dependency: DependencyRecord }) {
  const { me, execute, isInteractive } = useFrame()
  const [form, setForm] = useState(() => toFeedForm(dependency))
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const path = { id: dependency.id }
  const body = toFeedUpdate(dependency, form)
  const { report, isRead, readFeed } = useFeedTest(body, attempt)
  useLeaveQuestion(body !== null)
  const change = (part: Partial<FeedForm>) => {
    setForm(before => ({ ...before, ...part }))
    setSaved(false)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (body === null) return
    if (!isRead) return await readFeed()
    const saved = await attempt.run(() => execute('updateDependency', { path, body }))
    if (!saved) return
    setForm(toFeedForm(saved.data))
    setSaved(true)
  }
  return (
    <form class="stack" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        {dependency.slug !== null && (
          <p class="soft">
            The address comes from the catalogue, and new releases update it. After you change it here, they do not.
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
            <button type="submit" class={isRead ? 'main' : undefined} disabled={attempt.isBusy || !isRead}>
              Save the feed
            </button>
          </div>
        )}
      </fieldset>
      {report && <Report report={report} />}
      {isRead && <p class="soft">Open incidents of the earlier feed are closed when you save, and no event is sent.</p>}
      <p class="soft" role="status">
        {isSaved && body === null && 'Saved.'}
      </p>
      {body && <AsCall call={call('updateDependency', { path, body })} />}
    </form>
  )
}
