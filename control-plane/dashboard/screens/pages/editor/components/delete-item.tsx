import { useState } from 'preact/hooks'
import type { Outcome } from '../../../../core/operations.ts'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import { FormError } from '../../../../parts/forms/operation-form.tsx'

/** Deletes a component or a group after a second click that says what goes. Both are created again in a moment. */
export function DeleteItem<T>({
  what,
  consequences,
  remove,
  onDone,
}: {
  what: 'component' | 'group'
  consequences: string
  remove(): Promise<Outcome<T>>
  onDone(): void
}) {
  const [isAsked, setAsked] = useState(false)
  const { isBusy, error, run } = useAttempt()
  if (!isAsked) {
    return (
      <div>
        <button type="button" class="plain" onClick={() => setAsked(true)}>
          Delete the {what}
        </button>
      </div>
    )
  }
  const confirm = async () => {
    if ((await run(remove)) !== null) onDone()
  }
  return (
    <div role="alert">
      <p>{consequences}</p>
      <div class="actions top">
        <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
          Delete it
        </button>
        <button type="button" disabled={isBusy} onClick={() => setAsked(false)}>
          Keep it
        </button>
      </div>
      <FormError error={error} />
    </div>
  )
}
