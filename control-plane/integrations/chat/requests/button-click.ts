import { ACKNOWLEDGE_ACTION } from '../../../alerting/channels/kinds/slack-layout.ts'
import { toId, toRecord, toText } from '../provider/field-values.ts'

/** A click on an acknowledge button. */
export type ButtonClick = {
  teamId: string
  chatUserId: string
  incidentId: string
  /** where responses are posted */
  responseUrl: string
  /** the message with the button; one person sees an ephemeral message */
  message: { text: string; blocks: unknown[]; isEphemeral: boolean }
}

/** Parses an interaction; null for one that needs no action, such as a click on a link. */
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

/** Returns the blocks of a message without the acknowledge button of an incident, with a line about the outcome. */
export function removeButton(blocks: unknown[], incidentId: string, line: string): unknown[] {
  const kept = blocks.flatMap(block => {
    const { type, elements } = toRecord(block)
    if (type !== 'actions' || !Array.isArray(elements)) return [block]
    const others = elements
      .map(toRecord)
      .filter(element => element.action_id !== ACKNOWLEDGE_ACTION || element.value !== incidentId)
    return others.length === 0 ? [] : [{ ...toRecord(block), elements: others }]
  })
  return [...kept, { type: 'context', elements: [{ type: 'mrkdwn', text: line }] }]
}
