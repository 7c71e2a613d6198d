import { KEYWORD_TYPES, type MonitorType, REGIONS, type Region } from '../../../../../../shared/checks/check.ts'
import { formatDuration } from '../../../../core/format.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import { DurationField } from '../../../../parts/forms/duration-field.tsx'
import { FieldError, SelectField, TextField } from '../../../../parts/forms/fields.tsx'
import { completeAddress, parseAddressLines, proposeName, proposeRegions } from '../state/proposals.ts'
import type { GroupOptions } from './group-props.ts'

export type RegionRecord = OperationResponse<'listRegions'>['data'][number]

/** The regions that have a probe now. Null: it is not known. */
export const listLiveRegions = (regions: readonly RegionRecord[] | null): Region[] | null =>
  regions?.filter(({ is_live }) => is_live).map(({ region }) => region) ?? null

const ADDRESS_HINTS: Record<MonitorType, string> = {
  http: 'https://shop.example.com/health',
  keyword: 'https://shop.example.com/',
  ping: 'host.example.com or 192.0.2.1',
  tcp: 'mail.example.com:25',
  dns: 'example.com, or dns://server/example.com?type=MX for a certain server and record type',
  heartbeat: '',
}

/** The address. Several pasted lines are several monitors: `onLines`. */
export const AddressField = ({
  form,
  errors,
  change,
  onLines,
}: GroupOptions & { onLines?: (lines: string[]) => void }) => (
  <TextField
    path="url"
    label="Address"
    value={form.url}
    errors={errors}
    hint={`For example ${ADDRESS_HINTS[form.type]}`}
    isRequired
    onChange={url => change({ url })}
    onBlur={() => {
      const url = completeAddress(form.type, form.url)
      if (url !== form.url) change({ url })
    }}
    onPaste={event => {
      const lines = parseAddressLines(event.clipboardData?.getData('text') ?? '')
      if (lines.length < 2 || !onLines) return
      event.preventDefault()
      onLines(lines)
    }}
  />
)

const KEYWORD_NAMES = {
  contains: 'The page contains the text',
  not_contains: 'The page does not contain the text',
  regex: 'The page matches the regular expression (RE2)',
} as const

export const KeywordFields = ({ form, errors, change }: GroupOptions) => (
  <>
    <SelectField
      path="keyword_type"
      label="Condition"
      value={form.keyword_type}
      options={KEYWORD_TYPES.map(type => [type, KEYWORD_NAMES[type]] as const)}
      errors={errors}
      onChange={keyword_type => change({ keyword_type })}
    />
    <TextField
      path="keyword"
      label={form.keyword_type === 'regex' ? 'Expression' : 'Text'}
      value={form.keyword}
      errors={errors}
      hint="Upper and lower case are different."
      isRequired
      onChange={keyword => change({ keyword })}
    />
  </>
)

export const NameField = ({ form, errors, change }: GroupOptions) => (
  <TextField
    path="name"
    label="Name"
    value={form.name ?? proposeName(form)}
    errors={errors}
    hint="Alerts and status pages show it."
    isRequired
    onChange={name => change({ name })}
  />
)

const INTERVALS = [30, 60, 120, 300, 600, 900, 1_800, 3_600]

/** How often. An interval that was set by the API is offered too. */
export function IntervalField({ form, errors, change }: GroupOptions) {
  const current = Number(form.interval_seconds)
  const values = [...new Set([...INTERVALS, current])].sort((a, b) => a - b)
  return (
    <SelectField
      path="interval_seconds"
      label="How often, in each region"
      value={form.interval_seconds}
      options={values.map(seconds => [String(seconds), `every ${formatDuration(seconds * 1_000)}`] as const)}
      errors={errors}
      onChange={interval_seconds => change({ interval_seconds })}
    />
  )
}

export const HeartbeatFields = ({ form, errors, change }: GroupOptions) => (
  <>
    <DurationField
      path="heartbeat_interval"
      label="A ping is expected every"
      value={form.heartbeat_interval}
      errors={errors}
      onChange={heartbeat_interval => change({ heartbeat_interval })}
    />
    <DurationField
      path="heartbeat_grace"
      label="It may be late by"
      value={form.heartbeat_grace}
      errors={errors}
      onChange={heartbeat_grace => change({ heartbeat_grace })}
    />
  </>
)

/** Where from. Regions without a live probe can be chosen, because one may be started later. */
export function RegionsField({
  form,
  errors,
  change,
  regions,
}: GroupOptions & { regions: readonly RegionRecord[] | null }) {
  const chosen = form.regions ?? proposeRegions(listLiveRegions(regions))
  const toggle = (region: Region) =>
    change({ regions: REGIONS.filter(one => (one === region ? !chosen.includes(one) : chosen.includes(one))) })
  return (
    <fieldset class="regions" aria-describedby={errors.isBelow(['regions']) ? 'field-regions-error' : undefined}>
      <legend>Regions</legend>
      <div>
        {REGIONS.map(region => {
          const known = regions?.find(one => one.region === region)
          return (
            <label key={region}>
              <input
                type="checkbox"
                name="regions"
                value={region}
                checked={chosen.includes(region)}
                aria-invalid={errors.at('regions').length > 0 ? 'true' : undefined}
                onChange={() => toggle(region)}
              />
              <span>
                <bdi>{known?.name ?? region}</bdi>
                {known?.is_live === false && <small>no probe now</small>}
              </span>
            </label>
          )
        })}
      </div>
      <small class="soft">
        An outage is reported when a majority of the regions sees it. Three or more are recommended.
      </small>
      <FieldError path="regions" errors={errors} />
    </fieldset>
  )
}
