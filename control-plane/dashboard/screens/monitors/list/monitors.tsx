import { useEffect, useRef, useState } from 'preact/hooks'
import type { BoardCounts, BoardSelection } from '../../../core/board.ts'
import { parseBoardQuery } from '../../../core/board-query.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { MonitorTable } from '../../../parts/monitors/monitor-table.tsx'
import { Empty, Loaded } from '../../../parts/states.tsx'
import { NAMES, type ShownStatus, STATUS_ORDER } from '../../../parts/status.tsx'
import { BulkList } from '../bulk/bulk-list.tsx'
import { Views } from './views.tsx'

const FIRST_ROWS = 60
/** A page of more rows takes a server too long to render. */
const MAX_ROWS = 2_000

/** `/monitors`: all monitors, trouble first, with a query. */
export const monitorsScreen = screen({
  path: '/monitors',
  area: 'monitors',
  queries: () => ({ views: read('listViews', { query: { per_page: 100 } }) }),
  board: ({ search }) => ({ text: buildText(search), limit: parseLimit(search) }),
  title: () => 'Monitors',
  Body: ({ search, board, results }) => {
    const { me } = useFrame()
    return (
      <>
        <div class="screen-head">
          <h1>Monitors</h1>
          {canWrite(me) && (
            <a class="button main" href="/monitors/new">
              New monitor
            </a>
          )}
        </div>
        <Filter search={search} board={board.data} />
        <Views result={results.views} text={buildText(search)} />
        <Loaded result={board} what="The monitors">
          {selection => <Rows selection={selection} search={search} />}
        </Loaded>
      </>
    )
  },
})

/** `q`, and `tag` of links in alerts and on the page of a monitor. */
function buildText(search: URLSearchParams): string {
  const tag = search.get('tag')
  return [search.get('q'), tag && `tag:"${tag}"`].filter(Boolean).join(' ')
}

/** `rows`, the number of rows to show. */
function parseLimit(search: URLSearchParams): number {
  const rows = search.get('rows') ?? ''
  return /^[1-9]\d{0,4}$/.test(rows) ? Math.min(Number(rows), MAX_ROWS) : FIRST_ROWS
}

/** The query. It filters while a person types; without a script it is sent as a form. */
function Filter({ search, board }: { search: URLSearchParams; board: BoardSelection | null }) {
  const { navigate, isInteractive, nowMs } = useFrame()
  const given = buildText(search)
  const [text, setText] = useState(given)
  // addresses of this field that are not shown yet: a person types faster than a page changes
  const sent = useRef<string[]>([])
  useEffect(() => {
    const at = sent.current.indexOf(given)
    sent.current = sent.current.slice(at + 1)
    // a link or the history of the browser changes the address too
    if (at === -1) setText(given)
  }, [given])
  const { problems } = parseBoardQuery(text, nowMs)
  const show = (next: string) => {
    setText(next)
    sent.current.push(next)
    navigate(next === '' ? '/monitors' : `/monitors?${new URLSearchParams({ q: next })}`, true)
  }
  return (
    <>
      <form
        class="filters"
        action="/monitors"
        aria-label="Monitors"
        onSubmit={event => {
          if (isInteractive) event.preventDefault()
        }}
      >
        <label class="hidden" for="filter">
          Filter
        </label>
        <input
          id="filter"
          name="q"
          type="search"
          value={text}
          placeholder="Name, is:down, tag:shop, -tag:test, region:eu-west, since:<1h"
          autocomplete="off"
          spellcheck={false}
          data-key="/"
          list="filter-tags"
          onInput={event => show(event.currentTarget.value)}
        />
        <datalist id="filter-tags">
          {board?.tags.slice(0, 100).map(tag => (
            <option key={tag} value={`tag:${tag.includes(' ') ? `"${tag}"` : tag}`} />
          ))}
        </datalist>
        {!isInteractive && <button type="submit">Filter</button>}
      </form>
      {problems.map(problem => (
        <p key={problem} class="wrong small" role="alert">
          {problem}.
        </p>
      ))}
      {board && <Statuses counts={board.counts} current={given} />}
    </>
  )
}

/** The number of monitors by status, as links. */
const Statuses = ({ counts, current }: { counts: BoardCounts; current: string }) => (
  <nav class="statuses small" aria-label="By status">
    {STATUS_ORDER.filter(status => counts[status] > 0).map((status: ShownStatus) => (
      <a
        key={status}
        href={`/monitors?q=is:${status}`}
        class={status === 'down' || status === 'degraded' ? status : undefined}
        aria-current={current === `is:${status}` ? 'true' : undefined}
      >
        {counts[status].toLocaleString('en')} {NAMES[status].toLowerCase()}
      </a>
    ))}
    {current !== '' && <a href="/monitors">all</a>}
  </nav>
)

function Rows({ selection, search }: { selection: BoardSelection; search: URLSearchParams }) {
  const { me } = useFrame()
  const { rows, matching, total } = selection
  const empty = <Empty text={total === 0 ? 'There are no monitors yet.' : 'No monitor matches this filter.'} />
  if (!canWrite(me) && matching === 0) return empty
  return (
    <>
      <p class="hidden" role="status">
        {formatCount(matching, 'monitor')}
      </p>
      {canWrite(me) ? (
        <BulkList rows={rows} matching={matching} text={buildText(search)} empty={empty} />
      ) : (
        <MonitorTable rows={rows} total={matching} label="Monitors" />
      )}
      {rows.length < matching && <More search={search} shown={rows.length} matching={matching} />}
    </>
  )
}

/** The next rows. */
function More({ search, shown, matching }: { search: URLSearchParams; shown: number; matching: number }) {
  const next = new URLSearchParams(search)
  next.set('rows', String(shown + 200))
  return (
    <p class="pager">
      <span class="soft">
        {shown.toLocaleString('en')} of {matching.toLocaleString('en')}
      </span>
      {shown < MAX_ROWS ? <a href={`/monitors?${next}`}>Show more</a> : <span>Use the filter to see the others.</span>}
    </p>
  )
}
