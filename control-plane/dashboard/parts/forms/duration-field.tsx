import { useState } from 'preact/hooks'
import { describeControl, Field, type FieldOptions } from './fields.tsx'

const UNITS = [
  { name: 'seconds', seconds: 1 },
  { name: 'minutes', seconds: 60 },
  { name: 'hours', seconds: 3_600 },
  { name: 'days', seconds: 86_400 },
]

/** The largest unit in which a number of seconds is a whole number. */
export function findUnit(seconds: string): number {
  const value = Number(seconds)
  const found = UNITS.findLastIndex(unit => value > 0 && value % unit.seconds === 0)
  return Math.max(0, found)
}

/** A duration as a number and a unit. The value is in seconds, as text. */
export function DurationField({
  value,
  onChange,
  ...props
}: FieldOptions & { value: string; onChange(seconds: string): void }) {
  const [unit, setUnit] = useState(() => findUnit(value))
  const { seconds } = UNITS[unit]!
  const control = describeControl(props)
  return (
    <Field {...props}>
      <div class="joined">
        <input
          {...control}
          type="number"
          min="0"
          step="any"
          value={value === '' ? '' : withoutRest(Number(value) / seconds)}
          onInput={event => onChange(toSeconds(event.currentTarget.value, seconds))}
        />
        <select
          aria-label={`Unit of ${props.label}`}
          value={String(unit)}
          onChange={event => {
            const next = Number(event.currentTarget.value)
            setUnit(next)
            onChange(value === '' ? '' : toSeconds(String(Number(value) / seconds), UNITS[next]!.seconds))
          }}
        >
          {UNITS.map(({ name }, i) => (
            <option key={name} value={String(i)} selected={i === unit}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </Field>
  )
}

/** A number as it is typed, in seconds. Empty stays empty. */
export const toSeconds = (text: string, unitSeconds: number): string =>
  text === '' ? '' : String(withoutRest(Number(text) * unitSeconds))

/** Without what is left over by binary fractions: 4.1 * 60 is 245.99999999999997. */
const withoutRest = (value: number) => Number(value.toPrecision(12))
