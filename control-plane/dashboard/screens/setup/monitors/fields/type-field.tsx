import { CHECK_TYPES, MONITOR_TYPES, type MonitorType } from '../../../../../../shared/checks/check.ts'
import { FieldError } from '../../../../parts/forms/fields.tsx'
import type { GroupOptions } from './group-props.ts'

/** The types in the order in which they are chosen most often. */
const ORDER: readonly MonitorType[] = ['http', 'keyword', 'ping', 'tcp', 'dns', 'heartbeat']

const TYPE_NAMES: Record<MonitorType, string> = {
  http: 'HTTP',
  keyword: 'Keyword',
  ping: 'Ping',
  tcp: 'TCP',
  dns: 'DNS',
  heartbeat: 'Heartbeat',
}

const EXPLANATIONS: Record<MonitorType, string> = {
  http: 'A web address answers, with the status and content that you expect',
  keyword: 'A page contains a text, or does not contain it',
  ping: 'A host answers ICMP echo requests',
  tcp: 'A port accepts connections',
  dns: 'A name has the records that you expect',
  heartbeat: 'Your job reports by itself, for example a backup every night',
}

/**
 * What is checked. A stored monitor cannot become a heartbeat, because an update has no ping interval, and addresses cannot be
 * heartbeats.
 */
export function TypeField({ form, errors, change, withHeartbeat }: GroupOptions & { withHeartbeat: boolean }) {
  const types = withHeartbeat ? MONITOR_TYPES : CHECK_TYPES
  return (
    <fieldset class="types">
      <legend>What is checked</legend>
      <div>
        {ORDER.filter(type => (types as readonly MonitorType[]).includes(type)).map(type => (
          <label key={type}>
            <input
              type="radio"
              name="type"
              value={type}
              checked={form.type === type}
              aria-labelledby={`type-${type}`}
              aria-describedby={`type-${type}-hint`}
              onChange={() => change({ type })}
            />
            <span>
              <b id={`type-${type}`}>{TYPE_NAMES[type]}</b>
              <small id={`type-${type}-hint`}>{EXPLANATIONS[type]}</small>
            </span>
          </label>
        ))}
      </div>
      <FieldError path="type" errors={errors} />
    </fieldset>
  )
}
