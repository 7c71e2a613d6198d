/** The areas of the control plane, the top folders, in import order. */
export const AREAS = [
  'foundation',
  'accounts',
  'alerting',
  'monitoring',
  'verdict',
  'insight',
  'pages',
  'integrations',
  'operations',
  'dashboard',
] as const

/** The rooms of the control plane in import order: a room imports only rooms above it. A room is an area or a folder of one. */
export const ROOMS = [
  'foundation/platform',
  'foundation/web',
  'foundation/migrations',
  'accounts',
  'alerting/events',
  'alerting/channels',
  'alerting/deliveries',
  'alerting/routing',
  'monitoring/monitors',
  'monitoring/screenshots',
  'monitoring/fleet',
  'monitoring/views',
  'verdict/incidents',
  'verdict/maintenance',
  'verdict/silences',
  'verdict/suppression',
  'verdict/core',
  'verdict/bulk-changes',
  'verdict/reader',
  'verdict/heartbeats',
  'verdict/expiry',
  'insight/analytics',
  'insight/explanations',
  'insight/canaries',
  'insight/live',
  'pages/core',
  'pages/templates',
  'pages/subscribers',
  'pages/admin',
  'pages/custom-domains',
  'pages/public',
  'integrations/data-sources',
  'integrations/vendors',
  'integrations/chat',
  'integrations/import-export',
  'operations/retention',
  'operations/clock-steps',
  'operations/health',
  'dashboard',
]

/** Files next to the areas, the command line's server side, and what a process of each role starts: they connect the rooms. */
const WIRING = /^control-plane\/((main|admin|config|start)\.ts$|operations\/(admin|roles)\/)/

const ROLES = ['routes', 'actions', 'store', 'worker', 'reader', 'recorder', 'grpc', 'judge']
/** What another room may use of a room, in addition to its pure files. */
export const OPEN_ROLES = ['actions', 'store', 'judge']

export const isWiring = (path: string) => WIRING.test(path)

/** The room of a path like `control-plane/monitoring/monitors/store.ts`; null for wiring, other programs and unknown folders. */
export function findRoom(path: string): string | null {
  if (isWiring(path)) return null
  return ROOMS.find(room => path.startsWith(`control-plane/${room}/`)) ?? null
}

/** The role that lets a file do I/O: the last word of its name or of one of its folders below the room. Null: pure. */
export function findRole(path: string): string | null {
  const below = path.slice(`control-plane/${findRoom(path) ?? ''}/`.length)
  const words = below
    .replace(/\.tsx?$/, '')
    .split('/')
    .map(name => name.split('-').at(-1) ?? '')
  return words.reverse().find(word => ROLES.includes(word)) ?? null
}

/** Rooms of the product's domain: all but connections, the web server and the schema. */
export const isDomain = (room: string | null) => room !== null && !room.startsWith('foundation/')
