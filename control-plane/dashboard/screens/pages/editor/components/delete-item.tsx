import { useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import type { DataQuery } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import { FormError } from '../../../../parts/forms/operation-form.tsx'

/** Deletes a component or a group after a second click that says what goes. Both are created again in a moment. */
export function DeleteItem({
  what,
  consequences,
  call,
  onDone,
}: {
  what: 'component' | 'group'
  consequences: string
  call: DataQuery
  onDone(): void
}) {
  const { execute } = useFrame()
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
    if ((await run(() => execute(call.name, call.arguments))) !== null) onDone()
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
      <AsCall call={call} />
    </div>
  )
}
