const VERBS: Record<string, string> = { POST: 'create', PUT: 'update', DELETE: 'delete' }

/** Where the rule below would give an awkward name or a duplicate. */
const SPECIAL_IDS: Record<string, string> = {
  'GET /alerts/log': 'listAlertLog',
  'GET /alerts/relay': 'listAlertRelay',
  'GET /alerts/settings': 'readAlertSettings',
  'GET /audit-log': 'listAuditLog',
  'GET /chat/oauth/callback': 'completeChatInstallation',
  'GET /chat/oauth/install': 'beginChatInstallation',
  'GET /dependencies/catalog': 'listDependencyCatalog',
  'GET /export': 'exportProject',
  'POST /agent/invite': 'inviteMember',
  'POST /alerts/channels/test': 'testUnstoredAlertChannel',
  'POST /import': 'importProject',
  'POST /members/{id}/claim-link': 'createMemberClaimLink',
  'POST /monitors/bulk': 'createMonitors',
  'POST /monitors/bulk-changes': 'changeMonitors',
  'POST /monitors/{id}/screenshots/baseline': 'acceptMonitorScreenshots',
  'PUT /status-pages/{id}/components/reorder': 'orderStatusPageComponents',
  'POST /status-pages/{id}/custom-domain/domain-connect': 'connectStatusPageCustomDomain',
}

/**
 * The name of an operation in clients, from its method and path: `listMonitors`, `createAlertRule`, `readMonitor`,
 * `pauseMonitor`, `rotateAlertChannelSecret`. `path` is in OpenAPI's form, without the prefix.
 */
export function buildOperationId(method: string, path: string): string {
  const own = SPECIAL_IDS[`${method} ${path}`]
  if (own) return own
  const segments = path.split('/').filter(Boolean)
  const last = segments.at(-1) ?? ''
  const nouns = (parts: string[]) =>
    parts
      .filter(one => !isId(one))
      .map(one => pascal(singular(one)))
      .join('')
  if (isId(last)) return (method === 'GET' ? 'read' : VERBS[method]) + nouns(segments)
  const holders = nouns(segments.slice(0, -1))
  if (method === 'GET') return (isPlural(last) ? 'list' : 'read') + holders + pascal(last)
  if (method === 'POST' && !isPlural(last)) return buildActionId(last, holders)
  return VERBS[method] + holders + pascal(method === 'POST' ? singular(last) : last)
}

/** `rotate-secret` on an `AlertChannel` is `rotateAlertChannelSecret`. */
function buildActionId(action: string, holders: string): string {
  const [verb = '', ...object] = action.split('-')
  return verb + holders + pascal(object.join('-'))
}

const isId = (segment: string) => segment.startsWith('{')
const isPlural = (segment: string) => segment.endsWith('s') && !segment.endsWith('ics')

function singular(segment: string): string {
  if (!isPlural(segment)) return segment
  return segment.endsWith('ies') ? `${segment.slice(0, -3)}y` : segment.slice(0, -1)
}

const pascal = (segment: string) => segment.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
