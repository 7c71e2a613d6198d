import { formatCount } from '../../../../core/format.ts'
import { Status } from '../../../../parts/status.tsx'
import { formatRuleValue } from '../document/rule-value.ts'
import type { Verdicts } from './evaluation.ts'

/** The monitors that rules make, with their verdicts. `getMonitorId`: the stored monitor of a rule and a key. */
export const VerdictTable = ({
  verdicts: { children, notes },
  getMonitorId,
}: {
  verdicts: Verdicts
  getMonitorId(index: number, key: string): string | null
}) => (
  <>
    <p class="soft" role="status">
      {summarize(children)}
    </p>
    {notes.map(note => (
      <p key={note} class="missing" dir="auto">
        {note.charAt(0).toUpperCase()}
        {note.slice(1)}.
      </p>
    ))}
    {children.length > 0 && (
      <table class="rows verdicts">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Monitor</th>
            <th scope="col">Value</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {children.map(({ field_index, key, name, value, status, reason }) => {
            const id = getMonitorId(field_index, key)
            return (
              <tr key={`${field_index} ${key}`}>
                <td class="nowrap">
                  <Status status={status} />
                </td>
                <td dir="auto">{id === null ? name : <a href={`/monitors/${id}`}>{name}</a>}</td>
                <td class="mono" dir="auto">
                  {formatRuleValue(value)}
                </td>
                <td class="soft" dir="auto">
                  {reason}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    )}
  </>
)

const STATUSES = ['down', 'degraded', 'unknown', 'up'] as const

/** `3 monitors: 1 down, 2 up.` */
function summarize(children: Verdicts['children']): string {
  if (children.length === 0) return 'No monitor yet. Choose a value in the document.'
  const parts = STATUSES.flatMap(status => {
    const count = children.filter(child => child.status === status).length
    return count === 0 ? [] : [`${count} ${status}`]
  })
  return `${formatCount(children.length, 'monitor')}: ${parts.join(', ')}.`
}
