import { ACKNOWLEDGE_ACTION } from '../../../alerting/channels/kinds/slack-layout.ts'
import { toId, toRecord, toText } from '../provider/field-values.ts'

/** A click on a button that acknowledges. */
export type ButtonClick = {
  teamId: string
  chatUserId: string
  incidentId: string
  /** where answers go */
  responseUrl: string
  /** the message that the button is in; ephemeral ones are seen by one person */
  message: { text: string; blocks: unknown[]; isEphemeral: boolean }
}

/** Reads an interaction; null for one that needs nothing, a click on a link for instance. */
export function parseClick(payload: unknown): ButtonClick | null {
  const { type, user, team, actions, message, container, response_url: responseUrl } = toRecord(payload)
  const [action] = Array.isArray(actions) ? actions.map(toRecord) : []
  const chatUserId = toId(toRecord(user).id)
  const teamId = toId(toRecord(team).id) ?? toId(toRecord(user).team_id)
  if (type !== 'block_actions' || action?.action_id !== ACKNOWLEDGE_ACTION || !chatUserId || !teamId) return null
  const { text, blocks } = toRecord(message)
  return {
    teamId,
    chatUserId,
    incidentId: toText(action.value),
    responseUrl: toText(responseUrl),
    message: {
      text: toText(text),
      blocks: Array.isArray(blocks) ? blocks : [],
      isEphemeral: toRecord(container).is_ephemeral === true,
    },
  }
}

/** The blocks of a message without the button that acknowledges an incident, and a line about what came of it. */
export function removeButton(blocks: unknown[], incidentId: string, line: string): unknown[] {
  const kept = blocks.flatMap(block => {
    const { type, elements } = toRecord(block)
    if (type !== 'actions' || !Array.isArray(elements)) return [block]
    const others = elements
      .map(toRecord)
      .filter(one => one.action_id !== ACKNOWLEDGE_ACTION || one.value !== incidentId)
    return others.length === 0 ? [] : [{ ...toRecord(block), elements: others }]
  })
  return [...kept, { type: 'context', elements: [{ type: 'mrkdwn', text: line }] }]
}
