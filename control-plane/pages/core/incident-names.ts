import {
  ARCHIVED_MESSAGE,
  DELETED_MESSAGE,
  formatOutageTitle,
  formatRecoveryMessage,
  PAUSED_MESSAGE,
  UNCHECKED_MESSAGE,
} from '../../verdict/incidents/lifecycle.ts'

/** An automatic incident: the title that Picket gave it, with the name of a monitor, and the component that a page names instead. */
export type IncidentCause = { outageTitle: string | null; componentName: string }

/** As `formatRecoveryMessage` writes it. The monitor can have had another name than at the beginning of the outage. */
const RECOVERY = /^.+ is up again after (\d+ (?:day|hour|minute|second)s?(?: \d+ (?:hour|minute|second)s?)?)\.$/s

/** The title for visitors. The title that Picket wrote names the component instead of the monitor. */
export const toPublicTitle = (title: string, cause: IncidentCause | null): string =>
  cause !== null && title === cause.outageTitle ? formatOutageTitle(cause.componentName) : title

/** Texts of outages that end because the monitor is not checked any more. */
const NOT_CHECKED = [DELETED_MESSAGE, ARCHIVED_MESSAGE, UNCHECKED_MESSAGE]

/** The text of an update for visitors, as `toPublicTitle`. It does not mention monitors and data sources. */
export function toPublicMessage(message: string, cause: IncidentCause | null): string {
  if (cause === null) return message
  if (message === PAUSED_MESSAGE) return `Resolved because the monitoring of ${cause.componentName} was paused.`
  if (NOT_CHECKED.includes(message)) return `Resolved because ${cause.componentName} is not monitored any more.`
  const [, duration] = RECOVERY.exec(message) ?? []
  return duration === undefined ? message : formatRecoveryMessage(cause.componentName, duration)
}
