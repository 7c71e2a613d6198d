import { type Dispatch, type StateUpdater, useLayoutEffect, useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { toFormError } from '../../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../../parts/forms/leave-question.ts'
import { ForeignChange } from '../../../../parts/forms/stored/foreign-change.tsx'
import { moveChanges } from '../../../../parts/forms/stored/move-changes.ts'
import { sendUnlessChanged } from '../../../../parts/forms/stored/stored-form.ts'
import type { Judgement } from '../preview/use-preview.ts'
import {
  findPageProblems,
  type PageDraft,
  type PageRecord,
  SHOWN_FIELDS,
  toPageForm,
  toPageUpdate,
} from './page-form.ts'
import { SettingsFields } from './settings-fields.tsx'

type SettingsFormProps = {
  page: PageRecord
  form: PageDraft
  setForm: Dispatch<StateUpdater<PageDraft>>
  judgement: Judgement
}

/** The settings of a page. `form` belongs to the editor, because the preview shows it at each keystroke. */
export function SettingsForm({ page, form, setForm, judgement }: SettingsFormProps) {
  const { me, execute, refresh, isInteractive } = useFrame()
  // `seen`: what was read last when the form began. It can be older than `base`, which may be the answer of an update.
  const [{ base, seen }, setStart] = useState({ base: page, seen: page })
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const body = toPageUpdate(base, form)
  useLeaveQuestion(body !== null)
  const start = (record: PageRecord, next: StateUpdater<PageDraft> = toPageForm(record)) => {
    setStart({ base: record, seen: page })
    setForm(next)
    attempt.setError(null)
  }
  const change = (part: Partial<PageDraft>) => {
    setSaved(false)
    setForm(current => ({ ...current, ...part }))
  }
  const onUpload = (kind: 'logo' | 'favicon', url: string | null) => {
    setStart(current => ({ ...current, base: { ...current.base, [`${kind}_url`]: url } }))
    change({ [`${kind}_url`]: url ?? '' })
  }
  const isOther = page !== seen && !attempt.isBusy && isChanged(page, base)
  const isForeign = isOther && body !== null
  // at once: a frame later, it would replace what a person types already
  useLayoutEffect(() => {
    if (isOther && body === null) start(page)
  }, [isOther, body === null, page])
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findPageProblems(form))
    if (problem) return attempt.setError(problem)
    if (!body) return
    const path = { id: page.id }
    const saved = await attempt.run(() =>
      sendUnlessChanged({
        isOther: current => isChanged(current, base),
        read: () => execute('readStatusPage', { path }),
        send: headers => execute('updateStatusPage', { path, body, headers }),
        refresh,
      }),
    )
    if (!saved) return
    // what was typed meanwhile stays
    start(saved.data, current => moveChanges(form, toPageForm(saved.data), current))
    setSaved(true)
  }
  return (
    <form class="page-settings" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <legend class="hidden">Settings</legend>
        <ForeignChange
          what="this page"
          form={{
            isForeign,
            showStored: () => start(page),
            keepChanges: () => start(page, moveChanges(toPageForm(base), toPageForm(page), form)),
          }}
        />
        <SettingsFields {...{ page, form, judgement, change, onUpload }} error={attempt.error} />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        {canWrite(me) && (
          <Buttons
            canSave={!attempt.isBusy && body !== null && !isForeign}
            canDiscard={!attempt.isBusy && body !== null}
            discard={() => start(page)}
          />
        )}
        <p role="status" class="soft small">
          {isSaved && body === null && (page.is_published ? 'Saved. Visitors see it now.' : 'Saved.')}
        </p>
        {body && <AsCall call={call('updateStatusPage', { path: { id: page.id }, body })} />}
      </fieldset>
    </form>
  )
}

/** Whether another person changed the settings. An upload is stored at once, so the addresses of images do not count. */
const isChanged = (page: PageRecord, { logo_url, favicon_url, ...base }: PageRecord): boolean =>
  toPageUpdate({ ...page, logo_url, favicon_url }, toPageForm({ ...base, logo_url, favicon_url })) !== null

const Buttons = (state: { canSave: boolean; canDiscard: boolean; discard(): void }) => (
  <div class="actions">
    <button type="submit" class="main" disabled={!state.canSave}>
      Save the changes
    </button>
    <button type="button" disabled={!state.canDiscard} onClick={state.discard}>
      Discard them
    </button>
  </div>
)
