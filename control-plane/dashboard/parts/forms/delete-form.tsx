import { useState } from 'preact/hooks'
import type { Outcome } from '../../core/operations.ts'
import { useAttempt } from './attempt.ts'

/** Deletes a record after its name was typed. */
export function DeleteForm<T>({
  what,
  name,
  consequences,
  remove,
  onDone,
}: {
  /** `monitor` */
  what: string
  name: string
  /** what is lost, as a sentence */
  consequences: string
  remove(): Promise<Outcome<T>>
  onDone(): void
}) {
  const [typed, setTyped] = useState('')
  const { isBusy, error, run } = useAttempt()
  const isConfirmed = typed.trim() === name.trim()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isConfirmed && (await run(remove)) !== null) onDone()
  }
  return (
    <form class="stack" onSubmit={submit} autocomplete="off">
      <p>{consequences}</p>
      <div class="field">
        <label for="delete-name">
          Type{' '}
          <span class="mono" dir="auto">
            {name}
          </span>{' '}
          to delete the {what}
        </label>
        <input
          id="delete-name"
          value={typed}
          autocomplete="off"
          spellcheck={false}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      </div>
      <div class="actions">
        <button type="submit" class="danger" disabled={!isConfirmed || isBusy}>
          Delete the {what}
        </button>
      </div>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
    </form>
  )
}
