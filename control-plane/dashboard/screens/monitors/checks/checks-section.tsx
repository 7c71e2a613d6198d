import { changeAddress } from '../../../core/address.ts'
import { formatMs } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { Status, toShownStatus } from '../../../parts/status.tsx'
import type { Check } from '../types.ts'
import { toRowId } from './check-drawer.tsx'

/** The newest checks, also those that do not count. A row leads to its phases and evidence. */
export const ChecksSection = ({
  id,
  search,
  result,
  regions,
}: {
  id: string
  search: URLSearchParams
  result: Result<OperationResponse<'listMonitorChecks'>>
  regions: readonly string[]
}) => (
  <Section id="checks" title="Checks">
    <form class="filters" action={`/monitors/${id}#checks`}>
      {OTHER_PARAMETERS.map(name => {
        const value = search.get(name)
        return value !== null && <input key={name} type="hidden" name={name} value={value} />
      })}
      <label>
        <span class="hidden">Region</span>
        <select name="region">
          <option value="">All regions</option>
          {regions.map(region => (
            <option key={region} value={region} selected={search.get('region') === region}>
              {region}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="hidden">Outcome</span>
        <select name="status">
          <option value="">Every outcome</option>
          {['up', 'degraded', 'down', 'unknown', 'missed'].map(status => (
            <option key={status} value={status} selected={search.get('status') === status}>
              {status}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Filter</button>
    </form>
    <Loaded result={result} what="The checks">
      {({ data, meta }) =>
        data.length === 0 ? (
          <Empty text="There are no checks." />
        ) : (
          <>
            <ul class="list checks">
              {data.map(check => (
                <CheckItem key={check.id} check={check} address={toCheckAddress(id, search, check)} />
              ))}
            </ul>
            <Pager meta={meta} what="checks" buildPath={page => buildPagePath(id, search, page)} />
          </>
        )
      }
    </Loaded>
  </Section>
)

/** What the filter does not change: the time range of the charts. */
const OTHER_PARAMETERS = ['range', 'from', 'to']

/** Another page of the list; the filters stay. */
const buildPagePath = (id: string, search: URLSearchParams, page: number) =>
  `${changeAddress(`/monitors/${id}`, search, { page, check: null, at: null })}#checks`

/** The time is in the address because checks are found by their time. */
const toCheckAddress = (id: string, search: URLSearchParams, check: Check) =>
  changeAddress(`/monitors/${id}`, search, { check: check.id, at: check.scheduled_at })

const CheckItem = ({ check, address }: { check: Check; address: string }) => (
  <li>
    <a class="check" id={toRowId(check.id)} href={address}>
      <Status status={toShownStatus(check.status)} />
      <Moment at={check.scheduled_at} />
      <span class="soft region">{check.region}</span>
      <span class="cause" dir="auto">
        {check.error?.message ?? formatAnswer(check)}
      </span>
    </a>
  </li>
)

const formatAnswer = ({ status_code: code, response_time_ms: ms }: Check) =>
  [code, ms === null ? null : formatMs(ms)].filter(part => part !== null).join(', ')
