/** A slash command. `code`: the end of an incident's id; null: the only unacknowledged incident. */
export type SlashCommand =
  | { kind: 'status' }
  | { kind: 'incidents' }
  | { kind: 'ack'; code: string | null }
  | { kind: 'help' }

export function parseCommand(text: string): SlashCommand {
  const [word = '', code = null, ...more] = text.trim().toLowerCase().split(/\s+/)
  if (word === 'status' && code === null) return { kind: 'status' }
  if (word === 'incidents' && code === null) return { kind: 'incidents' }
  if (word === 'ack' && more.length === 0) return { kind: 'ack', code: code?.replace(/^#/, '') ?? null }
  return { kind: 'help' }
}

const CODE_LENGTH = 6

/** Returns the code of an incident: the end of its id, which is random in UUIDv7 and short enough to type. */
export const getIncidentCode = (incidentId: string): string => incidentId.slice(-CODE_LENGTH)

/** Returns the incidents with a code. */
export function filterByCode<Incident extends { id: string }>(code: string, incidents: Incident[]): Incident[] {
  return code.length < CODE_LENGTH ? [] : incidents.filter(({ id }) => id.endsWith(code))
}
