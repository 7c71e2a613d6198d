import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { formatNumber } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { DataQuery } from '../../core/operations.ts'
import { AsCall } from '../calls/as-call.tsx'
import { useAttempt } from './attempt.ts'

/** Deletes a record after its name was typed. `verb`: another word for it, in lower case. */
export function DeleteForm({
  what,
  name,
  verb = 'delete',
  consequences,
  call,
  onDone,
}: {
  /** `monitor` */
  what: string
  name: string
  verb?: 'delete' | 'remove' | 'disconnect' | 'revoke'
  /** what is lost, as a sentence */
  consequences: ComponentChildren
  call: DataQuery
  onDone(): void
}) {
  const { execute } = useFrame()
  const id = useId()
  const [typed, setTyped] = useState('')
  const { isBusy, error, run } = useAttempt()
  const isConfirmed = typed.trim() === name.trim()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isConfirmed && (await run(() => execute(call.name, call.arguments))) !== null) onDone()
  }
  return (
    <form class="stack" onSubmit={submit} autocomplete="off">
      {typeof consequences === 'string' ? <p>{consequences}</p> : consequences}
      <div class="field">
        <label for={id}>
          Type{' '}
          <span class="mono" dir="auto">
            {name}
          </span>{' '}
          to {verb} the {what}
        </label>
        <input
          id={id}
          value={typed}
          autocomplete="off"
          spellcheck={false}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      </div>
      <div class="actions">
        <button type="submit" class="danger" disabled={!isConfirmed || isBusy}>
          {verb[0]!.toUpperCase() + verb.slice(1)} the {what}
        </button>
      </div>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
      <AsCall call={call} />
    </form>
  )
}

/** Whether the number that was typed is the number of records that go. One record needs no number. */
export const isCountConfirmed = (count: number, typed: string): boolean => count < 2 || typed.trim() === String(count)

const MAX_NAMES = 20

/** What goes when more than one record is deleted, and the field for their number. `effect`: `archive 3 monitors`. */
export function CountConfirmation({
  names,
  effect,
  typed,
  onType,
}: {
  names: readonly string[]
  effect: string
  typed: string
  onType(typed: string): void
}) {
  const id = useId()
  const more = names.length - MAX_NAMES
  return (
    <>
      <ul class="names" aria-label={`Records: ${names.length}`}>
        {names.slice(0, MAX_NAMES).map((name, i) => (
          <li key={i} dir="auto">
            {name}
          </li>
        ))}
        {more > 0 && <li class="soft">and {formatNumber(more)} more</li>}
      </ul>
      {names.length > 1 && (
        <div class="field">
          <label for={id}>
            Type <span class="mono">{names.length}</span> to {effect}
          </label>
          <input
            id={id}
            inputMode="numeric"
            autocomplete="off"
            value={typed}
            onInput={event => onType(event.currentTarget.value)}
          />
        </div>
      )}
    </>
  )
}
