import { buildAddress, changeAddress } from '../../../core/address.ts'
import { formatNumber } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { FilterForm } from '../../../parts/forms/filter-form.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import type { ImportEntry, ImportJob } from './file-kind.ts'

type Action = ImportEntry['action']
type Summary = NonNullable<ImportJob['summary']>

/** The word of each action before and after it is applied, and its sign. */
const ACTIONS: [action: Action, sign: string, planned: string, applied: string][] = [
  ['create', '+', 'Create', 'Created'],
  ['update', '~', 'Change', 'Changed'],
  ['delete', '−', 'Delete', 'Deleted'],
  ['left_out', '!', 'Left out', 'Left out'],
  ['note', '!', 'Note', 'Note'],
  ['unchanged', '=', 'Unchanged', 'Unchanged'],
]

/** Of a server with a newer version. */
const OTHER_ACTION: (typeof ACTIONS)[number] = ['note', '!', 'Other', 'Other']

/** The plan or result, entry by entry: counted by action, searched by name, 50 on a page. */
export function ItemList({
  job,
  summary,
  items,
  search,
}: {
  job: ImportJob
  summary: Summary
  items: Result<OperationResponse<'listImportItems'>>
  search: URLSearchParams
}) {
  const path = `/settings/import/${job.id}`
  const isApplied = job.status === 'applied'
  const action = search.get('action')
  const link = (changes: Record<string, string | null>) =>
    changeAddress(path, search, { action: null, has_warnings: null, page: null, ...changes })
  const isAll = action === null && search.get('has_warnings') === null
  return (
    <Section id="items" title={isApplied ? 'Result' : 'Plan'}>
      <nav class="import-counts" aria-label="Entries by what happens to them">
        <a href={link({})} aria-current={isAll ? 'true' : undefined}>
          All
        </a>
        {ACTIONS.filter(([one]) => summary[one] > 0).map(([one, , planned, applied]) => (
          <a key={one} href={link({ action: one })} aria-current={action === one ? 'true' : undefined}>
            {isApplied ? applied : planned} <strong>{formatNumber(summary[one])}</strong>
          </a>
        ))}
        {summary.warnings > 0 && (
          <a href={link({ has_warnings: 'true' })} aria-current={search.get('has_warnings') ? 'true' : undefined}>
            With warnings <strong>{formatNumber(summary.warnings)}</strong>
          </a>
        )}
      </nav>
      <FilterForm path={path} what="entries" isFiltered={search.get('q') !== null || !isAll}>
        <input
          type="search"
          name="q"
          aria-label="Name"
          placeholder="Name"
          defaultValue={search.get('q') ?? ''}
          dir="auto"
        />
        {action !== null && <input type="hidden" name="action" value={action} />}
      </FilterForm>
      {summary.extra > 0 && (
        <p class="soft small">
          {formatNumber(summary.extra)} records of this project are not in the file. They stay as they are.
        </p>
      )}
      <Loaded result={items} what="The entries">
        {({ data, meta }) =>
          meta.total === 0 ? (
            <Empty text="No entry matches." />
          ) : (
            <>
              <ul class="list import-items">
                {data.map((item, i) => (
                  <Item key={`${meta.page}-${i}`} item={item} isApplied={isApplied} />
                ))}
              </ul>
              <Pager
                meta={meta}
                what="entries"
                buildPath={page => buildAddress(path, { ...Object.fromEntries(search), page })}
              />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

function Item({ item, isApplied }: { item: ImportEntry; isApplied: boolean }) {
  const [, sign, planned, applied] = ACTIONS.find(([action]) => action === item.action) ?? OTHER_ACTION
  const fields = Object.entries(item.fields)
  return (
    <li class={item.action}>
      <div class="import-item">
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        <span class="hidden">{isApplied ? applied : planned} </span>
        <bdi class="name">{item.key}</bdi>
        {item.resource && (
          <span class="soft small" dir="auto">
            {item.resource.replaceAll('_', ' ')}
          </span>
        )}
      </div>
      {item.warnings.map(warning => (
        <p key={warning} class="degraded small" dir="auto">
          {warning}
        </p>
      ))}
      {fields.length > 0 && (
        <details>
          <summary class="small">{fields.map(([name]) => name.replaceAll('_', ' ')).join(', ')}</summary>
          <dl class="import-fields">
            {fields.map(([name, { from, to, is_secret: isSecret }]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd dir="auto">
                  {item.action !== 'create' && (
                    <>
                      <del>{formatValue(from)}</del>{' '}
                    </>
                  )}
                  <ins>{formatValue(to)}</ins>
                  {isSecret && <span class="soft"> (another secret)</span>}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  )
}

const formatValue = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
