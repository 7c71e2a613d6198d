import type { ComponentChildren } from 'preact'
import { useStrips } from '../../../browser/list/strips.ts'
import type { BoardSelection } from '../../../core/board/board.ts'
import { type BoardGroup, MAX_GROUP_ROWS } from '../../../core/board/board-groups.ts'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { Empty } from '../../../parts/layout/states.tsx'
import type { DayHistory } from '../../../parts/monitors/day-strip.tsx'
import { MonitorTable, type RowSelection } from '../../../parts/monitors/monitor-table.tsx'
import { NAMES, STATUS_ORDER } from '../../../parts/status.tsx'
import { BulkList } from '../bulk/bulk-list.tsx'
import { useReaderKeys } from './list-keys.ts'
import { buildQueryAddress, buildToggleAddress, MAX_ROWS, parseText } from './list-search.ts'

type RowsInput = { selection: BoardSelection; search: URLSearchParams }

/** The rows of the list, in one table or in groups, with the day of those in sight. */
export function Rows({ selection, search }: RowsInput) {
  const { me } = useFrame()
  const { rows, groups, matching, total } = selection
  const shown = groups?.flatMap(group => group.rows) ?? rows
  const order = [...new Set(shown.map(({ id }) => id))]
  const { strips, list } = useStrips(order)
  const empty = <Empty text={total === 0 ? 'There are no monitors yet.' : 'No monitor matches this filter.'} />
  const show = (picked?: RowSelection) =>
    groups ? (
      <Groups groups={groups} search={search} strips={strips} selection={picked} />
    ) : (
      <MonitorTable rows={rows} total={matching} label="Monitors" selection={picked} strips={strips} />
    )
  return (
    <div ref={list}>
      {(matching > 0 || canWrite(me)) && (
        <p class="hidden" role="status">
          {formatCount(matching, 'monitor')}
        </p>
      )}
      {canWrite(me) ? (
        <BulkList rows={shown} order={order} matching={matching} text={parseText(search)} empty={empty}>
          {show}
        </BulkList>
      ) : matching === 0 ? (
        empty
      ) : (
        <ReaderRows>{show()}</ReaderRows>
      )}
      <OldOrder order={selection.oldOrder} />
      {!groups && rows.length < matching && <More search={search} shown={rows.length} matching={matching} />}
    </div>
  )
}

/** Says that rows stayed where they are although the order is another one now. */
function OldOrder({ order }: { order: BoardSelection['oldOrder'] }) {
  const { sortAgain } = useFrame()
  const hidden = order?.hiddenFailing ?? 0
  return (
    <div class="old-order" role="status">
      {order && (
        <p class={hidden > 0 ? 'down' : 'soft'}>
          The order has changed
          {hidden > 0 && `, and ${formatCount(hidden, 'monitor')} with trouble cannot be seen here`}.{' '}
          <button type="button" onClick={sortAgain}>
            Sort again
          </button>
        </p>
      )}
    </div>
  )
}

const ReaderRows = ({ children }: { children: ComponentChildren }) => <div ref={useReaderKeys()}>{children}</div>

/** The next rows. */
function More({ search, shown, matching }: { search: URLSearchParams; shown: number; matching: number }) {
  const next = new URLSearchParams(search)
  next.set('rows', String(shown + 200))
  return (
    <p class="pager">
      <span class="soft">
        {formatNumber(shown)} of {formatNumber(matching)}
      </span>
      {shown < MAX_ROWS ? <a href={`/monitors?${next}`}>Show more</a> : <span>Use the filter to see the others.</span>}
    </p>
  )
}

function Groups({
  groups,
  search,
  strips,
  selection,
}: {
  groups: readonly BoardGroup[]
  search: URLSearchParams
  strips: ReadonlyMap<string, DayHistory>
  selection?: RowSelection
}) {
  const open = groups.filter(({ isOpen }) => isOpen).map(({ tag }) => tag)
  return (
    <>
      {groups.map(group => {
        const { tag, rows, total, isOpen } = group
        const name = tag ?? 'Without a tag'
        return (
          <section key={name} class="group" aria-label={name}>
            <h2>
              <a href={buildToggleAddress(search, open, tag)} aria-expanded={isOpen}>
                <svg viewBox="0 0 12 12" aria-hidden="true">
                  <path d={isOpen ? 'M2 4l4 4 4-4' : 'M4 2l4 4-4 4'} />
                </svg>
                <span dir="auto">{name}</span>
              </a>{' '}
              <Counts group={group} />
            </h2>
            {isOpen && (
              <MonitorTable
                rows={rows}
                total={total}
                label={`Monitors of the group ${name}`}
                selection={selection}
                strips={strips}
              />
            )}
            {rows.length > 0 && rows.length < total && (
              <p class="pager">
                <span class="soft">
                  {MAX_GROUP_ROWS} of {formatNumber(total)}
                </span>
                {tag === null ? (
                  <span>The list without groups has the others.</span>
                ) : (
                  <a href={buildQueryAddress(NO_GROUPS, `${parseText(search)} tag:"${tag}"`.trim())}>Show all</a>
                )}
              </p>
            )}
          </section>
        )
      })}
    </>
  )
}

const NO_GROUPS = new URLSearchParams()

/** `3 down, 40 up` */
const Counts = ({ group: { counts } }: { group: BoardGroup }) => (
  <small class="soft">
    {STATUS_ORDER.filter(status => counts[status] > 0).map((status, i) => (
      <span key={status} class={status === 'down' || status === 'degraded' ? status : undefined}>
        {i > 0 && ', '}
        {formatNumber(counts[status])} {NAMES[status].toLowerCase()}
      </span>
    ))}
  </small>
)
