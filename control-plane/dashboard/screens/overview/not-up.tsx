import { useMemo, useState } from 'preact/hooks'
import type { BoardSelection } from '../../core/board/board.ts'
import { countStatuses } from '../../core/board/board-groups.ts'
import {
  type CauseGroup,
  type CauseName,
  findVendorDomain,
  groupByCause,
  parseHost,
} from '../../core/board/common-cause.ts'
import { formatCount, formatNumber } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { useOpenDetails } from '../../parts/layout/open-details.ts'
import { Section } from '../../parts/layout/section.tsx'
import { Loaded } from '../../parts/layout/states.tsx'
import { MonitorTable } from '../../parts/monitors/monitor-table.tsx'
import { NAMES, Shape, STATUS_ORDER } from '../../parts/status.tsx'

type NotUpProps = {
  result: Result<BoardSelection>
  addresses: Result<OperationResponse<'listMonitors'>>
  dependencies: Result<OperationResponse<'listDependencies'>>
}

/**
 * Everything that is not up: monitors with a common cause as one line that opens to them, then the others. `addresses`: the
 * monitors that are down or degraded, for their hosts; without them monitors are not grouped by host or vendor.
 */
export function NotUp({ result, addresses, dependencies }: NotUpProps) {
  const selection = result.data
  // not at each render of the page, because a thousand monitors can be down
  const groups = useMemo(
    () => (selection ? groupRows(selection, addresses.data, dependencies.data) : []),
    [selection, addresses.data, dependencies.data],
  )
  if (selection && selection.matching === 0) return null
  return (
    <Section id="trouble" title="Not up">
      <Loaded result={result} what="The monitors">
        {({ rows, matching }) => (
          <>
            {groups.map(({ cause, rows: members }) =>
              cause === null ? (
                <MonitorTable key="others" rows={members} total={members.length} label="Monitors that are not up" />
              ) : (
                <Group key={`${cause.kind} ${cause.id ?? cause.value}`} cause={cause} rows={members} />
              ),
            )}
            {matching > rows.length && (
              <p class="pager">
                <a href="/monitors?q=-is:up+-is:paused">All {formatCount(matching, 'monitor')} that are not up</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

function groupRows(
  { rows, parentOutages: parents }: BoardSelection,
  addresses: NotUpProps['addresses']['data'],
  dependencies: NotUpProps['dependencies']['data'],
): CauseGroup[] {
  const hosts = new Map<string, string>()
  for (const { id, url } of addresses?.data ?? []) {
    const host = parseHost(url)
    if (host !== null) hosts.set(id, host)
  }
  const vendors = (dependencies?.data ?? []).flatMap(dependency => {
    const domain = dependency.open_incidents > 0 ? findVendorDomain(dependency) : null
    return domain === null ? [] : [{ id: dependency.id, name: dependency.name, domain }]
  })
  return groupByCause(rows, { hosts, parents, vendors })
}

const WORDS: Record<CauseName['kind'], string> = {
  parent: 'Parent is down',
  vendor: 'Possible cause: vendor incident',
  host: 'Same host',
  region: 'Only one region fails',
  error: 'Same error',
}

function Group({ cause, rows }: { cause: CauseName; rows: CauseGroup['rows'] }) {
  const { isInteractive } = useFrame()
  const [isOpen, setOpen] = useState(false)
  const details = useOpenDetails(setOpen)
  const counts = countStatuses(rows)
  const statuses = STATUS_ORDER.filter(status => counts[status] > 0)
  return (
    <details class="common" {...details}>
      <summary>
        <span class="common-cause">
          <bdi>{cause.value}</bdi> <small class="soft">{WORDS[cause.kind]}</small>
        </span>
        {statuses.map(status => (
          <span key={status} class={`state ${status}`}>
            <Shape status={status} />
            {formatNumber(counts[status])} {NAMES[status].toLowerCase()}
          </span>
        ))}
      </summary>
      {(isOpen || !isInteractive) && (
        <>
          {cause.kind === 'vendor' && (
            <p class="small">
              <a href={`/dependencies/${cause.id}`}>
                Incidents of <bdi>{cause.value}</bdi>
              </a>
            </p>
          )}
          <MonitorTable rows={rows} total={rows.length} label={`${WORDS[cause.kind]}: ${cause.value}`} />
        </>
      )}
    </details>
  )
}
