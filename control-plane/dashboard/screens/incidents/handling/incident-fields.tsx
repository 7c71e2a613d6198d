import { useEffect, useState } from 'preact/hooks'
import type { BoardSelection } from '../../../core/board/board.ts'
import { formatNumber } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationArguments } from '../../../core/operations.ts'
import type { FormErrors } from '../../../parts/forms/field-errors.ts'
import { describeControl, Field, SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { Status } from '../../../parts/status.tsx'
import { type Incident, SEVERITY_NAMES } from '../incident-words.tsx'

type ChosenMonitor = { id: string; name: string }
/** What the forms of an incident have in common. */
export type IncidentForm = { title: string; severity: Incident['severity']; monitors: readonly ChosenMonitor[] }

/** Which fields show their own problems. */
export const SHOWN_FIELDS = ['title', 'severity', 'monitor_ids', 'status', 'message']

/** The fields that differ from a stored incident; null without a difference. */
export function toIncidentChange(
  stored: Pick<Incident, 'title' | 'severity' | 'monitor_ids'>,
  { title, severity, monitors }: IncidentForm,
): NonNullable<OperationArguments<'updateIncident'>['body']> | null {
  const ids = monitors.map(({ id }) => id)
  const isSame = ids.length === stored.monitor_ids.length && ids.every(id => stored.monitor_ids.includes(id))
  const change = {
    ...(title !== stored.title && { title }),
    ...(severity !== stored.severity && { severity }),
    ...(!isSame && { monitor_ids: ids }),
  }
  return Object.keys(change).length === 0 ? null : change
}

const SEVERITIES = Object.entries(SEVERITY_NAMES) as [Incident['severity'], string][]

export const IncidentFields = ({
  form: { title, severity, monitors },
  errors,
  change,
}: {
  form: IncidentForm
  errors: FormErrors
  change(part: Partial<IncidentForm>): void
}) => (
  <>
    <TextField
      {...{ path: 'title', label: 'Title', value: title, errors, isRequired: true }}
      hint="Visitors of status pages see it."
      onChange={value => change({ title: value })}
    />
    <SelectField
      {...{ path: 'severity', label: 'Severity', value: severity, options: SEVERITIES, errors }}
      hint="Status pages name it, and colour the page by it."
      onChange={value => change({ severity: value })}
    />
    <MonitorsField monitors={monitors} errors={errors} onChange={chosen => change({ monitors: chosen })} />
  </>
)

const MAX_FOUND = 8

/** The monitors of an incident, found by their names. */
function MonitorsField({
  monitors,
  errors,
  onChange,
}: {
  monitors: readonly ChosenMonitor[]
  errors: FormErrors
  onChange(monitors: readonly ChosenMonitor[]): void
}) {
  const [text, setText] = useState('')
  const found = useFoundMonitors(text)
  const rows = found?.rows.filter(({ id }) => monitors.every(one => one.id !== id)) ?? []
  const more = found ? found.matching - found.rows.length : 0
  const field = { path: 'monitor_ids', label: 'Monitors', errors }
  const hint = 'Pages that show one of them show the incident. Without a monitor, all pages show it.'
  return (
    <Field {...field} hint={hint}>
      {monitors.length > 0 && (
        <ul class="chosen" aria-label="Monitors of the incident">
          {monitors.map(({ id, name }) => (
            <li key={id}>
              <span dir="auto">{name}</span>
              <button type="button" class="plain" onClick={() => onChange(monitors.filter(one => one.id !== id))}>
                Remove
                <span class="hidden">
                  {' '}
                  <bdi>{name}</bdi>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        {...describeControl({ ...field, hint })}
        type="search"
        placeholder="Find a monitor by its name"
        value={text}
        autocomplete="off"
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (rows[0]) onChange([...monitors, rows[0]])
          setText('')
        }}
      />
      {found && (
        <ul class="found">
          {rows.map(({ id, name, status }) => (
            <li key={id}>
              <button
                type="button"
                class="plain"
                onClick={() => {
                  onChange([...monitors, { id, name }])
                  setText('')
                }}
              >
                Add <bdi>{name}</bdi>
              </button>{' '}
              <Status status={status} />
            </li>
          ))}
          {rows.length === 0 && <li class="soft">No other monitor has this in its name.</li>}
          {more > 0 && <li class="soft">and {formatNumber(more)} more</li>}
        </ul>
      )}
    </Field>
  )
}

/** The monitors that match a text; null without a text or until they are found. */
function useFoundMonitors(text: string): BoardSelection | null {
  const { findMonitors } = useFrame()
  const [found, setFound] = useState<BoardSelection | null>(null)
  const isEmpty = text.trim() === ''
  useEffect(() => {
    let isCurrent = true
    if (!isEmpty) {
      findMonitors({ text, limit: MAX_FOUND }).then(selection => {
        if (isCurrent) setFound(selection)
      })
    }
    return () => {
      isCurrent = false
    }
  }, [text])
  return isEmpty ? null : found
}
