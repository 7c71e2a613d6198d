/** Changes of the settings of a monitor as marks, from the audit log. Pure. */
import type { OperationResponse } from '../../core/operations.ts'
import type { Mark } from '../../parts/charts/axes.tsx'

type AuditList = OperationResponse<'listAuditLog'>

const MAX_FIELDS = 4

/** One mark for each entry, with the person and the fields. Empty for people who cannot read the audit log. */
export const toChangeMarks = (list: AuditList | null): Mark[] =>
  (list?.data ?? []).map(({ at, actor, changes }) => {
    const names = Object.keys(changes)
    const more = names.length - MAX_FIELDS
    const fields = [...names.slice(0, MAX_FIELDS), ...(more > 0 ? [`${more} more`] : [])].join(', ')
    return { kind: 'change', fromMs: Date.parse(at), toMs: Date.parse(at), text: `${fields} by ${actor.name}` }
  })
