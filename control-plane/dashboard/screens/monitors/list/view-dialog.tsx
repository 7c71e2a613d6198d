import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { Dialog } from '../../overlays/dialog.tsx'

export type View = OperationResponse<'listViews'>['data'][number]

/** A new view of a query, or a stored view. */
export type ViewOptions = { view: View | null; query: string; onClose(): void }

const SHOWN = ['name', 'is_shared']

/** Saves the current query under a name, or renames, shares and deletes a view. */
export function ViewDialog({ view, query, onClose }: ViewOptions) {
  const { me, execute } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [name, setName] = useState(view?.name ?? '')
  const [isShared, setShared] = useState(view?.is_shared ?? false)
  const [isDeleting, setDeleting] = useState(false)
  const form = useFocusOnError(error)
  const errors = buildFormErrors(error?.details ?? [])
  const body = { name, is_shared: isShared }
  const save = () =>
    run<unknown>(() =>
      view
        ? execute('updateView', { path: { id: view.id }, body })
        : execute('createView', { body: { ...body, query } }),
    )
  const deletion = view && call('deleteView', { path: { id: view.id } })
  const remove = () => run<unknown>(() => execute(deletion!.name, deletion!.arguments))
  const finish = async (attempt: Promise<unknown>) => {
    if ((await attempt) !== null) onClose()
  }
  return (
    <Dialog id="view" title={view ? 'Edit view' : 'Save as view'} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void finish(save())
        }}
      >
        <FormMessages error={error} shown={SHOWN} />
        <TextField path="name" label="Name" value={name} onChange={setName} errors={errors} isRequired />
        <p class="small soft">
          Shows the monitors that match <code dir="auto">{view?.query ?? query}</code>
        </p>
        {canWrite(me) && (
          <CheckField
            path="is_shared"
            label="Share with the organization"
            value={isShared}
            onChange={setShared}
            errors={errors}
          />
        )}
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          {view && (
            <button
              type="button"
              class="danger"
              disabled={isBusy}
              onClick={() => (isDeleting ? void finish(remove()) : setDeleting(true))}
            >
              {isDeleting ? 'Delete the view now' : 'Delete…'}
            </button>
          )}
        </div>
        <AsCall
          call={
            deletion && isDeleting
              ? deletion
              : view
                ? call('updateView', { path: { id: view.id }, body })
                : call('createView', { body: { ...body, query } })
          }
        />
      </form>
    </Dialog>
  )
}
