import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { BoardRow } from '../../../../core/board/board-row.ts'
import { formatCount } from '../../../../core/format.ts'
import { useFrame } from '../../../../core/frame-context.ts'
import { call, type DataQuery } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import { FormError } from '../../../../parts/forms/operation-form.tsx'
import { NAMES } from '../../../../parts/status.tsx'
import type { ComponentRecord } from './arrangement.ts'

const MAX_FOUND = 8

/** Adds monitors, components without a monitor, and groups at the end of a page. */
export function AddItems({ pageId, components }: { pageId: string; components: readonly ComponentRecord[] }) {
  const { execute, isInteractive } = useFrame()
  const attempt = useAttempt()
  const [added, setAdded] = useState('')
  const path = { id: pageId }
  const buildComponent = (body: { name: string; monitor_id?: string }) =>
    call('createStatusPageComponent', { path, body })
  const buildGroup = (name: string) => call('createStatusPageGroup', { path, body: { name } })
  const add = async (name: string, addition: DataQuery) => {
    const isAdded = (await attempt.run<unknown>(() => execute(addition.name, addition.arguments))) !== null
    if (isAdded) setAdded(name)
    return isAdded
  }
  return (
    <fieldset class="plain stack add-items" disabled={!isInteractive || attempt.isBusy}>
      <legend>Add to the page</legend>
      <MonitorChoice
        shown={new Set(components.map(({ monitor_id: id }) => id))}
        build={row => buildComponent({ name: row.name, monitor_id: row.id })}
        add={(row, addition) => void add(row.name, addition)}
      />
      <NamedItem
        label="Component without a monitor"
        hint="You set its status by hand."
        text="Add the component"
        build={name => buildComponent({ name })}
        add={add}
      />
      <NamedItem
        label="Group"
        hint="It combines components, and shows their worst status."
        text="Add the group"
        build={buildGroup}
        add={add}
      />
      <FormError error={attempt.error} />
      <p role="status" class="soft small">
        {added !== '' && !attempt.error && (
          <>
            <bdi>{added}</bdi> is on the page.
          </>
        )}
      </p>
    </fieldset>
  )
}

/** The monitors that match what is typed, without those that are on the page. */
function MonitorChoice({
  shown,
  build,
  add,
}: {
  shown: ReadonlySet<string | null>
  build(row: BoardRow): DataQuery
  add(row: BoardRow, addition: DataQuery): void
}) {
  const { findMonitors, isInteractive } = useFrame()
  const [text, setText] = useState('')
  const [found, setFound] = useState<{ rows: BoardRow[]; isComplete: boolean } | null>(null)
  const key = [...shown].join()
  useEffect(() => {
    let isCurrent = true
    if (isInteractive)
      void findMonitors({ text, limit: MAX_FOUND + shown.size }).then(selection => {
        if (!isCurrent || !selection) return
        const rows = selection.rows.filter(({ id }) => !shown.has(id))
        setFound({ rows: rows.slice(0, MAX_FOUND), isComplete: rows.length <= MAX_FOUND })
      })
    return () => {
      isCurrent = false
    }
  }, [isInteractive, text, key])
  return (
    <div class="field">
      <label for="add-monitor">Monitor</label>
      <input
        id="add-monitor"
        type="search"
        value={text}
        placeholder="Name, or tag:production"
        autocomplete="off"
        spellcheck={false}
        onInput={event => setText(event.currentTarget.value)}
      />
      {found && (
        <ul class="found-monitors">
          {found.rows.map(row => (
            <li key={row.id}>
              <span>
                <bdi>{row.name}</bdi> <span class="soft small">{NAMES[row.status]}</span>
              </span>
              <button type="button" onClick={() => add(row, build(row))}>
                Add
                <span class="hidden">
                  {' '}
                  <bdi>{row.name}</bdi>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <small role="status">
        {found && describeFound(found.rows.length, { ...found, isAll: text.trim() === '', shown: countShown(shown) })}
      </small>
      {found?.rows[0] && <AsCall call={build(found.rows[0])} name={`for adding ${found.rows[0].name}`} />}
    </div>
  )
}

/** The number of monitors on a page. Components without a monitor are null. */
const countShown = (shown: ReadonlySet<string | null>): number => shown.size - (shown.has(null) ? 1 : 0)

/** `isAll`: nothing is typed. `shown`: how many monitors are on the page. */
export function describeFound(
  count: number,
  { isComplete, isAll, shown }: { isComplete: boolean; isAll: boolean; shown: number },
): ComponentChildren {
  if (count > 0)
    return isComplete
      ? `${formatCount(count, 'monitor')} can be added.`
      : `The first ${count} are shown; type to find others.`
  if (!isAll) return 'No other monitor matches.'
  if (shown > 0) return 'Every monitor is on the page.'
  return (
    <>
      There is no monitor yet. <a href="/monitors/new">Create the first one</a>
    </>
  )
}

function NamedItem({
  label,
  hint,
  text,
  build,
  add,
}: {
  label: string
  hint: string
  text: string
  build(name: string): DataQuery
  /** resolves to false when it was refused */
  add(name: string, addition: DataQuery): Promise<boolean>
}) {
  const [name, setName] = useState('')
  const id = `add-${text.split(' ').at(-1)}`
  const submit = async () => {
    if (name.trim() === '') return
    if (await add(name.trim(), build(name.trim()))) setName('')
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="joined wide">
        <input
          id={id}
          value={name}
          autocomplete="off"
          aria-describedby={`${id}-hint`}
          onInput={event => setName(event.currentTarget.value)}
          onKeyDown={event => event.key === 'Enter' && void submit()}
        />
        <button type="button" disabled={name.trim() === ''} onClick={submit}>
          {text}
        </button>
      </div>
      <small id={`${id}-hint`}>{hint}</small>
      {name.trim() !== '' && <AsCall call={build(name.trim())} name={`for adding ${name.trim()}`} />}
    </div>
  )
}
