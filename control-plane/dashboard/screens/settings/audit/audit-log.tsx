import { buildAddress, parsePage } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { FilterChoice, FilterForm } from '../../../parts/forms/filter-form.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { AuditEntryRow } from './audit-entry-row.tsx'
import {
  ACTION_NAMES,
  type AuditFilter,
  nameResource,
  parseAuditFilter,
  RESOURCES,
  toAuditQuery,
} from './audit-words.ts'

const PATH = '/settings/audit'

const buildPath = (filter: AuditFilter, page = 1) => buildAddress(PATH, { ...filter, page: page === 1 ? null : page })

/** `/settings/audit`: who changed what, and when. */
export const auditLogScreen = screen({
  path: PATH,
  area: 'settings',
  queries: ({ search }) => ({
    entries: read('listAuditLog', { query: { ...toAuditQuery(parseAuditFilter(search)), page: parsePage(search) } }),
    members: read('listMembers', { query: { per_page: 100 } }),
    keys: read('listApiKeys', { query: { per_page: 100 } }),
  }),
  title: () => 'Audit log',
  Body: ({ results: { entries, members, keys }, search }) => {
    const { me } = useFrame()
    const filter = parseAuditFilter(search)
    const actors: Actor[] = [
      ...(members.data?.data ?? []).map(({ id, email }) => [id, email] as const),
      ...(keys.data?.data ?? []).map(({ id, name, hint }) => [id, `${name} (${hint})`] as const),
    ]
    return (
      <>
        <h1>Audit log</h1>
        <AreaTabs area="settings" current={PATH} />
        <NeedsRole what="The audit log" needed="admin" />
        {hasRole(me, 'admin') && (
          <>
            <Filters filter={filter} actors={actors} />
            <Loaded result={entries} what="The audit log">
              {({ data, meta }) => (
                <>
                  {data.length === 0 && <NoEntries isFiltered={Object.keys(filter).length > 0} />}
                  <ul class="list audit">
                    {data.map(entry => (
                      <AuditEntryRow key={entry.id} entry={entry} filter={filter} />
                    ))}
                  </ul>
                  <Pager meta={meta} what="entries" buildPath={page => buildPath(filter, page)} />
                </>
              )}
            </Loaded>
          </>
        )}
      </>
    )
  },
})

type Actor = readonly [id: string, name: string]

function Filters({ filter, actors }: { filter: AuditFilter; actors: readonly Actor[] }) {
  const { actor_id: actorId, resource, resource_id: recordId } = filter
  // an actor that was deleted can still be chosen
  const others: Actor[] = actorId && !actors.some(([id]) => id === actorId) ? [[actorId, 'This actor']] : []
  return (
    <FilterForm filter={buildPath(filter)} path={PATH} what="entries" isFiltered={Object.keys(filter).length > 0}>
      <FilterChoice name="actor_id" label="Who" all="Anyone" value={actorId ?? null} options={[...actors, ...others]} />
      <FilterChoice
        name="action"
        label="Action"
        all="Any action"
        value={filter.action ?? null}
        options={Object.entries(ACTION_NAMES).map(([action, name]) => [action, name.replace(/ (for|of)$/, '')])}
      />
      <FilterChoice
        name="resource"
        label="Kind of record"
        all="Any record"
        value={resource ?? null}
        options={RESOURCES.map(name => [name, nameResource(name)])}
      />
      <Day name="from" label="From" value={filter.from} />
      <Day name="to" label="to" value={filter.to} />
      <span class="soft small">UTC</span>
      {recordId && (
        <span class="tag">
          <input type="hidden" name="resource_id" value={recordId} />
          One record{' '}
          <a href={buildPath({ ...filter, resource_id: undefined })} aria-label="Remove the filter by record">
            ✕
          </a>
        </span>
      )}
    </FilterForm>
  )
}

const Day = ({ name, label, value }: { name: string; label: string; value: string | undefined }) => (
  <label class="day">
    <span class="soft small">{label}</span>
    <input type="date" name={name} defaultValue={value ?? ''} />
  </label>
)

const NoEntries = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty text="No entry matches these filters.">
      <a href={PATH}>Show all entries</a>
    </Empty>
  ) : (
    <Empty text="Nothing was changed yet. Changes by people and API keys appear here and stay for a year." />
  )
