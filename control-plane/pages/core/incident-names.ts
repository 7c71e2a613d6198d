import { formatOutageTitle, formatRecoveryMessage } from '../../verdict/incidents/lifecycle.ts'

/** The monitor whose outage opened an incident, and what the page calls it. */
export type IncidentCause = { monitorName: string; componentName: string }

/** The title for visitors. The title that Picket wrote names the component instead of the monitor. */
export const toPublicTitle = (title: string, cause: IncidentCause | null): string =>
  cause !== null && title === formatOutageTitle(cause.monitorName) ? formatOutageTitle(cause.componentName) : title

/** The text of an update for visitors, as `toPublicTitle`. */
export function toPublicMessage(message: string, cause: IncidentCause | null): string {
  if (cause === null) return message
  const [start] = formatRecoveryMessage(cause.monitorName, '\0').split('\0') as [string]
  if (!message.startsWith(start)) return message
  return formatRecoveryMessage(cause.componentName, message.slice(start.length).replace(/\.$/, ''))
}
