import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { BoardSelection } from '../../../core/board/board.ts'
import { parseBoardQuery } from '../../../core/board/board-query.ts'
import type { BoardCounts } from '../../../core/board/board-row.ts'
import { formatNumber } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { NAMES, type ShownStatus, STATUS_ORDER } from '../../../parts/status.tsx'
import { buildGroupAddress, buildQueryAddress, isGrouped, parseListSearch, parseText } from './list-search.ts'
import { Rows } from './rows.tsx'
import { Views } from './views.tsx'

/** `/monitors`: all monitors, trouble first, with a query. */
export const monitorsScreen = screen({
  path: '/monitors',
  area: 'monitors',
  queries: () => ({ views: read('listViews', { query: { per_page: 100 } }) }),
  board: ({ search }) => parseListSearch(search),
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
        <AreaTabs area="monitors" current="/monitors" />
        <NeedsRole what="Creating and changing monitors" needed="editor" />
        <Filter search={search} board={board.data} />
        <Views result={results.views} search={search} />
        <Loaded result={board} what="The monitors">
          {selection => <Rows selection={selection} search={search} />}
        </Loaded>
      </>
    )
  },
})

/** The query. It filters while a person types; without a script it is sent as a form. */
function Filter({ search, board }: { search: URLSearchParams; board: BoardSelection | null }) {
  const { navigate, isInteractive, nowMs } = useFrame()
  const given = parseText(search)
  const [text, setText] = useState(given)
  // addresses of this field that are not shown yet: a person types faster than a page changes
  const sent = useRef<string[]>([])
  // at once: a frame later, it would replace what a person types already
  useLayoutEffect(() => {
    const at = sent.current.indexOf(given)
    sent.current = sent.current.slice(at + 1)
    // a link or the history of the browser changes the address too
    if (at === -1) setText(given)
  }, [given])
  const { problems } = parseBoardQuery(text, nowMs)
  const show = (next: string) => {
    setText(next)
    sent.current.push(next)
    navigate(buildQueryAddress(search, next), true)
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
        {isGrouped(search) && <input type="hidden" name="group" value="tag" />}
        {!isInteractive && <button type="submit">Filter</button>}
      </form>
      {problems.map(problem => (
        <p key={problem} class="wrong small" role="alert">
          {problem}.
        </p>
      ))}
      {board && <Statuses counts={board.counts} search={search} />}
    </>
  )
}

/** The number of monitors by status, as links, and the grouping. */
function Statuses({ counts, search }: { counts: BoardCounts; search: URLSearchParams }) {
  const current = parseText(search)
  return (
    <nav class="statuses small" aria-label="By status">
      {STATUS_ORDER.filter(status => counts[status] > 0).map((status: ShownStatus) => (
        <a
          key={status}
          href={buildQueryAddress(search, `is:${status}`)}
          class={status === 'down' || status === 'degraded' ? status : undefined}
          aria-current={current === `is:${status}` ? 'true' : undefined}
        >
          {formatNumber(counts[status])} {NAMES[status].toLowerCase()}
        </a>
      ))}
      {current !== '' && <a href={buildQueryAddress(search, '')}>all</a>}
      <a class="grouping" href={buildGroupAddress(search, !isGrouped(search))}>
        {isGrouped(search) ? 'One list' : 'Group by tag'}
      </a>
    </nav>
  )
}
