import { useEffect, useState } from 'preact/hooks'
import { parseBoardQuery } from '../../core/board/board-query.ts'
import type { BoardRow } from '../../core/board/board-row.ts'
import { formatCount, formatNumber } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { FormErrors } from '../forms/field-errors.ts'
import { FieldError } from '../forms/fields.tsx'

const MAX_SHOWN = 12

/** Chooses monitors: each by its name, or all that match a query of the list of monitors, such as `tag:shop`. */
export function MonitorChoice({
  path,
  legend,
  hint,
  max,
  exceptId = null,
  isListOpen = false,
  ids,
  errors,
  onChange,
}: {
  /** of the field in the body */
  path: string
  legend: string
  hint: string
  /** how many can be chosen */
  max: number
  /** a monitor that cannot be chosen */
  exceptId?: string | null
  /** lists monitors also while nothing is typed */
  isListOpen?: boolean
  ids: readonly string[]
  errors: FormErrors
  /** `names`: by id, of all monitors */
  onChange(ids: readonly string[], names: ReadonlyMap<string, string>): void
}) {
  const { nowMs, isInteractive } = useFrame()
  const id = `field-${path}`
  const [text, setText] = useState('')
  const { all, isFailed } = useAllMonitors(text)
  const query = parseBoardQuery(text, nowMs)
  const chosen = new Set(ids)
  const matching = (all ?? []).filter(query.matches)
  const open = matching.filter(({ id }) => !chosen.has(id) && id !== exceptId)
  const names = new Map((all ?? []).map(({ id, name }) => [id, name]))
  const change = (next: readonly string[]) => onChange(next, names)
  const add = (more: readonly string[]) => change([...new Set([...ids, ...more])].slice(0, max))
  const addOpen = () => add(open.map(({ id }) => id))
  // a part that is not understood is ignored, so more would match than is meant
  const isUnderstood = query.problems.length === 0
  const isAll = text.trim() === ''
  const none = describeNone({ isRead: all !== null, isFailed, areAllChosen: matching.length > 0, isAll })
  return (
    <fieldset class="monitor-choice" id={id} disabled={!isInteractive} aria-describedby={`${id}-error`}>
      <legend>{legend}</legend>
      <Chosen ids={ids} names={names} onChange={change} />
      <div class="joined">
        <input
          type="search"
          aria-label="Find monitors"
          aria-invalid={errors.at(path).length > 0 ? 'true' : undefined}
          placeholder="Name, or a query such as tag:shop or type:http"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={event => setText(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            // all monitors are added by the button only, which says so
            if (isUnderstood && !isAll) addOpen()
          }}
        />
        <button type="button" disabled={open.length === 0 || !isUnderstood} onClick={addOpen}>
          {isAll ? 'Add all' : `Add ${formatNumber(open.length)}`}
        </button>
      </div>
      <Problems texts={query.problems} />
      {((isListOpen && isInteractive) || !isAll) && <Matches open={open} none={none} onAdd={id => add([id])} />}
      <p class="soft small">{hint}</p>
      <FieldError path={path} errors={errors} />
    </fieldset>
  )
}

/** All monitors of the project, null until they are read. After a failure, another `text` tries again. */
function useAllMonitors(text: string): { all: readonly BoardRow[] | null; isFailed: boolean } {
  const { findMonitors } = useFrame()
  const [all, setAll] = useState<readonly BoardRow[] | null>(null)
  const [isFailed, setFailed] = useState(false)
  useEffect(() => {
    if (all !== null) return
    findMonitors({ text: '', limit: 100_000 }).then(found => {
      setFailed(found === null)
      if (found) setAll(found.rows)
    })
  }, [all === null && text])
  return { all, isFailed }
}

/** Says why there is no monitor to choose. */
export function describeNone({
  isRead,
  isFailed,
  areAllChosen,
  isAll,
}: {
  isRead: boolean
  isFailed: boolean
  areAllChosen: boolean
  /** nothing is typed, so every monitor matches */
  isAll: boolean
}): string {
  if (!isRead) return isFailed ? 'The monitors cannot be read now. Typing tries again.' : 'Reading the monitors …'
  if (areAllChosen) return 'All of them are chosen.'
  return isAll ? 'There is no monitor yet.' : 'No monitor matches.'
}

const Problems = ({ texts }: { texts: readonly string[] }) =>
  texts.map(text => (
    <p key={text} class="wrong small">
      {text}
    </p>
  ))

/** The row of a monitor that is added goes, and keys go on at the next one. */
function focusNeighbour(button: Element): void {
  const row = button.closest('li')
  const neighbour = row?.nextElementSibling ?? row?.previousElementSibling
  neighbour?.querySelector('button')?.focus()
}

/** The monitors that match and are not chosen yet. */
const Matches = ({
  open,
  none,
  onAdd,
}: {
  open: readonly BoardRow[]
  /** the text without one */
  none: string
  onAdd(id: string): void
}) => (
  <ul class="matches">
    {open.slice(0, MAX_SHOWN).map(({ id, name, tags }) => (
      <li key={id}>
        <button
          type="button"
          class="plain"
          onClick={event => {
            focusNeighbour(event.currentTarget)
            onAdd(id)
          }}
        >
          <span class="hidden">Add </span>
          <bdi>{name}</bdi>
        </button>{' '}
        <small class="soft" dir="auto">
          {tags.join(', ')}
        </small>
      </li>
    ))}
    {open.length > MAX_SHOWN && <li class="soft small">and {open.length - MAX_SHOWN} more</li>}
    {open.length === 0 && <li class="soft small">{none}</li>}
  </ul>
)

function Chosen({
  ids,
  names,
  onChange,
}: {
  ids: readonly string[]
  names: ReadonlyMap<string, string>
  onChange(ids: readonly string[]): void
}) {
  const [isOpen, open] = useState(false)
  const shown = isOpen ? ids : ids.slice(0, MAX_SHOWN)
  return (
    <>
      <p class={ids.length === 0 ? 'soft small' : 'small'}>
        <span role="status">{ids.length === 0 ? 'No monitor is chosen.' : formatCount(ids.length, 'monitor')}</span>{' '}
        {ids.length > 0 && (
          <button type="button" class="plain" onClick={() => onChange([])}>
            Remove all
          </button>
        )}
      </p>
      {ids.length > 0 && (
        <ul class="chosen">
          {shown.map(id => (
            <li key={id}>
              <bdi>{names.get(id) ?? '…'}</bdi>
              <button
                type="button"
                aria-label={`Remove ${names.get(id) ?? id}`}
                onClick={() => onChange(ids.filter(one => one !== id))}
              >
                ×
              </button>
            </li>
          ))}
          {shown.length < ids.length && (
            <li>
              <button type="button" class="plain" onClick={() => open(true)}>
                {ids.length - shown.length} more
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  )
}
