import type { FormErrors } from './field-errors.ts'
import { describeControl, FieldError } from './fields.tsx'

/** A header: a name and its value. */
export type HeaderRow = { name: string; value: string }

/** Pairs as the object that the API accepts. Empty rows are left out; null: there are none. */
export function toPairObject(pairs: readonly HeaderRow[]): Record<string, string> | null {
  const filled = pairs.filter(({ name, value }) => name.trim() !== '' || value !== '')
  return filled.length === 0 ? null : Object.fromEntries(filled.map(({ name, value }) => [name.trim(), value]))
}

export const toPairs = (object: Record<string, string> | null | undefined): HeaderRow[] =>
  Object.entries(object ?? {}).map(([name, value]) => ({ name, value }))

/** Names that are listed twice. They would replace each other in an object. */
export function listRepeatedNames(pairs: readonly HeaderRow[]): string[] {
  const names = pairs.map(({ name }) => name.trim().toLowerCase()).filter(name => name !== '')
  return [...new Set(names.filter((name, i) => names.indexOf(name) < i))]
}

/** Rows of names and values. Errors refer to a header by its name: `headers.X-Token`. */
export function PairsField({
  path,
  label,
  pairs,
  errors,
  onChange,
}: {
  path: string
  label: string
  pairs: readonly HeaderRow[]
  errors: FormErrors
  onChange(pairs: HeaderRow[]): void
}) {
  const change = (at: number, part: Partial<HeaderRow>) =>
    onChange(pairs.map((pair, i) => (i === at ? { ...pair, ...part } : pair)))
  return (
    <fieldset class="row-list">
      <legend>{label}</legend>
      {pairs.map((pair, i) => {
        const own = `${path}.${pair.name.trim()}`
        const control = describeControl({ path: own, errors })
        return (
          <div class="row-fields" key={i}>
            <input
              {...control}
              id={`field-${path}-${i}-name`}
              aria-label={`Name ${i + 1}`}
              placeholder="Name"
              value={pair.name}
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              onInput={event => change(i, { name: event.currentTarget.value })}
            />
            <input
              id={`field-${path}-${i}-value`}
              aria-label={`Value ${i + 1}`}
              aria-invalid={control['aria-invalid']}
              aria-describedby={control['aria-describedby']}
              placeholder="Value"
              value={pair.value}
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              onInput={event => change(i, { value: event.currentTarget.value })}
            />
            <button type="button" onClick={() => onChange(pairs.filter((_, at) => at !== i))}>
              Remove<span class="hidden"> {pair.name || `row ${i + 1}`}</span>
            </button>
            <FieldError path={own} errors={errors} />
          </div>
        )
      })}
      <FieldError path={path} errors={errors} />
      <div>
        <button type="button" onClick={() => onChange([...pairs, { name: '', value: '' }])}>
          Add a row<span class="hidden"> to {label}</span>
        </button>
      </div>
    </fieldset>
  )
}
