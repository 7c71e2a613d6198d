import { FilterChoice, FilterForm } from '../../parts/forms/filter-form.tsx'
import { buildListPath, type IncidentFilter, isFiltered } from './incident-filter.ts'
import { SEVERITY_NAMES, STATUS_NAMES } from './incident-words.tsx'

const STATUSES = [['open', 'Open'], ...Object.entries(STATUS_NAMES)] as [string, string][]

/** The filters of the list of incidents. `monitorName`: of the monitor that the address names. */
export const IncidentFilters = ({ filter, monitorName }: { filter: IncidentFilter; monitorName: string | null }) => (
  <FilterForm filter={buildListPath(filter)} path="/incidents" what="incidents" isFiltered={isFiltered(filter)}>
    <input
      type="search"
      name="q"
      defaultValue={filter.q ?? ''}
      maxLength={200}
      placeholder="Title contains"
      aria-label="Title contains"
    />
    <FilterChoice name="status" label="Status" all="Any status" value={filter.status} options={STATUSES} />
    <FilterChoice
      name="severity"
      label="Severity"
      all="Any severity"
      value={filter.severity}
      options={Object.entries(SEVERITY_NAMES)}
    />
    <span class="range">
      <span aria-hidden="true">Started</span>
      <input
        type="date"
        name="from"
        defaultValue={filter.from ?? ''}
        aria-label="Started on or after this day, in UTC"
      />
      <span aria-hidden="true">to</span>
      <input type="date" name="to" defaultValue={filter.to ?? ''} aria-label="Started on or before this day, in UTC" />
    </span>
    {filter.monitor_id !== null && (
      <span class="tag">
        <input type="hidden" name="monitor_id" value={filter.monitor_id} />
        Monitor <span dir="auto">{monitorName ?? filter.monitor_id}</span>{' '}
        <a href={buildListPath({ ...filter, monitor_id: null })} aria-label="Remove the filter by monitor">
          ✕
        </a>
      </span>
    )}
  </FilterForm>
)
