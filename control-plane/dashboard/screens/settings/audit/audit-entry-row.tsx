import { buildAddress } from '../../../core/address.ts'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import {
  ACTION_NAMES,
  type AuditEntry,
  type AuditFilter,
  buildRecordPath,
  formatValue,
  nameResource,
} from './audit-words.ts'

/** Acts of which the record is the person who acts. */
const OWN_ACTS: readonly AuditEntry['action'][] = ['signed_in', 'signed_out', 'password_changed']

/** Who did what, and when. It opens to the values before and after. */
export function AuditEntryRow({ entry, filter }: { entry: AuditEntry; filter: AuditFilter }) {
  const { at, actor, changes } = entry
  const fields = Object.entries(changes)
  return (
    <li>
      <p>
        <span class="soft small when">
          <Moment at={at} />
        </span>{' '}
        {actor.id === null ? (
          <bdi>{actor.name}</bdi>
        ) : (
          <a href={buildAddress('/settings/audit', { ...filter, actor_id: actor.id })} title="Only this actor">
            <bdi>{actor.name}</bdi>
          </a>
        )}{' '}
        <What entry={entry} />
        {actor.ip !== null && (
          <span class="soft small">
            {' '}
            from <bdi>{actor.ip}</bdi>
          </span>
        )}
      </p>
      {fields.length > 0 && <Changes fields={fields} action={entry.action} />}
    </li>
  )
}

function What({ entry }: { entry: AuditEntry }) {
  const { action, resource, resource_name: name } = entry
  const path = buildRecordPath(entry)
  if (OWN_ACTS.includes(action)) return <>{ACTION_NAMES[action]}</>
  return (
    <>
      {ACTION_NAMES[action]} the {nameResource(resource)}{' '}
      {name !== null &&
        (path === null ? (
          <b dir="auto">{name}</b>
        ) : (
          <a href={path} dir="auto">
            {name}
          </a>
        ))}
    </>
  )
}

type Change = AuditEntry['changes'][string]

const MAX_NAMES = 4

const Changes = ({ fields, action }: { fields: [name: string, change: Change][]; action: AuditEntry['action'] }) => {
  const names = fields.map(([name]) => name)
  const more = names.length - MAX_NAMES
  const hasBefore = action !== 'created'
  const hasAfter = action !== 'deleted'
  return (
    <details>
      <summary class="small">
        <bdi>{names.slice(0, MAX_NAMES).join(', ')}</bdi>
        {more > 0 && ` and ${more} more`}
      </summary>
      <Scroll name="Values before and after">
        <table class="changes">
          <thead>
            <tr>
              <th scope="col">Field</th>
              {hasBefore && <th scope="col">Before</th>}
              {hasAfter && <th scope="col">After</th>}
            </tr>
          </thead>
          <tbody>
            {fields.map(([name, { from, to }]) => (
              <tr key={name}>
                <td class="mono" dir="ltr">
                  {name}
                </td>
                {hasBefore && <Value value={from} />}
                {hasAfter && <Value value={to} />}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  )
}

const Value = ({ value }: { value: unknown }) => (
  <td class={value === null || value === undefined || value === '' ? 'value soft' : 'value'} dir="auto">
    {formatValue(value)}
  </td>
)
